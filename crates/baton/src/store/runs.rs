//! What is left of a run on this machine when it is over.

use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::{RunId, StateFolder};

use super::Session;

impl Session {
    /// Removes what the attempts of a run were measured with, which nobody needs when it is over.
    pub(crate) async fn forget_measures(&self, run: &RunId) {
        self.forget(run, |state, workspace| vec![state.run(workspace, run)]).await;
    }

    /// Removes everything that is kept of a run here beside the store.
    pub(crate) async fn forget_run(&self, run: &RunId) {
        self.forget(run, |state, workspace| vec![state.run(workspace, run), state.activities(workspace, run)]).await;
    }

    async fn forget(&self, run: &RunId, folders: impl Fn(&StateFolder, &Path) -> Vec<PathBuf>) {
        let definition = self.engine.definition(run).await.ok().flatten();
        if let (Some(definition), Some(state)) = (definition, &self.state) {
            for folder in folders(state, &definition.workspace) {
                // Without any there is nothing to remove, and what cannot be removed is in nobody's way.
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}
