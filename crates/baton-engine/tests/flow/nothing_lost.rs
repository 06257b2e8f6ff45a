//! Nothing is lost between two agents: for every dialect and every document made from its schema, what was handed over
//! is in the prompt of the next agent, or in a file that its prompt names and its request lists.

use baton_engine::driver::copies_for;
use baton_protocol::{Dialect, Hints, schema};
use baton_testbed::Maker;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::play::{Act, Play};

/// What stands in the prompt itself, by the places of the canonical form; all the rest may stand in the file alone.
const IN_PROMPT: [&str; 26] = [
    "/summary",
    "/next/context",
    "/verdict",
    "/blocked_reason",
    "/attempted",
    "/blockers",
    "/questions",
    "/issues",
    "/warnings",
    "/errors",
    "/error/message",
    "/recovery_actions",
    "/next_steps",
    "/artifacts",
    "/files_modified",
    "/output",
    "/feature_directory",
    "/source_files_verified",
    "/findings/files_created",
    "/findings/blocking_issues",
    "/findings/warnings",
    "/context",
    "/expectations",
    "/to/reason",
    "/gate/items",
    "/instructions",
];

/// Documents with which an agent hands its work on, and the members that make them such.
fn handed_on(name: &str, value: &mut Value) -> bool {
    let set = |value: &mut Value, members: Value| {
        let members = members.as_object().cloned().unwrap_or_default();
        value.as_object_mut().unwrap().extend(members);
    };
    match name {
        "metadata-block.report" | "phase-block.report" => {
            set(value, json!({"status": "complete", "verdict": "APPROVED"}))
        }
        "native.report" => {
            set(value, json!({"outcome": "complete", "verdict": "APPROVED", "decision": "PROCEED"}));
            value.as_object_mut().unwrap().shift_remove("findings");
        }
        "task.report" => {
            let findings = json!({"files_created": [{"path": "w-created.rs", "purpose": "w-purpose"}]});
            set(value, json!({"status": "complete", "decision": "PROCEED", "phase": "write", "findings": findings}));
        }
        "mailbox.report" => set(value, json!({"status": "completed", "verdict": "APPROVED"})),
        "package.request" => {
            let inner = value.get_mut("handoff").unwrap();
            set(
                inner,
                json!({"kind": "sequential", "verdict": "APPROVED", "to": {"agent": "b", "reason": "w-reason"}}),
            );
            inner.as_object_mut().unwrap().shift_remove("gate");
            inner.as_object_mut().unwrap().shift_remove("type");
        }
        _ => return false,
    }
    true
}

/// Returns every text with its place.
fn texts(value: &Value, pointer: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| texts(value, &format!("{pointer}/{name}"), found))
        }
        Value::Array(items) => items.iter().for_each(|value| texts(value, pointer, found)),
        Value::String(text) if text.starts_with("w-") => found.push((pointer.to_owned(), text.clone())),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_field_of_every_dialect_reaches_the_next_agent(dice in prop::collection::vec(any::<Index>(), 400)) {
        for (name, schema) in schema::of_documents() {
            let mut dice = dice.iter();
            let mut roll = |sides: usize| dice.next().map_or(0, |die| die.index(sides));
            let mut number = 0;
            let mut text = || {
                number += 1;
                format!("w-{number}-")
            };
            let mut value = Maker { root: &schema, roll: &mut roll, text: &mut text }.value(&schema);
            if !handed_on(name, &mut value) {
                continue;
            }
            let dialect = Dialect::parse(name.split('.').next().unwrap()).unwrap();
            let hints = Hints { format: None, dialect: Some(dialect) };
            let written = value.to_string();
            let document = baton_protocol::read(written.as_bytes(), hints).document.expect("readable");
            let flow = format!(
                "name: f\nagents: {{a: {{command: [./a], dialect: {dialect}}}, b: {{command: [./b]}}}}\nphases: [{{id: one, agent: a}}, {{id: two, agent: b}}]"
            );
            let play = Play::of(&flow).recording().tell("one", [Act::Writes(dialect, written.clone())]).play();
            let prompt = &play.prompt("two.1").text;
            let copies = copies_for(&play.run, play.find("two.1"));
            let listed = play.find("two.1").asked().unwrap().context.clone().unwrap().handed_over;
            let file = listed[0].file.clone().expect("a file");
            prop_assert!(prompt.contains(&file), "{file} is not named");
            let copy = copies.iter().find(|copy| copy.path == file).expect("the file is written");
            prop_assert_eq!(&copy.text, &written, "the file has all of it");

            let mut found = Vec::new();
            texts(&Dialect::Native.write(&document).unwrap(), "", &mut found);
            for (pointer, text) in found {
                let below = |place: &&str| pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
                // An answer in the folders repeats its request.
                let further = pointer.starts_with("/extensions/fields/") && dialect != Dialect::Mailbox;
                let must = further || IN_PROMPT.iter().any(below);
                prop_assert!(!must || prompt.contains(&text), "{name}: {pointer} ({text}) is not in\n{prompt}");
                prop_assert!(prompt.contains(&text) || copy.text.contains(&text), "{name}: {pointer} is lost");
            }
        }
    }
}
