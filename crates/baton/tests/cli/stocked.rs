//! A store with handoffs in it, made and looked at without the program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_engine::handoff::{Handoff, StateName, Terms, WrittenDocument};
use baton_engine::lifecycle::{Accept, Command as Verb};
use baton_engine::store::{ClaimRequest, Order, Store};
use baton_engine::{HandoffId, RunId};
use baton_protocol::Dialect;
use baton_store::Location;
use baton_testbed::Process;
use jiff::Timestamp;

use crate::documents::REQUEST;
use crate::sandbox::{BATON, Sandbox};

/// No wait takes longer; every one of them takes a fraction of that.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder with a store in it.
pub(crate) struct Stocked {
    pub(crate) sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
    store: Arc<dyn Store>,
}

impl Stocked {
    pub(crate) fn new() -> Stocked {
        let sandbox = Sandbox::new();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let location = Location::Sqlite(sandbox.store());
        let store = runtime.block_on(baton_store::open(&location)).expect("the store opens");
        Stocked { sandbox, runtime, store }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.sandbox.store()
    }

    /// Accepts the usual request for the agent `b`, with other terms.
    pub(crate) fn accept_with(&self, id: &str, run: &str, change: impl FnOnce(&mut Terms)) -> HandoffId {
        self.accept_document(id, run, WrittenDocument::new(Dialect::Task, REQUEST), change)
    }

    /// Accepts any request for the agent `b`, with other terms.
    pub(crate) fn accept_document(
        &self,
        id: &str,
        run: &str,
        request: WrittenDocument,
        change: impl FnOnce(&mut Terms),
    ) -> HandoffId {
        let mut terms = Terms::between("a", "b");
        change(&mut terms);
        let id = HandoffId::parse(id).expect("safe");
        let accept =
            Accept { id: id.clone(), run: RunId::parse(run).expect("safe"), terms, request, notes: Vec::new() };
        self.runtime.block_on(self.store.accept(vec![accept], now())).expect("accepted");
        id
    }

    pub(crate) fn accept(&self, id: &str) -> HandoffId {
        self.accept_with(id, id, |_| {})
    }

    pub(crate) fn claim(&self, lease_ms: u64) -> Handoff {
        let wish = ClaimRequest {
            agent: "b".to_owned(),
            claimant: "test".to_owned(),
            lease_ms,
            count: 1,
            times_itself: false,
            author: None,
        };
        let mut claimed = self.runtime.block_on(self.store.claim(&wish, now())).expect("claimed");
        claimed.remove(0).handoff
    }

    pub(crate) fn apply(&self, id: &HandoffId, command: Verb) -> Handoff {
        self.runtime.block_on(self.store.apply(Order::new(id.clone(), command), now())).expect("applied")
    }

    pub(crate) fn find(&self, id: &HandoffId) -> Option<Handoff> {
        self.runtime.block_on(self.store.find(id)).expect("found")
    }

    /// Waits until the handoff is as it should be.
    pub(crate) fn until(&self, id: &HandoffId, wanted: impl Fn(&Handoff) -> bool) -> Handoff {
        let start = Instant::now();
        loop {
            let seen = self.store.changes();
            let handoff = self.find(id).expect("there");
            if wanted(&handoff) {
                return handoff;
            }
            assert!(start.elapsed() < LONG, "{handoff:?}");
            self.runtime.block_on(self.store.changed(seen, Duration::from_secs(1)));
        }
    }

    pub(crate) fn until_state(&self, id: &HandoffId, state: StateName) -> Handoff {
        self.until(id, |handoff| handoff.state.name() == state)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Starts a worker for the agent `b`; each handoff runs the script with `sh`.
    pub(crate) fn worker(&self, options: &[&str], script: &str) -> Process {
        self.sandbox.write("script.sh", script);
        let mut command = self.sandbox.command(BATON);
        command.args(["worker", "--agent", "b"]).args(options).args(["--", "sh", "script.sh"]);
        command.stderr(Stdio::piped());
        Process::spawn(&mut command)
    }

    /// Changes the database behind the program's back.
    pub(crate) fn sql(&self, statement: &str) {
        let script = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute(sys.argv[2])\nc.commit()\n";
        let status = Command::new("python3").args(["-c", script]).arg(self.database()).arg(statement).status();
        assert!(status.expect("python3 is there").success(), "{statement}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the program under test reads the machine's clock, too")]
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).expect("a time")
}
