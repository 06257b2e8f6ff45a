//! Whether the coding agents of a workflow answer: one tiny turn each, with the arguments and variables of the workflow.
//!
//! What would end the first attempt of a run (a program, key, model or trust that is missing, a flag that is gone) is found
//! here for the price of a few tokens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use baton_agents::Launcher;
use baton_engine::agent::{Agent, EndedTurn, Job, TurnEnd};
use baton_engine::handoff::WrittenDocument;
use baton_engine::session::{self, SessionKind, SessionTurn};
use baton_engine::{Clock, Failure, Fence, HandoffId, RunId};
use baton_host::find_program;
use baton_protocol::Dialect;
use baton_protocol::workflow::{AgentFields, Profile};
use baton_views::words::briefly;
use tokio::process::Command;

use super::Sign;
use crate::clock::SteadyClock;
use crate::command_error::CommandError;
use crate::random;
use crate::workflow_file::{self, Opened};

/// What each agent is told.
const PROMPT: &str = "Answer with the word ok. Use no tools.";
/// How long an agent may take for it; some try again for minutes before they give up.
const TURN_TIME: Duration = Duration::from_secs(5 * 60);
/// How long a program may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// A coding agent as people install it.
struct Product {
    program: &'static str,
    package: &'static str,
    /// The version that the profile was tried with.
    tried: &'static str,
}

const fn product(profile: Profile) -> Product {
    let (program, package, tried) = match profile {
        Profile::Claude => ("claude", "@anthropic-ai/claude-code", "2.1.325"),
        Profile::Codex => ("codex", "@openai/codex", "0.166.0"),
        Profile::Gemini => ("gemini", "@google/gemini-cli", "0.61.0"),
        Profile::Opencode => ("opencode", "opencode-ai", "1.18.33"),
    };
    Product { program, package, tried }
}

/// The agents of a workflow that are asked.
pub(super) struct AskedAgents {
    opened: Opened,
    workspace: PathBuf,
    launcher: Launcher,
}

impl AskedAgents {
    /// Reads the workflow.
    pub(super) fn of(workflow: &Path, workspace: &Path, launcher: Launcher) -> Result<AskedAgents, CommandError> {
        let opened = workflow_file::open(workflow)?;
        let workspace = fs::canonicalize(workspace)
            .map_err(|error| CommandError::usage(format!("cannot find {}: {error}", workspace.display())))?;
        Ok(AskedAgents { opened, workspace, launcher })
    }

    /// Gives every coding agent a turn, one after the other.
    pub(super) async fn look(&self) -> Vec<Sign> {
        let mut signs = Vec::new();
        let workflow = &self.opened.workflow;
        for (name, agent) in workflow.agents.iter().filter_map(|(name, _)| Some((name, workflow.agent_with_env(name)?)))
        {
            if let Some(profile) = agent.profile {
                signs.extend(self.ask(name, &agent, &product(profile)).await);
            }
        }
        if signs.is_empty() {
            signs.push(Sign::fine("agents", "no agent of the workflow has a profile, so there is nothing to ask"));
        }
        signs
    }

    async fn ask(&self, name: &str, agent: &AgentFields, product: &Product) -> Vec<Sign> {
        let Product { program, package, .. } = product;
        let Some(path) = find_program(Path::new(program), std::env::var_os("PATH").as_deref()) else {
            let hint = format!("install it (npm install --global {package}), or add its folder to PATH");
            return vec![Sign::wrong("agent", format!("{name}: {program} is not installed"), hint)];
        };
        let version = version_of(&path).await;
        let mut signs: Vec<Sign> =
            version.as_deref().and_then(|version| old(name, version, product)).into_iter().collect();
        let clock = Arc::new(SteadyClock::start());
        let reached = baton_agents::reach(name, agent, &self.opened.folder, clock.clone(), &self.launcher);
        let who = format!("{name}: {program}{}", version.map(|version| format!(" {version}")).unwrap_or_default());
        signs.push(match reached {
            Ok(Some(reached)) => {
                let began = clock.now();
                let ended = self.turn(name, agent, reached.as_ref()).await;
                let took = Duration::try_from(clock.now().duration_since(began)).unwrap_or_default();
                sign(&who, ended, took)
            }
            Ok(None) => return signs,
            Err(why) => Sign::wrong("agent", format!("{who} is not available: {why}"), "change the workflow"),
        });
        signs
    }

    /// Gives the agent its turn; what it leaves behind is removed.
    async fn turn(&self, name: &str, agent: &AgentFields, reached: &dyn Agent) -> Result<EndedTurn, String> {
        let unsafe_name = |error: &dyn std::fmt::Display| error.to_string();
        let run = RunId::parse(format!("doctor-{}", std::process::id())).map_err(|error| unsafe_name(&error))?;
        // Whoever can guess the name may have made a link of it.
        let folder = std::env::temp_dir().join(format!("baton-{run}-{}", random::word()));
        let output_directory = folder.join("output");
        fs::create_dir(&folder)
            .and_then(|()| fs::create_dir(&output_directory))
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let id = matches!(reached.sessions(), SessionKind::Chosen).then(|| session::uuid(&random::word()));
        let job = Job {
            handoff: HandoffId::parse(format!("{run}.1")).map_err(|error| unsafe_name(&error))?,
            run,
            phase: "doctor".to_owned(),
            agent: name.to_owned(),
            fence: Fence(1),
            attempt: 1,
            ended: 0,
            session: SessionTurn { id, ..SessionTurn::default() },
            spent_before: Default::default(),
            prompt: PROMPT.to_owned(),
            request: WrittenDocument::new(Dialect::Native, "{}"),
            contract: None,
            notes: Vec::new(),
            workspace: self.workspace.clone(),
            output_directory,
            folder: folder.clone(),
            writes: Some(Vec::new()),
            undo: Vec::new(),
            confinement: self.opened.workflow.confinement(Some(agent)),
            timeout: Some(TURN_TIME),
            pick_up_within: None,
            traceparent: None,
        };
        let (updates, _nobody_listens) = tokio::sync::mpsc::unbounded_channel();
        let ended = reached.turn(&job, &updates).await;
        // What cannot be removed is a few lines in the temporary folder.
        let _ = fs::remove_dir_all(&folder);
        Ok(ended)
    }
}

fn sign(who: &str, ended: Result<EndedTurn, String>, took: Duration) -> Sign {
    let EndedTurn { end, spent, .. } = match ended {
        Ok(ended) => ended,
        Err(why) => return Sign::wrong("agent", format!("{who} was not asked: {why}"), "free or name another TMPDIR"),
    };
    let failure = match end {
        TurnEnd::Answered(_) => {
            let tokens = spent.map(|spent| format!(", {} tokens", spent.tokens())).unwrap_or_default();
            return Sign::fine("agent", format!("{who} answers ({}{tokens})", briefly(took)));
        }
        TurnEnd::Failed(failure, _) => failure,
    };
    let advice = || "try its program by hand, with the same arguments".to_owned();
    let Failure { message, help, .. } = failure;
    Sign::wrong("agent", format!("{who}: {message}"), help.unwrap_or_else(advice))
}

/// Warns of a version that is older than the one that was tried.
fn old(name: &str, version: &str, product: &Product) -> Option<Sign> {
    let Product { program, package, tried, .. } = product;
    let says = format!("{name}: {program} {version} is older than {tried}, which this version of baton was tried with");
    let hint = format!("update it: npm install --global {package}");
    (numbers(version) < numbers(tried)).then(|| Sign::warning("agent", says, hint))
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

async fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_TIME, command.output()).await.ok()?.ok()?;
    version_in(&String::from_utf8_lossy(&output.stdout))
}

/// Finds the version in what a program says of itself, such as `2.1.325 (Claude Code)` or `codex-cli 0.166.0`.
fn version_in(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| word.trim_start_matches('v'));
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u64>().is_ok());
    words.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_found_wherever_it_stands() {
        for (said, version) in
            [("2.1.325 (Claude Code)\n", "2.1.325"), ("codex-cli 0.166.0", "0.166.0"), ("v0.61.0\n", "0.61.0")]
        {
            assert_eq!(version_in(said).as_deref(), Some(version));
        }
        assert_eq!(version_in("unknown option --version."), None);
    }

    #[test]
    fn only_an_older_version_is_warned_of() {
        let claude = product(Profile::Claude);
        assert!(old("a", "2.1.99", &claude).is_some());
        assert!(old("a", "2.1.325", &claude).is_none());
        assert!(old("a", "2.2.0", &claude).is_none());
        assert!(old("a", "10.0.0", &claude).is_none());
    }
}
