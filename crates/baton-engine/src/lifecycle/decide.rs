//! Decide: a person approves, rejects or answers. Bound to who, through which interface, and to what was shown.

use baton_protocol::wire::same_word;
use jiff::Timestamp;

use super::fail::give_up;
use super::report::completed;
use super::resume::start_over;
use super::{Action, Refusal, RefusedCommand};
use crate::Fence;
use crate::approval::{self, Approval, is_enough};
use crate::door::Door;
use crate::failure::{Code, Failure, Transience};
use crate::handoff::{About, Ask, Digest, Handoff, State};
use crate::id::HandoffId;
use crate::known::{HowKnown, Who};
use crate::sabotage::{Bug, planted};
use crate::ssh::Signature;
use crate::step::Role;

/// Tell a person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decide {
    /// Who decides: the name that is known.
    pub by: String,
    /// How it is known.
    pub known: HowKnown,
    /// What they want to be called.
    pub label: Option<String>,
    /// Through which interface: the command line, the page, …
    pub door: Door,
    /// What identifies all that the person was shown: [`Handoff::shown`].
    pub shown: Digest,
    /// What was decided.
    pub decision: Decision,
    /// What the person said beyond that.
    pub note: Option<String>,
    /// What the person was asked, in words; it goes back to the agent together with the answer.
    pub asked: Option<String>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It counts.
    Approve,
    /// It must be done again.
    Reject {
        /// Why.
        feedback: String,
    },
    /// What the agent asked for.
    Answer {
        /// The answers.
        answers: String,
    },
    /// The person wants to know something first.
    Ask {
        /// What.
        question: String,
    },
}

impl Decision {
    /// Returns the word for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::Reject { .. } => "reject",
            Decision::Answer { .. } => "answer",
            Decision::Ask { .. } => "ask",
        }
    }

    /// Returns what has become of it: it was …
    pub fn participle(&self) -> &'static str {
        match self {
            Decision::Approve => "approved",
            Decision::Reject { .. } => "rejected",
            Decision::Answer { .. } => "answered",
            Decision::Ask { .. } => "asked about",
        }
    }

    /// Returns its words; an approval has none.
    pub fn words(&self) -> Option<&str> {
        match self {
            Decision::Approve => None,
            Decision::Reject { feedback: words }
            | Decision::Answer { answers: words }
            | Decision::Ask { question: words } => Some(words),
        }
    }

    /// Returns which words are missing, if it has none and needs them.
    pub fn missing(&self) -> Option<&'static str> {
        let what = match self {
            Decision::Approve => return None,
            Decision::Reject { .. } => "the reason",
            Decision::Answer { .. } => "the answer",
            Decision::Ask { .. } => "the question",
        };
        self.words().is_some_and(|words| words.trim().is_empty()).then_some(what)
    }

    /// Returns the same without white space around its words.
    pub(crate) fn trimmed(mut self) -> Decision {
        if let Decision::Reject { feedback: words }
        | Decision::Answer { answers: words }
        | Decision::Ask { question: words } = &mut self
        {
            *words = words.trim().to_owned();
        }
        self
    }
}

impl Decide {
    /// Refuses what was possible once and is not any more; journals that have it can still be replayed.
    pub(super) fn is_possible(&self, handoff: &Handoff, at: Timestamp) -> Result<(), Refusal> {
        let State::AwaitingPerson { ask } = handoff.state else { return Ok(()) };
        if handoff.shown().as_ref() != Some(&self.shown) {
            return Err(Refusal::Changed { current: handoff.shown() });
        }
        let is_question = ask == Ask::Gate && handoff.terms.returns_to.is_some();
        match self.decision {
            Decision::Approve if is_question => Err(Refusal::Unanswered),
            Decision::Approve | Decision::Reject { .. } | Decision::Answer { .. } | Decision::Ask { .. } => {
                approval::permit(handoff, self, at)
            }
        }
    }

    /// Returns what must be journalled when the decision is refused: that somebody tried who may not, or a signature
    /// that does not fit, such as one that was used before.
    pub(super) fn to_journal(&self, refusal: &Refusal) -> Option<RefusedCommand> {
        let signature = self.known.signature();
        if !refusal.is_of_decider() && signature.is_none() {
            return None;
        }
        let key = signature.map(|signature| format!(" {}", signature.key)).unwrap_or_default();
        let by = Some(shortened(&format!("{} ({}{key})", self.who(), self.way())));
        Some(RefusedCommand {
            author: None,
            command: "decide".to_owned(),
            fence: Fence(0),
            why: shortened(&refusal.to_string()),
            document: None,
            by,
        })
    }

    /// Returns who decided, and what they want to be called.
    pub fn who(&self) -> String {
        Who(&self.by, self.label.as_deref()).to_string()
    }

    /// Returns through which interface, and whether it was signed.
    pub fn way(&self) -> String {
        match self.known {
            HowKnown::Signature(_) => format!("{}, signed", self.door),
            HowKnown::Account | HowKnown::Token(_) | HowKnown::Unproven => self.door.to_string(),
        }
    }

    /// Returns what is signed: everything that was decided, about what, in lines that people can read.
    pub fn signed_text(&self, handoff: &HandoffId) -> String {
        let word = self.decision.verb();
        let mut text = format!("baton decision 1\nhandoff: {handoff}\nshown: {}\ndecision: {word}\n", self.shown.0);
        // Texts are quoted as in JSON: each stays on its line, whatever it contains.
        for (name, said) in
            [("words", self.decision.words()), ("note", self.note.as_deref()), ("as", self.label.as_deref())]
        {
            text.extend(said.map(|said| format!("{name}: {}\n", serde_json::Value::from(said))));
        }
        text
    }

    /// Makes it the decision of whoever has signed it. A key of nobody proves nobody: the decision will be refused, and
    /// journalled.
    #[must_use]
    pub fn signed(mut self, signature: Signature, approval: Option<&Approval>) -> Decide {
        let key = signature.public_key().ok();
        if let Some(owner) = key.and_then(|key| approval?.owner_of(&key).map(str::to_owned)) {
            self.by = owner;
        }
        self.known = HowKnown::Signature(Box::new(signature));
        self
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        match handoff.state {
            State::AwaitingPerson { ask } => {
                // Older decisions are bound to the words of the report alone.
                if handoff.shown().as_ref() != Some(&self.shown) && handoff.last_report.as_ref() != Some(&self.shown) {
                    return Err(Refusal::Changed { current: handoff.shown() });
                }
                self.answer(ask, handoff, at)
            }
            State::Completed { .. } if planted(Bug::GateDecidedTwice) => Ok(Vec::new()),
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Verifying
            | State::Blocked { .. }
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "decided about" })
            }
        }
    }

    fn answer(&self, ask: Ask, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        match (ask, &self.decision) {
            (Ask::Review, Decision::Approve) if !is_enough(handoff, self) => Ok(self.wait_for_others(handoff)),
            (Ask::Review, Decision::Approve) => {
                handoff.review_owed = false;
                Ok(self.complete(handoff, None, at))
            }
            // Whoever asks has not approved: what comes next is shown again.
            (Ask::Review, Decision::Ask { question }) => {
                handoff.review_owed = true;
                Ok(self.send_back(handoff, About::Question, question, at))
            }
            // What was owed stays owed: only an approval lets it pass without being seen.
            (Ask::Review, Decision::Reject { feedback }) => Ok(self.send_back(handoff, About::Feedback, feedback, at)),
            (Ask::Clarification, Decision::Answer { answers }) => {
                Ok(self.send_back(handoff, About::Answer, answers, at))
            }
            (Ask::Gate, Decision::Approve) if handoff.terms.choices.is_empty() => match is_enough(handoff, self) {
                true => Ok(self.complete(handoff, None, at)),
                false => Ok(self.wait_for_others(handoff)),
            },
            (Ask::Gate, Decision::Answer { answers }) if is_choice(handoff, answers) => {
                match is_enough(handoff, self) {
                    true => Ok(self.complete(handoff, Some(answers), at)),
                    false => Ok(self.wait_for_others(handoff)),
                }
            }
            (Ask::Gate, Decision::Approve | Decision::Answer { .. }) => Err(Refusal::NoChoice),
            // The agent that waits for the person gets the question, and asks again if it must.
            (Ask::Gate, Decision::Ask { question }) if handoff.terms.returns_to.is_some() => {
                Ok(self.complete(handoff, Some(&format!("The person asks: {question}")), at))
            }
            (Ask::Gate, Decision::Reject { feedback }) => {
                // Events from before questions were recorded must give the same handoff again.
                if self.asked.is_some() {
                    self.note(handoff, About::Feedback, feedback);
                }
                let mut failure = Failure::new(Code::rejected(), feedback.clone());
                failure.chance = Transience::Permanent;
                Ok(give_up(handoff, failure, at))
            }
            (Ask::Review, Decision::Answer { .. }) => {
                Err(Refusal::OtherQuestion { expected: "approval: approve or reject it" })
            }
            (Ask::Clarification, Decision::Approve | Decision::Reject { .. }) => {
                Err(Refusal::OtherQuestion { expected: "answers: answer the questions" })
            }
            (Ask::Clarification | Ask::Gate, Decision::Ask { .. }) => {
                Err(Refusal::OtherQuestion { expected: "a decision: no agent can be asked" })
            }
        }
    }

    /// Goes on waiting: others must say the same.
    fn wait_for_others(&self, handoff: &mut Handoff) -> Vec<Action> {
        if let Some(note) = &self.note {
            self.note(handoff, About::Answer, note);
        }
        Vec::new()
    }

    /// Ends it, with what the person said.
    fn complete(&self, handoff: &mut Handoff, answer: Option<&str>, at: Timestamp) -> Vec<Action> {
        let told: Vec<&str> = answer.into_iter().chain(self.note.as_deref()).collect();
        if !told.is_empty() {
            self.note(handoff, About::Answer, &told.join("\n"));
        }
        if handoff.has_files && !planted(Bug::ApprovedFilesNotSeenAgain) {
            // What was approved may have changed since it was looked at.
            handoff.approved = true;
            // Each look has a token of its own: if it is asked again, what was signed before does not count again.
            handoff.fence = handoff.fence.next();
            handoff.state = State::Verifying;
            return vec![Action::Verify];
        }
        handoff.state = State::Completed { at };
        completed(handoff)
    }

    fn send_back(&self, handoff: &mut Handoff, about: About, text: &str, at: Timestamp) -> Vec<Action> {
        let told: Vec<&str> = std::iter::once(text).chain(self.note.as_deref()).collect();
        self.note(handoff, about, &told.join("\n"));
        start_over(handoff, at)
    }

    /// Notes what the person said, with what they were asked.
    fn note(&self, handoff: &mut Handoff, about: About, text: &str) {
        handoff.note_answer(about, &self.who(), text, self.asked.as_deref());
    }
}

/// How many bytes of a refused decision are kept.
const REFUSED_BYTES_MAX: usize = 600;

fn shortened(text: &str) -> String {
    match text.len() > REFUSED_BYTES_MAX {
        true => format!("{}…", &text[..text.floor_char_boundary(REFUSED_BYTES_MAX)]),
        false => text.to_owned(),
    }
}

/// Returns whether an answer is one of those that the person can choose from.
fn is_choice(handoff: &Handoff, answer: &str) -> bool {
    let choices = &handoff.terms.choices;
    // A gate of a workflow is approved or rejected: words that nobody understands must not open it.
    let gate = handoff.terms.step.as_ref().is_some_and(|step| step.role == Role::Gate);
    (choices.is_empty() && !gate) || choices.iter().any(|choice| same_word(choice, answer.trim()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::handoff::StateName;
    use crate::journal::Fact;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply, replay};

    fn decide(shown: &Digest, decision: Decision) -> Command {
        Command::Decide(Decide {
            by: "ana".to_owned(),
            known: HowKnown::Account,
            label: None,
            door: Door::CommandLine,
            shown: shown.clone(),
            decision,
            note: None,
            asked: None,
        })
    }

    #[test]
    fn approval_is_bound_to_what_was_shown() {
        let waiting = sample::handoff(StateName::AwaitingPerson);
        let seen = waiting.shown().expect("a report");
        let other = decide(&Digest::of(b"an older report"), Decision::Approve);
        assert_eq!(apply(&waiting, other, sample::time(40)), Err(Refusal::Changed { current: Some(seen.clone()) }));
        let next = apply(&waiting, decide(&seen, Decision::Approve), sample::time(40)).expect("shown").handoff;
        assert_eq!(next.state, State::Completed { at: sample::time(40) });
    }

    #[test]
    fn same_words_about_other_files_are_another_decision() {
        let mut first = sample::handoff(StateName::AwaitingPerson);
        first.evidence = Some(Digest::of(b"CREATE TABLE users"));
        let seen = first.shown().expect("a report");
        let mut second = first.clone();
        second.evidence = Some(Digest::of(b"DROP TABLE users"));
        let mut third = first.clone();
        third.fence = third.fence.next();
        for other in [second, third] {
            let refused = apply(&other, decide(&seen, Decision::Approve), sample::time(40));
            assert_eq!(refused, Err(Refusal::Changed { current: other.shown() }));
        }
        assert!(apply(&first, decide(&seen, Decision::Approve), sample::time(40)).is_ok());
    }

    #[test]
    fn decision_that_was_bound_to_the_report_alone_can_be_replayed_but_not_made() {
        let waiting = sample::handoff(StateName::AwaitingPerson);
        let report = waiting.last_report.clone().expect("a report");
        let old = decide(&report, Decision::Approve);
        assert!(matches!(apply(&waiting, old.clone(), sample::time(40)), Err(Refusal::Changed { .. })));
        assert!(replay(Some(waiting), Fact::Happened(old), sample::time(40)).is_ok());
    }

    #[test]
    fn rejection_goes_back_with_feedback_and_does_not_count_as_a_failed_attempt() {
        let waiting = sample::handoff(StateName::AwaitingPerson);
        let seen = waiting.shown().expect("a report");
        let reject = decide(&seen, Decision::Reject { feedback: "no tests".to_owned() });
        let next = apply(&waiting, reject, sample::time(40)).expect("shown").handoff;
        assert_eq!((next.attempts, next.notes[0].about), (0, About::Feedback));
    }

    #[test]
    fn gate_is_completed_by_approval_and_failed_by_rejection() {
        let mut gate = sample::handoff(StateName::AwaitingPerson);
        gate.state = State::AwaitingPerson { ask: Ask::Gate };
        let seen = gate.shown().expect("what was shown");
        let approved = apply(&gate, decide(&seen, Decision::Approve), sample::time(40)).expect("asked").handoff;
        assert_eq!(approved.state, State::Completed { at: sample::time(40) });
        let reject = decide(&seen, Decision::Reject { feedback: "too risky".to_owned() });
        let rejected = apply(&gate, reject, sample::time(40)).expect("asked").handoff;
        assert_eq!(rejected.state, State::Failed { at: sample::time(40) });
        assert_eq!(rejected.last_failure.expect("said").to_string(), "REJECTED: too risky");
    }

    #[test]
    fn questions_are_answered_not_approved() {
        let mut waiting = sample::handoff(StateName::AwaitingPerson);
        waiting.state = State::AwaitingPerson { ask: Ask::Clarification };
        let seen = waiting.shown().expect("a report");
        assert!(matches!(
            apply(&waiting, decide(&seen, Decision::Approve), sample::time(40)),
            Err(Refusal::OtherQuestion { .. })
        ));
        let answer = decide(&seen, Decision::Answer { answers: "PostgreSQL".to_owned() });
        assert_eq!(apply(&waiting, answer, sample::time(40)).expect("asked").handoff.notes[0].about, About::Answer);
    }

    #[test]
    fn words_do_not_open_a_gate_of_a_workflow() {
        let mut gate = sample::handoff(StateName::AwaitingPerson);
        gate.state = State::AwaitingPerson { ask: Ask::Gate };
        let seen = gate.shown().expect("what was shown");
        let words = decide(&seen, Decision::Answer { answers: "reject, do not deploy".to_owned() });
        Arc::make_mut(&mut gate.terms).step = Some(sample::step(Role::Gate));
        assert_eq!(apply(&gate, words.clone(), sample::time(40)), Err(Refusal::NoChoice));
        // Whoever waits for an answer gets one.
        Arc::make_mut(&mut gate.terms).step = Some(sample::step(Role::Escalation));
        assert!(apply(&gate, words, sample::time(40)).is_ok());
    }

    #[test]
    fn question_of_a_blocked_agent_is_answered_not_approved() {
        let mut gate = sample::handoff(StateName::AwaitingPerson);
        gate.state = State::AwaitingPerson { ask: Ask::Gate };
        Arc::make_mut(&mut gate.terms).returns_to = Some(gate.id.clone());
        let seen = gate.shown().expect("what was shown");
        let approve = decide(&seen, Decision::Approve);
        assert_eq!(apply(&gate, approve.clone(), sample::time(40)), Err(Refusal::Unanswered));
        // It was possible once, and an event that was written is readable for ever.
        assert!(replay(Some(gate.clone()), Fact::Happened(approve), sample::time(40)).is_ok());
        let other = decide(&Digest::of(b"an older report"), Decision::Approve);
        assert!(matches!(apply(&gate, other, sample::time(40)), Err(Refusal::Changed { .. })));
    }

    #[test]
    fn answer_goes_with_its_question() {
        let mut waiting = sample::handoff(StateName::AwaitingPerson);
        waiting.state = State::AwaitingPerson { ask: Ask::Clarification };
        let seen = waiting.shown().expect("a report");
        let Command::Decide(mut answer) = decide(&seen, Decision::Answer { answers: "SQLite".to_owned() }) else {
            panic!("a decision")
        };
        answer.asked = Some("Which store?".to_owned());
        let next = apply(&waiting, Command::Decide(answer), sample::time(40)).expect("asked").handoff;
        assert_eq!(next.notes[0].question.as_deref(), Some("Which store?"));
    }
}
