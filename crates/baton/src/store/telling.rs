//! Prints what became of a handoff: a line on stdout, or JSON.

use baton_engine::engine::AppliedCommand;
use serde_json::json;

use super::Session;
use crate::command_error::CommandError;
use crate::output::Output;

impl Session {
    /// Prints what became of a handoff.
    pub(crate) fn tell(&self, applied: &AppliedCommand, json: bool, output: &Output) -> Result<(), CommandError> {
        let handoff = &applied.handoff;
        if json {
            return output.json(&json!({
                "version": 1,
                "handoff": baton_views::handoff::json(handoff),
                "repeated": applied.repeated,
            }));
        }
        if applied.repeated {
            output.note(&format!("{}: already recorded", handoff.id));
        }
        output.data(&format!("{} {}\n", handoff.id, baton_views::handoff::state(handoff, self.now())))?;
        if handoff.approved {
            output.note("its files are checked once more, then the run continues");
        }
        Ok(())
    }
}
