//! A journal in memory: carries out the steps of a draft as every store does.

use std::collections::BTreeMap;

use baton_engine::handoff::WrittenDocument;
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{self, Action, Command, Resume, Transition};
use baton_engine::store::TransactionStep;
use baton_engine::{Handoff, HandoffId};
use jiff::Timestamp;

/// The journal of one run, and the handoffs as it left them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) events: Vec<Event>,
    handoffs: BTreeMap<HandoffId, Handoff>,
}

impl Ledger {
    /// Carries out all steps; a step that is refused would be a mistake of whoever drafted it.
    pub(crate) fn carry_out(&mut self, steps: &[TransactionStep], at: Timestamp) {
        for step in steps {
            match step {
                TransactionStep::Accept(accept) => {
                    accept.check().unwrap();
                    assert!(!self.handoffs.contains_key(&accept.id), "{} was accepted twice", accept.id);
                    self.record((**accept).clone().apply(self.not_before(at)));
                }
                TransactionStep::Held { id, fence } => lifecycle::holds(&self.handoffs[id], *fence).unwrap(),
                TransactionStep::Apply(id, command) => self.happen(id, command.clone(), at).unwrap_or_else(|why| {
                    panic!("{} {id}: {why}", command.name());
                }),
            }
        }
    }

    fn happen(&mut self, id: &HandoffId, command: Command, at: Timestamp) -> Result<(), String> {
        let handoff = &self.handoffs[id];
        let transition =
            lifecycle::apply(handoff, command, self.not_before(at)).map_err(|refusal| refusal.to_string())?;
        self.record(transition.clone());
        for action in &transition.actions {
            if let Action::Return { to } = action {
                let resume = Resume::after(&transition.handoff, self.reported(id).as_ref());
                // Whoever is finished does not wait any more.
                let _ = self.happen(to, Command::Resume(resume), at);
            }
        }
        Ok(())
    }

    fn reported(&self, id: &HandoffId) -> Option<WrittenDocument> {
        let own = self.events.iter().rev().filter(|event| event.handoff == *id);
        own.map(|event| event.fact().unwrap()).find_map(|fact| match fact {
            Fact::Happened(Command::Report(report)) => Some(report.document),
            _ => None,
        })
    }

    fn not_before(&self, at: Timestamp) -> Timestamp {
        self.events.last().map_or(at, |event| event.at.max(at))
    }

    fn record(&mut self, transition: Transition) {
        let handoff = transition.handoff;
        let head = self.events.last().map_or(Head::START, Event::head);
        self.events.push(head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact));
        self.handoffs.insert(handoff.id.clone(), handoff);
    }
}
