//! The agents of a workflow as this machine reaches them, and the folders of their attempts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_agents::process;
use baton_engine::agent::Agent;
use baton_engine::definition::Definition;
use baton_engine::driver::{Reached, Team};
use baton_engine::handover::Copy;
use baton_engine::{Clock, HandoffId, RunId};
use baton_protocol::workflow;

use crate::user;

/// The agents of a workflow.
pub(crate) struct Crew {
    clock: Arc<dyn Clock>,
    /// Those that were reached before.
    known: Mutex<Vec<Member>>,
}

/// An agent that was reached before.
struct Member {
    folder: PathBuf,
    name: String,
    declared: workflow::Agent,
    reached: Arc<dyn Agent>,
}

impl Crew {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Crew {
        Crew { clock, known: Mutex::default() }
    }
}

impl Team for Crew {
    fn reach(&self, definition: &Definition, agent: &str) -> Reached {
        let Some(declared) = definition.workflow.agent(agent) else {
            return Reached::Not(format!("there is no agent {agent} in the workflow"));
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Two workflows in one folder may call different agents the same.
        let same = |member: &&Member| {
            member.name == agent && member.folder == definition.folder && member.declared == *declared
        };
        if let Some(member) = known.iter().find(same) {
            return Reached::Here(member.reached.clone());
        }
        match baton_agents::reach(agent, declared, &definition.folder, self.clock.clone()) {
            Ok(Some(reached)) => {
                let reached: Arc<dyn Agent> = Arc::from(reached);
                let (folder, name) = (definition.folder.clone(), agent.to_owned());
                known.push(Member { folder, name, declared: declared.clone(), reached: reached.clone() });
                Reached::Here(reached)
            }
            Ok(None) => Reached::Elsewhere,
            Err(why) => Reached::Not(why),
        }
    }

    fn folder(&self, workspace: &Path, run: &RunId, handoff: &HandoffId, fence: u64) -> Result<PathBuf, String> {
        let folder = attempt_folder(workspace, run, handoff, fence);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
        Ok(folder)
    }

    fn keep(&self, workspace: &Path, copies: &[Copy]) -> Result<(), String> {
        keep(workspace, copies)
    }

    fn is_dead(&self, claimant: &str) -> bool {
        is_dead(claimant)
    }

    fn sweep(&self, run: &RunId, workspace: &Path) {
        process::sweep_run(run, workspace);
    }
}

/// Writes the files that an agent is told to read. They follow from the journal, so nothing is lost if one is.
pub(crate) fn keep(workspace: &Path, copies: &[Copy]) -> Result<(), String> {
    for copy in copies {
        let path = workspace.join(&copy.path);
        if fs::read(&path).is_ok_and(|there| there == copy.text.as_bytes()) {
            continue;
        }
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| fs::write(&path, &copy.text))
            .map_err(|error| format!("cannot write {}, which the agent is to read: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns the folder of an attempt: `.baton/runs/RUN/STEP/FENCE` in the workspace.
pub(crate) fn attempt_folder(workspace: &Path, run: &RunId, handoff: &HandoffId, fence: u64) -> PathBuf {
    let name = handoff.as_str().strip_prefix(run.as_str()).unwrap_or(handoff.as_str()).trim_start_matches('.');
    workspace.join(".baton/runs").join(run.as_str()).join(name).join(fence.to_string())
}

/// Returns the name under which this process claims: `user@host:pid:start`, so that others can see when it is dead.
pub(crate) fn claimant() -> String {
    let pid = std::process::id();
    format!("{}:{}", user::claimant(), started_at(pid).unwrap_or_default())
}

/// Says whether a claimant is certainly dead: a process of this machine that is gone, or another one by now.
pub(crate) fn is_dead(claimant: &str) -> bool {
    let mut parts = claimant.rsplitn(3, ':');
    let (Some(start), Some(pid), Some(place)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let ours = user::claimant();
    let here = ours.rsplit_once(':').map(|(place, _)| host(place));
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    here == Some(host(place)) && start > 0 && started_at(pid) != Some(start)
}

fn host(place: &str) -> &str {
    place.rsplit_once('@').map_or(place, |(_, host)| host)
}

/// Returns when a process was started, in the kernel's ticks; `None` if there is no such process.
fn started_at(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    // One that is dead but not buried by whoever started it does nothing any more.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_died_is_dead_before_it_is_buried() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("a process");
        let claimant = format!("{}:{}", user::claimant(), 0);
        let start = started_at(child.id()).expect("it lives");
        let claimant = claimant.replace(&format!(":{}:0", std::process::id()), &format!(":{}:{start}", child.id()));
        assert!(!is_dead(&claimant), "{claimant}");
        child.kill().expect("it can be killed");
        // It stays in the table of processes until somebody waits for it, which this does not.
        let id = rustix::process::Pid::from_child(&child);
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(id), options).expect("it dies");
        assert!(is_dead(&claimant), "{claimant}");
        child.wait().expect("it is dead");
    }

    #[test]
    fn only_a_process_of_this_machine_that_is_gone_is_dead() {
        assert!(!is_dead(&claimant()), "we live");
        let ours = claimant();
        let (rest, start) = ours.rsplit_once(':').expect("a start");
        let start: u64 = start.parse().expect("a number");
        assert!(is_dead(&format!("{rest}:{}", start + 1)), "the number belongs to another process");
        assert!(!is_dead("ana@elsewhere:1:5"), "nobody here knows");
        assert!(!is_dead("worker-7"));
    }

    #[test]
    fn workflows_in_one_folder_do_not_share_agents_of_the_same_name() {
        let crew = Crew::new(Arc::new(crate::clock::SteadyClock::start()));
        let reach = |program: &str| {
            let text = format!("name: w\nagents: {{a: {{command: [{program}]}}}}\nphases: [{{id: x, agent: a}}]");
            let definition = Definition {
                workflow: workflow::read(text.as_bytes()).workflow.expect("readable"),
                folder: PathBuf::from("/flows"),
                nested: std::collections::BTreeMap::new(),
                templates: std::collections::BTreeMap::new(),
                inputs: serde_json::Map::new(),
                workspace: PathBuf::from("/work"),
            };
            match crew.reach(&definition, "a") {
                Reached::Here(agent) => agent,
                Reached::Elsewhere | Reached::Not(_) => panic!("it is a command"),
            }
        };
        assert!(Arc::ptr_eq(&reach("sh"), &reach("sh")), "the same agent is reached once");
        assert!(!Arc::ptr_eq(&reach("sh"), &reach("cat")), "another command is another agent");
    }
}
