//! What an event of the journal says, in a few words: who did it, or why.

use baton_engine::journal::{Event, Fact};
use baton_engine::known::CommandAuthor;
use baton_engine::lifecycle::{Again, Command, Ending, RefusedCommand, Verdict, readable_claimant};
use baton_protocol::Hints;
use baton_protocol::model::Document;

use crate::sentence::{asked_again, decision, left_open, verdicts, warned, warnings_of};
use crate::words::with_inputs;

/// Returns who or why; of what cannot be read, that it cannot.
pub fn in_words(event: &Event) -> String {
    match event.fact() {
        Ok(Fact::Accepted(accept)) => {
            format!("from {} to {} ({} request)", accept.terms.from, accept.terms.to, accept.request.dialect)
        }
        Ok(Fact::Refused(RefusedCommand { by: Some(by), why, command, .. })) => format!("{why}; {command} by {by}"),
        Ok(Fact::Refused(refused)) => {
            let sent = sent_by(refused.author.as_deref(), None);
            format!("{} with fence {} came too late: {}{sent}", refused.command, refused.fence, refused.why)
        }
        Ok(Fact::Happened(command)) => {
            let claimant = match &command {
                Command::Claim(claim) => Some(readable_claimant(&claim.claimant)),
                _ => None,
            };
            format!("{}{}", happened(&command), sent_by(command.author(), claimant))
        }
        Err(why) => why.to_string(),
    }
}

/// Returns who sent a command through which interface, where that is known; a name that was told already is not repeated.
fn sent_by(author: Option<&CommandAuthor>, told: Option<&str>) -> String {
    match author {
        Some(CommandAuthor { name, door, .. }) if told == Some(name) => format!(" ({door})"),
        Some(CommandAuthor { name, door, .. }) => format!("; sent by {name} ({door})"),
        None => String::new(),
    }
}

/// Returns what somebody resolved, in short: of a report, its summary.
fn gist(resolution: &str) -> String {
    let summary = match baton_protocol::read(resolution.as_bytes(), Hints::default()).document {
        Some(Document::Report(report)) => report.summary.clone().or_else(|| report.next?.context),
        Some(Document::Request(package)) => package.context.and_then(|context| context.summary),
        Some(Document::Acknowledgment(_)) | None => None,
    };
    summary.unwrap_or_else(|| resolution.to_owned())
}

fn also_warned(warnings: &[String]) -> String {
    warned(warnings).map(|text| format!("; warned: {text}")).unwrap_or_default()
}

fn happened(command: &Command) -> String {
    let noted = |by: &str, text: Option<&str>| match text {
        Some(text) => format!("by {by}: {text}"),
        None => format!("by {by}"),
    };
    match command {
        Command::Claim(claim) => {
            let session = match &claim.session {
                Some(turn) if turn.repairs => ", to repair its report in the same session",
                Some(turn) if turn.goes_on => ", to continue in the same session",
                Some(_) | None => "",
            };
            format!("by {} for {} s{session}", readable_claimant(&claim.claimant), claim.lease_ms as f64 / 1000.0)
        }
        Command::Acknowledge(acknowledge) if acknowledge.understood => "understood".to_owned(),
        Command::Acknowledge(_) => "not understood: a person must clarify".to_owned(),
        Command::Heartbeat(heartbeat) => format!("fence {}", heartbeat.fence),
        Command::Report(report) => {
            let ending = match &report.ending {
                Ending::Complete => "complete".to_owned(),
                Ending::Blocked { reason } => format!("blocked: {reason}"),
                Ending::NeedsReview => "needs review".to_owned(),
                Ending::NeedsClarification => "needs clarification".to_owned(),
            };
            format!("{ending}{}", also_warned(&report.document.warnings))
        }
        Command::Fail(fail) => {
            let next = match fail.again {
                Again::Policy | Again::AtOnce | Again::NotBefore(_) => String::new(),
                Again::Repair => "; repaired in the same session".to_owned(),
                Again::Fresh => "; continues in a new session".to_owned(),
                Again::At(time) => format!("; continues at {}", time.strftime("%F %H:%M:%SZ")),
            };
            format!("{}{next}{}", fail.failure, also_warned(warnings_of(fail)))
        }
        Command::Verify(verify) => match &verify.verdict {
            Verdict::Verified => match (asked_again(verify), left_open(verify)) {
                (Some(changed), _) => format!("asked again: {changed}"),
                (None, Some(open)) => format!("a person must look: {open}"),
                (None, None) => match verdicts(&verify.examined) {
                    none if none.is_empty() => "no claims".to_owned(),
                    counts => counts,
                },
            },
            Verdict::Refuted { reasons, .. } if verify.repair => {
                format!("refuted: {reasons}; repaired in the same session")
            }
            Verdict::Refuted { reasons, .. } => format!("refuted: {reasons}"),
        },
        Command::Expire(_) => "a lease, timeout or other time limit expired".to_owned(),
        Command::Resume(resume) => noted(&resume.by, Some(&gist(&resume.resolution))),
        Command::Decide(decide) => {
            let (word, text) = decision(decide);
            format!("{word} {}", noted(&format!("{} ({})", decide.who(), decide.way()), text.as_deref()))
        }
        Command::Cancel(cancel) => noted(&cancel.by, cancel.reason.as_deref()),
        Command::Requeue(requeue) => {
            let given = with_inputs(&requeue.inputs);
            let from = requeue.from.as_ref().map(|phase| format!("starts again from {phase}{given}, "));
            format!("{}{}", from.unwrap_or_default(), noted(&requeue.by, requeue.note.as_deref()))
        }
        Command::Release(release) => release.why.clone(),
        Command::Route(route) => format!("to {}: {}", route.to, route.why),
    }
}
