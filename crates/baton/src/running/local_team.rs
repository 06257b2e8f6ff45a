//! The agents of a workflow as this machine reaches them, and the folders of their attempts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_agents::{Launcher, process};
use baton_engine::Fence;
use baton_engine::agent::Agent;
use baton_engine::definition::Definition;
use baton_engine::driver::{PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem};
use baton_engine::handover::Copy;
use baton_engine::run::attempt_folder;
use baton_engine::{Clock, HandoffId, RunId};
use baton_protocol::workflow;

use super::{is_dead, workspace_lock};
use crate::command_error::CommandError;
use crate::own_folder;

/// The agents of a workflow.
pub(crate) struct LocalTeam {
    clock: Arc<dyn Clock>,
    launcher: Launcher,
    /// Remembers where the store of a workspace is, for whoever asks from inside it.
    remember: Box<RememberWorkspace>,
    /// Those that were reached before.
    known: Mutex<Vec<Member>>,
}

/// Remembers a workspace.
pub(super) type RememberWorkspace = dyn Fn(&Path) -> Result<(), CommandError> + Send + Sync;

/// An agent that was reached before.
struct Member {
    folder: PathBuf,
    name: String,
    declared: workflow::AgentFields,
    reached: Arc<dyn Agent>,
}

impl LocalTeam {
    pub(crate) fn new(clock: Arc<dyn Clock>, launcher: Launcher, remember: Box<RememberWorkspace>) -> LocalTeam {
        LocalTeam { clock, launcher, remember, known: Mutex::default() }
    }
}

impl Team for LocalTeam {
    fn reach(&self, definition: &Definition, agent: &str) -> ReachedAgent {
        let Some(declared) = definition.workflow.agent_with_env(agent) else {
            return ReachedAgent::Not(format!("unknown agent {agent}"));
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Two workflows in one folder may call different agents the same.
        let same = |member: &&Member| {
            member.name == agent && member.folder == definition.folder && member.declared == declared
        };
        if let Some(member) = known.iter().find(same) {
            return ReachedAgent::Here(member.reached.clone());
        }
        match baton_agents::reach(agent, &declared, &definition.folder, self.clock.clone(), &self.launcher) {
            Ok(Some(reached)) => {
                baton_agents::make_ready(&definition.workflow, &definition.workspace);
                let reached: Arc<dyn Agent> = Arc::from(reached);
                let (folder, name) = (definition.folder.clone(), agent.to_owned());
                known.push(Member { folder, name, declared, reached: reached.clone() });
                ReachedAgent::Here(reached)
            }
            Ok(None) => ReachedAgent::Elsewhere,
            Err(why) => ReachedAgent::Not(why.to_string()),
        }
    }

    fn folder(&self, workspace: &Path, run: &RunId, handoff: &HandoffId, fence: Fence) -> Result<PathBuf, PlaceFault> {
        let folder = attempt_folder(workspace, run, handoff, fence);
        let made = own_folder::make_below(workspace, &folder);
        match made {
            Ok(_) => Ok(folder),
            Err(source) => Err(PlaceFault::Folder { path: folder, source }),
        }
    }

    fn keep(&self, workspace: &Path, copies: &[Copy]) -> Result<(), PlaceFault> {
        keep(workspace, copies)
    }

    fn is_dead(&self, claimant: &str) -> bool {
        is_dead(claimant)
    }

    fn lock(&self, workspace: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        let lock = workspace_lock::take(workspace, run, driver)?;
        (self.remember)(workspace).map_err(|error| WorkspaceProblem::Unusable(error.message))?;
        Ok(lock)
    }

    fn sweep(&self, run: &RunId, workspace: &Path) {
        process::sweep_run(run, workspace);
    }
}

/// Writes the files that an agent is told to read. They follow from the journal, so nothing is lost if one is.
pub(crate) fn keep(workspace: &Path, copies: &[Copy]) -> Result<(), PlaceFault> {
    for copy in copies {
        let path = workspace.join(&copy.path);
        keep_copy(workspace, &path, copy.text.as_bytes()).map_err(|source| PlaceFault::Copy { path, source })?;
    }
    Ok(())
}

fn keep_copy(workspace: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = own_folder::make_below(workspace, path.parent().unwrap_or(workspace))?;
    let name = path.file_name().unwrap_or_default();
    let is_kept = folder.read(name, text.len() as u64).is_ok_and(|there| there.as_deref() == Some(text));
    if is_kept { Ok(()) } else { folder.write(name, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflows_in_one_folder_do_not_share_agents_of_the_same_name() {
        let team =
            LocalTeam::new(Arc::new(crate::clock::SteadyClock::start()), Launcher::default(), Box::new(|_| Ok(())));
        let reach = |program: &str| {
            let text = format!("name: w\nagents: {{a: {{command: [{program}]}}}}\nphases: [{{id: x, agent: a}}]");
            let definition = Definition {
                approvers: Vec::new(),
                workflow: workflow::read(text.as_bytes()).workflow.expect("readable"),
                folder: PathBuf::from("/flows"),
                file: None,
                nested: std::collections::BTreeMap::new(),
                templates: std::collections::BTreeMap::new(),
                inputs: serde_json::Map::new(),
                workspace: PathBuf::from("/work"),
            };
            match team.reach(&definition, "a") {
                ReachedAgent::Here(agent) => agent,
                ReachedAgent::Elsewhere | ReachedAgent::Not(_) => panic!("it is a command"),
            }
        };
        assert!(Arc::ptr_eq(&reach("sh"), &reach("sh")), "the same agent is reached once");
        assert!(!Arc::ptr_eq(&reach("sh"), &reach("cat")), "another command is another agent");
    }
}
