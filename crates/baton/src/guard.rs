//! Who may decide. Every door that decides comes by here first, and gets the only thing that decisions are made with.
//!
//! Whoever works on a handoff does not decide, neither about it nor about another. The mark of an attempt is looked for in our
//! own variables and in those of every process above us: dropping it before the call is not enough.

use baton_agents::process::attempt_above;
use baton_engine::known::{Decider, LABEL_BYTES_MAX};

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
}

/// Lets a person pass, who may want to be called something else than their account, and nobody else.
pub(crate) fn person(label: Option<&str>) -> Result<Person, CommandError> {
    if let Some(handoff) = attempt_above() {
        let message = format!("an agent cannot decide: this runs inside the work on {handoff}");
        return Err(CommandError::no(message).hint("a person decides, in a shell of their own"));
    }
    if let Some(label) = label
        && (label.trim().is_empty() || label.len() > LABEL_BYTES_MAX || label.contains(char::is_control))
    {
        let message = format!("--as takes one line of at most {LABEL_BYTES_MAX} bytes");
        return Err(CommandError::usage(message).hint("who decides is known from your account, or by --sign"));
    }
    Ok(Person(Decider::account(user::name(), label.map(|label| label.trim().to_owned()))))
}

#[cfg(test)]
impl Person {
    /// Somebody for tests.
    pub(crate) fn named(name: &str) -> Person {
        Person(Decider::account(name, None))
    }
}
