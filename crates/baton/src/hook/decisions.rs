//! What people have decided about handoffs of a session that wait for them. The session is told once, with its next prompt.
//!
//! A file with the id of a handoff says that its decision is waited for: every call of a hook is a process of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_engine::HandoffId;
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Decision};

use crate::command_error::CommandError;
use crate::store::Session;

/// How many characters of a person's words are passed on; `baton show` has all of them.
const CHARACTERS_MAX: usize = 4_000;

/// Notes that the session waits for a decision.
pub(crate) fn wait_for(folder: &Path, handoff: &Handoff) -> io::Result<()> {
    fs::create_dir_all(waiting(folder))?;
    fs::write(waiting(folder).join(handoff.id.as_str()), "")
}

/// Returns the handoffs whose decisions are waited for.
pub(crate) fn waited_for(folder: &Path) -> Vec<HandoffId> {
    let entries = fs::read_dir(waiting(folder)).into_iter().flatten().filter_map(Result::ok);
    let mut ids: Vec<HandoffId> =
        entries.filter_map(|entry| HandoffId::parse(entry.file_name().to_string_lossy()).ok()).collect();
    ids.sort();
    ids
}

/// Returns what was decided meanwhile, and forgets that it was waited for.
pub(crate) fn made(folder: &Path, ids: &[HandoffId], session: &Session) -> Result<Option<String>, CommandError> {
    let mut lines = Vec::new();
    for id in ids {
        let Some(handoff) = session.run(session.store.find(id)).map_err(baton_engine::engine::Problem::from)? else {
            continue;
        };
        if handoff.state.name() == StateName::AwaitingPerson {
            continue;
        }
        let events = session.run(session.engine.events_of_run(&handoff.run))?;
        lines.push(format!("- {id} ({}): {}", handoff.terms.to, decided(&handoff, &events)));
        // Whoever cannot forget it tells it again, which harms nobody.
        let _ = fs::remove_file(waiting(folder).join(id.as_str()));
    }
    let head = "A person has decided about handoffs of this session (recorded by baton):";
    Ok((!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n"))))
}

/// Returns the last decision about a handoff, in words.
fn decided(handoff: &Handoff, events: &[Event]) -> String {
    let of_handoff = events.iter().rev().filter(|event| event.handoff == handoff.id);
    let decide = of_handoff.filter_map(|event| event.fact().ok()).find_map(|fact| match fact {
        Fact::Happened(Command::Decide(decide)) => Some(decide),
        _ => None,
    });
    let Some(decide) = decide else { return format!("it is {} now", handoff.state.name()) };
    let (word, text) = match &decide.decision {
        Decision::Approve => ("approved", None),
        Decision::Reject { feedback } => ("rejected", Some(feedback)),
        Decision::Answer { answers } => ("answered", Some(answers)),
        Decision::Ask { question } => ("asked", Some(question)),
    };
    let text = text.or(decide.note.as_ref()).map(|text| format!(": {text}")).unwrap_or_default();
    let told = format!("{word} by {}{text}", decide.who());
    match told.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}… (the rest: baton show {})", &told[..end], handoff.id.in_shell()),
        None => told,
    }
}

fn waiting(folder: &Path) -> PathBuf {
    folder.join("waiting")
}
