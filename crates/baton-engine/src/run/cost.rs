//! What a decision costs, in handoffs that are looked at: a number that does not depend on the machine.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_protocol::{Dialect, workflow};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Run;
use crate::Fence;
use crate::definition::Definition;
use crate::draft::Draft;
use crate::driver::prompt_of;
use crate::flow;
use crate::handoff::{State, Terms, WrittenDocument};
use crate::handover;
use crate::id::{HandoffId, RunId};
use crate::journal::{Fact, Head};
use crate::lifecycle::{Accept, Command, Ending, HandIn, Verdict, Verify};
use crate::step::{ORCHESTRATOR, Role, Step};

thread_local! {
    pub(super) static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// Begins a run of a workflow with a list of so many items, and claims it.
pub(crate) fn begun(phases: &str, items: usize) -> Draft {
    let text = format!(
        "name: long\ninputs: {{list: {{required: true}}}}\nagents: {{clerk: {{command: ['true']}}}}\n\
         phases:\n{phases}\nlimits: {{handoffs: 0}}"
    );
    let list: Vec<Value> = (0..items).map(|number| json!(format!("item-{number}"))).collect();
    let definition = Definition {
        approvers: Vec::new(),
        workflow: workflow::read(text.as_bytes()).workflow.expect("readable"),
        folder: PathBuf::from("/"),
        file: None,
        nested: BTreeMap::new(),
        templates: BTreeMap::new(),
        inputs: Map::from_iter([("list".to_owned(), Value::Array(list))]),
        workspace: PathBuf::from("/"),
    };
    let (run, root) = (RunId::parse("r").expect("safe"), HandoffId::parse("r").expect("safe"));
    let mut terms = Terms::between("ana", ORCHESTRATOR);
    terms.step = Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
    let request = definition.request(&run, "ana");
    let accept = Accept { id: root.clone(), run: run.clone(), terms, request, notes: Vec::new() };
    let at = Timestamp::UNIX_EPOCH;
    let event = Head::START.next(&run, &root, 1, at, &Fact::Accepted(Box::new(accept)));
    let mut draft = Draft::new(&Run::begin(&event).expect("a run"), at);
    flow::claim(&mut draft, &root).expect("claimed");
    draft
}

/// One step: what follows is decided, and the first agent that can work is told its task and reports. Returns how many
/// handoffs were looked at.
fn step(run: &Run, at: Timestamp) -> (Run, u64) {
    let before = LOOKS.get();
    let mut draft = Draft::new(run, at);
    flow::settle(&mut draft).expect("it goes on");
    let is_pending = |tracked: &&super::TrackedHandoff| matches!(tracked.handoff.state, State::Pending { .. });
    let id = flow::work(&draft.run).find(is_pending).expect("somebody can work").handoff.id.clone();
    prompt_of(&draft.run, draft.run.find(&id).expect("it is there"), "k7Qz2m9XwB4t").expect("a prompt");
    flow::claim(&mut draft, &id).expect("claimed");
    let text = json!({"baton": 1, "document": "report", "outcome": "complete", "summary": format!("{id} is done.")});
    let document = WrittenDocument::new(Dialect::Native, text.to_string());
    let report = HandIn::new(Fence(1), Ending::Complete, document);
    draft.apply(&id, Command::Report(report)).expect("reported");
    let verify = Verify {
        fence: Fence(1),
        verdict: Verdict::Verified,
        examined: Vec::new(),
        evidence: None,
        kept: Vec::new(),
        review: false,
        repair: false,
        dice: 0.0,
    };
    draft.apply(&id, Command::Verify(verify)).expect("verified");
    (draft.run, LOOKS.get() - before)
}

/// Returns how many handoffs each of the first steps looks at.
fn looks(items: usize, steps: usize) -> Vec<u64> {
    let phases = "  - {id: each, foreach: inputs.list, as: item, phases: [{id: one, agent: clerk, when: item, \
                  task: 'Sort {{ item }}.'}, {id: two, agent: clerk, task: '{{ phases.one.summary }}'}]}";
    let mut run = begun(phases, items).run;
    let at = Timestamp::UNIX_EPOCH;
    (0..steps)
        .map(|_| {
            let (next, looked_at) = step(&run, at);
            run = next;
            looked_at
        })
        .collect()
}

#[test]
fn step_looks_at_as_many_handoffs_however_long_the_run_is() {
    let looks = looks(400, 700);
    // Eight items are open all the time between these two.
    let (early, late) = (&looks[20..60], &looks[620..660]);
    assert_eq!(early.iter().max(), late.iter().max(), "{early:?}\n{late:?}");
}

#[test]
fn step_looks_at_as_many_handoffs_however_long_the_list_is() {
    assert_eq!(looks(20, 16), looks(2_000, 16));
}

#[test]
fn any_number_of_items_can_begin_with_a_group() {
    // Each of them ends within the first transaction: more than one phase may.
    let phases = "  - {id: each, foreach: inputs.list, at_once: 0, phases: [{id: both, foreach: '[]', phases: [{id: one, agent: clerk}]}]}";
    let items = flow::ROUNDS_MAX as usize + 50;
    let mut draft = begun(phases, items);
    assert_eq!(flow::settle(&mut draft), Ok(()));
    assert_eq!(draft.run.handoffs().len(), 2 + items);
    assert!(draft.run.is_finished());
}

#[test]
fn phases_that_need_nobody_cannot_go_round_for_ever() {
    let phases = "  - {id: each, foreach: '[]', visits: 9999999, next: again, phases: [{id: one, agent: clerk}]}\n  \
                  - {id: again, foreach: '[]', visits: 9999999, next: each, phases: [{id: one, agent: clerk}]}";
    let mut draft = begun(phases, 0);
    assert_eq!(flow::settle(&mut draft), Err(flow::FlowFault::Endless));
}

#[test]
fn earlier_visit_is_found_whatever_it_was_called() {
    let mut draft = begun("  - {id: work, agent: clerk}", 0);
    let run = draft.run.id.clone();
    let mut step =
        Step { role: Role::Work, phase: "work".to_owned(), visit: 1, within: None, about: None, after: None };
    let mut terms = Terms::between(ORCHESTRATOR, "clerk");
    terms.step = Some(step.clone());
    let id = HandoffId::parse("r.work-0badcafe.1").expect("safe");
    let request = WrittenDocument::new(Dialect::Native, "{}".to_owned());
    draft.accept(Accept { id: id.clone(), run, terms, request, notes: Vec::new() });
    step.visit = 2;
    let earlier = handover::earlier_visits(&draft.run, &step);
    assert_eq!(earlier.iter().map(|visit| &visit.handoff.id).collect::<Vec<_>>(), [&id]);
}
