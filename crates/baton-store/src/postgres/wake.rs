//! Waking those who wait, also on other machines: NOTIFY tells them, and a connection of our own listens.
//!
//! A notification is sent right behind the commit, never inside the transaction: there it would hold a lock that all
//! committing transactions of the server share. It is a hint; those who wait look again by themselves.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::fault::Fault;
use super::session::Session;

/// How long to believe that nothing has happened while we listen, and while we cannot.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
const LOOK_AGAIN_UNHEARD: Duration = Duration::from_millis(500);

/// The longest pause before listening again.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Rings for those who wait, and waits.
pub(super) struct Wake {
    /// Tells our own notifications from others'.
    name: String,
    ear: Ear,
    connector: MakeRustlsConnect,
    address: Arc<Address>,
    /// The task that listens; made when somebody waits for the first time.
    listener: Mutex<Option<AbortHandle>>,
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
        Wake { name, ear, connector, address, listener: Mutex::default() }
    }

    /// Prepares the statement that tells others that something has changed.
    pub(super) async fn statement(&self, session: &Session) -> Result<Statement, Fault> {
        session.prepare("SELECT pg_notify('baton', $1)").await
    }

    /// Returns the parameters of that statement.
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 1] {
        [&self.name]
    }

    /// Tells those who wait here that something has changed.
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
