//! Random sequences of everything that can be asked, on a store and on the model side by side: after every step the
//! answers are the same, at the end everything that can be seen is.
//!
//! The seed is fixed, so that every run tries the same. `BATON_MODEL_CASES` asks for more sequences,
//! `BATON_MODEL_SEED` for others. A sequence that fails is made as short as possible and printed.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "model/side_by_side.rs"]
mod side_by_side;
#[path = "model/step.rs"]
mod step;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use baton_engine::Store;
use baton_store::Location;
use baton_testbed::PostgresServer;
use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use side_by_side::SideBySide;
use step::Step;

/// How long a sequence is.
const STEPS: usize = 60;

/// Where the dice start, unless somebody asks for another place.
const SEED: u64 = 20_260_101;

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number")),
        Err(_) => otherwise,
    }
}

/// Tries random sequences, each on a fresh store. Together they must have seen everything that can happen.
fn try_all<Fresh: Future<Output = (Arc<dyn Store>, Premises)>>(cases: u64, fresh: impl Fn() -> Fresh) {
    let seed = number("BATON_MODEL_SEED", SEED);
    let cases = u32::try_from(number("BATON_MODEL_CASES", cases)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_time: 60_000, ..Config::default() };
    let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let sequences = proptest::collection::vec(step::any(), STEPS).prop_map(Sequence);
    let seen = RefCell::new(BTreeSet::new());
    let tried = runner.run(&sequences, |sequence| {
        runtime.block_on(async {
            let (store, _premises) = fresh().await;
            let model = SideBySide::new(store).live(&sequence.0).await.map_err(TestCaseError::fail)?;
            seen.borrow_mut().extend(model.kinds());
            Ok(())
        })
    });
    if let Err(failure) = tried {
        panic!("store and model differ (BATON_MODEL_SEED={seed}):\n{failure}");
    }
    let kinds: Vec<String> = seen.into_inner().into_iter().collect();
    // A few sequences are too few to have seen it all.
    assert!(cases < 20 || kinds == KINDS, "not everything has happened: {kinds:?}");
}

/// Everything that can happen, by the alphabet.
const KINDS: [&str; 15] = [
    "accepted",
    "acknowledged",
    "cancelled",
    "claimed",
    "decided",
    "expired",
    "extended",
    "failed",
    "refused",
    "released",
    "reported",
    "requeued",
    "resumed",
    "routed",
    "verified",
];

/// Where the database of a sequence is. It goes with the sequence: a failure that is made shorter tries hundreds.
enum Premises {
    Folder(PathBuf),
    Database(String),
}

impl Premises {
    /// Makes a folder, in memory where the system has such a place: a power cut is not what is tried here.
    fn folder() -> (Premises, Location) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("baton-model-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let location = Location::Sqlite(folder.join("baton.db"));
        (Premises::Folder(folder), location)
    }

    fn database() -> (Premises, Location) {
        let url = PostgresServer::shared().new_database();
        (Premises::Database(url.clone()), Location::Postgres(url))
    }
}

impl Drop for Premises {
    fn drop(&mut self) {
        match self {
            // A folder that is left behind does not make a test fail.
            Premises::Folder(folder) => drop(std::fs::remove_dir_all(folder)),
            Premises::Database(url) => PostgresServer::shared().drop_database(url),
        }
    }
}

/// Steps that are printed one per line.
#[derive(Clone)]
struct Sequence(Vec<Step>);

impl std::fmt::Debug for Sequence {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|step| write!(formatter, "\n  {step:?}"))
    }
}

async fn opened((premises, location): (Premises, Location)) -> (Arc<dyn Store>, Premises) {
    (baton_store::open(&location).await.unwrap(), premises)
}

#[test]
fn sqlite_does_what_the_model_does() {
    try_all(100, || opened(Premises::folder()));
}

#[test]
fn postgres_does_what_the_model_does() {
    try_all(30, || opened(Premises::database()));
}
