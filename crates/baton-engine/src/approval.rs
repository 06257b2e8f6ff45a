//! What a gate demands of a decision: by whom, how many, and whether it must be signed.
//!
//! It stands in the terms of the handoff with the keys as they were when the run began: whoever decides needs nothing but
//! the private key, nobody joins by editing a file later, and the journal alone proves every signature again.

use baton_protocol::wire::same_word;
use jiff::Timestamp;

use crate::handoff::{Ask, Handoff, State};
use crate::id::HandoffId;
use crate::known::{HowKnown, Who};
use crate::lifecycle::{Decide, Decision, Refusal};
use crate::ssh::{PublicKey, Signature};

/// What a gate demands of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// How many must say the same before it counts.
    pub at_least: u32,
    /// Whether only signed decisions count.
    pub signed: bool,
    /// Who may decide; everybody if the list is empty.
    pub approvers: Vec<Approver>,
}

/// Somebody who may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver {
    /// The name: a principal, or an account of the operating system.
    pub name: String,
    /// What they sign with.
    pub keys: Vec<Key>,
}

/// A public key, and when it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key, as it is in a file of SSH.
    pub key: String,
    /// Not before this time.
    pub valid_after: Option<Timestamp>,
    /// Not from this time on.
    pub valid_before: Option<Timestamp>,
}

/// That somebody approved, or made a choice, while others must do so, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Who.
    pub by: String,
    /// What they want to be called.
    pub label: Option<String>,
    /// The fingerprint of the key that they signed with.
    pub key: Option<String>,
    /// What they chose; `None` if they approved.
    pub choice: Option<String>,
    /// Whether they have chosen something else since. It is kept, so that nobody can hand in the old signature again.
    pub withdrawn: bool,
}

/// Why no signature counts where no approvers are named.
const UNKNOWN_KEYS: &str = "no approvers are named here, so no key is known";

impl Approval {
    /// Returns the keys of somebody.
    fn keys_of(&self, name: &str) -> impl Iterator<Item = &Key> {
        self.approvers.iter().filter(move |approver| approver.name == name).flat_map(|approver| &approver.keys)
    }

    /// Returns whose key this is.
    pub fn owner_of(&self, key: &PublicKey) -> Option<&str> {
        let key = key.to_string();
        let mut owners = self.approvers.iter().filter(|approver| approver.keys.iter().any(|known| known.key == key));
        owners.next().map(|approver| approver.name.as_str())
    }

    /// Returns whether anybody who may decide can sign.
    pub fn has_keys(&self) -> bool {
        self.approvers.iter().any(|approver| !approver.keys.is_empty())
    }

    /// Returns the names of those who may decide.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.approvers.iter().map(|approver| approver.name.as_str()).collect();
        if names.is_empty() { "anybody".to_owned() } else { names.join(", ") }
    }

    /// Returns what fulfils both; `None` if nobody can.
    pub(crate) fn and(self, other: Approval) -> Option<Approval> {
        let (at_least, signed) = (self.at_least.max(other.at_least), self.signed || other.signed);
        let is_in_both = |one: &Approver| other.approvers.iter().any(|another| another.name == one.name);
        let approvers: Vec<Approver> = match (self.approvers.is_empty(), other.approvers.is_empty()) {
            (true, true) => return Some(Approval { at_least, signed, approvers: Vec::new() }),
            (true, false) => other.approvers,
            (false, true) => self.approvers,
            (false, false) => self.approvers.into_iter().filter(is_in_both).collect(),
        };
        (approvers.len() >= at_least as usize).then_some(Approval { at_least, signed, approvers })
    }

    /// Describes in words what is demanded.
    pub fn in_words(&self) -> String {
        let signed = if self.signed { ", signed" } else { "" };
        match (self.at_least, self.approvers.len()) {
            (0 | 1, 0) => format!("anybody{signed}"),
            (0 | 1, 1) => format!("{}{signed}", self.names()),
            (0 | 1, _) => format!("one of {}{signed}", self.names()),
            (count, 0) => format!("{count} people{signed}"),
            (count, _) => format!("{count} of {}{signed}", self.names()),
        }
    }

    /// Refuses whoever may not decide, or not like this. Whether a signature fits what was decided is another question.
    pub(crate) fn admits(&self, by: &str, known: &HowKnown) -> Result<(), Refusal> {
        if known.is_unproven() {
            return Err(Refusal::Unknown { by: by.to_owned() });
        }
        if let Some(signature) = known.signature() {
            self.is_of_approver(signature)?;
        }
        if !self.approvers.is_empty() && !self.approvers.iter().any(|approver| approver.name == by) {
            return Err(Refusal::NotNamed { by: by.to_owned(), named: self.names() });
        }
        if self.signed && known.signature().is_none() {
            return Err(Refusal::Unsigned { named: self.names() });
        }
        Ok(())
    }

    fn judge(&self, handoff: &Handoff, decide: &Decide, at: Timestamp) -> Result<(), Refusal> {
        self.admits(&decide.by, &decide.known)?;
        if let Some(signature) = decide.known.signature() {
            self.verify(signature, &handoff.id, decide, at)?;
        }
        let vote = Vote::of(decide);
        if let Some(vote) = vote.filter(|vote| handoff.approvals.iter().any(|other| other.repeats(vote))) {
            return Err(Refusal::Twice { by: vote.by });
        }
        Ok(())
    }

    /// Refuses a key that belongs to none of those who may decide.
    fn is_of_approver(&self, signature: &Signature) -> Result<(), Refusal> {
        let key = signature.public_key().map_err(|why| Refusal::Forged { why: why.to_string() })?;
        let why = match self.owner_of(&key) {
            Some(_) => return Ok(()),
            None if self.approvers.is_empty() => UNKNOWN_KEYS.to_owned(),
            None => format!("the key {} does not belong to any approver: {}", key.fingerprint(), self.names()),
        };
        Err(Refusal::Forged { why })
    }

    fn verify(
        &self,
        signature: &Signature,
        handoff: &HandoffId,
        decide: &Decide,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        let forged = |why: String| Refusal::Forged { why };
        let given = signature.public_key().map_err(|why| forged(why.to_string()))?;
        let text = given.to_string();
        let mut keys = self.keys_of(&decide.by).filter(|key| key.key == text).peekable();
        if keys.peek().is_none() {
            return Err(forged(format!("the key {} does not belong to {}", given.fingerprint(), decide.by)));
        }
        if let Some(why) = keys.map(|key| key.useless_at(at)).min().flatten() {
            return Err(forged(format!("the key {} of {} {why}", given.fingerprint(), decide.by)));
        }
        signature.verify(&given, decide.signed_text(handoff).as_bytes()).map_err(|why| forged(why.to_string()))
    }
}

impl Key {
    /// Returns why a signature of this time does not count; `None` if it does.
    fn useless_at(&self, at: Timestamp) -> Option<String> {
        let early = self.valid_after.filter(|after| at < *after).map(|after| format!("is valid only from {after}"));
        early.or_else(|| self.valid_before.filter(|before| *before <= at).map(|before| format!("expired at {before}")))
    }
}

impl Vote {
    /// Returns the vote that a decision is; `None` for those that count alone.
    pub(crate) fn of(decide: &Decide) -> Option<Vote> {
        let choice = match &decide.decision {
            Decision::Approve => None,
            Decision::Answer { answers } => Some(answers.trim().to_owned()),
            Decision::Reject { .. } | Decision::Ask { .. } => return None,
        };
        let key = decide.known.signature().map(|signature| signature.key.clone());
        Some(Vote { by: decide.by.clone(), label: decide.label.clone(), key, choice, withdrawn: false })
    }

    /// Returns whether it is for the same.
    pub(crate) fn agrees(&self, other: &Vote) -> bool {
        match (&self.choice, &other.choice) {
            (Some(one), Some(other)) => same_word(one, other),
            (one, other) => one == other,
        }
    }

    /// Returns whether both are of the same person: one name, or one key under two names.
    pub(crate) fn is_of_same(&self, other: &Vote) -> bool {
        self.by == other.by || (self.key.is_some() && self.key == other.key)
    }

    fn repeats(&self, other: &Vote) -> bool {
        self.is_of_same(other) && self.agrees(other)
    }

    /// Returns who it is, and what they want to be called.
    pub fn who(&self) -> String {
        Who(&self.by, self.label.as_deref()).to_string()
    }
}

/// Refuses a decision of somebody who may not make it.
pub(crate) fn permit(handoff: &Handoff, decide: &Decide, at: Timestamp) -> Result<(), Refusal> {
    let approval = handoff.terms.approval.as_ref();
    match (&handoff.state, approval) {
        (State::AwaitingPerson { ask: Ask::Review | Ask::Gate }, Some(approval)) => approval.judge(handoff, decide, at),
        // Whoever cannot tell whose signature it is must not record it as somebody's.
        _ if decide.known.signature().is_some() => Err(Refusal::Forged { why: UNKNOWN_KEYS.to_owned() }),
        _ => Ok(()),
    }
}

/// Counts a vote. Returns whether the votes are enough.
pub(crate) fn is_enough(handoff: &mut Handoff, decide: &Decide) -> bool {
    let (Some(approval), Some(vote)) = (&handoff.terms.approval, Vote::of(decide)) else { return true };
    let needed = approval.at_least as usize;
    // Whoever changes their mind takes back what they chose before.
    for other in handoff.approvals.iter_mut().filter(|other| other.is_of_same(&vote)) {
        other.withdrawn = true;
    }
    handoff.approvals.push(vote.clone());
    handoff.approvals.iter().filter(|other| !other.withdrawn && other.agrees(&vote)).count() >= needed
}

impl Handoff {
    /// Returns how many have decided so far, of how many, and who; `None` where one is enough or nobody has.
    pub fn approved_so_far(&self) -> Option<String> {
        let approval = self.terms.approval.as_ref().filter(|approval| approval.at_least > 1)?;
        let mut choices: Vec<&Vote> = Vec::new();
        let counted = || self.approvals.iter().filter(|vote| !vote.withdrawn);
        for vote in counted() {
            if !choices.iter().any(|other| other.agrees(vote)) {
                choices.push(vote);
            }
        }
        let told = choices.into_iter().map(|choice| {
            let same: Vec<String> = counted().filter(|vote| vote.agrees(choice)).map(Vote::who).collect();
            let what = choice.choice.as_ref().map(|choice| format!(" for {choice}")).unwrap_or_default();
            format!("{} of {}{what}: {}", same.len(), approval.at_least, same.join(", "))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

#[cfg(test)]
mod tests;
