//! What a finished handoff gives to those that follow: who gives to whom, and what it says.
//!
//! A handover is everything that an agent said when it handed its work over. It follows from the journal alone, so that
//! every door tells the next agent the same. All of it is in a file that the prompt names; what the next agent
//! needs at once stands in the prompt itself.

mod givers;
mod index;
mod sheet;
mod standing;
mod text;

pub(crate) use givers::{earlier_visits, givers, members};
pub(crate) use index::index;
pub(crate) use standing::stands_on;
pub use text::{artifact, blocker, open_question};
pub(crate) use text::{decision, paths, spec_path};

use baton_protocol::model::Report;

use crate::answer;
use crate::evidence::{SeenFile, seen_files};
use crate::handoff::WrittenDocument;
use crate::lifecycle::{Decide, Decision};
use crate::run::{Run, TrackedHandoff};
use crate::step::{Role, Step};
use sheet::Sheet;

/// How many handovers stand in a prompt one by one. More are put together, with one file for all.
const SINGLE_MAX: usize = 12;

/// What somebody hands over, as it is written in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handover {
    /// Whose it is: the phase and the agent.
    pub label: String,
    /// The agent or the check that it is from, if it is from one.
    pub from: Option<String>,
    /// What the next agent needs at once.
    pub text: String,
    /// The file that has all of it, relative to the workspace.
    pub file: Option<String>,
}

/// A file that Baton writes, so that an agent can read what has no file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Where, relative to the workspace.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// Returns what a handoff is given by those before it.
pub(crate) fn given(run: &Run, receiver: &TrackedHandoff) -> Vec<Handover> {
    let givers = givers(run, &receiver.step);
    if givers.len() > SINGLE_MAX {
        let text: Vec<String> =
            givers.iter().map(|giver| format!("# {}\n{}", label(giver), told(run, giver))).collect();
        let label = format!("{} handoffs before", givers.len());
        return vec![Handover { label, from: None, text: text.join("\n\n"), file: Some(together(run, receiver)) }];
    }
    let mut handovers: Vec<Handover> = givers.into_iter().map(|giver| of(run, giver)).collect();
    if receiver.step.role == Role::Delegation {
        handovers
            .extend(receiver.step.about.as_ref().and_then(|about| run.find(about)).map(|blocked| asks(run, blocked)));
    }
    handovers.retain(|handover| !handover.text.trim().is_empty());
    handovers
}

/// Returns the files that a handoff is given by those before it, as they were when they were examined: each once, the
/// latest. What a report names without having made it is not among them, nor what it does not name.
pub(crate) fn files(run: &Run, receiver: &TrackedHandoff) -> Vec<SeenFile> {
    let blocked = receiver.step.about.as_ref().and_then(|about| run.find(about));
    let helps = receiver.step.role == Role::Delegation;
    let all = givers(run, &receiver.step).into_iter().chain(blocked.filter(|_| helps));
    let mut files: Vec<SeenFile> = Vec::new();
    let given = |giver: &'_ TrackedHandoff| -> Vec<SeenFile> {
        seen_files(giver.examined.iter().filter(|examined| examined.is_handed_over())).collect()
    };
    for file in all.flat_map(given) {
        files.retain(|known| known.path != file.path);
        files.push(file);
    }
    files.retain(|file| file.sha256.is_some());
    files
}

/// Returns what an agent that starts again has said and changed before.
pub(crate) fn memory(run: &Run, receiver: &TrackedHandoff) -> Option<Handover> {
    let earlier = match receiver.ended > 0 || receiver.told.is_some() {
        true => receiver,
        false => givers::earlier_visit(run, &receiver.step)?,
    };
    let mut sheet = Sheet::default();
    match (&earlier.refused, &earlier.told) {
        // What was refused last is what it must do better; it could not be understood, so it stands as it is.
        (Some(refused), _) => sheet.text("refused report", &refused.text),
        (None, Some(told)) => text::told(&mut sheet, told),
        (None, None) => {}
    }
    sheet.list("files that had changed by then", &earlier.changed);
    // A refused report stands there whole.
    if earlier.refused.is_none() {
        whole_report(&mut sheet, run, earlier);
    }
    let text = sheet.into_text();
    let label = "your earlier report".to_owned();
    (!text.is_empty()).then(|| Handover { label, from: None, text, file: file_of(run, earlier) })
}

/// Returns the files that must be there before an agent reads its prompt, which has this index.
pub(crate) fn copies(run: &Run, receiver: &TrackedHandoff, index: Option<Handover>) -> Vec<Copy> {
    let givers = givers(run, &receiver.step);
    let mut copies = Vec::new();
    if givers.len() > SINGLE_MAX {
        let text: Vec<String> = givers.iter().map(|giver| format!("# {}\n\n{}", label(giver), whole(giver))).collect();
        copies.push(Copy { path: together(run, receiver), text: text.join("\n\n") });
    }
    copies.extend(index.and_then(|index| Some(Copy { path: index.file?, text: index.text })));
    let together = copies.iter().any(|copy| copy.path.ends_with(".given.md"));
    let blocked = receiver.step.about.as_ref().and_then(|about| run.find(about));
    let own = std::iter::once(receiver).chain(givers::earlier_visit(run, &receiver.step));
    let few = givers.into_iter().filter(|_| !together);
    let all: Vec<&TrackedHandoff> = few.chain(blocked).chain(own).chain(index::entries(run, receiver)).collect();
    for tracked in all {
        let Some(written) = document(tracked) else { continue };
        let path = copy_of(run, tracked, written);
        if !copies.iter().any(|copy| copy.path == path) {
            copies.push(Copy { path, text: written.text.clone() });
        }
    }
    copies
}

fn of(run: &Run, giver: &TrackedHandoff) -> Handover {
    Handover { label: label(giver), from: from(giver), text: told(run, giver), file: file_of(run, giver) }
}

/// What the helper of a blocked agent must know: its task, and everything it reported.
fn asks(run: &Run, blocked: &TrackedHandoff) -> Handover {
    let mut sheet = Sheet::default();
    if let Some(request) = blocked.asked() {
        sheet.line("task of the blocked agent", request.instructions.as_deref());
        if let Some(expected) = &request.expectations {
            text::expectations(&mut sheet, expected);
        }
    }
    if let Some(told) = &blocked.told {
        text::told(&mut sheet, told);
    }
    sheet.list("files that had changed by then", &blocked.changed);
    whole_report(&mut sheet, run, blocked);
    Handover { label: label(blocked), from: from(blocked), text: sheet.into_text(), file: file_of(run, blocked) }
}

fn from(giver: &TrackedHandoff) -> Option<String> {
    match giver.step.role {
        Role::Work | Role::Delegation | Role::Check => Some(giver.handoff.terms.to.clone()),
        Role::Group | Role::Gate | Role::Run | Role::Escalation | Role::Failure | Role::Limit => None,
    }
}

fn label(giver: &TrackedHandoff) -> String {
    let Step { role, phase, .. } = &giver.step;
    match role {
        Role::Work | Role::Delegation => format!("{phase} by {}", giver.handoff.terms.to),
        Role::Check => format!("the check {phase}"),
        Role::Group | Role::Gate | Role::Run | Role::Escalation | Role::Failure | Role::Limit => phase.clone(),
    }
}

/// What somebody says, and what a person said about it.
fn told(run: &Run, giver: &TrackedHandoff) -> String {
    let mut sheet = Sheet::default();
    match &giver.told {
        // What its members have said is handed over by themselves.
        Some(told) if giver.step.role == Role::Group => sheet.line("summary", told.report.summary.as_deref()),
        Some(told) => {
            text::told(&mut sheet, told);
            text::prose(&mut sheet, told);
        }
        None => {}
    }
    // What people answered on the way is part of what the work rests on.
    for note in giver.handoff.notes.iter().filter(|note| note.question.is_some()) {
        sheet.line("asked", note.question.as_deref());
        sheet.line(&format!("answered by {}", note.from), Some(&note.text));
    }
    if let (Some(failure), false) = (&giver.handoff.last_failure, giver.passed()) {
        sheet.line("failed", Some(&failure.to_string()));
    }
    if let Some(decided) = &giver.decided {
        let by = &giver.deciders().unwrap_or_default();
        match &decided.decision {
            Decision::Approve => sheet.line(&format!("note of {by}, who approved it"), decided.note.as_deref()),
            Decision::Answer { answers } => {
                // An answer to the agent's own question stands above.
                if !giver.handoff.notes.iter().any(|note| note.question.is_some() && note.text == *answers) {
                    sheet.line(&format!("decision of {by}"), Some(answers));
                }
                sheet.line(&format!("note of {by}"), decided.note.as_deref());
            }
            Decision::Reject { .. } | Decision::Ask { .. } => {}
        }
    }
    whole_report(&mut sheet, run, giver);
    sheet.into_text()
}

/// Names the file with all that somebody handed in. What an agent wrote into its output may be written over; the copy
/// stays.
fn whole_report(sheet: &mut Sheet, run: &Run, tracked: &TrackedHandoff) {
    let (Some(written), Some(file)) = (document(tracked), file_of(run, tracked)) else { return };
    let beyond = tracked.told.as_deref().map(text::beyond).unwrap_or_default();
    let also = if beyond.is_empty() { String::new() } else { format!(" (with {})", beyond.join(", ")) };
    let copy = if is_own(written) {
        format!("; as it was handed in: {}", copy_of(run, tracked, written))
    } else {
        String::new()
    };
    sheet.line("whole report", Some(&format!("{file}{also}{copy}")));
}

/// Returns whether a document is in a file of the agent's own, which the agent and others may change.
fn is_own(written: &WrittenDocument) -> bool {
    written.path.as_deref().is_some_and(|path| !path.starts_with(".baton/"))
}

fn whole(giver: &TrackedHandoff) -> &str {
    document(giver).map_or("", |written| written.text.as_str())
}

/// Returns the last document that an agent handed in; reports that Baton itself wrote do not count.
fn document(tracked: &TrackedHandoff) -> Option<&WrittenDocument> {
    let agents = matches!(tracked.step.role, Role::Work | Role::Delegation);
    tracked.refused.as_ref().or(tracked.told.as_ref().map(|told| &told.written)).filter(|_| agents)
}

/// Returns the file that has all that somebody handed in, relative to the workspace. What lies in the folder of an attempt may
/// have been changed since it was judged, so a copy from the journal is named in its place.
pub(crate) fn file_of(run: &Run, tracked: &TrackedHandoff) -> Option<String> {
    let written = document(tracked)?;
    let own = written.path.as_ref().filter(|_| is_own(written));
    Some(own.cloned().unwrap_or_else(|| copy_of(run, tracked, written)))
}

fn copy_of(run: &Run, tracked: &TrackedHandoff, written: &WrittenDocument) -> String {
    let ending = match written.text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => "json",
        _ if written.dialect == "package" => "yaml",
        _ => "md",
    };
    [place(run, tracked).as_str(), ".", &tracked.handoff.fence.to_string(), ".", ending].concat()
}

fn together(run: &Run, receiver: &TrackedHandoff) -> String {
    format!("{}.given.md", place(run, receiver))
}

/// Copies are beside the folders of the attempts.
fn place(run: &Run, tracked: &TrackedHandoff) -> String {
    let id = tracked.handoff.id.as_str();
    let step = id.strip_prefix(run.id.as_str()).unwrap_or(id).trim_start_matches('.');
    [".baton/runs/", run.id.as_str(), "/handed/", step].concat()
}

/// Describes in one line what people decided at a gate.
fn gate_ending(by: &str, decide: &Decide) -> String {
    let (word, said) = match &decide.decision {
        Decision::Approve => ("approved", decide.note.as_ref()),
        Decision::Reject { feedback } => ("rejected", Some(feedback)),
        Decision::Answer { answers } => (answers.trim(), decide.note.as_ref()),
        Decision::Ask { question } => ("asked about", Some(question)),
    };
    let said = said.and_then(|text| text.lines().next()).map(|line| format!(": {}", sheet::cut(line)));
    format!("{word} by {by}{}", said.unwrap_or_default())
}

/// Describes in one line how a finished step ended.
fn ending(run: &Run, tracked: &TrackedHandoff) -> String {
    match (tracked.step.role, &tracked.decided) {
        (Role::Gate, Some(decide)) => gate_ending(&tracked.deciders().unwrap_or_default(), decide),
        _ => {
            let state = tracked.handoff.state.name();
            let good = tracked.report().is_none_or(answer::passes);
            let summary = |report: &'_ Report| report.summary.clone().or(answer::context(report).map(str::to_owned));
            let said = tracked.report().and_then(summary);
            let said =
                said.as_deref().and_then(|text| text.lines().next()).map(|line| format!(": {}", sheet::cut(line)));
            let note = tracked.decided.as_ref().and_then(|decide| Some((decide.who(), decide.note.as_ref()?)));
            let note = note.map(|(by, note)| format!("; {by}: {}", sheet::cut(note))).unwrap_or_default();
            let said = format!("{}{note}", said.unwrap_or_default());
            let file = file_of(run, tracked).map(|file| format!(" ({file})")).unwrap_or_default();
            format!("{}{said}{file}", if good { state.as_str() } else { "did not pass" })
        }
    }
}
