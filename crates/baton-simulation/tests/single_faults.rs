//! Ring 1: the examples, with every single fault at every call that a driver makes to its store. Whatever goes wrong, a
//! run ends as the undisturbed one does.

use baton_simulation::flows::{EXAMPLES, definition};
use baton_simulation::single::{PAUSE, run};

fn every_fault_at_every_call(name: &str) {
    let (_, text) = EXAMPLES.iter().find(|(known, _)| *known == name).expect("an example");
    let definition = definition(text, &[]);
    let undisturbed = run(&definition, None);
    assert_eq!(undisturbed.steps["r"].trim(), "completed", "{name}: {:#?}", undisturbed.steps);
    assert_eq!(undisturbed.wrong, "", "{name}");
    let mut failed = Vec::new();
    let mut tried = 0;
    for (number, call) in (1..).zip(&undisturbed.calls) {
        for fault in call.faults(PAUSE) {
            tried += 1;
            let course = run(&definition, Some((number, fault)));
            if course.steps != undisturbed.steps || !course.wrong.is_empty() {
                let different = course.steps.iter().filter(|(id, step)| undisturbed.steps.get(*id) != Some(step));
                let missing = undisturbed.steps.keys().filter(|id| !course.steps.contains_key(*id));
                let different: Vec<_> = different.collect();
                let missing: Vec<_> = missing.collect();
                failed.push(format!(
                    "{name}, call {number}, {fault:?}: different {different:?}, missing {missing:?}\n{}",
                    course.wrong
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {tried} faults:\n{}", failed.len(), failed.join("\n"));
    // How often a driver calls its store may change; that each step is written by a call, and that each call can fail in
    // at least five ways, may not.
    let (calls, steps) = (undisturbed.calls.len(), undisturbed.steps.len());
    assert!(calls >= steps, "{name}: {calls} calls for {steps} steps");
    assert!(tried >= 5 * calls, "{name}: only {tried} faults were tried at {calls} calls");
}

#[test]
fn integration_survives_every_fault_at_every_call() {
    every_fault_at_every_call("integration");
}

#[test]
fn mcp_wrapper_survives_every_fault_at_every_call() {
    every_fault_at_every_call("mcp-wrapper");
}

#[test]
fn web_agency_survives_every_fault_at_every_call() {
    every_fault_at_every_call("web-agency");
}

#[test]
fn feature_survives_every_fault_at_every_call() {
    every_fault_at_every_call("feature");
}

#[test]
fn react_survives_every_fault_at_every_call() {
    every_fault_at_every_call("react");
}
