//! Stores that lie where agents can reach them: used as they are until somebody moves them, and never without a word.

use std::io;

use baton_agents::process::HANDOFF;
use baton_protocol::printable;
use baton_store::Location;

use super::moving::from_old_folder;
use super::{Access, Place, Source};
use crate::command_error::CommandError;
use crate::output::Output;

/// Mentions an old store, and offers to move it to whoever sits at a terminal and is about to change something.
pub(super) fn tell(place: Place, access: Access, output: &Output) -> Result<Place, CommandError> {
    if let Some(unused) = &place.unused {
        let (unused, used) = (unused.display(), &place.location);
        note(
            output,
            &format!(
                "this project has another store, {unused}, which is not used ({used} is); inspect it with --store, then delete it"
            ),
        );
    }
    let Source::Old(project) = &place.source else { return Ok(place) };
    // Whoever works in a run can neither move its store nor should be told to.
    if std::env::var_os(HANDOFF).is_some() {
        return Ok(place);
    }
    let reachable = format!("agents can reach the store {}", place.location);
    if access == Access::Look || !output.can_ask() {
        note(output, &format!("{reachable}; move it to your state folder: baton store move"));
        return Ok(place);
    }
    note(output, &format!("{reachable}, which should be in your state folder. Move it there now? [y/N]"));
    let mut answer = String::new();
    // Whoever does not answer has not said yes.
    let _ = io::stdin().read_line(&mut answer);
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        output.note("not moved; `baton store move` moves it later");
        return Ok(place);
    }
    let moved = from_old_folder(project)?;
    note(output, &format!("moved to {}", moved.display()));
    Ok(Place { location: Location::Sqlite(moved), source: Source::Project(project.clone()), unused: None })
}

fn note(output: &Output, text: &str) {
    output.note(&printable(text));
}
