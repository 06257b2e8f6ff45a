//! What somebody should know before a run goes on: files of the workflow that have changed, and gaps in the cage.

use baton_agents::Launcher;
use baton_engine::protection::Protection;
use baton_engine::run::Run;
use baton_protocol::workflow::AgentFields;
use serde_json::{Map, Value};

use super::{Show, Watching};
use crate::reach::{Places, WithinReach};
use crate::running;

impl Show<'_> {
    /// Warns that the files of the workflow have changed since the run began, and says how to use them with what the run is given
    /// from now on.
    pub(super) fn warn_of_changes(&self, watching: &Watching, run: &Run, given: &Map<String, Value>) {
        let changed = running::changed_files(&run.definition);
        for file in &changed {
            let file = file.display();
            let text = format!("warning: {file} has changed; the run continues with the version it started with");
            self.tell(watching, &text);
        }
        let anew = running::command_to_start(&run.definition, given).filter(|_| !changed.is_empty());
        if let Some(command) = anew {
            let store = self.store.repeated();
            let end = if run.is_finished() { String::new() } else { format!("baton cancel {}{store} && ", self.id) };
            self.tell(watching, "hint: to use the new version, start over:");
            self.tell_command(watching, &format!("{end}{command}{store}"));
        }
    }

    /// Warns that agents are not fully caged, or can reach what they must not change. That they are caged is said at
    /// the end.
    pub(super) fn warn_of_gaps(&self, watching: &Watching, run: &Run) {
        let workflow = &run.definition.workflow;
        let (confinement, protection) = (workflow.confinement(None), protection(run));
        if !protection.is_full() {
            self.tell(watching, &format!("warning: agents are {protection}; see baton doctor"));
        }
        let missing = Launcher::missing_programs();
        if !missing.is_empty() {
            let programs = missing.join(" and ");
            self.tell(
                watching,
                &format!("warning: agents have no session or no limits without {programs}; see baton doctor"),
            );
        }
        let is_let_out = |agent: &AgentFields| !confinement.off && workflow.confinement(Some(agent)).off;
        for (name, _) in workflow.agents.iter().filter(|(_, agent)| is_let_out(agent)) {
            self.tell(watching, &format!("warning: the agent {name} is not caged (sandbox: off)"));
        }
        let session = self.session;
        let opened = confinement.cage.write.iter().filter(|path| !path.starts_with('~'));
        for path in opened.clone().filter(|path| !run.definition.workspace.join(path).exists()) {
            self.tell(
                watching,
                &format!("warning: cage.write names {path}, which does not exist: agents cannot write there"),
            );
        }
        let places = Places {
            store: &session.location,
            state: session.state.as_ref().map(|state| state.root()),
            config_file: session.config_file.as_deref(),
            approvers_file: session.approvers.file.as_deref(),
            anchor: session.anchor.as_ref().and_then(|anchor| anchor.file()),
            opened: opened.map(|path| run.definition.workspace.join(path)).collect(),
        };
        for WithinReach { says, hint } in places.within_reach(&protection) {
            self.tell(watching, &format!("warning: {says}; {hint}"));
        }
    }

    /// Shows people a command exactly as it is: they may copy it.
    fn tell_command(&self, watching: &Watching, command: &str) {
        let command = format!("  {command}");
        match watching {
            Watching::Terminal(live) => live.say(&command),
            Watching::Reader(_) | Watching::Machine(_) => self.tell(watching, &command),
        }
    }
}

/// Returns what keeps the processes of a run away from what is not theirs, unless an agent is an exception.
pub(super) fn protection(run: &Run) -> Protection {
    Launcher::protection_of(&run.definition.workflow.confinement(None))
}
