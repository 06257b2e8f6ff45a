//! Agents that are commands: started once for each attempt, given a prompt, and understood by what they write.
//!
//! What an attempt is told and what it says stays in its folder: `prompt.md`, the request, `stdout.log`, `stderr.log`
//! and `report.md`. The report may also be a file in the output directory. Whether it is any good is judged by others.

mod acknowledgment;
mod answer;
mod files;
mod final_answer;
mod output_files;
mod words;

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::Clock;
use baton_engine::agent::{Agent, EndedTurn, Job, TurnEnd, Update, Updates};
use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::protection::Protection;
use baton_engine::session::SessionKind;
use baton_host::SharedFolder;
use baton_protocol::workflow::{self, Confinement, Profile, PromptBy, ReportFrom};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::ReachFault;
use crate::confinement::{Bounds, Ground, MisplacedFolder, OURS};
use crate::process::{
    Cage, Environment, FENCE, GRACE, HANDOFF, Launch, Launcher, Mark, ProcessEnd, RUN, ResourceLimits, Sink,
    TimeLimits, WORKSPACE, not_started, permanent, size, without_script,
};
use crate::profile::{self, EventStream, Recipe, TurnStart};
pub use acknowledgment::AcknowledgmentFile;
pub use files::AttemptFiles;
use output_files::OutputFiles;

/// The longest prompt that is given as an argument: Linux takes 128 KiB for one.
const ARGUMENT_BYTES_MAX: usize = 120 * 1024;

/// An agent that is a command.
#[derive(Clone)]
pub struct CommandAgent {
    program: PathBuf,
    arguments: Vec<String>,
    profile: Option<Profile>,
    prompt: PromptBy,
    report: ReportFrom,
    env: Vec<String>,
    set_env: Vec<(String, String)>,
    /// Keys that are set here, but that the program does not get.
    withheld: Vec<&'static str>,
    workflow_folder: PathBuf,
    timeout: Option<Duration>,
    silence: Option<Duration>,
    grace: Duration,
    launcher: Launcher,
    clock: Arc<dyn Clock>,
}

impl CommandAgent {
    /// Makes an agent from what a workflow says; the error says why it cannot be reached.
    pub fn new(
        name: &str,
        agent: &workflow::AgentFields,
        workflow_folder: &Path,
        clock: Arc<dyn Clock>,
    ) -> Result<CommandAgent, ReachFault> {
        let folder = std::path::absolute(workflow_folder)
            .map_err(|error| ReachFault::WorkflowFolder { path: workflow_folder.to_owned(), why: error.to_string() })?;
        let recipe = agent.profile.map(profile::recipe);
        let prompt = agent.prompt.unwrap_or(PromptBy::Stdin);
        let (program, mut arguments) = match (&agent.command, recipe) {
            (Some(_), Some(_)) => return Err(ReachFault::CommandAndProfile(name.to_owned())),
            (Some(command), None) if command.is_empty() => {
                return Err(ReachFault::EmptyCommand(name.to_owned()));
            }
            (Some(command), None) => words::of(command, &folder, prompt),
            (None, Some(recipe)) => (PathBuf::from(recipe.program), Vec::new()),
            (None, None) => return Err(ReachFault::NoCommand(name.to_owned())),
        };
        arguments.extend(agent.arguments.iter().cloned());
        let usual = |time| recipe.map(|_| time);
        Ok(CommandAgent {
            program,
            arguments,
            profile: agent.profile,
            prompt,
            report: agent.report.unwrap_or(ReportFrom::Auto),
            env: agent.env.clone(),
            withheld: agent.withheld_keys(|key| std::env::var_os(key).is_some_and(|value| !value.is_empty())),
            set_env: agent.set_env.iter().map(|(key, value)| set(name, key, value)).collect::<Result<_, _>>()?,
            workflow_folder: folder,
            timeout: agent.timeout.map(workflow::Duration::as_std).or_else(|| usual(profile::TURN_TIME)),
            silence: match agent.silence.map(workflow::Duration::as_std) {
                Some(Duration::ZERO) => None,
                silence => silence.or_else(|| usual(profile::SILENCE)),
            },
            grace: GRACE,
            launcher: Launcher::default(),
            clock,
        })
    }

    /// Lets a launcher start the command that knows what is out of reach.
    #[must_use]
    pub fn started_by(mut self, launcher: Launcher) -> CommandAgent {
        self.launcher = launcher;
        self
    }

    /// Changes how long a command whose time is up may take to end by itself.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> CommandAgent {
        self.grace = grace;
        self
    }

    async fn try_attempt(&self, job: &Job, updates: &Updates) -> Result<EndedTurn, Failure> {
        let output = OutputFiles::remember(job);
        let files = AttemptFiles::prepare_apart(job, &job.workspace, self.launcher.answers_of(job).as_deref())?;
        let heard = self.recipe().map(|recipe| {
            let start = turn_start(job, &files);
            Arc::new(Mutex::new(EventStream::new(recipe, &start, updates.clone())))
        });
        let launch = self.launch(job, &files, heard.clone())?;
        // A path means a place in the workspace; a name is searched for.
        let is_path = launch.program.components().count() > 1;
        let program = if is_path { job.workspace.join(&launch.program) } else { launch.program.clone() };
        let environment = launch.environment.clone();
        let arguments = launch.arguments.clone();
        let limits = TimeLimits { whole: job.timeout.or(self.timeout), silence: self.silence, grace: self.grace };
        let running = self.launcher.run_within(launch, limits);
        let ended = tokio::select! {
            ended = running => ended.map_err(|error| not_started(&program, &error))?,
            never = tell(AcknowledgmentFile::of(&files), updates) => match never {},
        };
        if let Some(failure) = without_script(&ended, &program, &arguments) {
            return Err(failure);
        }
        let asked = answer::AskedCommand {
            job,
            files: &files,
            output: &output,
            environment: &environment,
            report: self.report,
        };
        Ok(self.ended(&ended, &asked, heard))
    }

    fn ended(&self, ended: &ProcessEnd, asked: &answer::AskedCommand<'_>, heard: Option<SharedStream>) -> EndedTurn {
        match (self.profile, heard) {
            (Some(profile), Some(heard)) => {
                let now = self.clock.now().to_zoned(TimeZone::system());
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let mut turn = final_answer::EndedProfile { profile, asked, ended, now }.turn(&mut heard);
                if let TurnEnd::Failed(failure, _) = &mut turn.end {
                    self.tell_withheld(failure);
                }
                turn
            }
            _ => answer::of(ended, asked),
        }
    }

    /// A program without its key fails for good; whoever sees the key in the same terminal wonders why.
    fn tell_withheld(&self, failure: &mut Failure) {
        if failure.chance == Transience::Permanent && !self.withheld.is_empty() {
            let keys = self.withheld.join(", ");
            let hint = format!(" (set here but not passed on: {keys}; name what it needs in `env` of the agent)");
            failure.message.push_str(&hint);
        }
    }

    fn recipe(&self) -> Option<&'static Recipe> {
        self.profile.map(profile::recipe)
    }

    fn launch(&self, job: &Job, files: &AttemptFiles, heard: Option<SharedStream>) -> Result<Launch, Failure> {
        if !job.workspace.is_dir() {
            let message = format!("the workspace {} is not a folder", job.workspace.display());
            return Err(permanent(Code::dependency_missing(), message));
        }
        let mut input = Vec::new();
        let recipe = self.recipe();
        let mut arguments = recipe.map(|recipe| (recipe.arguments)(&turn_start(job, files))).unwrap_or_default();
        arguments.extend(self.arguments.iter().cloned());
        arguments.extend(recipe.into_iter().flat_map(|recipe| (recipe.ends_with)(&job.session)));
        match self.prompt {
            PromptBy::Stdin => {
                let before = recipe.into_iter().flat_map(|recipe| recipe.before_stdin);
                arguments.extend(before.map(|&word| word.to_owned()));
                input = job.prompt.clone().into_bytes();
            }
            PromptBy::Argument => {
                let before = recipe.into_iter().flat_map(|recipe| recipe.before_argument);
                arguments.extend(before.map(|&word| word.to_owned()));
                arguments.push(as_argument(&job.prompt)?);
            }
        }
        let environment = self.environment(job, files);
        let program = environment.find(&self.program);
        // Somebody else may run a workflow under the same name in another workspace at the same time.
        let mark = Mark::new([
            (RUN, job.run.to_string()),
            (HANDOFF, job.handoff.to_string()),
            (FENCE, job.fence.to_string()),
            (WORKSPACE, job.workspace.to_string_lossy().into_owned()),
        ]);
        let cage = self
            .cage(job, files, &environment)
            .map_err(|misplaced| permanent(Code::processing_error(), misplaced.to_string()))?;
        let log =
            |path: &Path| Sink::log(&files.folder, files::name(path)).map_err(|error| files::unwritable(path, &error));
        let mut stdout = log(&files.stdout)?;
        let streams = heard.is_some();
        if let Some(heard) = heard {
            stdout = Sink::Listener(Box::new(move |bytes| {
                stdout.take(bytes);
                heard.lock().unwrap_or_else(PoisonError::into_inner).take(bytes);
            }));
        }
        Ok(Launch {
            arguments,
            folder: Some(job.workspace.clone()),
            environment,
            mark,
            input,
            stdout,
            stderr: log(&files.stderr)?,
            streams,
            cage,
            limits: ResourceLimits::of(&job.confinement.cage),
            ..Launch::new(program)
        })
    }

    /// Returns what the command may see and change.
    fn cage(
        &self,
        job: &Job,
        files: &AttemptFiles,
        environment: &Environment,
    ) -> Result<Option<Cage>, MisplacedFolder> {
        let is_closed = job.writes.is_some() || job.output_directory.starts_with(job.workspace.join(OURS));
        if !job.confinement.off && is_closed {
            // Only what is there can be opened up. What cannot be made is missed by the command itself.
            let _ = SharedFolder::make(&job.workspace, &job.output_directory);
        }
        if let Some(recipe) = self.recipe().filter(|_| !job.confinement.off) {
            // A program that was never started here has no place for its sessions yet.
            recipe.make_home(environment);
        }
        let moved = profile::moved(self.recipe(), environment);
        let own = [job.output_directory.as_path(), files.folder.path(), files.answers.path()]
            .into_iter()
            .chain(moved.iter().map(PathBuf::as_path));
        let ground = Ground {
            workspace: &job.workspace,
            bounds: Bounds::of(job.writes.as_deref()),
            undo: &job.undo,
            own: own.collect(),
            home: self.recipe().map(|recipe| recipe.home.to_vec()).unwrap_or_default(),
            settings: self.recipe().map(|recipe| recipe.settings(environment)).unwrap_or_default(),
            environment,
        };
        ground.cage(&job.confinement)
    }

    /// Returns what the command sees. What a workflow sets wins over what is inherited, and ours wins over both.
    fn environment(&self, job: &Job, files: &AttemptFiles) -> Environment {
        let known = self.recipe().into_iter().flat_map(|recipe| recipe.inherits).copied();
        let mut environment = Environment::reduced(self.env.iter().map(String::as_str).chain(known));
        for (name, value) in &self.set_env {
            environment.set(name, value);
        }
        if let Some(parent) = job.traceparent.as_ref().filter(|_| self.launcher.traces) {
            environment.set("TRACEPARENT", parent);
        }
        environment.set("BATON_ATTEMPT", job.attempt.to_string());
        environment.set("BATON_AGENT", &job.agent);
        environment.set("BATON_PHASE", &job.phase);
        environment.set(WORKSPACE, &job.workspace);
        environment.set("BATON_OUTPUT_DIRECTORY", &job.output_directory);
        environment.set("BATON_WORKFLOW_DIRECTORY", &self.workflow_folder);
        for (name, path) in files.variables() {
            environment.set(name, path);
        }
        environment
    }
}

#[async_trait]
impl Agent for CommandAgent {
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        self.try_attempt(job, updates).await.unwrap_or_else(|failure| Err(failure).into())
    }

    fn sessions(&self) -> SessionKind {
        self.recipe().map_or(SessionKind::OneTurn, |recipe| recipe.sessions)
    }

    fn protection(&self, confinement: &Confinement) -> Option<Protection> {
        Some(Launcher::protection_of(confinement))
    }
}

impl fmt::Debug for CommandAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CommandAgent").field("program", &self.program).finish_non_exhaustive()
    }
}

/// What a coding agent tells while it works, and afterwards.
type SharedStream = Arc<Mutex<EventStream>>;

fn turn_start<'a>(job: &'a Job, files: &'a AttemptFiles) -> TurnStart<'a> {
    TurnStart { session: &job.session, spent_before: job.spent_before, folder: &files.answers }
}

/// Passes on what the command says about having understood, for as long as it works.
async fn tell(mut file: AcknowledgmentFile, updates: &Updates) -> Infallible {
    loop {
        let text = file.next().await;
        // Whoever does not listen reads the last word when the command has ended.
        let _ = updates.send(Update::Acknowledged(text));
    }
}

fn as_argument(prompt: &str) -> Result<String, Failure> {
    let refused = |why: String| {
        let message =
            format!("the prompt cannot be an argument: {why}; let the agent read it from stdin (prompt: stdin)");
        Err(permanent(Code::processing_error(), message))
    };
    if prompt.len() > ARGUMENT_BYTES_MAX {
        return refused(format!("it has {}, and at most {ARGUMENT_BYTES_MAX} fit", size(prompt.len())));
    }
    if prompt.contains('\0') {
        return refused("there is a NUL in it".to_owned());
    }
    Ok(prompt.to_owned())
}

fn set(agent: &str, name: &str, value: &Value) -> Result<(String, String), ReachFault> {
    let value = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => String::new(),
        Value::Array(_) | Value::Object(_) => {
            return Err(ReachFault::VariableNotText { agent: agent.to_owned(), name: name.to_owned() });
        }
    };
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(ReachFault::VariableNotPossible { agent: agent.to_owned(), name: name.to_owned() });
    }
    Ok((name.to_owned(), value))
}
