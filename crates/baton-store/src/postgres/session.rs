//! A connection of the pool, and a transaction on it that never stays open.
//!
//! Statements are pipelined: what does not depend on the answer before it is sent without waiting for that answer.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Client, Object};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::fault::Fault;
use crate::rows;
use crate::server_clock::ServerClock;

/// The parameters of a statement.
pub(super) type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

/// A statement with its parameters.
pub(super) type Bound<'p> = (&'p Statement, Parameters<'p>);

/// How long the server may take for an answer.
const ANSWER: Duration = Duration::from_secs(60);

/// The time of the server. Not qualified by a schema, so that tests can put another clock in its place.
pub(super) const TIME: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// A connection of the pool.
pub(super) struct Session {
    /// Always there until the session is dropped.
    client: Option<Client>,
    /// Whether a transaction has begun and not ended.
    open: bool,
    /// Whether nobody should get this connection any more.
    spent: AtomicBool,
    clock: Arc<ServerClock>,
}

impl Session {
    pub(super) fn new(client: Client, clock: Arc<ServerClock>) -> Session {
        Session { client: Some(client), open: false, spent: AtomicBool::new(false), clock }
    }

    /// Returns the connection.
    pub(super) fn client(&self) -> &Client {
        self.client.as_ref().expect("a session has its connection until it is dropped")
    }

    /// Prepares a statement, once per connection.
    pub(super) async fn prepare(&self, sql: &str) -> Result<Statement, Fault> {
        Ok(self.client().prepare_cached(sql).await?)
    }

    /// Returns all rows.
    pub(super) async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<tokio_postgres::Row>, Fault> {
        let statement = self.prepare(sql).await?;
        let question = async { tokio::join!(self.client().query(&statement, parameters), self.hear_time()).0 };
        self.answered(question).await
    }

    /// Waits for an answer, but not for ever: a server that is frozen keeps its connections.
    async fn answered<T>(&self, question: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Fault> {
        let answer = tokio::time::timeout(ANSWER, question).await;
        let answer = answer.map_err(|_| Fault::Lost(format!("no answer within {} s", ANSWER.as_secs())));
        let answer = answer.and_then(|answer| Ok(answer?));
        // After a fail-over this may be a server that only reads; the next connection goes to the one that writes.
        if matches!(answer, Err(Fault::Lost(_))) {
            self.spent.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Asks the server for its time, in the same round trip as whatever is sent beside it.
    ///
    /// It is asked by the way: if the connection is lost, the question beside this one tells.
    pub(super) async fn hear_time(&self) {
        if let Some(asked) = self.clock.asks()
            && let Ok(statement) = self.prepare(TIME).await
            && let Ok(row) = self.client().query_one(&statement, &[]).await
            && let Ok(Ok(time)) = row.try_get(0).map(rows::time)
        {
            self.clock.hear(time, asked);
        }
    }

    /// Begins a transaction with a question, in one round trip.
    pub(super) async fn begin_with(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<tokio_postgres::Row>, Fault> {
        let statement = self.prepare(sql).await?;
        self.begin(None, (&statement, parameters)).await
    }

    /// Begins a transaction with a question, in one round trip. What is to be locked before is locked before.
    pub(super) async fn begin(
        &mut self,
        lock: Option<Bound<'_>>,
        question: Bound<'_>,
    ) -> Result<Vec<tokio_postgres::Row>, Fault> {
        self.open = true;
        let client = self.client();
        let locked = async {
            match lock {
                Some((statement, parameters)) => client.query(statement, parameters).await,
                None => Ok(Vec::new()),
            }
        };
        let begun = client.batch_execute("BEGIN");
        let asked = async { tokio::try_join!(begun, locked, client.query(question.0, question.1)) };
        let ((), _, answer) = self.answered(async { tokio::join!(asked, self.hear_time()).0 }).await?;
        Ok(answer)
    }

    /// Runs a statement that is a transaction of its own; `behind` follows it.
    pub(super) async fn write(
        &self,
        statement: Bound<'_>,
        behind: Option<Bound<'_>>,
    ) -> Result<Vec<tokio_postgres::Row>, Fault> {
        let client = self.client();
        let write = async { tokio::join!(client.query(statement.0, statement.1), self.hear_time()).0 };
        match behind {
            Some((statement, parameters)) => {
                self.answered(sent_behind(write, client.execute(statement, parameters))).await
            }
            None => self.answered(write).await,
        }
    }

    /// Runs the last statement of a transaction and commits, in one round trip; `behind` follows the commit.
    ///
    /// If the statement fails the transaction is undone, because the server does not commit after an error.
    pub(super) async fn commit(&mut self, last: Option<Bound<'_>>, behind: Option<Bound<'_>>) -> Result<u64, Fault> {
        let client = self.client();
        let run = async |bound: Option<Bound<'_>>| match bound {
            Some((statement, parameters)) => client.execute(statement, parameters).await,
            None => Ok(0),
        };
        // If the statement fails, its error tells why; that of the commit only that it followed one.
        let both = async {
            let (written, committed) = tokio::join!(run(last), client.batch_execute("COMMIT"));
            written.and_then(|written| committed.map(|()| written))
        };
        let committed = match behind {
            Some(_) => self.answered(sent_behind(both, run(behind))).await,
            None => self.answered(both).await,
        };
        self.open = committed.is_err();
        committed
    }

    /// Undoes the transaction, if one is open.
    pub(super) async fn roll_back(&mut self) -> Result<(), Fault> {
        if self.open {
            self.answered(self.client().batch_execute("ROLLBACK")).await?;
            self.open = false;
        }
        Ok(())
    }
}

impl Drop for Session {
    /// Nobody else may get a connection in the middle of a transaction. Closing it makes the server undo everything.
    fn drop(&mut self) {
        if (self.open || *self.spent.get_mut())
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

/// Waits for the first; the second is sent right behind it, and nobody waits for its answer.
pub(super) async fn sent_behind<T>(first: impl Future<Output = T>, second: impl Future) -> T {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut sent = false;
    poll_fn(|context| {
        let answered = first.as_mut().poll(context);
        if !sent {
            sent = true;
            // A statement is sent when it is polled for the first time.
            let _ = second.as_mut().poll(context);
        }
        answered
    })
    .await
}
