//! What is agreed about a handoff: who, in which queue, how urgent, how long, how often.

use baton_protocol::model::request::Party;
use baton_protocol::model::terms::Priority;
use baton_protocol::workflow::AgentFields;
use jiff::Timestamp;

use crate::approval::Approval;
use crate::evidence::SeenFile;
use crate::expression::slug;
use crate::handoff::Digest;
use crate::id::HandoffId;
use crate::retry;
use crate::step::Step;
use crate::stored;

/// What was agreed when the handoff was accepted. It never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Who hands over.
    pub from: String,
    /// Which agent is to receive.
    pub to: String,
    /// The queue that it waits in, if that is not the one with the name of the agent: see [`Terms::in_queue_of`].
    pub queue: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// Not to be claimed before this time.
    pub not_before: Option<Timestamp>,
    /// When it expires, in whatever state it is then.
    pub deadline: Option<Timestamp>,
    /// How long one attempt may take, even with heartbeats.
    pub timeout_ms: Option<u64>,
    /// How often and when to try again.
    pub retry: retry::Policy,
    /// An idempotency key: sending it again returns the same handoff.
    pub key: Option<String>,
    /// Whether a complete report must be verified before it counts.
    pub verify: bool,
    /// The blocked handoff that goes on when this one is completed.
    pub returns_to: Option<HandoffId>,
    /// The step of a run that it stands for.
    pub step: Option<Step>,
    /// What a person can choose from; empty for approving, rejecting and answering freely.
    pub choices: Vec<String>,
    /// The files that a person is asked about, as the phases before have left them: in journals from before they were
    /// looked at when the question was put.
    pub files: Vec<SeenFile>,
    /// Whether the files that the phases before have left are looked at before a person is asked.
    pub look_first: bool,
    /// Whether a report counts only after the claimant has said that it understood.
    pub acknowledge: bool,
    /// How soon after its claim it must say so.
    pub acknowledge_within_ms: Option<u64>,
    /// How long it may wait to be claimed.
    pub pick_up_within_ms: Option<u64>,
    /// Who may approve or reject it, and how many must.
    pub approval: Option<Approval>,
}

/// How many bytes of a workflow's name are part of the names of its queues.
const WORKFLOW_BYTES_MAX: usize = 48;

/// What only drivers take waits in queues that begin like this. Nobody can address them: `@agent` means `agent`.
const DRIVERS: &str = "@";

/// Stands between a token and the key that it was sent with. It is a control character, which nobody can send in a key.
const KEY_MARK: char = '\u{1f}';

fn queue_of_workflow(workflow: &str, agent: &str) -> String {
    // A workflow may be called anything; the name of a queue is typed, and never that of the drivers.
    let slug = slug(workflow);
    let name = match &slug[..slug.floor_char_boundary(WORKFLOW_BYTES_MAX)] {
        "" => "workflow",
        name => name,
    };
    format!("{name}/{agent}")
}

fn queue_of_drivers(workflow: &str, agent: &str) -> String {
    format!("{DRIVERS}{}", queue_of_workflow(workflow, agent))
}

impl Terms {
    /// Lets it wait in the queue of an agent of this workflow: an agent of the same name elsewhere gets nothing of it.
    pub fn in_queue_of(&mut self, workflow: &str) {
        self.queue = Some(queue_of_workflow(workflow, &self.to));
    }

    /// Leaves it to the driver of a run of this workflow.
    pub fn reserve(&mut self, workflow: &str) {
        self.queue = Some(queue_of_drivers(workflow, &self.to));
    }

    /// Returns the queue in which the work of an agent of a workflow waits, before there is any.
    pub fn queue_for(workflow: &str, agent: &str, fields: &AgentFields) -> String {
        match fields.queue {
            Some(true) => queue_of_workflow(workflow, agent),
            Some(false) | None => queue_of_drivers(workflow, agent),
        }
    }

    /// Returns whether it is left to the driver of its run.
    pub fn is_reserved(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.starts_with(DRIVERS))
    }

    /// Returns whether only the driver of its run claims it and says what came of it: a run, what holds parts of it together,
    /// checks, and agents that the driver starts itself.
    pub fn is_drivers(&self) -> bool {
        self.is_reserved() || self.step.as_ref().is_some_and(|step| step.role.is_drivers())
    }

    /// Returns the queue that it waits in.
    pub fn queue(&self) -> &str {
        self.queue.as_deref().unwrap_or(&self.to)
    }

    /// Returns the name of a queue for people: that only drivers take from it says nothing to them.
    pub fn readable_queue(queue: &str) -> &str {
        queue.strip_prefix(DRIVERS).unwrap_or(queue)
    }

    /// Returns the queues that people know by a name.
    pub fn queues_called(name: &str) -> [String; 2] {
        [name.to_owned(), format!("{DRIVERS}{name}")]
    }

    /// Returns the key under which a server remembers what somebody has sent: each token has keys of its own.
    pub fn key_of(token: &str, key: &str) -> String {
        format!("{token}{KEY_MARK}{key}")
    }

    /// Returns a key as it was sent.
    pub fn readable_key(key: &str) -> &str {
        key.split_once(KEY_MARK).map_or(key, |(_, key)| key)
    }

    /// Returns whether it is for an agent of this name, or waits in this queue.
    pub fn is_for(&self, name: &str) -> bool {
        self.to == name || self.queue() == name
    }

    /// Returns whether it is for a person. Agents cannot claim such a handoff.
    pub fn asks_person(&self) -> bool {
        let to = Party { agent: Some(self.to.clone()), ..Party::default() };
        to.is_person()
    }

    /// Identifies the files that a person is asked about; `None` if there are none.
    pub(crate) fn files_digest(&self) -> Option<Digest> {
        (!self.files.is_empty()).then(|| Digest::of(stored::files(&self.files).as_bytes()))
    }

    /// The usual terms between two parties.
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> Terms {
        Terms {
            from: from.into(),
            to: to.into(),
            queue: None,
            priority: Priority::Normal,
            not_before: None,
            deadline: None,
            timeout_ms: None,
            retry: retry::Policy::default(),
            key: None,
            verify: false,
            returns_to: None,
            step: None,
            choices: Vec::new(),
            files: Vec::new(),
            look_first: false,
            acknowledge: false,
            acknowledge_within_ms: None,
            pick_up_within_ms: None,
            approval: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_of_a_workflow_can_be_typed_whatever_the_workflow_is_called() {
        let long = "x".repeat(300);
        for (workflow, queue) in [
            ("invoices", "invoices/dev"),
            ("Customer import (new)", "customer-import-new/dev"),
            ("@driver", "driver/dev"),
            ("\u{1b}[31m/", "31m/dev"),
            ("…", "workflow/dev"),
            (long.as_str(), &format!("{}/dev", &long[..WORKFLOW_BYTES_MAX])),
        ] {
            let mut terms = Terms::between("lead", "dev");
            terms.in_queue_of(workflow);
            assert_eq!((terms.queue(), terms.is_reserved()), (queue, false));
            terms.reserve(workflow);
            assert_eq!((Terms::readable_queue(terms.queue()), terms.is_reserved()), (queue, true));
            assert!(Terms::queues_called(queue).iter().any(|called| called == terms.queue()));
        }
    }
}
