//! A transaction in the making: steps, and the run as it will be when they are carried out.

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::handoff::Handoff;
use crate::id::HandoffId;
use crate::journal::{Event, Fact};
use crate::lifecycle::{self, Accept, Action, Command, Refusal, Resume};
use crate::run::{JournalFault, Known, Run};
use crate::store::TransactionStep;

/// A transaction in the making.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The run as it will be.
    pub run: Run,
    /// What must be carried out for that.
    pub steps: Vec<TransactionStep>,
    /// When that is.
    pub at: Timestamp,
    foreseen: Foreseen,
}

/// What a draft has foreseen: each event that it will be, and the run after it.
///
/// Whoever reads these very events in the journal need not work out once more what they lead to. As soon as another event
/// is there nothing of it counts, because all that follows is about another run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Foreseen(VecDeque<Expected>);

#[derive(Debug, Clone)]
struct Expected {
    handoff: HandoffId,
    version: u64,
    run: Run,
}

impl Foreseen {
    /// Keeps what was foreseen only if the store has left every handoff like that.
    pub(crate) fn confirmed(self, left: &[Handoff]) -> Foreseen {
        let is_so = |(expected, left): (&Expected, &Handoff)| {
            expected.run.find(&expected.handoff).is_some_and(|tracked| tracked.handoff == *left)
        };
        let all = self.0.len() == left.len() && self.0.iter().zip(left).all(is_so);
        if all { self } else { Foreseen::default() }
    }

    /// Takes the next event of a run; the error says why it cannot be.
    pub(crate) fn absorb(&mut self, run: &mut Run, event: &Event) -> Result<(), JournalFault> {
        let is_it = |expected: &Expected| expected.handoff == event.handoff && expected.version == event.version;
        match self.0.pop_front().filter(|expected| event.seq == run.seq + 1 && is_it(expected)) {
            Some(expected) => {
                *run = expected.run;
                run.seq = event.seq;
                Ok(())
            }
            None => {
                self.0.clear();
                run.absorb(event)
            }
        }
    }
}

impl Draft {
    /// Begins with the run as it is.
    pub fn new(run: &Run, at: Timestamp) -> Draft {
        // The time of a journal does not go back, whatever a clock says.
        Draft { run: run.clone(), steps: Vec::new(), at: at.max(run.changed_at), foreseen: Foreseen::default() }
    }

    /// Makes a handoff of a request.
    pub fn accept(&mut self, accept: Accept) {
        self.accept_known(accept, Known::Nothing);
    }

    /// Makes a handoff of a request that was just read.
    pub(crate) fn accept_known(&mut self, accept: Accept, known: Known) {
        let transition = accept.clone().apply(self.at);
        self.steps.push(TransactionStep::Accept(Box::new(accept)));
        self.take(transition.handoff, &transition.fact, known);
    }

    /// Applies a command, with what the store makes of it in the same transaction.
    pub fn apply(&mut self, id: &HandoffId, command: Command) -> Result<(), Refusal> {
        self.apply_known(id, command, Known::Nothing)
    }

    /// Applies a command with a document that was just read.
    pub(crate) fn apply_known(&mut self, id: &HandoffId, command: Command, known: Known) -> Result<(), Refusal> {
        self.happen(id, command.clone(), known)?;
        self.steps.push(TransactionStep::Apply(id.clone(), command));
        Ok(())
    }

    fn happen(&mut self, id: &HandoffId, command: Command, known: Known) -> Result<(), Refusal> {
        let Some(tracked) = self.run.find(id) else { return Ok(()) };
        let transition = lifecycle::apply(&tracked.handoff, command, self.at)?;
        self.take(transition.handoff, &transition.fact, known);
        for action in transition.actions {
            let Action::Return { to } = action else { continue };
            let Some(done) = self.run.find(id) else { continue };
            let report = done.told.as_ref().map(|told| &told.written);
            let resume = Command::Resume(Resume::after(&done.handoff, report));
            // If it does not wait any more, the result stands for itself.
            let _ = self.happen(&to, resume, Known::Nothing);
        }
        Ok(())
    }

    fn take(&mut self, handoff: Handoff, fact: &Fact, known: Known) {
        let (id, version) = (handoff.id.clone(), handoff.version);
        self.run.take(handoff, fact, known);
        self.foreseen.0.push_back(Expected { handoff: id, version, run: self.run.clone() });
    }

    /// Takes apart what must be carried out and what was foreseen.
    pub(crate) fn into_steps(self) -> (Vec<TransactionStep>, Foreseen) {
        (self.steps, self.foreseen)
    }

    /// Returns whether there is nothing to carry out.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::Fence;
    use crate::flow;
    use crate::journal::Head;
    use crate::lifecycle::Heartbeat;
    use crate::run::cost::begun;

    /// What a store would write, and how it would leave each handoff.
    fn written(before: &Run, steps: &[TransactionStep], at: Timestamp) -> (Vec<Event>, Vec<Handoff>) {
        let (mut run, mut events, mut left) = (before.clone(), Vec::new(), Vec::new());
        for step in steps {
            let transition = match step {
                TransactionStep::Accept(accept) => accept.as_ref().clone().apply(at),
                TransactionStep::Apply(id, command) => {
                    lifecycle::apply(&run.find(id).expect("known").handoff, command.clone(), at).expect("possible")
                }
                TransactionStep::Held { .. } => continue,
            };
            let handoff = transition.handoff;
            let head = Head { seq: run.seq, ..Head::START };
            let event = head.next(&run.id, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
            run.absorb(&event).expect("possible");
            events.push(event);
            left.push(handoff);
        }
        (events, left)
    }

    fn shown(run: &Run) -> String {
        let of = |tracked: &crate::run::TrackedHandoff| format!("{:?} {:?}", tracked.handoff, tracked.asked());
        let handoffs: Vec<String> = run.handoffs().map(of).collect();
        format!("{} {:?} {}", run.seq, run.counted.handoffs, handoffs.join("\n"))
    }

    #[test]
    fn foreseen_run_is_the_run_of_the_journal_unless_somebody_else_has_written() {
        let before = begun("  - {id: one, agent: clerk}\n  - {id: two, agent: clerk}", 0).run;
        let mut draft = Draft::new(&before, Timestamp::UNIX_EPOCH);
        flow::settle(&mut draft).expect("it begins");
        let (steps, foreseen) = draft.into_steps();
        let (events, left) = written(&before, &steps, Timestamp::UNIX_EPOCH);
        let mut read = before.clone();
        events.iter().for_each(|event| read.absorb(event).expect("possible"));

        let mut taken = before.clone();
        let mut confirmed = foreseen.clone().confirmed(&left);
        for event in &events {
            assert_eq!(confirmed.0.len(), events.len() - usize::try_from(taken.seq - before.seq).expect("small"));
            confirmed.absorb(&mut taken, event).expect("possible");
        }
        assert_eq!(shown(&taken), shown(&read));

        // Somebody else was there first: nothing that was foreseen counts.
        let beat = Command::Heartbeat(Heartbeat::new(Fence(1)));
        let root = before.root().handoff.id.clone();
        let (foreign, _) = written(&before, &[TransactionStep::Apply(root, beat)], Timestamp::UNIX_EPOCH);
        let mut taken = before.clone();
        let mut confirmed = foreseen.clone().confirmed(&left);
        confirmed.absorb(&mut taken, &foreign[0]).expect("possible");
        assert!(confirmed.0.is_empty());
        assert_eq!(taken.root().handoff.version, before.root().handoff.version + 1);

        // The store has left something else: nothing counts either.
        let mut other = left;
        other[0].version += 1;
        assert!(foreseen.confirmed(&other).0.is_empty());
    }
}
