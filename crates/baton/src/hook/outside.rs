//! A session that Baton does not drive: judged by `[hooks]` of the project, and filed in its store.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_agents::evidence::LocalEvidence;
use baton_agents::process::Environment;
use baton_engine::engine::{FiledEnd, FiledWork, IncomingDocument, SessionTask, ValidDocument, Yardstick};
use baton_engine::evidence::{Evidence as _, Scene};
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::step::ORCHESTRATOR;
use baton_engine::{RunId, StateFolder};
use baton_protocol::Dialect;
use baton_protocol::model::{Document, Kind, Request};
use serde_json::json;

use super::HookAnswer;
use super::decisions;
use super::input::{AgentEnd, HookEvent, HookInput, HookVendor, Subagent};
use super::judging::{self, UnderstoodText};
use super::reasons::Reasons;
use super::report_text;
use super::session_log::{self, SessionLog};
use super::standing::{BLOCKS_MAX, Standing};
use crate::command_error::CommandError;
use crate::config::{self, Config, HookContract};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions, place};
use crate::{guard, own_folder, running, state, user};

/// An agent of a session, with everything that is known about it.
struct Visit<'a> {
    vendor: HookVendor,
    subagent: Option<&'a Subagent>,
    run: RunId,
    config: &'a Config,
    state: StateFolder,
    workspace: PathBuf,
    log: SessionLog,
}

/// Answers a hook of a session that Baton does not drive.
pub(crate) fn answer(vendor: HookVendor, input: HookInput, output: &Output) -> Result<HookAnswer, CommandError> {
    let project = go_to_project(&input.folder)?;
    let config = config::read(None)?;
    if config.hooks.are_none() {
        return Ok(HookAnswer::Nothing);
    }
    let visit = Visit::new(vendor, &input, &config, &project)?;
    let contract = match &input.subagent {
        None => config.hooks.of(None),
        // Nobody knows what an agent is held to whose kind is not told.
        Some(subagent) => subagent.kind.as_deref().and_then(|kind| config.hooks.of(Some(kind))),
    };
    match (&input.event, contract) {
        (HookEvent::Begins, contract) => {
            visit.begins(contract)?;
            return visit.decisions(output);
        }
        (HookEvent::UsesTool(tool), _) => visit.log.uses(tool).map_err(unkept)?,
        (HookEvent::Ends(end), Some(contract)) if !end.is_busy => return visit.judge(contract, end, output),
        (HookEvent::Ends(end), None) if !end.is_busy => visit.log.ends().map_err(unkept)?,
        (HookEvent::Ends(_) | HookEvent::Other, _) => {}
    }
    Ok(HookAnswer::Nothing)
}

/// Goes to the project of a session, so that its configuration and its store are found from there.
fn go_to_project(folder: &Path) -> Result<PathBuf, CommandError> {
    // A subagent may work in a copy of the project. Its program still knows which project that is.
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let given = named("CLAUDE_PROJECT_DIR").or_else(|| named("GEMINI_PROJECT_DIR"));
    let given = given.or_else(|| Some(folder.to_owned()).filter(|folder| folder.is_absolute()));
    let here = given.map_or_else(env::current_dir, fs::canonicalize);
    let gone = here.and_then(|here| env::set_current_dir(&here).map(|()| here));
    gone.map_err(|error| CommandError::usage(format!("cannot go to the project of the session: {error}")))
}

fn unkept(error: io::Error) -> CommandError {
    CommandError::usage(format!("cannot record the session: {error}"))
}

impl<'a> Visit<'a> {
    fn new(
        vendor: HookVendor,
        input: &'a HookInput,
        config: &'a Config,
        project: &Path,
    ) -> Result<Visit<'a>, CommandError> {
        let state = state::folder()?;
        let root = fs::canonicalize(&config.folder).unwrap_or_else(|_| project.to_owned());
        let here = fs::canonicalize(&input.folder).unwrap_or_else(|_| root.clone());
        let workspace = if here.starts_with(&root) { root.clone() } else { place::project(&here) };
        let (run, subagent) = (session_log::run_of(&input.session), input.subagent.as_ref());
        let log = SessionLog::of(&state, &root, &input.session, subagent);
        Ok(Visit { vendor, subagent, run, config, state, workspace, log })
    }

    fn agent(&self) -> String {
        match self.subagent {
            None => self.vendor.name().to_owned(),
            Some(subagent) => subagent.kind.clone().unwrap_or_default(),
        }
    }

    /// Notes that an agent begins, and how the workspace is before it works.
    fn begins(&self, contract: Option<&HookContract>) -> Result<(), CommandError> {
        self.log.begins(&self.agent()).map_err(unkept)?;
        let Some(contract) = contract else { return Ok(()) };
        let mut scene = self.scene(contract, None, None);
        self.make_folder(&scene).map_err(unkept)?;
        let eyes = LocalEvidence::new([], self.state.clone());
        judging::runtime()?.block_on(async {
            scene.before = eyes.remember(&scene.workspace).await;
            eyes.keep(&scene).await;
        });
        let mut standing = self.standing()?;
        if self.subagent.is_none() {
            // A subagent has one prompt only.
            standing.begin_anew().map_err(unkept)?;
        }
        standing.baseline = scene.before.and_then(|before| before.digest);
        standing.write().map_err(unkept)
    }

    /// Returns what people have decided meanwhile, for the session itself.
    fn decisions(&self, output: &Output) -> Result<HookAnswer, CommandError> {
        let (Some(event), None) = (self.vendor.prompt_event(), self.subagent) else { return Ok(HookAnswer::Nothing) };
        let folder = self.log.folder().map_err(unkept)?;
        let ids = decisions::waited_for(folder);
        if ids.is_empty() {
            return Ok(HookAnswer::Nothing);
        }
        let session = Session::open(&StoreOptions::default(), Access::Look, output)?;
        let made = decisions::made(folder, &ids, &session)?;
        Ok(made.map_or(HookAnswer::Nothing, |text| HookAnswer::AddContext { event, text }))
    }

    fn standing(&self) -> Result<Standing, CommandError> {
        Standing::take(self.log.folder().map_err(unkept)?, self.log.agent()).map_err(unkept)
    }

    fn judge(&self, contract: &HookContract, end: &AgentEnd, output: &Output) -> Result<HookAnswer, CommandError> {
        let mut standing = self.standing()?;
        // Whoever cannot file what comes out holds nobody: it would be said three times, and be lost all the same.
        let session = Session::open(&StoreOptions::default(), Access::Change, output)?;
        if session.remote.is_some() {
            return Err(filed_at_a_server());
        }
        let written = self.log.written().into_iter().rev().map(|path| self.workspace.join(path));
        let text = report_text::find(end, &self.agent(), written)?;
        let asked = self.asked(end);
        let task = SessionTask {
            agent: self.subagent.map(|_| own_name(&self.agent()).to_owned()),
            dialect: contract.dialect,
            request: request_of(&asked),
            ..SessionTask::default()
        };
        let yardstick = Yardstick::of_session(task, &self.config.settings);
        let understood = match judging::read(&yardstick, Dialect::MetadataBlock, &text) {
            Ok(understood) => understood,
            Err(reasons) => return self.refuse(&mut standing, &session, &asked, &text, &reasons),
        };
        let scene = self.scene(contract, standing.baseline.clone(), request_of(&asked));
        let scene = Scene { transcript: self.transcript(end), others_write: self.others_write(), ..scene };
        self.make_folder(&scene).map_err(unkept)?;
        let variables = Environment::reduced([]);
        let variables = variables.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let eyes = LocalEvidence::new(variables, self.state.clone()).started_by(running::launcher(&session));
        let UnderstoodText { document, report } = *understood;
        let seen = session.run(judging::examine(&eyes, &scene, &report, &self.config.settings, self.config.kept));
        let seen = match seen {
            Ok(seen) => seen,
            Err(reasons) => return self.refuse(&mut standing, &session, &asked, &text, &reasons),
        };
        let end = FiledEnd::Reported {
            document: Box::new(document),
            examined: seen.examined,
            contents: seen.contents,
            contents_bytes_max: self.config.kept.run,
        };
        let filed = self.file(&session, &standing, asked, end)?;
        standing.begin_anew().map_err(unkept)?;
        self.log.ends().map_err(unkept)?;
        Ok(match filed.state.name() {
            StateName::AwaitingPerson => {
                decisions::wait_for(self.log.folder().map_err(unkept)?, &filed).map_err(unkept)?;
                HookAnswer::Tell(format!(
                    "baton: {} waits for a person: baton show {}",
                    self.agent(),
                    filed.id.in_shell()
                ))
            }
            _ => HookAnswer::Nothing,
        })
    }

    /// Keeps the agent from ending, or lets it go after so many times, and files that.
    fn refuse(
        &self,
        standing: &mut Standing,
        session: &Session,
        asked: &Option<String>,
        text: &str,
        reasons: &Reasons,
    ) -> Result<HookAnswer, CommandError> {
        if !standing.is_spent() {
            standing.refuse(text, &reasons.recorded()).map_err(unkept)?;
            return Ok(HookAnswer::Block(reasons.told()));
        }
        if standing.was_let_go_with(text) {
            return Ok(HookAnswer::Nothing);
        }
        let last = standing.keep(text, &reasons.recorded()).map_err(unkept)?;
        let refused = standing.recorded(&last);
        let filed = self.file(session, standing, asked.clone(), FiledEnd::LetGo(refused))?;
        standing.let_go(text).map_err(unkept)?;
        self.log.ends().map_err(unkept)?;
        let agent = self.agent();
        Ok(HookAnswer::Tell(format!(
            "baton: {agent} ends after {BLOCKS_MAX} tries without a handoff that is accepted: baton show {}",
            filed.id.in_shell()
        )))
    }

    /// Files the work in the store of the project.
    fn file(
        &self,
        session: &Session,
        standing: &Standing,
        asked: Option<String>,
        end: FiledEnd,
    ) -> Result<Handoff, CommandError> {
        let refused = standing.refused.iter().map(|refused| standing.recorded(refused));
        let work = FiledWork {
            run: self.run.clone(),
            agent: own_name(&self.agent()).to_owned(),
            from: self.subagent.map_or_else(user::name, |_| ORCHESTRATOR.to_owned()),
            claimant: format!("{} {}", self.vendor.name(), user::claimant()),
            request: self.request(session, asked)?,
            refused: refused.collect(),
            end,
        };
        Ok(session.run(session.engine.file(work, &guard::anybody()))?)
    }

    /// Returns what was asked as a document: the one in the prompt, or one that holds the prompt.
    fn request(&self, session: &Session, asked: Option<String>) -> Result<ValidDocument, CommandError> {
        let yardstick = Yardstick::of_project(&session.settings);
        let valid = |text: &str| {
            let judged = yardstick.judge(&IncomingDocument::of(text.as_bytes()));
            judged.valid.and_then(|valid| valid.of_kind(Kind::Request).ok())
        };
        let unknown = format!("Work of {} in the session {}. What it was asked is not known.", self.agent(), self.run);
        let made = |text: &str| {
            let request = json!({ "baton": 1, "document": "request", "instructions": text });
            valid(&request.to_string())
        };
        let given = asked.as_deref().and_then(|asked| valid(asked).or_else(|| made(asked)));
        given
            .or_else(|| made(&unknown))
            .ok_or_else(|| CommandError::internal("internal error: Baton's own request is not valid; please report it"))
    }

    fn asked(&self, end: &AgentEnd) -> Option<String> {
        report_text::asked(end, self.subagent.is_some())
    }

    /// Returns what shows which tools the agent used: what hooks have told, or else what its program has written.
    fn transcript(&self, end: &AgentEnd) -> Option<baton_engine::evidence::Transcript> {
        let own = || session_log::transcript_at(end.transcript.as_deref()?);
        self.log.transcript().or_else(own)
    }

    /// Returns what others may have written while the agent worked.
    fn others_write(&self) -> Vec<String> {
        let beside = self.log.beside();
        let anything = || vec!["**".to_owned()];
        let writes = |kind: &String| match self.config.hooks.of(Some(kind)) {
            Some(contract) => contract.writes.clone().unwrap_or_else(anything),
            None => anything(),
        };
        let inside = |path: &String| {
            let path = Path::new(path);
            Some(path.strip_prefix(&self.workspace).unwrap_or(path).to_string_lossy().into_owned())
        };
        beside.kinds.iter().flat_map(writes).chain(beside.files.iter().filter_map(inside)).collect()
    }

    fn scene(
        &self,
        contract: &HookContract,
        baseline: Option<baton_engine::handoff::Digest>,
        request: Option<Request>,
    ) -> Scene {
        let workspace = self.workspace.clone();
        let text = |name: &str, value: String| (name.to_owned(), value);
        Scene {
            folder: workspace.join(own_folder::NAME).join("runs").join(self.run.as_str()).join(self.log.agent()),
            workflow_folder: self.config.folder.clone(),
            baseline,
            request,
            checks: contract.checks.clone(),
            mandatory_skills: contract.mandatory_skills.clone(),
            writes: contract.writes.clone(),
            names_new_files: contract.dialect == Some(Dialect::Package),
            variables: vec![
                text("BATON_RUN", self.run.to_string()),
                text("BATON_HANDOFF_ID", format!("{}.{}", self.run, self.log.agent())),
                text("BATON_WORKSPACE", workspace.to_string_lossy().into_owned()),
                text("BATON_WORKFLOW_DIRECTORY", self.config.folder.to_string_lossy().into_owned()),
            ],
            workspace,
            ..Scene::default()
        }
    }

    fn make_folder(&self, scene: &Scene) -> io::Result<()> {
        own_folder::make_below(&scene.workspace, &scene.folder).map(drop)
    }
}

/// Explains that a server takes no work of sessions: what was seen here is evidence only for whoever can trust this machine.
fn filed_at_a_server() -> CommandError {
    let message = "the store is a server, which does not take the handoffs of sessions; this one is not judged";
    CommandError::usage(message)
        .hint("name a database for this project: `[store] url` in baton.toml, or BATON_STORE")
        .hint("or let the agent claim its work from the server: `baton worker`, `baton claim`")
}

/// Returns the name of an agent without the plugin that it comes from.
fn own_name(kind: &str) -> &str {
    kind.rsplit(':').next().unwrap_or(kind)
}

/// Reads a request that is part of a prompt.
fn request_of(asked: &Option<String>) -> Option<Request> {
    match baton_protocol::read(asked.as_ref()?.as_bytes(), baton_protocol::Hints::default()).document? {
        Document::Request(request) => Some(*request),
        Document::Report(_) | Document::Acknowledgment(_) => None,
    }
}
