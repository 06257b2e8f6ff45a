//! One suite for all stores: what the port promises, tried on memory, SQLite and PostgreSQL.
//!
//! Each file of `conformance/` is a topic. A test is written once and runs as `topic::memory::name`,
//! `topic::sqlite::name` and `topic::postgres::name`, each on a fresh store.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

/// Makes a test of each function for each store.
macro_rules! on_every_store {
    ($($name:ident),+ $(,)?) => {
        on_every_store!(@store memory: $($name),+);
        on_every_store!(@store sqlite: $($name),+);
        on_every_store!(@store postgres: $($name),+);
    };
    (@store $store:ident: $($name:ident),+) => {
        mod $store {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(crate::bed::Bed::$store().await).await;
                }
            )+
        }
    };
}

/// Makes a test of each function for each store that is a database.
macro_rules! on_every_database {
    ($($name:ident),+ $(,)?) => {
        on_every_store!(@store sqlite: $($name),+);
        on_every_store!(@store postgres: $($name),+);
    };
}

#[path = "conformance/accepting.rs"]
mod accepting;
#[path = "conformance/acting.rs"]
mod acting;
#[path = "conformance/bed.rs"]
mod bed;
#[path = "conformance/claiming.rs"]
mod claiming;
#[path = "conformance/constraints.rs"]
mod constraints;
#[path = "conformance/contents.rs"]
mod contents;
#[path = "conformance/journal.rs"]
mod journal;
#[path = "conformance/kept_files.rs"]
mod kept_files;
#[path = "conformance/late_reports.rs"]
mod late_reports;
#[path = "conformance/ledger.rs"]
mod ledger;
#[path = "conformance/looking.rs"]
mod looking;
#[path = "conformance/next_handoffs.rs"]
mod next_handoffs;
#[path = "conformance/pruning.rs"]
mod pruning;
#[path = "conformance/queues.rs"]
mod queues;
#[path = "conformance/races.rs"]
mod races;
#[path = "conformance/requests.rs"]
mod requests;
#[path = "conformance/rescuing.rs"]
mod rescuing;
#[path = "conformance/returning.rs"]
mod returning;
#[path = "conformance/running.rs"]
mod running;
#[path = "conformance/signals.rs"]
mod signals;
#[path = "conformance/together.rs"]
mod together;
#[path = "conformance/tokens.rs"]
mod tokens;
