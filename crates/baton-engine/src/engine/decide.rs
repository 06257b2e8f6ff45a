//! Deciding what waits for a person: what was looked at, what the words mean, and whose decision it is.

use jiff::Timestamp;

use super::{AppliedCommand, Caller, Engine, Problem};
use crate::handoff::{Digest, Handoff, StateName};
use crate::id::HandoffId;
use crate::journal::Fact;
use crate::known::Decider;
use crate::lifecycle::{Command, Decide, Decision, Refusal};
use crate::people::{NotOffered, Question, Response};
use crate::ssh::Signature;
use crate::store::StoreError;

/// How much of a digest names it: nobody finds another document that begins alike by chance.
const DIGEST_LETTERS_MIN: usize = 12;

/// A decision as it comes in through a door.
#[derive(Debug, Clone)]
pub struct GivenDecision {
    /// What is decided, in the words that were typed or sent.
    pub decision: Decision,
    /// The digest of what was looked at, or the beginning of it.
    pub shown: String,
    /// What the person says beyond that.
    pub note: Option<String>,
    /// The name that they want to be shown beside the one that is known.
    pub label: Option<String>,
    /// Proves who decided by a key instead of an account or a token.
    pub signature: Option<Signature>,
}

impl Engine {
    /// Returns the handoff that somebody decides about: of a run, the only one that waits for a person.
    pub async fn asked(&self, handoff: Handoff) -> Result<Handoff, Problem> {
        if !handoff.is_run() {
            return Ok(handoff);
        }
        let run = self.run(&handoff.run).await?.run;
        let mut waiting: Vec<Handoff> = run.waiting().map(|tracked| tracked.handoff.clone()).collect();
        match waiting.len() {
            0 => Err(Problem::NothingAsked(handoff.id)),
            1 => Ok(waiting.remove(0)),
            _ => {
                let questions = waiting.into_iter().map(|handoff| handoff.id).collect();
                Err(Problem::SeveralAsked { run: handoff.id, questions })
            }
        }
    }

    /// Returns what a decision means about what is asked. One without words means nothing.
    pub fn meaning(&self, question: &Question, decision: Decision) -> Result<Decision, Problem> {
        let id = &question.handoff;
        says_something(id, &decision)?;
        question.meaning(decision).map_err(|why| Problem::NotOffered { id: id.clone(), why })
    }

    /// Returns a decision as it is recorded: what it means, about what. What waits for nobody is for the lifecycle to refuse.
    pub fn decision(
        &self,
        handoff: &Handoff,
        question: Option<&Question>,
        given: GivenDecision,
        caller: &Caller,
    ) -> Result<Decide, Problem> {
        caller.person()?;
        let GivenDecision { decision, shown, note, label, signature } = given;
        let shown = looked_at(&shown, handoff)?;
        let label = label.map(|label| label.trim().to_owned());
        let note = note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
        let other_name = label.clone().filter(|label| *label != caller.decider.name);
        let by = Decider { label: other_name.or_else(|| caller.decider.label.clone()), ..caller.decider.clone() };
        let Some(question) = question else {
            let (decision, Decider { name, known, label }) = (decision.trimmed(), by);
            return Ok(Decide { by: name, known, label, door: caller.door, shown, decision, note, asked: None });
        };
        let meant = self.meaning(question, decision.clone())?;
        let decide = Decide { shown, ..question.decided(Response { decision: meant, note, by, door: caller.door }) };
        let Some(signature) = signature else { return Ok(decide) };
        // Under a signature stands what was typed, whatever the token is called. What was signed is never rewritten.
        if decide.decision != decision {
            let why = NotOffered::of(decision, question);
            return Err(Problem::NotOffered { id: handoff.id.clone(), why });
        }
        Ok(Decide { label, ..decide }.signed(signature, handoff.terms.approval.as_ref()))
    }

    /// Records a decision. Nobody decides from inside the work on a handoff; whether the decision of this person counts is
    /// for the lifecycle to say. The door is the caller's, whatever the decision says.
    pub async fn decide(&self, handoff: &Handoff, decide: Decide, caller: &Caller) -> Result<AppliedCommand, Problem> {
        caller.person()?;
        let decide = Decide { door: caller.door, ..decide };
        match self.apply(handoff, Command::Decide(decide), Vec::new(), caller).await {
            Err(problem @ Problem::Refused { .. }) => Err(self.with_decision(problem).await),
            result => result,
        }
    }

    /// Adds who has decided to a refusal because nobody is asked any more. Other problems stay as they are.
    pub async fn with_decision(&self, problem: Problem) -> Problem {
        let Problem::Refused { id, refusal: refusal @ Refusal::WrongState { .. }, state } = problem else {
            return problem;
        };
        // What was called off was not decided, whatever somebody said about it before.
        let decided = match state {
            StateName::Cancelled => None,
            _ => self.last_decision(&id).await.ok().flatten(),
        };
        match decided {
            Some((decided, at)) => Problem::AlreadyDecided { id, decided: Box::new(decided), at, refusal, state },
            None => Problem::Refused { id, refusal, state },
        }
    }

    /// Returns what was decided last about a handoff, and when, if anything was.
    pub async fn last_decision(&self, id: &HandoffId) -> Result<Option<(Decide, Timestamp)>, StoreError> {
        let events = self.store.history_of(id).await?;
        Ok(events.iter().rev().find_map(|event| match event.fact() {
            Ok(Fact::Happened(Command::Decide(decide))) => Some((decide, event.at)),
            _ => None,
        }))
    }
}

/// Refuses a decision without words, which helps nobody.
pub(super) fn says_something(id: &HandoffId, decision: &Decision) -> Result<(), Problem> {
    match decision.missing() {
        Some(what) => Err(Problem::NothingSaid { id: id.clone(), what }),
        None => Ok(()),
    }
}

/// Returns the digest that somebody names, whole if it begins like that of what is there now.
fn looked_at(given: &str, handoff: &Handoff) -> Result<Digest, Problem> {
    let given = given.trim().to_lowercase();
    if given.len() < DIGEST_LETTERS_MIN {
        return Err(Problem::ShownTooShort { id: handoff.id.clone(), given, letters_min: DIGEST_LETTERS_MIN });
    }
    let current = handoff.shown().filter(|current| current.0.starts_with(&given));
    Ok(current.unwrap_or(Digest(given)))
}
