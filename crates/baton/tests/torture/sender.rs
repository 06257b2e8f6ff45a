//! The sender: bundles of handoffs, each accepted as a whole, and said aloud only after that.
//!
//! A bundle follows from the name of the sender and its number alone. Whoever goes on after a kill sends the bundle
//! again of which nobody knows whether it has arrived, word by word.

use std::ops::Range;

use baton_engine::handoff::{Priority, Terms, WrittenDocument};
use baton_engine::lifecycle::Accept;
use baton_engine::retry::Policy;
use baton_engine::{HandoffId, RunId};
use baton_protocol::Dialect;
use baton_store::Location;
use baton_testbed::Dice;

use crate::role::{give_up, now, persist, say};

/// The agents that the handoffs are for.
pub(crate) const AGENTS: [&str; 3] = ["ada", "bob", "eve"];

/// How the id of a handoff begins that may fail for good.
pub(crate) const FRAIL: &str = "frail";

/// Sends bundles.
pub(crate) async fn send(location: &Location, name: &str, numbers: Range<u64>) {
    let store = match persist(|| baton_store::open(location)).await {
        Ok(store) => store,
        Err(error) => give_up(&format!("sender {name} cannot open: {error}")),
    };
    for number in numbers.clone() {
        let requests = bundle(name, number);
        let ids: Vec<String> = requests.iter().map(|request| request.id.to_string()).collect();
        let mut attempts = 0;
        let accepted = persist(|| {
            attempts += 1;
            store.accept(requests.clone(), now())
        });
        let accepted = match accepted.await {
            Ok(accepted) => accepted,
            Err(error) => give_up(&format!("bundle {number} of {name}: {error}")),
        };
        let existing = accepted.iter().filter(|accepted| accepted.existing).count();
        let may_exist = number == numbers.start || attempts > 1;
        if existing > 0 && (!may_exist || existing < accepted.len()) {
            give_up(&format!("bundle {number} of {name}: {existing} of {} were there before", accepted.len()));
        }
        let word = if existing > 0 { "resent" } else { "sent" };
        say(&format!("{word} {number} {}", ids.join(" ")));
    }
}

/// Makes the requests of a bundle: one to three, in a run of their own or each in its own.
fn bundle(name: &str, number: u64) -> Vec<Accept> {
    let seed = name.bytes().fold(number, |seed, byte| seed.wrapping_mul(131).wrapping_add(byte.into()));
    let mut dice = Dice::new(seed);
    let kind = if dice.chance(0.05) { FRAIL } else { "sound" };
    let id = |part: u64| HandoffId::parse(format!("{kind}-{name}-{number}-{part}")).expect("a safe id");
    let parts = if dice.chance(0.7) { 1 } else { 2 + dice.below(2) };
    let all: Vec<String> = (0..parts).map(|part| id(part).to_string()).collect();
    // Some runs have many bundles, of many senders, so that their journals are fought over.
    let shared = dice.chance(0.2).then(|| RunId::parse(format!("run-{}", dice.below(5))).expect("a safe id"));
    let request = |part: u64, dice: &mut Dice| {
        let id = id(part);
        let retry = Policy {
            max_retries: if kind == FRAIL { 1 } else { 1000 },
            delay_ms: dice.below(30),
            multiplier: 1.0,
            jitter: 0.5,
            ..Policy::default()
        };
        let terms = Terms {
            priority: *dice.pick(&[Priority::Low, Priority::Normal, Priority::High, Priority::Critical]),
            key: dice.chance(0.3).then(|| format!("key-{id}")),
            retry,
            ..Terms::between(name, *dice.pick(&AGENTS))
        };
        let text = serde_json::json!({ "bundle": all }).to_string();
        let run = shared.clone().unwrap_or_else(|| RunId::alone(&id));
        Accept { run, id, terms, request: WrittenDocument::new(Dialect::Native, text), notes: Vec::new() }
    };
    (0..parts).map(|part| request(part, &mut dice)).collect()
}
