//! Whatever the workflow is and whatever everybody says: a run comes to an end or waits for somebody, and its journal
//! tells the same story again.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use baton_engine::flow;
use baton_engine::journal::Fact;
use baton_engine::lifecycle::Command;
use baton_engine::step::Role;
use baton_engine::{HandoffId, State};
use proptest::prelude::*;
use serde_json::json;

use crate::play::{Act, Play, definition};
use crate::telling::{answers, approves, asks, blocked, complete, delegates, rejects, verdict};

/// How many runs are played, unless `PROPTEST_CASES` says otherwise.
const RUNS: u32 = 16;

/// How many acts follow each other.
const ACTS: usize = 40;

const AGENTS: [&str; 3] = ["integration-developer", "backend-security", "ops"];

/// A phase, and those inside it.
#[derive(Debug, Clone)]
enum Kind {
    Agent { agent: usize, review: bool, retries: u8 },
    Check,
    Gate { choices: bool },
    Parallel { rule: usize, members: Vec<Shape> },
    Foreach { items: usize, at_once: Option<u8>, members: Vec<Shape> },
    Nested,
}

#[derive(Debug, Clone)]
struct Shape {
    kind: Kind,
    /// What follows, as a number that is made to fit.
    next: Option<usize>,
    on_failure: Option<usize>,
    when: Option<usize>,
}

fn leaf() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => (0..3_usize, any::<bool>(), 0..2_u8).prop_map(|(agent, review, retries)| Kind::Agent { agent, review, retries }),
        2 => Just(Kind::Check),
        1 => any::<bool>().prop_map(|choices| Kind::Gate { choices }),
        1 => Just(Kind::Nested),
    ]
}

fn shaped(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Shape> {
    let maybe = || proptest::option::weighted(0.25, 0..8_usize);
    (kind, maybe(), maybe(), maybe()).prop_map(|(kind, next, on_failure, when)| Shape { kind, next, on_failure, when })
}

fn shape() -> impl Strategy<Value = Shape> {
    shaped(leaf()).prop_recursive(2, 10, 3, |inner| {
        let members = proptest::collection::vec(inner, 1..4);
        let group =
            prop_oneof![
                (0..4_usize, members.clone()).prop_map(|(rule, members)| Kind::Parallel { rule, members }),
                (0..3_usize, proptest::option::of(1..3_u8), members)
                    .prop_map(|(items, at_once, members)| Kind::Foreach { items, at_once, members }),
            ];
        shaped(group)
    })
}

/// Writes phases as YAML flow style.
fn write_phases(shapes: &[Shape], depth: usize, parallel: bool) -> String {
    let name = |index: usize| format!("p{depth}{index}");
    let mut text = String::from("[");
    for (index, shape) in shapes.iter().enumerate() {
        write!(text, "{{id: {}, ", name(index)).unwrap();
        match &shape.kind {
            Kind::Agent { agent, review, retries } => {
                write!(text, "agent: {}, retry: {{max_retries: {retries}, delay: 1s}}", AGENTS[*agent]).unwrap();
                text.push_str(if *review { ", review: blocking" } else { "" });
            }
            Kind::Check => text.push_str("check: 'true'"),
            Kind::Gate { choices: false } => text.push_str("gate: {items: [this]}"),
            Kind::Gate { choices: true } => {
                write!(text, "gate: {{choices: {{go: next, halt: stop, over: end, jump: {}}}}}", name(0)).unwrap();
            }
            Kind::Parallel { rule, members } => {
                let rule = ["all_must_pass", "any_pass", "majority_pass", "{at_least: 1}"][*rule];
                let members = write_phases(members, depth + 1, true);
                write!(text, "pass_when: {rule}, parallel: {members}").unwrap();
            }
            Kind::Foreach { items, at_once, members } => {
                let items: Vec<usize> = (0..*items).collect();
                let at_once = at_once.map(|count| format!("at_once: {count}, ")).unwrap_or_default();
                let members = write_phases(members, depth + 1, false);
                write!(text, "foreach: '{items:?}', {at_once}phases: {members}").unwrap();
            }
            Kind::Nested => text.push_str("workflow: inner.yaml"),
        }
        if let Some(next) = shape.next.filter(|_| !parallel) {
            let next = if next == 0 { "end".to_owned() } else { name(next % shapes.len()) };
            write!(text, ", next: {next}").unwrap();
        }
        if let Some(target) = shape.on_failure {
            let target = match target {
                0..=1 => "stop".to_owned(),
                2..=4 => "gate".to_owned(),
                other if parallel => if other % 2 == 0 { "stop" } else { "gate" }.to_owned(),
                other => name(other % shapes.len()),
            };
            write!(text, ", on_failure: {target}").unwrap();
        }
        if let Some(when) = shape.when {
            let when = ["false", "true", "phases | length > 1", "phases | length < 2"][when % 4];
            write!(text, ", when: '{when}'").unwrap();
        }
        text.push_str("}, ");
    }
    text.push(']');
    text
}

const INNER: &str = "name: inner
agents: {worker: {command: [./w], retry: {max_retries: 1, delay: 0s}}}
phases: [{id: a, agent: worker, review: blocking}, {id: t, check: 'true'}, {id: g, gate: {}}]";

fn workflow(shapes: &[Shape], limits: usize) -> String {
    let limits = [
        "{}",
        "{visits_per_phase: 1}",
        "{handoffs: 4, ping_pong: 1}",
        "{tokens: 60, same_failure: 1}",
        "{wall_clock: 8s, visits_per_phase: 2}",
    ][limits % 5];
    let agents: Vec<String> = AGENTS.iter().map(|name| format!("{name}: {{command: [./a]}}")).collect();
    format!(
        "name: f\nagents: {{{}}}\nphases: {}\nlimits: {limits}\nroutes:\n  \
         - {{agent: ops, reason: lost, to: backend-security}}\n  \
         - {{agent: backend-security, reason: lost, to: ops}}\n  \
         - {{status: complete, verdict: restart, phase: p00}}\n",
        agents.join(", "),
        write_phases(shapes, 0, false)
    )
}

/// What an agent says; the number chooses.
fn agent_act(number: usize) -> Act {
    let says = |outcome: &str| Act::Says(json!({"outcome": outcome, "summary": "s", "questions": ["Which?"]}));
    match number % 16 {
        0..=4 => complete("done"),
        5 => verdict("CHANGES_REQUESTED", "again"),
        6 => verdict("restart", "from the beginning"),
        7 => blocked("lost"),
        8 => blocked("security_concern"),
        9 => blocked("unheard_of"),
        10 => delegates(AGENTS[number % 3]),
        11 => says("needs_review"),
        12 => says("needs_clarification"),
        13 => says("partial"),
        14 => Act::Lies("nothing is there"),
        _ => Act::Fails("exit 3"),
    }
}

/// What a person says where a handoff waits; the number chooses.
fn person_act(play: &Play, id: &HandoffId, number: usize) -> Act {
    let handoff = &play.run.find(id).unwrap().handoff;
    let choices = &handoff.terms.choices;
    match (&handoff.state, choices.is_empty()) {
        (State::AwaitingPerson { ask: baton_engine::handoff::Ask::Review }, _) => {
            [approves(), approves(), rejects("no"), asks("why?")][number % 4].clone()
        }
        (State::AwaitingPerson { ask: baton_engine::handoff::Ask::Clarification }, _) => answers("this"),
        (_, true) if handoff.terms.returns_to.is_some() => {
            [answers("this"), rejects("no"), asks("why?")][number % 3].clone()
        }
        (_, true) => [approves(), approves(), rejects("no")][number % 3].clone(),
        (_, false) if number % 7 == 6 => rejects("no"),
        (_, false) => answers(&choices[number % choices.len()]),
    }
}

/// What must hold after every step.
fn assert_sound(play: &Play) {
    let mut routed: HashMap<(&HandoffId, u64), u32> = HashMap::new();
    let (mut ended_at, mut accepted, mut left_behind) = (None, HashSet::new(), HashSet::new());
    for event in &play.ledger.events {
        let fact = event.fact().unwrap();
        let is_root = event.handoff.as_str() == "r";
        if let (Some(end), Fact::Accepted(_)) = (ended_at, &fact) {
            panic!("{} was accepted after the run had ended at {end}", event.handoff);
        }
        match fact {
            Fact::Accepted(_) => drop(accepted.insert(&event.handoff)),
            // Nothing follows any more from what was before.
            Fact::Happened(Command::Requeue(_)) if is_root => (ended_at, left_behind) = (None, accepted.clone()),
            Fact::Happened(Command::Report(_) | Command::Fail(_) | Command::Cancel(_)) if is_root => {
                ended_at = Some(event.seq);
            }
            Fact::Happened(Command::Route(_)) => *routed.entry((&event.handoff, 0)).or_default() += 1,
            _ => {}
        }
    }
    let ended = play.run.is_finished();
    // While a person is asked about the run as a whole, nothing follows from what has ended meanwhile.
    let is_held = baton_engine::flow::is_held(&play.run);
    for tracked in play.run.handoffs().filter(|tracked| tracked.step.role != Role::Run) {
        let finished = tracked.handoff.state.name().is_finished();
        if ended {
            assert!(finished, "{} is open in a run that has ended:\n{}", tracked.handoff.id, play.story());
        }
        let was_blocked =
            tracked.handoff.notes.iter().any(|note| note.about == baton_engine::handoff::About::Resolution);
        let times = routed.get(&(&tracked.handoff.id, 0)).copied().unwrap_or_default();
        if finished && tracked.step.role.is_phase() && !was_blocked {
            let cancelled = matches!(tracked.handoff.state, State::Cancelled { .. });
            assert!(
                times == 1
                    || (times == 0 && (ended || cancelled || is_held || left_behind.contains(&tracked.handoff.id))),
                "{} was routed {times} times",
                tracked.handoff.id
            );
        }
    }
}

/// Whatever happens next, as the numbers choose. Returns whether anything did.
fn happen(play: &mut Play, numbers: &mut impl Iterator<Item = usize>) -> bool {
    play.now += std::time::Duration::from_secs(1);
    play.settle();
    assert_sound(play);
    let who = numbers.next().unwrap_or(0);
    let what = numbers.next().unwrap_or(0);
    let is_completed = matches!(play.run.root().handoff.state, State::Completed { .. });
    if !is_completed && (who.is_multiple_of(23) || play.run.is_finished() && !who.is_multiple_of(3)) {
        let phases = &play.run.definition.workflow.phases;
        let phase = (what > 300).then(|| phases[what % phases.len()].id().to_owned());
        return play.begin_again(phase.as_deref(), None).is_ok();
    }
    if play.run.is_finished() {
        return false;
    }
    play.claim_ready();
    let waiting: Vec<HandoffId> = play.run.waiting().map(|tracked| tracked.handoff.id.clone()).collect();
    let working: Vec<HandoffId> = flow::work(&play.run)
        .filter(|tracked| tracked.handoff.lease().is_some())
        .map(|tracked| tracked.handoff.id.clone())
        .collect();
    let all: Vec<&HandoffId> = working.iter().chain(&waiting).collect();
    if all.is_empty() {
        return play.wait();
    }
    let id = all[who % all.len()].clone();
    if waiting.contains(&id) {
        let act = person_act(play, &id, what);
        let Act::Decides(decision, note) = act else { unreachable!("people decide") };
        play.decide(&id, decision, note);
    } else {
        let tracked = play.run.find(&id).unwrap();
        let (fence, role) = (tracked.handoff.fence, tracked.step.role);
        let act = if role == Role::Check { Act::Exits(!what.is_multiple_of(3)) } else { agent_act(what) };
        play.act(&id, fence, act);
    }
    true
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 150, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn run_comes_to_an_end_or_waits_for_somebody(
        shapes in proptest::collection::vec(shape(), 1..5),
        limits in 0..5_usize,
        numbers in proptest::collection::vec(0..1000_usize, ACTS),
    ) {
        let text = workflow(&shapes, limits);
        let mut play = Play::with(&definition(&text, &[("inner.yaml", INNER)], json!({})));
        let mut numbers = numbers.into_iter();
        for _ in 0..ACTS {
            if !happen(&mut play, &mut numbers) {
                break;
            }
        }
        play.settle();
        assert_sound(&play);
        let waits = play.run.waiting().next().is_some();
        let works = flow::work(&play.run).next().is_some();
        prop_assert!(play.run.is_finished() || waits || works, "nobody goes on:\n{text}\n{}", play.story());
    }
}
