//! Evidence: what Baton sees itself, claim by claim.
//!
//! The files are looked at first and the commands run afterwards, so that what a command leaves behind is not taken for
//! the work of the agent. Nothing that an agent could have configured is run but the commands that the workflow and the
//! request name.

mod artifacts;
mod baseline;
mod changes;
mod checks;
mod criteria;
mod entry;
mod modified;
mod named;
mod outcome;
mod passed;
mod patterns;
mod skills;
mod snapshot;
mod sources;
mod transcript;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::StateFolder;
use baton_engine::evidence::{Check, Evidence, Examined, Outcome, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::artifact_missing;

use self::baseline::Recent;
use self::changes::Changes;
pub(crate) use self::patterns::Patterns;
use crate::confinement::Ground;
use crate::process::{
    Environment, FENCE, GRACE, HANDOFF, Launch, Launcher, Mark, RUN, ResourceLimits, Sink, WORKSPACE,
};
use crate::workspace::Folder;

/// So many changed files are listed for an agent that starts again.
const CHANGED_MAX: usize = 100;

/// How much of the output of a command is kept.
const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Looks at workspaces, transcripts and what commands say.
#[derive(Debug)]
pub struct Eyes {
    environment: Environment,
    launcher: Launcher,
    state: StateFolder,
    recent: Arc<Recent>,
}

impl Eyes {
    /// Makes eyes whose commands see these variables, and those of the scene; nothing else is inherited. What they
    /// measure with is kept in the state folder, where no agent can change it.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>, state: StateFolder) -> Self {
        Eyes { environment: Environment::of(environment), launcher: Launcher::default(), state, recent: Arc::default() }
    }

    /// Lets a launcher start the commands that knows what is out of reach.
    #[must_use]
    pub fn started_by(mut self, launcher: Launcher) -> Self {
        self.launcher = launcher;
        self
    }

    /// Runs a command of a scene, which may change the files that fit the patterns, or everything.
    async fn carry_out(&self, scene: &Scene, check: &Check, writes: Option<&[String]>) -> Outcome {
        let words = beside(&scene.workflow_folder, &check.words);
        let Some((program, arguments)) = words.split_first().filter(|(program, _)| !program.is_empty()) else {
            return outcome::failed("there is nothing to run".to_owned(), "");
        };
        let mut environment = self.environment.clone();
        scene.variables.iter().for_each(|(name, value)| environment.set(name, value));
        let output = scene.output_directory.as_deref().into_iter();
        let ground = Ground {
            workspace: &scene.workspace,
            writes,
            own: output.chain([scene.folder.as_path()]).collect(),
            home: Vec::new(),
            environment: &environment,
        };
        let log = scene.folder.join(format!("verify-{}.log", file_name(&check.name)));
        let launch = Launch {
            arguments: arguments.to_vec(),
            folder: Some(scene.workspace.clone()),
            cage: ground.cage(&scene.confinement),
            limits: ResourceLimits::of(&scene.confinement.cage),
            mark: mark(scene),
            // Without a log the outcome is still worth knowing.
            stderr: Sink::log_up_to(&log, LOG_BYTES_MAX).unwrap_or_default(),
            together: true,
            environment,
            ..Launch::new(program)
        };
        match self.launcher.run(launch, Some(check.timeout), GRACE).await {
            Ok(ended) => outcome::of(&ended),
            Err(error) => outcome::failed(format!("`{program}` cannot be started: {error}"), ""),
        }
    }
}

/// Returns what tells the commands of a scene from all others.
fn mark(scene: &Scene) -> Mark {
    let value = |name: &str| scene.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    Mark::new([RUN, HANDOFF, FENCE, WORKSPACE].into_iter().filter_map(|name| Some((name, value(name)?))))
}

#[async_trait]
impl Evidence for Eyes {
    async fn remember(&self, scene: &Scene) {
        let (scene, recent) = (scene.clone(), Arc::clone(&self.recent));
        let kept = self.state.measures(&scene.workspace, &scene.folder);
        let remember = move || {
            if let Ok(workspace) = Folder::open(&scene.workspace) {
                baseline::write(&kept, &recent.take(workspace.root(), &scene.folder));
            }
        };
        tokio::task::spawn_blocking(remember).await.expect("remembering does not panic");
    }

    async fn examine(&self, scene: &Scene, report: &Report) -> Vec<Examined> {
        let (still, said, recent) = (scene.clone(), report.clone(), Arc::clone(&self.recent));
        let state = self.state.clone();
        let looking = tokio::task::spawn_blocking(move || look(&still, &said, &recent, &state));
        let mut examined = looking.await.expect("looking does not panic");
        examined.extend(self.examine_checks(scene, report).await);
        examined
    }

    async fn changed(&self, scene: &Scene) -> Vec<String> {
        let (scene, recent, state) = (scene.clone(), Arc::clone(&self.recent), self.state.clone());
        let look = move || match Folder::open(&scene.workspace) {
            Ok(workspace) => Changes::see(workspace.root(), &scene, &recent, &state).listed(CHANGED_MAX),
            Err(_) => Vec::new(),
        };
        tokio::task::spawn_blocking(look).await.expect("looking does not panic")
    }

    async fn run(&self, scene: &Scene, check: &Check) -> Outcome {
        self.carry_out(scene, check, scene.writes.as_deref()).await
    }
}

/// Looks at everything that only has to be read.
fn look(scene: &Scene, report: &Report, recent: &Recent, state: &StateFolder) -> Vec<Examined> {
    let mut examined = match Folder::open(&scene.workspace) {
        Ok(workspace) => look_at_files(&workspace, scene, report, recent, state),
        Err(error) => vec![entry::refuted(&artifact_missing::RULE, "the workspace is there", error.to_string())],
    };
    examined.extend(skills::examine(scene, report));
    examined
}

fn look_at_files(
    workspace: &Folder,
    scene: &Scene,
    report: &Report,
    recent: &Recent,
    state: &StateFolder,
) -> Vec<Examined> {
    // Walking through the workspace costs more than the rest.
    let worth_it = modified::is_worth_it(scene, report);
    let changes = worth_it.then(|| Changes::see(workspace.root(), scene, recent, state));
    let mut examined = artifacts::examine(workspace, scene, report);
    examined.extend(sources::examine(workspace, report, changes.as_ref()));
    if let Some(changes) = &changes {
        examined.extend(modified::examine(workspace.root(), scene, report, changes));
    }
    examined
}

/// Finds a program that is named with `./` beside the workflow file.
fn beside(folder: &Path, words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let shell = matches!(words.as_slice(), [shell, option, _] if shell == "sh" && option == "-c");
    let program = words.get_mut(if shell { 2 } else { 0 });
    if let Some((program, name)) = program.and_then(|program| {
        let name = program.strip_prefix("./")?.to_owned();
        Some((program, name))
    }) {
        let path = folder.join("").to_string_lossy().into_owned();
        *program = match shell {
            true => format!("'{}'{name}", path.replace('\'', "'\\''")),
            false => format!("{path}{name}"),
        };
    }
    words
}

/// Makes the name of a check fit for a file.
fn file_name(name: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    name.chars().map(fit).take(80).collect()
}
