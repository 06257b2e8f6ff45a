//! What lists and counts cost when many handoffs are finished, on either store: those that a server is asked for again and again.

use std::time::Instant;

use baton_engine::handoff::StateName;
use baton_engine::step::ORCHESTRATOR;
use baton_engine::store::{Filter, Store};
use baton_testbed::gauge::{Figure, Limit, median};

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

/// So many handoffs are finished, one store after the other.
pub(crate) const FINISHED: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Compares the costs of each call beside more and more finished handoffs with those beside the fewest.
pub(crate) fn compare(all: &[(usize, Vec<f64>)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (finished, costs) in all {
        for (((name, _), cost), before) in CALLS.iter().zip(costs).zip(&all[0].1) {
            let name = format!("{name}, {finished} finished");
            figures.push(Figure { name, ours: *cost, limit: Limit::AtMost(before * 1.5 + NOISE), unit: "µs" });
        }
    }
    figures
}

/// Returns the median cost of each call, in microseconds. All handoffs there are belong to one agent and are completed.
pub(crate) async fn sample(store: &dyn Store) -> Vec<f64> {
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
}
