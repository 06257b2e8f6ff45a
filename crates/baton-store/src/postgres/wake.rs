//! Waking those who wait, also on other machines: NOTIFY tells them, and a connection of our own listens.
//!
//! A notification is sent right behind the commit, never inside the transaction: there it would hold a lock that all
//! committing transactions of the server share. It is a hint; those who wait look again by themselves.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::fault::Fault;
use super::session::Session;

/// How long to believe that nothing has happened while we listen, and while we cannot.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
const LOOK_AGAIN_UNHEARD: Duration = Duration::from_millis(500);

/// How often one process notifies at most. Every notification makes all others who notify wait for a moment, and is one
/// more commit; after a quiet moment the first is sent at once.
const NOTIFY_EVERY: Duration = Duration::from_millis(5);

/// The longest pause before listening again.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Notifies others that something has changed, and who changed it.
const NOTIFY: &str = "SELECT pg_notify('baton', $1)";

/// Rings for those who wait, and waits.
pub(super) struct Wake {
    /// Distinguishes our own notifications from those of others.
    name: String,
    ear: Ear,
    connector: MakeRustlsConnect,
    address: Arc<Address>,
    /// The task that listens; made when somebody waits for the first time.
    listener: Mutex<Option<AbortHandle>>,
    /// When others were notified last, and whether somebody will do it again soon.
    notified: Arc<Mutex<Notified>>,
}

#[derive(Default)]
struct Notified {
    last: Option<Instant>,
    soon: bool,
}

/// What the listening task and those who wait share.
#[derive(Clone)]
struct Ear {
    count: watch::Sender<u64>,
    hears: Arc<AtomicBool>,
}

impl Ear {
    fn ring(&self) {
        self.count.send_modify(|count| *count += 1);
    }
}

impl Wake {
    pub(super) fn new(name: String, address: Arc<Address>, connector: MakeRustlsConnect) -> Wake {
        let (count, _) = watch::channel(0);
        let ear = Ear { count, hears: Arc::default() };
        Wake { name, ear, connector, address, listener: Mutex::default(), notified: Arc::default() }
    }

    /// Prepares the statement that tells others that something has changed.
    pub(super) async fn statement(&self, session: &Session) -> Result<Statement, Fault> {
        session.prepare(NOTIFY).await
    }

    /// Returns the parameters of that statement.
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 1] {
        [&self.name]
    }

    /// Returns whether to notify right now. Otherwise it is done in a moment, once for everything until then.
    pub(super) fn notifies_now(&self, pool: &Pool) -> bool {
        let mut notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = notified.last.map(|last| last.elapsed());
        match passed.filter(|passed| *passed < NOTIFY_EVERY) {
            None => {
                notified.last = Some(Instant::now());
                true
            }
            Some(_) if notified.soon => false,
            Some(passed) => {
                notified.soon = true;
                let (pool, name, notified) = (pool.clone(), self.name.clone(), Arc::clone(&self.notified));
                tokio::spawn(async move {
                    tokio::time::sleep(NOTIFY_EVERY - passed).await;
                    notify_later(&pool, &name, &notified).await;
                });
                false
            }
        }
    }

    /// Wakes those who wait here because something has changed.
    pub(super) fn ring(&self) {
        self.ear.ring();
    }

    /// Returns how often something may have changed.
    pub(super) fn changes(&self) -> u64 {
        *self.ear.count.borrow()
    }

    /// Waits until something may have changed since then.
    pub(super) async fn changed(&self, since: u64, limit: Duration) {
        self.listen();
        let again = if self.ear.hears.load(Ordering::Relaxed) { LOOK_AGAIN } else { LOOK_AGAIN_UNHEARD };
        let mut seen = self.ear.count.subscribe();
        let changed = seen.wait_for(|count| *count != since);
        // A time that is over, and a change, are the same to the caller: look again.
        let _ = tokio::time::timeout(limit.min(again), changed).await;
    }

    /// Begins to listen, the first time.
    fn listen(&self) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.is_none() {
            let (ear, address, connector) = (self.ear.clone(), Arc::clone(&self.address), self.connector.clone());
            let task = tokio::spawn(listen_for_ever(ear, address, connector, self.name.clone()));
            *listener = Some(task.abort_handle());
        }
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = listener.as_ref() {
            task.abort();
        }
    }
}

/// Notifies for everything that has happened up to now. A hint that gets lost is made up for by looking again.
async fn notify_later(pool: &Pool, name: &str, notified: &Mutex<Notified>) {
    let client = pool.get().await;
    {
        let mut notified = notified.lock().unwrap_or_else(PoisonError::into_inner);
        *notified = Notified { last: Some(Instant::now()), soon: false };
    }
    if let Ok(client) = client
        && let Ok(statement) = client.prepare_cached(NOTIFY).await
    {
        let _ = client.execute(&statement, &[&name]).await;
    }
}

async fn listen_for_ever(ear: Ear, address: Arc<Address>, connector: MakeRustlsConnect, name: String) {
    let mut pause = Duration::from_millis(100);
    loop {
        // A connection that cannot be made is tried again; meanwhile those who wait look more often.
        if listen_once(&ear, &address, &connector, &name).await.is_ok() {
            pause = Duration::from_millis(100);
        }
        ear.hears.store(false, Ordering::Relaxed);
        ear.ring();
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Listens until the connection ends. The error says that it never began.
async fn listen_once(
    ear: &Ear,
    address: &Address,
    connector: &MakeRustlsConnect,
    name: &str,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = address.config.connect(connector.clone()).await?;
    let hear = async {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(&message, AsyncMessage::Notification(said) if said.payload() != name) {
                ear.ring();
            }
        }
    };
    let begin = async {
        let begun = client.batch_execute("LISTEN baton").await;
        if begun.is_ok() {
            // What happened before we listened is not known.
            ear.hears.store(true, Ordering::Relaxed);
            ear.ring();
        }
        begun
    };
    // The client must live as long as we listen: without it the connection ends.
    let ((), begun) = tokio::join!(hear, begin);
    drop(client);
    begun
}
