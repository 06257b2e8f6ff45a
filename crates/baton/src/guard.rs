//! Who may decide. Every door that decides comes by here first, and gets the only thing that decisions are made with.
//!
//! Whoever works on a handoff does not decide, neither about it nor about another. The mark of an attempt is looked for in our
//! own variables and in those of every process above us: dropping it before the call is not enough. A namespace of processes
//! would end the way up; whoever makes one without being root makes a user namespace first, and that can be seen.

use baton_agents::process::{UserNamespace, attempt_above};
use baton_engine::HandoffId;
use baton_engine::engine::{Caller, Door};
use baton_engine::known::{Decider, HowKnown, LABEL_BYTES_MAX};

use crate::command_error::CommandError;
use crate::user;

/// A person, as far as anybody can tell from here. Only [`person`] makes one.
#[derive(Debug, Clone)]
pub(crate) struct Person(Decider);

impl Person {
    /// Returns who decides, as the operating system knows them.
    pub(crate) fn decider(&self) -> Decider {
        self.0.clone()
    }

    /// Returns the same person as a server knows them, by their token.
    pub(crate) fn known_as(self, decider: Decider) -> Person {
        Person(decider)
    }

    /// Returns the person as who calls the engine.
    pub(crate) fn caller(&self) -> Caller {
        Caller { decider: self.decider(), door: Door::CommandLine, role: None, working_on: None }
    }
}

/// Returns whoever runs this program, agents among them, as who calls the engine.
pub(crate) fn anybody() -> Caller {
    let working_on = attempt_above().ok().flatten().and_then(|handoff| HandoffId::parse(handoff).ok());
    Caller { decider: Decider::account(user::name(), None), door: Door::CommandLine, role: None, working_on }
}

/// Lets a person pass, who may want to be called something else than their account, and nobody else.
pub(crate) fn person(label: Option<&str>) -> Result<Person, CommandError> {
    // Whoever runs in a cage can hide its parents and its namespace behind files of its own, but not this.
    if rustix::thread::no_new_privs().unwrap_or(true) {
        if let Ok(Some(handoff)) = attempt_above() {
            return Err(of_an_agent(&handoff));
        }
        let message = "an agent cannot decide: this process cannot gain new privileges, like an agent in its cage";
        return Err(CommandError::no(message).hint("use an ordinary shell, or sign the decision with --sign"));
    }
    signer(label)
}

fn of_an_agent(handoff: &str) -> CommandError {
    let message = format!("an agent cannot decide: this process belongs to the work on {handoff}");
    CommandError::no(message).hint("only a person can decide, in their own shell")
}

/// Lets somebody pass whose signature will say who they are; in a hardened container people have nothing else.
pub(crate) fn signer(label: Option<&str>) -> Result<Person, CommandError> {
    let above = attempt_above().map_err(|error| {
        CommandError::usage(format!("cannot tell who decides: /proc/self cannot be read: {error}")).hint("mount /proc")
    })?;
    if let Some(handoff) = above {
        return Err(of_an_agent(&handoff));
    }
    let namespace = UserNamespace::current();
    if let Some(label) = label
        && (label.trim().is_empty() || label.len() > LABEL_BYTES_MAX || label.contains(char::is_control))
    {
        let message = format!("--as takes one line of at most {LABEL_BYTES_MAX} bytes");
        return Err(CommandError::usage(message).hint("who decides is known from your account, or by --sign"));
    }
    let label = label.map(|label| label.trim().to_owned());
    Ok(Person(match namespace {
        None => Decider::account(user::name(), label),
        // Inside, the name of an account is whatever a file says; the number outside is all that is left of it.
        Some(UserNamespace { outside }) => {
            let number = outside.map_or_else(|| "unknown uid".to_owned(), |outside| format!("uid {outside}"));
            Decider { name: format!("{number} in a user namespace"), known: HowKnown::Unproven, label }
        }
    }))
}

#[cfg(test)]
impl Person {
    /// Somebody for tests.
    pub(crate) fn named(name: &str) -> Person {
        Person(Decider::account(name, None))
    }
}
