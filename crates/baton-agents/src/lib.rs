//! Reaching agents, and seeing what they did.
//!
//! - [`reach`] chooses how an agent is reached: [`command`] runs programs, [`directory_agent`] hands work over through
//!   folders of JSON files
//! - [`process`] is what runs under a command: started by one [`Launcher`], caged, fed, read within bounds, killed with
//!   everything it has started; `profile` knows the flags and the output of common coding agents
//! - `confinement` turns what a workflow says about a phase into the cage of its processes
//! - [`AcknowledgmentFile`] is where a command acknowledges its request while it works
//! - [`directory`] is the folders, both sides, without a database
//! - [`schema_folder`] has the JSON Schemas that requests name
//! - [`workspace`] looks at the files in the folder where agents work
//! - [`evidence`] compares what a report claims with what can be seen

#![warn(clippy::match_bool)]

mod beside;
pub mod command;
pub mod confinement;
pub mod directory;
pub mod directory_agent;
pub mod evidence;
pub mod process;
mod profile;
pub mod schema_folder;
pub mod workspace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::Clock;
use baton_engine::agent::Agent;
use baton_protocol::workflow;

pub use command::{AcknowledgmentFile, AttemptFiles, CommandAgent};
pub use directory_agent::DirectoryAgent;
pub use process::Launcher;
pub use profile::{skills_read_by, without_colours};

/// Why an agent cannot be reached as its workflow says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReachFault {
    /// It says no way to reach it, or several.
    #[error("agent `{0}` needs exactly one of command, profile, directory and queue")]
    Ways(String),
    /// It says which program it is in two ways.
    #[error("agent `{0}` has a command and a profile: choose one")]
    CommandAndProfile(String),
    /// It says no program.
    #[error("agent `{0}` has no command")]
    NoCommand(String),
    /// There is nothing in its command.
    #[error("the command of agent `{0}` is empty")]
    EmptyCommand(String),
    /// It says no folder.
    #[error("agent `{0}` has no directory")]
    NoDirectory(String),
    /// The folder of the workflow has no place.
    #[error("{} is not a folder: {why}", path.display())]
    WorkflowFolder {
        /// What should be one.
        path: PathBuf,
        /// Why it is not valid.
        why: String,
    },
    /// A variable of its environment holds more than a text.
    #[error("agent `{agent}`: the variable {name} must be text")]
    VariableNotText {
        /// The agent.
        agent: String,
        /// The variable.
        name: String,
    },
    /// No process can have such a variable.
    #[error("agent `{agent}`: the variable {name:?} cannot be set")]
    VariableNotPossible {
        /// The agent.
        agent: String,
        /// The variable.
        name: String,
    },
}

/// Reaches an agent as its workflow says; `None` if it comes for its work itself. The error says why it cannot be reached.
pub fn reach(
    name: &str,
    agent: &workflow::AgentFields,
    workflow_folder: &Path,
    clock: Arc<dyn Clock>,
    launcher: &Launcher,
) -> Result<Option<Box<dyn Agent>>, ReachFault> {
    let ways = [agent.command.is_some(), agent.profile.is_some(), agent.directory.is_some(), agent.queue == Some(true)];
    if ways.iter().filter(|way| **way).count() != 1 {
        return Err(ReachFault::Ways(name.to_owned()));
    }
    if agent.queue == Some(true) {
        return Ok(None);
    }
    let reached: Box<dyn Agent> = match agent.directory {
        Some(_) => Box::new(DirectoryAgent::new(name, agent, workflow_folder, clock)?),
        None => Box::new(CommandAgent::new(name, agent, workflow_folder, clock)?.started_by(launcher.clone())),
    };
    Ok(Some(reached))
}

/// Makes what coding agents of a workflow make in the workspace at each start. In a cage they cannot, and end at once; and
/// it is not part of their work, so it must be there before the workspace is looked at.
pub fn make_ready(workflow: &workflow::Workflow, workspace: &Path) {
    let profiles = workflow.agents.iter().filter_map(|(_, agent)| agent.profile);
    profiles.for_each(|profile| profile::recipe(profile).make_ready(workspace));
}
