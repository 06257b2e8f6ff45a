//! A run that hands on from one step to the next: two durable commits per step, one for what follows and one for the report.

use std::path::Path;
use std::time::Instant;

use baton_engine::Fence;
use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Accept, Claim, Command, Ending, HandIn, Route, Verdict, Verify};
use baton_engine::store::{Order, TransactionStep};
use baton_engine::{HandoffId, RunId, Store, Terms};
use baton_store::sqlite::Sqlite;
use baton_testbed::gauge::rate;

use crate::cycle::now;

/// How many steps a run has.
const STEPS: usize = 10;

/// Returns how many steps per second runs take, one after the other.
pub(crate) fn steps_per_second(path: &Path, runs: usize) -> f64 {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Sqlite::open(path).expect("a store");
        let start = Instant::now();
        for run in 0..runs {
            live(&store, run).await;
        }
        rate((runs * STEPS) as u64, start.elapsed())
    })
}

async fn live(store: &dyn Store, number: usize) {
    let name = |step: usize| HandoffId::parse(format!("run-{number:08}.{step}")).expect("a safe id");
    let run = RunId::parse(format!("run-{number:08}")).expect("a safe id");
    for step in 0..STEPS {
        let mut steps = if step == 0 { Vec::new() } else { end(&name(step - 1)) };
        let terms = Terms { verify: true, ..Terms::between("a", "b") };
        let request = document("request", &name(step));
        steps.push(TransactionStep::Accept(Box::new(Accept {
            id: name(step),
            run: run.clone(),
            terms,
            request,
            notes: Vec::new(),
        })));
        let claim = Claim::by("driver", 60_000);
        steps.push(TransactionStep::Apply(name(step), Command::Claim(claim)));
        store.carry_out(steps, now()).await.expect("carried out");
        let document = document("report", &name(step));
        let report = HandIn::new(Fence(1), Ending::Complete, document);
        store.apply(Order::new(name(step), Command::Report(report)), now()).await.expect("reported");
    }
}

/// Verifies a step and says that another follows.
fn end(id: &HandoffId) -> Vec<TransactionStep> {
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
    let (to, why) = ("next".to_owned(), "it comes next".to_owned());
    let route = Route { to, why, instead_of: None, skipped: Vec::new() };
    vec![
        TransactionStep::Apply(id.clone(), Command::Verify(verify)),
        TransactionStep::Apply(id.clone(), Command::Route(route)),
    ]
}

/// A document of about one kilobyte.
fn document(kind: &str, id: &HandoffId) -> WrittenDocument {
    let text = format!(r#"{{"{kind}":"{id}","text":"{}"}}"#, "component requirements, ".repeat(40));
    WrittenDocument { dialect: "native".to_owned(), text, path: None, warnings: Box::default() }
}
