//! Applying a command, with everything that follows from it, in one transaction.
//!
//! Usually that is one look and one guarded statement. What returns to somebody or has something next, and what raced
//! with somebody else, goes the careful way: a transaction that holds the run and the rows.

use baton_engine::handoff::{Handoff, Written};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::{self, Action, Command, Resume, Transition};
use baton_engine::store::{Error, Order};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Postgres;
use super::accept::{Known, LOCK_RUNS};
use super::fault::{Fault, Patience};
use super::session::{Guarded, Session, sent_behind};
use super::table::{self, Arrays, Change, ENDS, Ends, INSERT, Sent, UPDATE, UPDATE_PARAMETERS};

/// Finds a handoff and where the journal of its run ends.
const LOOK: &str = concat!(
    "SELECT ",
    table::columns!(),
    ", ",
    table::end_columns!(),
    " FROM handoffs AS h ",
    table::join_end!(),
    " WHERE h.id = $1"
);

/// The same, and lets nobody else change it until the transaction ends.
const LOOK_AND_LOCK: &str = concat!(
    "SELECT ",
    table::columns!(),
    ", ",
    table::end_columns!(),
    " FROM handoffs AS h ",
    table::join_end!(),
    " WHERE h.id = $1 FOR UPDATE OF h"
);

/// The column at which [`LOOK`] begins with the end of the journal.
const END: usize = 8;

/// Lets nobody else write to the run of a handoff who goes the careful way too.
const LOCK_RUN_OF: &str = "SELECT pg_advisory_xact_lock(hashtextextended(run, 0)) FROM handoffs WHERE id = $1";

/// What a command comes to.
struct Outcome {
    /// What must be written.
    transition: Option<Transition>,
    /// What the caller is told.
    answer: Result<Handoff, Error>,
}

/// What was sent, and what the caller would be told if it has arrived.
#[derive(Default)]
struct Memory {
    /// Whether a connection was lost, so that what was sent may have arrived.
    unsure: bool,
    sent: Sent,
    answer: Option<Result<Handoff, Error>>,
}

/// Applies a command.
pub(super) async fn apply(store: &Postgres, order: &Order, at: Timestamp) -> Result<Handoff, Error> {
    let mut patience = Patience::new();
    let mut memory = Memory::default();
    loop {
        let attempt = match order.next.is_empty() && !patience.has_raced() {
            true => at_once(store, order, at, &mut memory).await,
            false => carefully(store, order, at, &mut memory).await,
        };
        match attempt {
            // After a loss our own command may be what makes it refused now.
            Ok(Err(refusal)) if memory.unsure => return memory.again(store).await.unwrap_or(Err(refusal)),
            Ok(answer) => return answer,
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

/// One look, one statement.
async fn at_once(
    store: &Postgres,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory,
) -> Result<Result<Handoff, Error>, Fault> {
    let session = store.session().await?;
    if let Some(answer) = memory.recall(&session).await? {
        return Ok(answer);
    }
    let mut ends = Ends::default();
    let outcome = match own(store, order, &mut ends, at) {
        Some(outcome) => outcome,
        None => {
            let look = session.prepare(LOOK).await?;
            let found = session.client().query_opt(&look, &[&order.id.as_str()]).await?;
            decide(order, found.as_ref(), &mut ends, at)?
        }
    };
    let Some(transition) = outcome.transition else { return Ok(outcome.answer) };
    if transition.actions.iter().any(|action| matches!(action, Action::Return { .. })) {
        drop(session);
        return carefully(store, order, at, memory).await;
    }
    let news = !transition.actions.is_empty();
    let changes = [Change::of(transition, &mut ends)];
    memory.expect(&changes, &outcome.answer);
    let arrays = Arrays::of(&changes);
    let parameters = arrays.parameters();
    let update = session.prepare(UPDATE).await?;
    let written = session.client().execute(&update, &parameters[..UPDATE_PARAMETERS]);
    let written = match news && store.wake.notifies_now(&store.pool) {
        true => {
            let notify = store.wake.statement(&session).await?;
            sent_behind(written, session.client().execute(&notify, &store.wake.parameters())).await?
        }
        false => written.await?,
    };
    if written == 0 {
        return Err(Fault::Raced);
    }
    let [change] = changes;
    store.own.remember(&change.handoff, change.event.head());
    if news {
        store.wake.ring();
    }
    Ok(outcome.answer)
}

/// Decides about a handoff that this process has claimed, as it was then. What is refused is not decided here: only the
/// row can tell why.
fn own(store: &Postgres, order: &Order, ends: &mut Ends, at: Timestamp) -> Option<Outcome> {
    let (handoff, head) = store.own.take(&order.id)?;
    let transition = lifecycle::apply(&handoff, order.command.clone(), at).ok()?;
    ends.know(&handoff, head);
    Some(Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition) })
}

/// A transaction that holds the run and the rows.
async fn carefully(
    store: &Postgres,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory,
) -> Result<Result<Handoff, Error>, Fault> {
    let mut session = store.session().await?;
    if let Some(answer) = memory.recall(&session).await? {
        return Ok(answer);
    }
    let written = write(store, &mut session, order, at, memory).await;
    // A lost connection needs no end; every other fault, and a refusal, leaves nothing behind.
    if !matches!(written, Err(Fault::Lost(_))) {
        session.roll_back().await?;
    }
    written
}

async fn write(
    store: &Postgres,
    session: &mut Session,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory,
) -> Result<Result<Handoff, Error>, Fault> {
    let (lock, look) = (session.prepare(LOCK_RUN_OF).await?, session.prepare(LOOK_AND_LOCK).await?);
    let id = order.id.as_str();
    let found = session.begin(Some((&lock, &[&id])), (&look, &[&id])).await?;
    let mut ends = Ends::default();
    let outcome = decide(order, found.first(), &mut ends, at)?;
    let Some(transition) = outcome.transition else { return Ok(outcome.answer) };
    // What follows is not before what it follows from, whatever the clock of the caller says.
    let at = transition.handoff.changed_at;
    let returned = resume(session, &transition, &mut ends).await?;
    let mut changes = vec![Change::of(transition, &mut ends)];
    if let Some(resume) = returned {
        let at = ends.at(&resume.caller.run, at);
        // If it does not wait any more, the result stands for itself.
        let resumed = lifecycle::apply(&resume.caller, resume.command, at);
        changes.extend(resumed.ok().map(|transition| Change::of(transition, &mut ends)));
    }
    let accepted = match outcome.answer {
        Ok(_) => next(session, order, &mut ends, at).await?,
        Err(_) => Vec::new(),
    };
    memory.expect(&changes, &outcome.answer);
    let (update, insert) = (session.prepare(UPDATE).await?, session.prepare(INSERT).await?);
    let (updated, inserted) = (Arrays::of(&changes), Arrays::of(&accepted));
    let parameters = updated.parameters();
    let updates = Guarded { bound: (&update, &parameters[..UPDATE_PARAMETERS]), rows: changes.len() as u64 };
    let inserts = Guarded { bound: (&insert, &inserted.parameters()), rows: accepted.len() as u64 };
    session.write(updates, inserts).await?;
    let notify = store.wake.statement(session).await?;
    session.commit(None, Some((&notify, &store.wake.parameters()))).await?;
    store.wake.ring();
    Ok(outcome.answer)
}

/// Decides what a command comes to.
fn decide(order: &Order, found: Option<&SqlRow>, ends: &mut Ends, at: Timestamp) -> Result<Outcome, Fault> {
    let Some(found) = found else { return Err(Error::NotFound(order.id.clone()).into()) };
    let handoff = table::handoff(found)?;
    ends.read(&handoff.run, found, END)?;
    let at = ends.at(&handoff.run, at);
    Ok(match lifecycle::apply(&handoff, order.command.clone(), at) {
        Ok(transition) => Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition) },
        Err(refusal) => {
            let refused = lifecycle::to_journal(&order.command, &refusal);
            let transition = refused.map(|refused| lifecycle::refuse(&handoff, refused, at));
            Outcome { answer: Err(refusal.into()), transition }
        }
    })
}

/// A handoff that waits for a result, and the command that gives it.
struct Returned {
    caller: Handoff,
    command: Command,
}

/// Looks up who waits for the result of a transition.
async fn resume(session: &Session, transition: &Transition, ends: &mut Ends) -> Result<Option<Returned>, Fault> {
    let returns = transition.actions.iter().find_map(|action| match action {
        Action::Return { to } => Some(to),
        Action::Announce { .. }
        | Action::Verify
        | Action::AskPerson { .. }
        | Action::Unblock { .. }
        | Action::StopAttempt { .. }
        | Action::TellFinished => None,
    });
    let Some(to) = returns else { return Ok(None) };
    let found = session.query(LOOK_AND_LOCK, &[&to.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let caller = table::handoff(row)?;
    ends.read(&caller.run, row, END)?;
    let done = &transition.handoff;
    let report = match &transition.fact {
        Fact::Happened(Command::Report(report)) => Some(report.document.clone()),
        Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => last_report(session, done).await?,
    };
    Ok(Some(Returned { caller, command: Command::Resume(Resume::after(done, report.as_ref())) }))
}

/// Returns the latest report of a handoff.
async fn last_report(session: &Session, handoff: &Handoff) -> Result<Option<Written>, Fault> {
    let sql =
        "SELECT detail FROM events WHERE run = $1 AND handoff = $2 AND kind = 'reported' ORDER BY seq DESC LIMIT 1";
    let found = session.query(sql, &[&handoff.run.as_str(), &handoff.id.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    match Fact::read("reported", row.try_get(0)?).map_err(Error::Damaged)? {
        Fact::Happened(Command::Report(report)) => Ok(Some(report.document)),
        _ => Ok(None),
    }
}

/// Plans what is accepted in the same transaction.
async fn next(session: &Session, order: &Order, ends: &mut Ends, at: Timestamp) -> Result<Vec<Change>, Fault> {
    if order.next.is_empty() {
        return Ok(Vec::new());
    }
    let runs: Vec<&str> = order.next.iter().map(|request| request.run.as_str()).collect();
    session.query(LOCK_RUNS, &[&runs]).await?;
    table::ends(&session.query(ENDS, &[&runs]).await?, ends)?;
    let (_, changes) = Known::look(session, &order.next).await?.plan(&order.next, ends, at)?;
    Ok(changes)
}

impl Memory {
    fn expect(&mut self, changes: &[Change], answer: &Result<Handoff, Error>) {
        self.sent.expect(changes);
        self.answer = Some(answer.clone());
    }

    /// Returns the answer to what was sent, if it has arrived although the connection was lost.
    async fn recall(&mut self, session: &Session) -> Result<Option<Result<Handoff, Error>>, Fault> {
        match self.unsure && self.sent.arrived(session).await? {
            true => Ok(self.answer.take()),
            false => Ok(None),
        }
    }

    async fn again(&mut self, store: &Postgres) -> Option<Result<Handoff, Error>> {
        let session = store.session().await.ok()?;
        self.recall(&session).await.ok().flatten()
    }
}
