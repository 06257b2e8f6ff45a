//! Runs of workflows in the store: found by id, read from their journal.

use std::fs;

use baton_engine::RunId;
use baton_engine::handoff::Handoff;
use baton_engine::journal::Event;
use baton_engine::run::Run;
use baton_engine::step::Role;

use super::Session;
use crate::briefing;
use crate::command_error::CommandError;

/// Says whether a handoff stands for a run of a workflow.
pub(crate) fn is_run(handoff: &Handoff) -> bool {
    handoff.terms.step.as_ref().is_some_and(|step| step.role == Role::Run)
}

impl Session {
    /// Finds the run that an id, or a unique beginning of one, means; a handoff of a run means its run.
    pub(crate) async fn resolve_run(&self, given: &str) -> Result<Handoff, CommandError> {
        let Some(handoff) = self.named(given).await? else {
            return Err(self.unknown("run", "baton runs", given).await);
        };
        if is_run(&handoff) {
            return Ok(handoff);
        }
        let root = baton_engine::HandoffId::parse(handoff.run.as_str()).map_err(CommandError::usage)?;
        let root = self.store.find(&root).await?.filter(is_run);
        root.ok_or_else(|| {
            CommandError::usage(format!("{} is a handoff, and belongs to no run of a workflow", handoff.id))
                .hint("`baton runs` shows what runs there are")
        })
    }

    /// Removes what the attempts of a run were measured with, which nobody needs when it is over.
    pub(crate) async fn forget_measures(&self, run: &RunId) {
        let definition = briefing::definition(self.store.as_ref(), run).await.ok().flatten();
        if let (Some(definition), Some(state)) = (definition, &self.state) {
            // Without any there is nothing to remove, and what cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(state.run(&definition.workspace, run));
        }
    }

    /// Reads a run from its journal.
    pub(crate) async fn read_run(&self, root: &Handoff) -> Result<(Run, Vec<Event>), CommandError> {
        let events = self.events_of_run(&root.run).await?;
        let run = Run::of_journal(&events).map_err(|why| {
            CommandError::no(format!("{}: {why}", root.run)).hint(format!("baton audit verify {}", root.run))
        })?;
        Ok((run, events))
    }
}
