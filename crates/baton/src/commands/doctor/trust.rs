//! What decisions and the record are proved with: approvers, the anchor, and whether agents reach any of it.

use baton_agents::Launcher;
use baton_views::words::counted;

use super::Sign;
use crate::anchor::Anchor;
use crate::config::Config;
use crate::reach::Places;
use crate::state;
use crate::store::{Place, Session};

/// Looks at what the configuration names.
pub(super) fn look(place: &Place, config: &Config) -> Vec<Sign> {
    let mut signs = vec![approvers(config), anchor(config)];
    let state = state::folder().ok();
    let places = Places::of(&place.location, config, state.as_ref().map(|state| state.root()));
    let reached = places.within_reach(&Launcher::protection());
    signs.extend(reached.into_iter().map(|found| Sign::warning("reach", found.says, found.hint)));
    signs
}

fn approvers(config: &Config) -> Sign {
    match config.approvers.signers() {
        Ok(signers) if signers.is_empty() => {
            Sign::fine("approvers", "baton.toml names none, so decisions cannot be signed")
        }
        Ok(signers) => {
            let useless = config
                .settings
                .signers
                .iter()
                .filter_map(|signer| Some(format!("{}: {}", signer.place, signer.useless.as_ref()?)));
            let useless: Vec<String> = useless.collect();
            match useless.is_empty() {
                true => Sign::fine("approvers", format!("{} can sign", counted(signers.len() as u64, "key"))),
                false => Sign::warning("approvers", useless.join("; "), "name another key, or correct the line"),
            }
        }
        Err(error) => {
            Sign::wrong("approvers", error.message, "correct it: gates with approvers cannot be started until then")
        }
    }
}

fn anchor(config: &Config) -> Sign {
    match &config.anchor {
        None => Sign::warning(
            "anchor",
            "baton.toml names none: a completely rewritten ledger would go unnoticed",
            "name a file that agents cannot reach, or a command, under [anchor] in baton.toml",
        ),
        Some(Anchor::Command { .. }) => Sign::fine("anchor", "a command gets the lines of the ledger"),
        Some(Anchor::File(path)) => match (path.exists(), path.parent().is_some_and(|folder| folder.is_dir())) {
            (true, _) => Sign::fine("anchor", path.display().to_string()),
            (false, true) => Sign::fine("anchor", format!("{} will be made", path.display())),
            (false, false) => Sign::wrong(
                "anchor",
                format!("{} cannot be made: its folder is missing", path.display()),
                "make the folder, or name another file under [anchor] in baton.toml",
            ),
        },
    }
}

/// Looks whether the anchor has everything that is in the ledger.
pub(super) async fn waiting(session: &Session) -> Option<Sign> {
    let anchor = session.anchor.as_ref()?;
    match anchor.waiting(session.store.as_ref()).await {
        Ok(0) => None,
        Ok(lines) => Some(Sign::warning(
            "anchor",
            format!(
                "{} not delivered yet",
                if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
            ),
            "deliver them: baton audit anchor",
        )),
        Err(why) => Some(Sign::wrong("anchor", why, "see [anchor] in baton.toml")),
    }
}
