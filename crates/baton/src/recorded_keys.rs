//! The keys that were recorded when a run began, compared with those that the configuration names now.
//!
//! Only the recorded ones count. A difference is reported: keys change hands, and a store can be another one
//! altogether.

use std::collections::BTreeSet;

use baton_engine::approval::{Approver, Key};
use baton_engine::definition::Definition;
use baton_engine::ssh::{PublicKey, allowed_signers};

use crate::config::Approvers;

/// Returns everybody whose keys were recorded with a run.
pub(crate) fn of_run(definition: &Definition) -> Vec<Approver> {
    let nested = definition.nested.values().flat_map(of_run);
    definition.approvers.iter().cloned().chain(nested).collect()
}

/// Returns how the recorded keys differ from the configured ones; `None` if they do not, or if none are configured.
pub(crate) fn difference(recorded: &[Approver], configured: &Approvers) -> Option<String> {
    if recorded.is_empty() || !configured.are_named() {
        return None;
    }
    let signers = match configured.signers() {
        Ok(signers) => signers,
        Err(error) => return Some(format!("the keys cannot be compared with those of baton.toml: {}", error.message)),
    };
    let differing = recorded.iter().filter_map(|approver| {
        let (then, now) =
            (fingerprints(&approver.keys), fingerprints(&allowed_signers::approver(&signers, &approver.name).keys));
        (then != now).then(|| format!("{} ({} then, {} now)", approver.name, in_words(&then), in_words(&now)))
    });
    let differing: BTreeSet<String> = differing.collect();
    let names: Vec<String> = differing.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "the keys recorded with the run are not those of baton.toml: {}; the recorded ones count, \
             so check that the store is yours (baton audit verify --all)",
            names.join(", ")
        )
    })
}

fn fingerprints(keys: &[Key]) -> BTreeSet<String> {
    keys.iter().map(|key| PublicKey::read(&key.key).map_or_else(|_| key.key.clone(), |key| key.fingerprint())).collect()
}

fn in_words(fingerprints: &BTreeSet<String>) -> String {
    let all: Vec<&str> = fingerprints.iter().map(String::as_str).collect();
    if all.is_empty() { "no key".to_owned() } else { all.join(" and ") }
}
