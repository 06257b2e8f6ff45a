//! Resume: what a blocked agent waited for is there.

use jiff::Timestamp;

use super::{Action, Refusal};
use crate::handoff::{About, Handoff, Note, State, WrittenDocument};

/// Go on with what the blocked agent waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// Who resolved it.
    pub by: String,
    /// What the agent must know to go on.
    pub resolution: String,
    /// What the agent had asked, where a person has answered.
    pub question: Option<String>,
}

impl Resume {
    /// What a handoff that is finished gives back to the one that waits for it: its report, or why there is none.
    pub fn after(done: &Handoff, report: Option<&WrittenDocument>) -> Resume {
        let name = done.state.name();
        let by = done.terms.to.clone();
        // What a person decided stands in the notes, with what the person was asked.
        let told = done.notes.last().filter(|_| done.terms.asks_person());
        let resolution = match (&done.state, report, &done.last_failure, told) {
            (State::Completed { .. } | State::Failed { .. }, None, _, Some(told)) => return Resume::said_by(told),
            (State::Completed { .. }, Some(report), _, _) => report.text.clone(),
            (State::Failed { .. }, _, Some(failure), _) => format!("handoff {} is {name}: {failure}", done.id),
            _ => format!("handoff {} is {name}", done.id),
        };
        Resume { by, resolution, question: None }
    }

    fn said_by(note: &Note) -> Resume {
        let resolution = match note.about {
            About::Feedback => format!("Rejected: {}", note.text),
            About::Refuted | About::Failure | About::Resolution | About::Answer | About::Question | About::Requeued => {
                note.text.clone()
            }
        };
        Resume { by: note.from.clone(), resolution, question: note.question.clone() }
    }

    fn tell(&self, handoff: &mut Handoff) {
        handoff.note_answer(About::Resolution, &self.by, &self.resolution, self.question.as_deref());
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        match handoff.state {
            State::Blocked { .. } => {
                self.tell(handoff);
                Ok(start_over(handoff, at))
            }
            // It may be about to say that it is blocked; then it need not wait.
            State::Claimed { .. } => {
                self.tell(handoff);
                handoff.returned_early = true;
                Ok(Vec::new())
            }
            State::Pending { .. } | State::Verifying | State::AwaitingPerson { .. } => {
                self.tell(handoff);
                Ok(Vec::new())
            }
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "resumed" })
            }
        }
    }
}

/// Makes it ready at once. There is something new to know, so what was tried before does not count against it.
pub(super) fn start_over(handoff: &mut Handoff, at: Timestamp) -> Vec<Action> {
    handoff.attempts = 0;
    handoff.returned_early = false;
    handoff.routed = false;
    handoff.state = State::Pending { ready_at: at };
    vec![Action::announce(handoff, at)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, Ending, HandIn, apply};

    #[test]
    fn blocked_handoff_goes_on_with_the_resolution() {
        let blocked = sample::handoff(StateName::Blocked);
        let resume = Resume { by: "security".to_owned(), resolution: "use JWT".to_owned(), question: None };
        let next = apply(&blocked, Command::Resume(resume), sample::time(40)).expect("blocked").handoff;
        assert_eq!(next.state, State::Pending { ready_at: sample::time(40) });
        assert_eq!((next.notes[0].about, next.notes[0].text.as_str()), (About::Resolution, "use JWT"));
    }

    #[test]
    fn result_that_comes_before_the_block_is_not_lost() {
        let claimed = sample::handoff(StateName::Claimed);
        let resume = Resume { by: "security".to_owned(), resolution: "use JWT".to_owned(), question: None };
        let told = apply(&claimed, Command::Resume(resume), sample::time(40)).expect("claimed").handoff;
        assert!(told.lease().is_some());
        let ending = Ending::Blocked { reason: "security_concern".to_owned() };
        let document = WrittenDocument {
            dialect: "native".to_owned(),
            text: "blocked".to_owned(),
            path: None,
            warnings: Box::default(),
        };
        let blocked = Command::Report(HandIn::new(told.fence, ending, document));
        let next = apply(&told, blocked, sample::time(41)).expect("held").handoff;
        assert_eq!(next.state, State::Pending { ready_at: sample::time(41) });
        assert_eq!(next.notes[0].about, About::Resolution);
    }
}
