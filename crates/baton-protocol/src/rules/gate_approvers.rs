//! A gate whose approvers cannot decide it.

use std::collections::{BTreeMap, BTreeSet};

use super::RuleFindings;
use crate::model::terms::GateType;
use crate::settings::Signer;
use crate::wire::join;
use crate::workflow::{ApproverNames, WorkflowCase, GateFields};

rule! {
    /// ## What it checks
    /// Whether the approvers of a gate, in `gate` and `review`, can decide it:
    ///
    /// - `approvers`, `at_least` and `signed` need a blocking gate, because checks and an expired time are not people
    /// - `at_least` is not more than there are approvers, and not 0
    /// - with `signed: true` each of `approvers` has a key in `[approvers]` of `baton.toml` that still counts, and so has
    ///   somebody if nobody is named; those who share a key count once
    /// - no name is listed twice, and every name is possible
    /// - `approvers` is not empty
    ///
    /// ## Why it matters
    /// A gate that nobody can decide stops the run after all the work before it is done.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {items: ["The changelog is complete"], approvers: [ana], at_least: 2}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {items: ["The changelog is complete"], approvers: [ana, ben], at_least: 2}}
    /// ```
    "gate-approvers": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for step in &case.flow.steps {
        for (member, gate) in step.phase.gates() {
            let pointer = join(&step.pointer, member);
            if (gate.names_deciders() || gate.approvers.is_some()) && !case.is_unread(&pointer) {
                judge(gate, &pointer, &case.settings.signers, findings);
            }
        }
    }
}

fn judge(gate: &GateFields, pointer: &str, signers: &[Signer], findings: &mut RuleFindings<'_>) {
    let kind = gate.r#type.unwrap_or(GateType::Blocking);
    if kind != GateType::Blocking {
        findings.add(
            pointer,
            format!("a gate that is {} continues without its approvers", kind.as_str()),
            "make it `blocking`, or leave `approvers`, `at_least` and `signed` out",
        );
    }
    let names = gate.approver_names();
    if gate.approvers.is_some() && names.is_empty() {
        findings.add(
            &join(pointer, "approvers"),
            "the list of approvers is empty, so nobody can decide",
            "name who may decide, or leave `approvers` out: then everybody may",
        );
    }
    let count = names.len() as u64;
    match gate.at_least {
        Some(0) => findings.add(&join(pointer, "at_least"), "this requires no approval at all", "use a number of at least 1"),
        Some(needed) if count > 0 && needed > count => findings.add(
            &join(pointer, "at_least"),
            format!("{needed} must approve, but only {count} may"),
            "name more `approvers`, or a smaller number",
        ),
        _ => {}
    }
    for (index, name) in names.iter().enumerate() {
        let at = join(&join(pointer, "approvers"), &index.to_string());
        if !ApproverNames::is_possible(name) {
            let hint = "write the name of an account, or a name that has a key under [approvers] in baton.toml";
            findings.add(&at, format!("{name:?} is not a possible name"), hint);
        } else if names[..index].contains(name) {
            findings.add(&at, format!("{name} is named twice"), "each person counts once: leave one out");
        }
    }
    if gate.signed == Some(true) {
        judge_keys(gate, pointer, signers, findings);
    }
}

/// Judges whether enough of those who may decide can sign.
fn judge_keys(gate: &GateFields, pointer: &str, signers: &[Signer], findings: &mut RuleFindings<'_>) {
    let names = gate.approver_names();
    let needed = usize::try_from(gate.at_least.unwrap_or(1)).unwrap_or(usize::MAX);
    let mut can_sign = true;
    for (index, name) in names.iter().enumerate().filter(|(_, name)| ApproverNames::is_possible(name)) {
        if let Err((why, hint)) = keys_of(signers, name) {
            can_sign = false;
            let at = join(&join(pointer, "approvers"), &index.to_string());
            findings.add(&at, format!("{name} cannot sign: {why}"), hint);
        }
    }
    let everybody: BTreeSet<&str> =
        signers.iter().filter(|signer| signer.useless.is_none()).flat_map(|signer| signer.principals.plain()).collect();
    let people: Vec<&str> = match names {
        [] => everybody.into_iter().collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    if names.is_empty() && people.len() < needed {
        findings.add(
            &join(pointer, "signed"),
            format!("{needed} must sign, but baton.toml names {} who can", people.len()),
            "name public keys under [approvers] in baton.toml",
        );
    } else if can_sign && people.len() >= needed {
        let keys: Vec<Vec<&str>> =
            people.iter().map(|name| keys_of(signers, name).unwrap_or_default()).collect();
        let apart = people_apart(&keys);
        if apart < needed {
            findings.add(
                &join(pointer, if gate.at_least.is_some() { "at_least" } else { "signed" }),
                format!("{needed} must sign, but with the keys that they share only {apart} can"),
                "give each person a key of their own: a key counts once",
            );
        }
    }
}

/// Returns the keys with which somebody can sign; the error says why there are none, and what to do.
fn keys_of<'s>(signers: &'s [Signer], name: &str) -> Result<Vec<&'s str>, (String, &'static str)> {
    let theirs: Vec<&Signer> = signers.iter().filter(|signer| signer.principals.include(name)).collect();
    let useful = theirs.iter().filter(|signer| signer.useless.is_none()).map(|signer| signer.fingerprint.as_str());
    let useful: Vec<&str> = useful.collect();
    match theirs.first().and_then(|first| Some((first, first.useless.as_ref()?))) {
        _ if !useful.is_empty() => Ok(useful),
        Some((first, why)) => Err((format!("{}: {why}", first.place), "name another key for them, or correct this line")),
        None => Err((
            "there is no key of that name".to_owned(),
            "name the public key of each approver under [approvers] in baton.toml",
        )),
    }
}

/// Returns how many people can sign with a key of their own each. Whoever finds all their keys taken asks those who have
/// them to take another one.
fn people_apart(keys: &[Vec<&str>]) -> usize {
    fn seat<'k>(
        person: usize,
        keys: &[Vec<&'k str>],
        taken: &mut BTreeMap<&'k str, usize>,
        asked: &mut BTreeSet<&'k str>,
    ) -> bool {
        for key in &keys[person] {
            if !asked.insert(key) {
                continue;
            }
            let holder = taken.get(key).copied();
            if holder.is_none_or(|holder| seat(holder, keys, taken, asked)) {
                taken.insert(key, person);
                return true;
            }
        }
        false
    }
    let mut taken = BTreeMap::new();
    (0..keys.len()).filter(|person| seat(*person, keys, &mut taken, &mut BTreeSet::new())).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_with_one_key_between_them_count_once() {
        let apart = |keys: &[&[&str]]| people_apart(&keys.iter().map(|keys| keys.to_vec()).collect::<Vec<_>>());
        assert_eq!(apart(&[&["a"], &["a"]]), 1);
        assert_eq!(apart(&[&["a", "b"], &["a"]]), 2, "the first takes the other key");
        assert_eq!(apart(&[&["a"], &["a"], &["b", "c"]]), 2);
        assert_eq!(apart(&[]), 0);
    }
}
