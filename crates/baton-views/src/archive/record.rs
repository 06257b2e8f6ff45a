//! The record of a handoff: what was answered and decided, when, and every event with its hash.
//!
//! The form is a promise: members are added, never changed. `history` has the events letter by letter, so that the
//! chain of hashes can be computed again from the records of a run, ordered by `seq`.

use baton_engine::evidence::ExaminedClaim;
use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Fact};
use baton_engine::known::CommandAuthor;
use baton_engine::lifecycle::{Command, Ending, Requeue, Verdict};
use baton_protocol::Dialect;
use serde_json::{Map, Value, json};

use crate::{event, handoff as form};

/// The version of the form.
const VERSION: u32 = 2;

/// Writes the record of a handoff.
pub(super) fn of(handoff: &Handoff, events: &[Event], request: &WrittenDocument, losses: &[String]) -> Value {
    let told: Vec<(&Event, Fact)> = events.iter().filter_map(|event| Some((event, event.fact().ok()?))).collect();
    let collect = |tell: fn(&Fact) -> Option<Map<String, Value>>| -> Vec<Value> {
        told.iter().filter_map(|(event, fact)| Some(stamped(event, tell(fact)?))).collect()
    };
    let phase = event::phase_of(handoff);
    let mut record = json!({
        "version": VERSION,
        "handoff": form::json(handoff),
        "acknowledgments": collect(acknowledgment),
        "reports": collect(report),
        "decisions": collect(decision),
        "files": collect(files),
        "history": events.iter().map(|one| event::letter_by_letter(one, phase)).collect::<Vec<_>>(),
        "head": events.last().map(|event| event.hash.to_string()),
    });
    if !losses.is_empty() {
        record["original"] = json!({ "dialect": request.dialect, "lost": losses, "document": native(request) });
    }
    json!({ "record": record })
}

fn stamped(event: &Event, mut told: Map<String, Value>) -> Value {
    told.insert("seq".to_owned(), event.seq.into());
    told.insert("at".to_owned(), json!(event.at));
    Value::Object(told)
}

fn files(fact: &Fact) -> Option<Map<String, Value>> {
    let (examined, kept) = match fact {
        Fact::Happened(Command::Verify(verify)) => (&verify.examined, &*verify.kept),
        Fact::Happened(Command::Report(report)) => (&report.examined, &[][..]),
        _ => return None,
    };
    let seen =
        |seen: &ExaminedClaim| Some(json!({ "path": seen.path.as_ref()?, "sha256": seen.sha256, "mark": seen.mark }));
    let files: Vec<Value> = examined.iter().filter_map(seen).collect();
    (!files.is_empty()).then(|| object([("looked_at", files.into()), ("kept", json!(kept))]))
}

fn acknowledgment(fact: &Fact) -> Option<Map<String, Value>> {
    let Fact::Happened(Command::Acknowledge(acknowledge)) = fact else { return None };
    let mut told =
        object([("understood", acknowledge.understood.into()), ("acknowledgment", document(&acknowledge.document))]);
    told.extend(sent_by(acknowledge.author.as_deref()));
    Some(told)
}

/// Returns who sent a document, and through which interface, where that is known.
fn sent_by(author: Option<&CommandAuthor>) -> Option<(String, Value)> {
    let CommandAuthor { name, known, door } = author?;
    Some(("sent_by".to_owned(), json!({ "name": name, "known": form::known(known), "door": door })))
}

fn report(fact: &Fact) -> Option<Map<String, Value>> {
    let (mut told, author) = match fact {
        Fact::Happened(Command::Report(report)) => {
            let told = object([("ending", ending(&report.ending).into()), ("report", document(&report.document))]);
            (told, &report.author)
        }
        Fact::Happened(Command::Fail(fail)) => {
            let mut told = object([
                ("ending", "failed".into()),
                ("failure", json!({ "code": fail.failure.code.as_str(), "message": fail.failure.text() })),
                ("report", fail.document.as_ref().map(document).into()),
            ]);
            if !fail.warnings.is_empty() {
                told.insert("warnings".to_owned(), fail.warnings.clone().into());
            }
            (told, &fail.author)
        }
        Fact::Refused(refused) => {
            let told = object([
                ("ending", "refused".into()),
                ("why", refused.why.clone().into()),
                ("by", refused.by.clone().into()),
                ("report", refused.document.as_ref().map(document).into()),
            ]);
            (told, &refused.author)
        }
        _ => return None,
    };
    told.extend(sent_by(author.as_deref()));
    Some(told)
}

fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Blocked { .. } => "blocked",
        Ending::NeedsReview => "needs_review",
        Ending::NeedsClarification => "needs_clarification",
    }
}

fn decision(fact: &Fact) -> Option<Map<String, Value>> {
    let (by, what, text) = match fact {
        Fact::Happened(Command::Decide(decide)) => {
            let (what, text) = (decide.decision.verb(), decide.decision.words());
            let mut told = object([("by", decide.by.clone().into()), ("decision", what.into())]);
            told.extend(decide.label.clone().map(|label| ("as".to_owned(), label.into())));
            told.insert("known".to_owned(), form::known(&decide.known));
            told.insert("door".to_owned(), decide.door.to_string().into());
            told.insert("shown".to_owned(), decide.shown.0.clone().into());
            told.extend(text.map(|text| ("text".to_owned(), text.into())));
            told.extend(decide.note.clone().map(|note| ("note".to_owned(), note.into())));
            return Some(told);
        }
        Fact::Happened(Command::Verify(verify)) => match &verify.verdict {
            Verdict::Verified => ("evidence".to_owned(), "verified", None),
            Verdict::Refuted { reasons, .. } => ("evidence".to_owned(), "refuted", Some(reasons.clone())),
        },
        Fact::Happened(Command::Cancel(cancel)) => (cancel.by.clone(), "cancel", cancel.reason.clone()),
        Fact::Happened(Command::Requeue(requeue)) => (requeue.by.clone(), "requeue", requeue.note.clone()),
        Fact::Happened(Command::Resume(resume)) => (resume.by.clone(), "resume", Some(resume.resolution.clone())),
        _ => return None,
    };
    let mut told = object([("by", by.into()), ("decision", what.into())]);
    told.extend(text.map(|text| ("text".to_owned(), text.into())));
    if let Fact::Happened(Command::Requeue(Requeue { inputs, .. })) = fact
        && !inputs.is_empty()
    {
        told.insert("inputs".to_owned(), inputs.clone().into());
    }
    Some(told)
}

fn document(written: &WrittenDocument) -> Value {
    json!({ "dialect": written.dialect, "document": native(written) })
}

/// Returns a document in the native form, which loses nothing; what cannot be read stays text.
fn native(written: &WrittenDocument) -> Value {
    let native = written.read().and_then(|document| Dialect::Native.write(&document));
    native.unwrap_or_else(|| Value::String(written.text.clone()))
}

fn object<const SIZE: usize>(members: [(&str, Value); SIZE]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
