//! Plays a person with a file of answers, for demos and tests. Each answer is used once, and everybody sees that no
//! person decided.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use baton_engine::door::Door;
use baton_engine::handoff::{Ask, Digest, Handoff, State};
use baton_engine::journal::{Event, Fact};
use baton_engine::known::Decider;
use baton_engine::lifecycle::{self, Command, Decide, Decision};
use baton_engine::people::{People, Question, Response};
use baton_protocol::wire::same_word;

use super::entry::{self, Entry};
use crate::command_error::CommandError;
use crate::discover::Input;

/// Plays a person.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The name of the file.
    name: String,
    /// Where it is: by its own path, and where links lead.
    places: Vec<PathBuf>,
    /// What is in it.
    digest: Digest,
    /// The answers in their order, each with whether it was used.
    entries: Mutex<Vec<(Entry, bool)>>,
}

/// A decision that the journal knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The path of the phase, or the id of a handoff outside of a workflow.
    pub(crate) place: String,
    /// What was asked for.
    pub(crate) ask: Ask,
    /// What was decided, and how.
    pub(crate) decide: Decide,
}

impl Answers {
    /// Reads a file of answers.
    pub(crate) fn open(path: &Path) -> Result<Answers, CommandError> {
        let input = Input::File(path.to_owned());
        let name = input.name();
        let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&name)))?;
        let entries = entry::read(&name, &bytes)?;
        let file = path.file_name().map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned());
        Ok(Answers { places: places(path), digest: Digest::of(&bytes), ..Answers::new(file, entries) })
    }

    fn new(name: String, entries: Vec<Entry>) -> Answers {
        let (places, digest) = (Vec::new(), Digest::of(b""));
        Answers { name, places, digest, entries: Mutex::new(entries.into_iter().map(|entry| (entry, false)).collect()) }
    }

    /// Marks what was used before as used, so that a run goes on where it was.
    pub(crate) fn forget(&self, recorded: &[Recorded]) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for recorded in recorded {
            let decide = &recorded.decide;
            let is_same = |entry: &Entry| {
                let same_words = is_recorded(&entry.decision, &decide.decision) && entry.note == decide.note;
                same_words && entry.ask.is_none_or(|ask| ask == recorded.ask) && entry.phase.is_match(&recorded.place)
            };
            // The line tells which one it was, unless the file has changed since.
            let exact = entries.iter().position(|(entry, used)| !used && is_same(entry) && self.by(entry) == decide.by);
            let index = exact.or_else(|| entries.iter().position(|(entry, used)| !used && is_same(entry)));
            if let Some((_, used)) = index.and_then(|index| entries.get_mut(index)) {
                *used = true;
            }
        }
    }

    /// Returns the lines of the answers that nothing asked for.
    pub(crate) fn unused(&self) -> Vec<usize> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().filter(|(_, used)| !used).map(|(entry, _)| entry.line).collect()
    }

    /// Returns the name of the file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns what identifies its content.
    pub(crate) fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns where it is: by its own path, and where links lead.
    pub(crate) fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// Returns whether it, or a link that leads to it, lies in a folder.
    pub(crate) fn lies_in(&self, folder: &Path) -> bool {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        self.places.iter().any(|place| place.starts_with(&folder))
    }

    fn by(&self, entry: &Entry) -> String {
        format!("answers:{}:{}", self.name, entry.line)
    }
}

#[async_trait]
impl People for Answers {
    async fn decide(&self, question: &Question) -> Option<Response> {
        // Where people are named, a file is not one of them.
        question.is_for(&Decider::unproven("answers")).ok()?;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (entry, used) = entries.iter_mut().find(|(entry, used)| !used && fits(entry, question))?;
        *used = true;
        let (decision, note) = (entry.decision.clone(), entry.note.clone());
        Some(Response { decision, note, by: Decider::unproven(self.by(entry)), door: Door::AnswersFile })
    }
}

/// Returns where a file is. Whoever changes a link changes what is read through it.
fn places(path: &Path) -> Vec<PathBuf> {
    let above = path.parent().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    let own = above.and_then(|above| Some(fs::canonicalize(above).ok()?.join(path.file_name()?)));
    let mut places: Vec<PathBuf> = own.into_iter().chain(fs::canonicalize(path)).collect();
    places.dedup();
    places
}

/// Returns whether an entry is an answer to a question.
fn fits(entry: &Entry, question: &Question) -> bool {
    let place = if question.phase.is_empty() { question.handoff.as_str() } else { &question.phase };
    entry.ask.is_none_or(|ask| ask == question.ask) && entry.phase.is_match(place) && is_possible(entry, question)
}

/// Returns whether such a decision can be made about what is asked.
fn is_possible(entry: &Entry, question: &Question) -> bool {
    question.meaning(entry.decision.clone()).is_ok_and(|decision| question.reply.takes(&decision))
}

/// Returns whether a recorded decision can be that of an entry. What is recorded is the choice that its words or number mean.
fn is_recorded(entry: &Decision, recorded: &Decision) -> bool {
    match (entry, recorded) {
        (Decision::Answer { answers: given }, Decision::Answer { answers: meant }) => {
            same_word(given, meant) || given.parse::<usize>().is_ok()
        }
        _ => entry == recorded,
    }
}

/// Returns the decisions in a journal that a file of answers made, in their order.
pub(crate) fn recorded(events: &[Event]) -> Vec<Recorded> {
    let mut handoffs: std::collections::HashMap<&str, Handoff> = std::collections::HashMap::new();
    let mut recorded = Vec::new();
    for event in events {
        let Ok(fact) = event.fact() else { continue };
        let before = handoffs.remove(event.handoff.as_str());
        if let (Some(handoff), Fact::Happened(Command::Decide(decide))) = (&before, &fact)
            && let State::AwaitingPerson { ask } = handoff.state
            && decide.door == Door::AnswersFile
        {
            recorded.push(Recorded { place: place(handoff), ask, decide: decide.clone() });
        }
        // What cannot be replayed is for the audit to tell; its decisions count as not made.
        if let Ok(after) = lifecycle::replay(before, fact, event.at) {
            handoffs.insert(event.handoff.as_str(), after);
        }
    }
    recorded
}

fn place(handoff: &Handoff) -> String {
    let phase = handoff.terms.step.as_ref().map(|step| step.phase.clone()).filter(|phase| !phase.is_empty());
    phase.unwrap_or_else(|| handoff.id.to_string())
}

#[cfg(test)]
mod tests {
    use baton_engine::people::ExpectedReply;
    use proptest::prelude::*;

    use super::*;
    use crate::people::sample::{self, EVERY_REPLY};

    fn answers(text: &str) -> Answers {
        Answers::new("a.yaml".to_owned(), entry::read("a.yaml", text.as_bytes()).expect("sound"))
    }

    fn decide(answers: &Answers, question: &Question) -> Option<Response> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(answers.decide(question))
    }

    fn word(answers: &Answers, phase: &str, reply: ExpectedReply) -> String {
        match decide(answers, &sample::question(phase, reply)).map(|said| said.decision) {
            Some(Decision::Approve) => "approve".to_owned(),
            Some(Decision::Reject { feedback }) => feedback,
            Some(Decision::Answer { answers: text } | Decision::Ask { question: text }) => text,
            None => "-".to_owned(),
        }
    }

    #[test]
    fn the_first_that_fits_is_used_once() {
        let file = answers(
            "- {phase: plan, reject: shorter}\n- {phase: plan, approve: true}\n- {ask: clarification, answer: SQLite}\n\
             - {phase: 'tools/*/review', approve: true, note: fine}\n- {phase: '**', answer: any words}\n",
        );
        assert_eq!(word(&file, "plan", ExpectedReply::Review), "shorter");
        assert_eq!(word(&file, "plan", ExpectedReply::Review), "approve");
        assert_eq!(word(&file, "plan", ExpectedReply::Review), "-");
        assert_eq!(word(&file, "tools/a/b/review", ExpectedReply::Review), "-", "a star is one name");
        assert_eq!(word(&file, "tools/a/review", ExpectedReply::Clarification), "SQLite");
        assert_eq!(word(&file, "tools/a/review", ExpectedReply::Clarification), "any words");
        assert_eq!(file.unused(), [4]);
        let said = decide(&file, &sample::question("tools/a/review", ExpectedReply::Review)).expect("one is left");
        assert_eq!((said.by.name.as_str(), said.door), ("answers:a.yaml:4", Door::AnswersFile));
        assert_eq!(said.note.as_deref(), Some("fine"));
    }

    #[test]
    fn where_choices_are_offered_only_they_fit() {
        let file = answers("- {approve: true}\n- {answer: whatever}\n- {answer: Revise}\n");
        let mut gate = sample::question("limit", ExpectedReply::Choice);
        gate.choices = vec![("continue".to_owned(), String::new()), ("revise".to_owned(), String::new())];
        let decision = decide(&file, &gate).map(|said| said.decision);
        assert_eq!(decision, Some(Decision::Answer { answers: "Revise".to_owned() }));
        assert_eq!(decide(&file, &gate), None);
        assert_eq!(word(&file, "limit", ExpectedReply::Approval), "approve");
    }

    #[test]
    fn a_question_is_answered_never_approved() {
        let file = answers("- {approve: true}\n- {answer: mutual TLS}\n");
        assert_eq!(word(&file, "plan", ExpectedReply::Escalation), "mutual TLS");
        assert_eq!(word(&file, "plan", ExpectedReply::Escalation), "-");
        assert_eq!(file.unused(), [1]);
    }

    const PHASES: [&str; 3] = ["plan", "tools/a/review", "tools/b/review"];

    fn a_file() -> impl Strategy<Value = String> {
        let phases = prop::sample::select(vec!["plan", "**", "tools/*/review", "tools/b/review"]);
        let asks = prop::sample::select(vec!["any", "review", "clarification", "gate"]);
        let decisions = prop::sample::select(vec!["approve: true", "reject: no", "answer: x", "question: y"]);
        let entry = (phases, asks, decisions)
            .prop_map(|(phase, ask, decision)| format!("- {{phase: '{phase}', ask: {ask}, {decision}}}\n"));
        prop::collection::vec(entry, 1..12).prop_map(|entries| entries.concat())
    }

    proptest! {
        /// A run that was killed and goes on with the same file gets the same answers as one that was not, in whatever
        /// order its decisions were recorded.
        #[test]
        fn a_resumed_run_goes_on_in_the_file(
            file in a_file(),
            asked in prop::collection::vec((0..PHASES.len(), 0..EVERY_REPLY.len()), 0..12),
            crash in 0..12_usize,
            backwards in any::<bool>(),
        ) {
            let questions: Vec<Question> =
                asked.iter().map(|(phase, ask)| sample::question(PHASES[*phase], EVERY_REPLY[*ask])).collect();
            let undisturbed = answers(&file);
            let expected: Vec<Option<Response>> =
                questions.iter().map(|question| decide(&undisturbed, question)).collect();
            let crash = crash.min(questions.len());
            let record = |(question, said): (&Question, &Option<Response>)| {
                let decide = question.decided(said.clone()?);
                Some(Recorded { place: question.phase.clone(), ask: question.ask, decide })
            };
            let mut recorded: Vec<Recorded> =
                questions.iter().zip(&expected).take(crash).filter_map(record).collect();
            if backwards {
                recorded.reverse();
            }
            let resumed = answers(&file);
            resumed.forget(&recorded);
            let after: Vec<Option<Response>> =
                questions[crash..].iter().map(|question| decide(&resumed, question)).collect();
            prop_assert_eq!(after, expected[crash..].to_vec());
        }
    }
}
