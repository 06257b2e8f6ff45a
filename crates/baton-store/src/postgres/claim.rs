//! Claiming: what is ready for an agent, the most urgent first. Two round trips, however many are claimed.
//!
//! If the connection is lost while a claim is committed, its events tell whether it was. Should it be committed only
//! after we looked, nobody works on those handoffs until their leases have expired; that is what leases are for.

use baton_engine::Handoff;
use baton_engine::lifecycle::{self, Claim, Command};
use baton_engine::queue::Queue;
use baton_engine::store::{Claimed, Error, Wish};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Postgres;
use super::accept::LOCK_RUNS;
use super::fault::{Fault, Patience};
use super::session::{Bound, Session};
use super::table::{self, Arrays, Change, ENDS, Ends, Sent, UPDATE, UPDATE_PARAMETERS};

/// Finds a queue that is paused or has a limit, and lets nobody else claim from it until the transaction ends.
const RESTRICTED: &str =
    "SELECT paused, concurrency FROM queues WHERE agent = $1 AND (paused OR concurrency IS NOT NULL) FOR UPDATE";

/// Takes what is ready. Unless `$4` says that the queue is ours, a queue with restrictions gives nothing.
///
/// Differs from SQLite: all priorities in one statement, each by one step into the index. Rows that somebody else
/// takes at the moment are skipped; no more rows are locked than are taken.
const READY: &str = concat!(
    "SELECT ",
    table::columns!(),
    ", ",
    table::end_columns!(),
    ", accepted.kind, accepted.detail
     FROM (
        SELECT ready.* FROM (VALUES (3::smallint), (2::smallint), (1::smallint), (0::smallint)) AS urgency (priority)
        CROSS JOIN LATERAL (
            SELECT * FROM handoffs
            WHERE agent = $1 AND state = 'pending' AND priority = urgency.priority AND ready_at <= $2
            ORDER BY ready_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
        ) AS ready
        WHERE $4 OR NOT EXISTS (
            SELECT FROM queues WHERE queues.agent = $1 AND (queues.paused OR queues.concurrency IS NOT NULL))
        LIMIT $3
     ) AS h ",
    table::join_end!(),
    " LEFT JOIN events AS accepted ON accepted.run = h.run AND accepted.seq = h.accepted_seq"
);

/// The columns at which [`READY`] begins with the end of the journal and with the request.
const END: usize = 8;
const REQUEST: usize = 11;

/// What was sent, and what the caller would get if it has arrived.
#[derive(Default)]
struct Memory {
    unsure: bool,
    sent: Sent,
    claimed: Vec<Claimed>,
}

/// Claims what is ready, as far as the queue of the agent has room.
pub(super) async fn claim(store: &Postgres, wish: &Wish, at: Timestamp) -> Result<Vec<Claimed>, Error> {
    let mut patience = Patience::new();
    let mut memory = Memory::default();
    if wish.count == 0 || table::is_unknowable(&wish.agent) {
        return Ok(Vec::new());
    }
    loop {
        match attempt(store, wish, at, &mut memory, patience.has_raced()).await {
            Ok(claimed) => return Ok(claimed),
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

async fn attempt(
    store: &Postgres,
    wish: &Wish,
    at: Timestamp,
    memory: &mut Memory,
    careful: bool,
) -> Result<Vec<Claimed>, Fault> {
    let mut session = store.session().await?;
    if memory.unsure && memory.sent.arrived(&session).await? {
        return Ok(std::mem::take(&mut memory.claimed));
    }
    let rows = take(&mut session, wish, at).await?;
    if rows.is_empty() {
        session.roll_back().await?;
        return Ok(Vec::new());
    }
    let decided = decide(&session, &rows, wish, at, careful).await;
    let (claimed, changes) = match decided {
        Ok(decided) => decided,
        Err(fault) => {
            session.roll_back().await?;
            return Err(fault);
        }
    };
    if changes.is_empty() {
        session.roll_back().await?;
        return Ok(Vec::new());
    }
    memory.sent = Sent::of(changes.iter().map(|change| &change.event));
    memory.claimed.clone_from(&claimed);
    let update = session.prepare(UPDATE).await?;
    let arrays = Arrays::of(&changes);
    let parameters = arrays.parameters();
    let bound: Bound<'_> = (&update, &parameters[..UPDATE_PARAMETERS]);
    let written = session.commit(Some(bound), None).await?;
    match written == claimed.len() as u64 {
        true => {
            changes.iter().for_each(|change| store.own.remember(&change.handoff, change.event.head()));
            Ok(claimed)
        }
        false => Err(Error::Damaged("a handoff changed although it was locked".to_owned()).into()),
    }
}

/// Locks what can be claimed.
async fn take(session: &mut Session, wish: &Wish, at: Timestamp) -> Result<Vec<SqlRow>, Fault> {
    let ready = session.prepare(READY).await?;
    let (agent, until, count) = (wish.agent.as_str(), at.as_microsecond(), i64::from(wish.count));
    let rows = session.begin(None, (&ready, &[&agent, &until, &count, &false])).await?;
    if !rows.is_empty() {
        return Ok(rows);
    }
    // Nothing is there, or the queue has restrictions; most have none, so that is asked last.
    let settings = session.query(RESTRICTED, &[&agent]).await?;
    let Some(settings) = settings.first() else { return Ok(Vec::new()) };
    let queue = super::queue::read(agent, settings)?;
    let count = i64::from(room(session, &queue, wish.count).await?);
    match count {
        0 => Ok(Vec::new()),
        _ => Ok(session.client().query(&ready, &[&agent, &until, &count, &true]).await?),
    }
}

/// Returns how many the queue gives out. Everything claimed has a time to wake, so this reads an index of open leases.
async fn room(session: &Session, queue: &Queue, wanted: u32) -> Result<u32, Fault> {
    let sql = "SELECT count(*) FROM handoffs WHERE wake_at IS NOT NULL AND agent = $1 AND state = 'claimed'";
    let claimed: i64 = match queue.concurrency {
        Some(_) => {
            let counted = session.query(sql, &[&queue.agent]).await?;
            counted.first().map_or(Ok(0), |row| row.try_get(0))?
        }
        None => 0,
    };
    Ok(queue.room(wanted, u32::try_from(claimed).unwrap_or(u32::MAX)))
}

/// Decides what becomes of the rows.
async fn decide(
    session: &Session,
    rows: &[SqlRow],
    wish: &Wish,
    at: Timestamp,
    careful: bool,
) -> Result<(Vec<Claimed>, Vec<Change>), Fault> {
    let handoffs = rows.iter().map(table::handoff).collect::<Result<Vec<Handoff>, Fault>>()?;
    let mut ends = Ends::default();
    if careful {
        // Others write to the same runs: after waiting for them, the journals end elsewhere.
        let runs: Vec<&str> = handoffs.iter().map(|handoff| handoff.run.as_str()).collect();
        session.query(LOCK_RUNS, &[&runs]).await?;
        table::ends(&session.query(ENDS, &[&runs]).await?, &mut ends)?;
    }
    let (mut claimed, mut changes) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for (row, handoff) in rows.iter().zip(handoffs) {
        ends.read(&handoff.run, row, END)?;
        let command = Command::Claim(Claim {
            claimant: wish.claimant.clone(),
            lease_ms: wish.lease_ms,
            prompt_tokens: None,
            driver: false,
            moved: Vec::new(),
        });
        // What nobody wants any more is left for the rescue.
        let Ok(transition) = lifecycle::apply(&handoff, command, ends.at(&handoff.run, at)) else { continue };
        let request = table::accepted(row, REQUEST, &handoff.run)?.request;
        claimed.push(Claimed { handoff: transition.handoff.clone(), request });
        changes.push(Change::of(transition, &mut ends));
    }
    Ok((claimed, changes))
}

#[cfg(test)]
mod tests {
    use baton_engine::Store;
    use baton_engine::handoff::Written;
    use baton_engine::lifecycle::Accept;
    use baton_engine::{HandoffId, RunId, Terms};

    use super::*;

    async fn with_handoffs(count: usize) -> Postgres {
        let store = Postgres::connect(&baton_testbed::Postgres::shared().new_database()).await.unwrap();
        let request = |number: usize| {
            let id = HandoffId::parse(format!("a{number}")).unwrap();
            let request = Written {
                dialect: "native".to_owned(),
                text: "build it".to_owned(),
                path: None,
                warnings: Box::default(),
            };
            Accept { run: RunId::alone(&id), id, terms: Terms::between("lead", "builder"), request, notes: Vec::new() }
        };
        store.accept((0..count).map(request).collect(), Timestamp::UNIX_EPOCH).await.unwrap();
        store
    }

    #[tokio::test]
    async fn claiming_looks_only_where_something_waits() {
        let store = with_handoffs(3).await;
        let session = store.session().await.unwrap();
        for analyzed in [false, true] {
            if analyzed {
                // With so few rows the server would rather read the whole table, if we let it.
                session.client().batch_execute("ANALYZE handoffs; ANALYZE events").await.unwrap();
            }
            let explain = format!("EXPLAIN {READY}");
            let rows = session.client().query(&explain, &[&"builder", &0_i64, &1_i64, &false]).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            let plan = plan.join("\n");
            assert!(plan.contains("Index Scan using handoffs_ready"), "{plan}");
            assert!(!plan.contains("Seq Scan on handoffs") && !plan.contains("Seq Scan on events"), "{plan}");
            assert!(!plan.contains("Sort"), "{plan}");
        }
    }

    #[tokio::test]
    async fn no_more_is_locked_than_is_taken() {
        let store = with_handoffs(10).await;
        let (mut one, mut other) = (store.session().await.unwrap(), store.session().await.unwrap());
        let wish = |count| Wish { agent: "builder".to_owned(), claimant: "w".to_owned(), lease_ms: 1, count };
        let taken = take(&mut one, &wish(3), Timestamp::UNIX_EPOCH).await.unwrap();
        let left = take(&mut other, &wish(100), Timestamp::UNIX_EPOCH).await.unwrap();
        assert_eq!((taken.len(), left.len()), (3, 7));
    }
}
