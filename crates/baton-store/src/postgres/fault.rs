//! What can go wrong: errors of the server and the connection, as the port names them.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use baton_engine::lifecycle::Refusal;
use baton_engine::store::StoreError;
use deadpool_postgres::PoolError;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;

use super::memory::Memory;

/// How long a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often somebody else may be faster.
const RACES_MAX: u32 = 20;

/// The longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Why an attempt did not succeed.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The connection is lost, or there was none. What was sent may have had its effect.
    Lost(String),
    /// Somebody else was faster. What was sent has had no effect.
    Raced,
    /// Somebody holds a lock for longer than anybody should. What was sent has had no effect.
    Locked(String),
    /// It was not done together with what others want; it must be done alone. Nothing was sent, or it was undone.
    Crowded,
    /// Trying again would not help.
    Final(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Final(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Final(refusal.into())
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => Fault::Lost("no free connection in time".to_owned()),
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Fault::Lost(chain(&error))
            }
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        let said = chain(&error);
        match error.code() {
            Some(code) => by_code(code, said),
            None if is_certificate(&error) => Fault::Final(StoreError::Unreachable(said)),
            None if error.is_closed() || cause::<io::Error>(&error).is_some() => Fault::Lost(said),
            // The driver does not tell its kinds of errors apart otherwise.
            None if said.starts_with("error connecting") || said.starts_with("timeout") => Fault::Lost(said),
            None if said.contains("TLS") || said.contains("authentica") || said.contains("password") => {
                Fault::Final(StoreError::Unreachable(said))
            }
            None => Fault::Final(StoreError::Failed(said)),
        }
    }
}

fn by_code(code: &SqlState, said: String) -> Fault {
    let races = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        // A statement that was sent behind the one that failed; its answer may be looked at first.
        SqlState::IN_FAILED_SQL_TRANSACTION,
    ];
    let unwritable = [SqlState::DISK_FULL, SqlState::INSUFFICIENT_PRIVILEGE];
    let lost = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IDLE_SESSION_TIMEOUT,
        // A standby: after a fail-over another server writes, or this one does in a moment.
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    // Trying again does not help: somebody must change the address, or the server.
    let wrong =
        [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION, SqlState::INVALID_CATALOG_NAME];
    let unreachable = [SqlState::OUT_OF_MEMORY, SqlState::QUERY_CANCELED];
    match code {
        code if races.contains(code) => Fault::Raced,
        code if *code == SqlState::LOCK_NOT_AVAILABLE => Fault::Locked(said),
        code if lost.contains(code) || code.code().starts_with("08") => Fault::Lost(said),
        code if unwritable.contains(code) => Fault::Final(StoreError::Unwritable(said)),
        code if wrong.contains(code) => {
            Fault::Final(StoreError::Invalid(format!("the server refused the connection: {said}")))
        }
        code if unreachable.contains(code) => Fault::Final(StoreError::Unreachable(said)),
        code if code.code().starts_with("XX00") => Fault::Final(StoreError::Damaged(said)),
        code => Fault::Final(StoreError::Failed(format!("{said} ({})", code.code()))),
    }
}

/// Returns the message with those of its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !said.contains(&next) {
            said = format!("{said}: {next}");
        }
        cause = error.source();
    }
    said
}

fn cause<T: std::error::Error + 'static>(error: &tokio_postgres::Error) -> Option<&T> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// A certificate does not become right by trying again.
fn is_certificate(error: &tokio_postgres::Error) -> bool {
    cause::<io::Error>(error).is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// Decides how long to go on trying.
pub(super) struct Patience {
    until: Instant,
    pause: Duration,
    races: u32,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { until: Instant::now() + PATIENCE, pause: Duration::from_millis(20), races: 0 }
    }

    /// Returns whether somebody else was faster or in the way before.
    pub(super) fn has_raced(&self) -> bool {
        self.races > 0
    }

    /// Returns an answer, if there is one, or waits until another attempt makes sense. What was sent over a connection that was
    /// lost may have arrived, and the memory knows that from then on.
    pub(super) async fn answer<A, T>(
        &mut self,
        result: Result<A, Fault>,
        memory: &mut Memory<T>,
    ) -> Result<Option<A>, StoreError> {
        match result {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                self.after(fault).await?;
                Ok(None)
            }
        }
    }

    /// Waits until another attempt makes sense, or returns the error if none does.
    pub(super) async fn after(&mut self, fault: Fault) -> Result<(), StoreError> {
        match fault {
            Fault::Final(error) => Err(error),
            Fault::Crowded => {
                self.races += 1;
                Ok(())
            }
            Fault::Raced if self.races >= RACES_MAX => {
                Err(StoreError::Unreachable(format!("lost a race against other writers {RACES_MAX} times")))
            }
            Fault::Raced => {
                self.races += 1;
                tokio::time::sleep(Duration::from_millis(self.races.into())).await;
                Ok(())
            }
            Fault::Locked(said) if Instant::now() > self.until => Err(StoreError::Unreachable(format!(
                "another session holds a lock in the database ({said}); pg_locks shows which"
            ))),
            // The server has waited already.
            Fault::Locked(_) => {
                self.races += 1;
                Ok(())
            }
            Fault::Lost(why) if Instant::now() + self.pause > self.until => Err(StoreError::Unreachable(why)),
            Fault::Lost(_) => {
                tokio::time::sleep(self.pause).await;
                self.pause = (self.pause * 2).min(PAUSE_MAX);
                Ok(())
            }
        }
    }
}
