//! What lists and counts cost when many handoffs are finished: those that a server is asked for again and again.

use std::path::Path;
use std::time::Instant;

use baton_engine::handoff::StateName;
use baton_engine::step::ORCHESTRATOR;
use baton_engine::store::{Filter, Store as _};
use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, median};

use crate::curve::fill;

const SAMPLES: usize = 40;

/// How much may be noise: everything here takes a few hundred microseconds at most.
const NOISE: f64 = 150.0;

/// What is asked for, and which addresses of a server ask for it.
const CALLS: [(&str, Call); 6] = [
    ("count all (/metrics, /agents)", Call::Census),
    ("the newest 100 (/handoffs)", Call::List(None, &[])),
    ("runs, of which there are none (/runs)", Call::List(Some(ORCHESTRATOR), &[])),
    ("waiting for a person, none (/gates, /inbox)", Call::List(None, &[StateName::AwaitingPerson])),
    ("failed, none (/handoffs?state=failed)", Call::List(None, &[StateName::Failed])),
    ("the newest 100 of an agent (/handoffs?agent=)", Call::List(Some("b"), &[StateName::Completed])),
];

enum Call {
    Census,
    List(Option<&'static str>, &'static [StateName]),
}

/// Prints the cost at 10⁴, 10⁵ and 10⁶ finished handoffs.
pub(crate) fn measure() {
    println!("{}", Figure::heading());
    let mut first: Option<Vec<f64>> = None;
    for finished in [10_000, 100_000, 1_000_000] {
        let folder = Scratch::new();
        fill(&folder.path("baton.db"), finished);
        let costs = sample(&folder.path("baton.db"));
        let before = first.get_or_insert_with(|| costs.clone());
        for (((name, _), cost), before) in CALLS.iter().zip(&costs).zip(before.iter()) {
            let name = format!("{name}, {finished} finished");
            println!("{}", Figure { name, ours: *cost, limit: Limit::AtMost(before * 1.5 + NOISE), unit: "µs" });
        }
    }
}

/// Returns the median cost of each call, in microseconds.
fn sample(path: &Path) -> Vec<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Sqlite::open(path).expect("a store");
        let mut costs = Vec::new();
        for (_, call) in &CALLS {
            let mut samples = Vec::new();
            for _ in 0..SAMPLES {
                let start = Instant::now();
                match call {
                    Call::Census => assert_eq!(store.census().await.expect("counts").len(), 1),
                    Call::List(agent, states) => {
                        let (agent, states) = (agent.map(str::to_owned), states.to_vec());
                        let filter = Filter { agent, states, after: None, limit: 100 };
                        drop(store.list(&filter).await.expect("a list"));
                    }
                }
                samples.push(start.elapsed().as_secs_f64() * 1e6);
            }
            costs.push(median(&samples));
        }
        costs
    })
}
