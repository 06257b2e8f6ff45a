//! Where this project keeps what its agents must not reach.

use std::path::Path;

use baton_engine::StateFolder;
use baton_host::quoted;
use baton_store::Location;

use super::Sign;
use crate::state;
use crate::store::{Place, Source};

/// Looks at where the store is, and at the user's state folder.
pub(super) fn look(place: &Place) -> Vec<Sign> {
    let mut signs = vec![project(place)];
    if let Some(unused) = &place.unused {
        let says = format!("{} is another store of this project, and is not used", unused.display());
        signs.push(Sign::warning("project", says, "inspect it with --store, then delete it"));
    }
    signs.push(match state::folder() {
        Ok(state) => folder(&state, &place.source),
        Err(error) => {
            Sign::warning("state", error.message, "set XDG_STATE_HOME to a folder that only you can write to")
        }
    });
    signs
}

fn project(place: &Place) -> Sign {
    let store = &place.location;
    match &place.source {
        Source::Named(by) => Sign::fine("project", format!("its store is {store}, as {by} says")),
        Source::Project(project) => of_project(project, store),
        Source::Workspace(workspace) => {
            Sign::fine("project", format!("{} is a workspace, its runs are in {store}", workspace.display()))
        }
        Source::Old(project) => Sign::warning(
            "project",
            format!("{} keeps its store in {store}, where agents can reach it", project.display()),
            "move it to your state folder: baton store move",
        ),
    }
}

fn of_project(project: &Path, store: &Location) -> Sign {
    let shown = project.display();
    let before = state::folder().ok().and_then(|state| state::moved_from(&state, project));
    match (store, before) {
        (Location::Sqlite(path), Some(before)) if !path.exists() => Sign::warning(
            "project",
            format!("{shown} was {} when its store was made", before.display()),
            format!("move its store, too: baton store move {}", quoted(&before.to_string_lossy())),
        ),
        (Location::Sqlite(path), None) if !path.exists() => {
            Sign::fine("project", format!("{shown} has no store yet; it will be {store}"))
        }
        _ => Sign::fine("project", format!("{shown}, its store is {store}")),
    }
}

fn folder(state: &StateFolder, source: &Source) -> Sign {
    let root = state.root();
    let says = |what: &str| format!("{} {what}", root.display());
    let within_reach = |folder: &Path| root.starts_with(folder);
    if state::is_open_to_others(root) {
        let hint = format!("keep it to yourself: chmod 700 {}", quoted(&root.to_string_lossy()));
        return Sign::warning("state", says("can be read by other users"), hint);
    }
    match source {
        Source::Project(place) | Source::Workspace(place) | Source::Old(place) if within_reach(place) => Sign::warning(
            "state",
            format!("{} lies in {}, where agents can reach it", root.display(), place.display()),
            "set XDG_STATE_HOME to a folder outside of the project",
        ),
        _ => Sign::fine("state", root.display().to_string()),
    }
}
