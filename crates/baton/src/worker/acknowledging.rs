//! What a command says about having understood, while it works: passed on to the store as soon as it is there.

use std::time::Duration;

use baton_agents::AcknowledgmentFile;
use baton_engine::engine::{GivenAcknowledgment, Yardstick};
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Acknowledge, Command};
use baton_engine::{Code, Failure, Handoff};
use baton_views::words::briefly;
use tokio::sync::watch;

use super::Worker;
use super::answer::failed;
use super::attempt::{Result, Work, expired};
use super::stop::Stop;

impl Worker {
    /// Passes on what the command says about having understood. Ends with what that means for the attempt: somebody else
    /// must clarify first, or it was not said in time.
    pub(super) async fn listen(
        &self,
        handoff: &Handoff,
        yardstick: &Yardstick,
        file: &mut AcknowledgmentFile,
        mut stop: watch::Receiver<Stop>,
    ) -> Work {
        let mut limit = handoff.terms.acknowledge_within_ms.map(Duration::from_millis);
        loop {
            let over = tokio::select! {
                text = file.next() => self.acknowledge(handoff, yardstick, &text, &mut stop).await,
                limit = expired(limit) => self.unacknowledged(handoff, limit).await,
            };
            if let Some(work) = over {
                return work;
            }
            limit = None;
        }
    }

    /// Sends the store what the command said; returns how the attempt ended if that ends it.
    pub(super) async fn acknowledge(
        &self,
        handoff: &Handoff,
        yardstick: &Yardstick,
        text: &str,
        stop: &mut watch::Receiver<Stop>,
    ) -> Option<Work> {
        let GivenAcknowledgment { understood, document } = match GivenAcknowledgment::judge(text, yardstick) {
            Ok(given) => given,
            Err(failure) => return Some(Work::Done(Box::new(failed(handoff.fence, failure)))),
        };
        let command = Command::Acknowledge(Acknowledge { fence: handoff.fence, understood, document, author: None });
        match self.record(handoff, command, stop).await {
            Result::Recorded(next) if next.state.name() == StateName::Claimed => None,
            over => Some(Work::Over(over)),
        }
    }

    /// Reports that the command was late, unless it has reached the store by itself.
    async fn unacknowledged(&self, handoff: &Handoff, limit: Duration) -> Option<Work> {
        if self.is_acknowledged(handoff).await {
            return None;
        }
        let message = format!("the command did not acknowledge the request within {}", briefly(limit));
        Some(Work::Done(Box::new(failed(handoff.fence, Failure::new(Code::not_acknowledged(), message)))))
    }

    /// Makes a failure of a report that cannot count, because the command never said that it understood.
    pub(super) async fn only_if_acknowledged(&self, handoff: &Handoff, command: Command) -> Command {
        let needed = handoff.terms.acknowledge && matches!(command, Command::Report(_));
        if !needed || self.is_acknowledged(handoff).await {
            return command;
        }
        let message = "the command must acknowledge the request in BATON_ACKNOWLEDGMENT_FILE before its report counts";
        failed(handoff.fence, Failure::new(Code::validation_failed(), message))
    }

    /// Returns whether the store has an acknowledgment of this claim. One that cannot be asked decides itself later.
    async fn is_acknowledged(&self, handoff: &Handoff) -> bool {
        match self.engine.again(handoff).await {
            Ok(found) => found.fence != handoff.fence || found.lease().is_none_or(|lease| lease.acknowledged),
            Err(_) => true,
        }
    }
}
