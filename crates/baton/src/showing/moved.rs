//! Runs whose project was moved: says where it is now, and links its old place to it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use baton_protocol::printable;

use super::Show;
use crate::command_error::CommandError;
use crate::guard;
use crate::own_folder;
use crate::store::place;

impl Show<'_> {
    /// The error when a workspace is not where it was when the run began; it says how the run can go on.
    pub(super) fn moved_away(&self, workspace: &Path) -> CommandError {
        let message = format!("the workspace of {} is missing: {}", self.id, workspace.display());
        let hint = match self.found_again(workspace) {
            Some((_, new)) => format!(
                "the project is at {} now: baton resume {} --moved links its old place to it and continues",
                new.display(),
                self.id
            ),
            None => format!("restore it, or run baton resume {} --moved in the folder of the project", self.id),
        };
        CommandError::usage(message).hint(hint)
    }

    /// Links the old place of a project that was moved to where it is now. A run is bound to the path of its workspace: its
    /// journal, its evidence and what its agents were told name it.
    pub(crate) fn link_moved(&self) -> Result<(), CommandError> {
        guard::person(None)?;
        let workspace = self.session.run(self.beginning())?.definition.workspace.clone();
        if workspace.exists() {
            return Err(CommandError::usage(format!(
                "the workspace of {} is still there: {}",
                self.id,
                workspace.display()
            ))
            .hint(format!("baton resume {} continues it", self.id)));
        }
        let Some((old, new)) = self.found_again(&workspace) else {
            let message = format!("{}: this project does not contain its workspace, {}", self.id, workspace.display());
            return Err(CommandError::usage(message).hint("run this in the folder that the project was moved to"));
        };
        let linked = old.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| symlink(&new, &old));
        linked.map_err(|error| {
            CommandError::usage(format!("cannot link {} to {}: {error}", old.display(), new.display()))
        })?;
        self.output.note(&printable(&format!("linked {} to {}", old.display(), new.display())));
        Ok(())
    }

    /// Looks for a workspace in the project as it is now: some end of its path, with files of this run in it. Returns the
    /// folder of the project as it was and as it is; agents and scripts were moved with it.
    fn found_again(&self, workspace: &Path) -> Option<(PathBuf, PathBuf)> {
        let project = place::project(&std::env::current_dir().ok()?);
        let is_it = |folder: &Path| folder.join(own_folder::NAME).join("runs").join(self.id.as_str()).is_dir();
        let mut above = workspace.ancestors();
        above.find_map(|old| {
            let new = project.join(workspace.strip_prefix(old).ok()?);
            (is_it(&new) && !old.exists()).then(|| (old.to_owned(), project.clone()))
        })
    }
}
