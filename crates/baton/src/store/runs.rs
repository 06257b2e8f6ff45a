//! What is left of a run on this machine when it is over.

use std::fs;

use baton_engine::RunId;

use super::Session;

impl Session {
    /// Removes what the attempts of a run were measured with, which nobody needs when it is over.
    pub(crate) async fn forget_measures(&self, run: &RunId) {
        let definition = self.engine.definition(run).await.ok().flatten();
        if let (Some(definition), Some(state)) = (definition, &self.state) {
            // Without any there is nothing to remove, and what cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(state.run(&definition.workspace, run));
        }
    }
}
