//! Claiming: what is ready for an agent, the most urgent first. Two round trips, however many are claimed by however many.
//!
//! If the connection is lost while a claim is committed, its events tell whether it was. Should it be committed only
//! after we looked, nobody works on those handoffs until their leases have expired; that is what leases are for.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use baton_engine::lifecycle::{self, Command};
use baton_engine::queue::Queue;
use baton_engine::store::{ClaimRequest, ClaimedHandoff, StoreError};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::accept::LOCK_RUNS;
use super::desk::{Attempt, Desk, Shared, share};
use super::fault::{Fault, Patience};
use super::memory::Sent;
use super::session::{Bound, Session};
use super::table::{self, Arrays, Change, ENDS, Ends, UPDATE, UPDATE_PARAMETERS};

/// Finds a queue that is paused or has a limit, and lets nobody else claim from it until the transaction ends.
const RESTRICTED: &str =
    "SELECT paused, concurrency FROM queues WHERE agent = $1 AND (paused OR concurrency IS NOT NULL) FOR UPDATE";

/// Finds the queues among these that are paused or have a limit.
const RESTRICTED_AMONG: &str =
    "SELECT agent FROM queues WHERE agent = ANY ($1) AND (paused OR concurrency IS NOT NULL)";

/// Takes what is ready for each of these agents. Unless `$4` says that the queue is ours, one with restrictions gives
/// nothing.
///
/// Differs from SQLite: all priorities in one statement, each by one step into the index. Rows that somebody else
/// takes at the moment are skipped; no more rows are locked than are taken.
const READY: &str = concat!(
    "SELECT ",
    table::columns!(),
    ", ",
    table::end_columns!(),
    ", accepted.kind, accepted.detail, h.agent
     FROM (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS wanted (agent, until, count)
        WHERE $4 OR NOT EXISTS (
            SELECT FROM queues WHERE queues.agent = wanted.agent COLLATE \"C\"
                AND (queues.paused OR queues.concurrency IS NOT NULL))
     ) AS wish
     CROSS JOIN LATERAL (
        SELECT ready.* FROM (VALUES (3::smallint), (2::smallint), (1::smallint), (0::smallint)) AS urgency (priority)
        CROSS JOIN LATERAL (
            SELECT * FROM handoffs
            WHERE agent = wish.agent COLLATE \"C\" AND state = 'pending' AND priority = urgency.priority
                AND ready_at <= wish.until
            ORDER BY ready_at, id LIMIT wish.count FOR UPDATE SKIP LOCKED
        ) AS ready
        LIMIT wish.count
     ) AS h ",
    table::join_end!(),
    " LEFT JOIN events AS accepted ON accepted.run = h.run AND accepted.seq = h.accepted_seq"
);

/// The columns at which [`READY`] begins with the request, and has the agent.
const REQUEST: usize = 11;
const AGENT: usize = 13;

/// Claims what is ready, as far as the queue of the agent has room.
pub(super) async fn claim(
    node: &Arc<Node>,
    wish: &ClaimRequest,
    at: Timestamp,
) -> Result<Vec<ClaimedHandoff>, StoreError> {
    if wish.count == 0 || table::is_unknowable(&wish.agent) {
        return Ok(Vec::new());
    }
    let mut patience = Patience::new();
    let Attempt { mut result, mut memory } = share(node, NewWish { wish: wish.clone(), at }).await;
    loop {
        if let Some(answer) = patience.answer(result, &mut memory).await? {
            return answer;
        }
        let pieces = [NewWish { wish: wish.clone(), at }];
        let mut attempts = [Attempt { result: Err(Fault::Crowded), memory }];
        let attempted = attempt(node, &pieces, &mut attempts, patience.has_raced()).await;
        let [attempt] = attempts;
        (result, memory) = (attempted.and(attempt.result), attempt.memory);
    }
}

/// Somebody who wants to claim.
pub(super) struct NewWish {
    wish: ClaimRequest,
    at: Timestamp,
}

impl Shared for NewWish {
    type Answer = Vec<ClaimedHandoff>;

    fn desk(node: &Node) -> &Desk<NewWish> {
        &node.claiming
    }

    async fn together(
        node: &Node,
        pieces: &[NewWish],
        attempts: &mut [Attempt<Vec<ClaimedHandoff>>],
    ) -> Result<(), Fault> {
        attempt(node, pieces, attempts, false).await
    }
}

async fn attempt(
    node: &Node,
    pieces: &[NewWish],
    attempts: &mut [Attempt<Vec<ClaimedHandoff>>],
    careful: bool,
) -> Result<(), Fault> {
    let mut session = node.session().await?;
    let written = write(node, &mut session, pieces, attempts, careful).await;
    // A lost connection needs no end.
    if !matches!(written, Err(Fault::Lost(_))) {
        session.roll_back().await?;
    }
    written
}

async fn write(
    node: &Node,
    session: &mut Session,
    pieces: &[NewWish],
    attempts: &mut [Attempt<Vec<ClaimedHandoff>>],
    careful: bool,
) -> Result<(), Fault> {
    // Only somebody who was alone before can have lost a connection.
    if let [attempt] = attempts
        && let Some(answer) = attempt.memory.recall(session).await?
    {
        attempt.result = Ok(answer);
        return Ok(());
    }
    let wishes = Wishes::of(pieces);
    let mut rows = session.begin_with(READY, &[&wishes.agents, &wishes.until, &wishes.counts, &false]).await?;
    let restricted = restricted(session, pieces, &wishes, &mut rows).await?;
    let mut ends = Ends::default();
    if careful {
        // Others write to the same runs: after waiting for them, the journals end elsewhere.
        let runs = rows.iter().map(|row| row.try_get(1)).collect::<Result<Vec<&str>, _>>()?;
        session.query(LOCK_RUNS, &[&runs]).await?;
        table::ends(&session.query(ENDS, &[&runs]).await?, &mut ends)?;
    }
    let mut ready: HashMap<&str, VecDeque<&SqlRow>> = HashMap::new();
    for row in &rows {
        ready.entry(row.try_get(AGENT)?).or_default().push_back(row);
    }
    let mut changes = Vec::with_capacity(rows.len());
    for (NewWish { wish, at }, attempt) in pieces.iter().zip(attempts.iter_mut()) {
        if restricted.contains(&wish.agent) {
            continue;
        }
        let ready = ready.entry(&wish.agent).or_default();
        let count = ready.len().min(wish.count as usize);
        let (claimed, changed) = decide(ready.drain(..count), wish, *at, &mut ends)?;
        attempt.memory.expect(Sent::of(changed.iter().map(|change| &change.event)), Ok(claimed));
        changes.extend(changed);
    }
    if !changes.is_empty() {
        let update = session.prepare(UPDATE).await?;
        let arrays = Arrays::of(&changes);
        let parameters = arrays.parameters();
        let bound: Bound<'_> = (&update, &parameters[..UPDATE_PARAMETERS]);
        if session.commit(Some(bound), None).await? != changes.len() as u64 {
            return Err(StoreError::Damaged("a handoff changed although it was locked".to_owned()).into());
        }
        changes.iter().for_each(|change| node.own.remember(&change.handoff, change.event.head()));
    }
    for attempt in attempts {
        attempt.result = attempt.memory.take().ok_or(Fault::Crowded);
    }
    Ok(())
}

/// What several want, as the arrays that [`READY`] takes: each agent once.
struct Wishes<'p> {
    agents: Vec<&'p str>,
    until: Vec<i64>,
    counts: Vec<i64>,
}

impl<'p> Wishes<'p> {
    fn of(pieces: &'p [NewWish]) -> Wishes<'p> {
        let mut by_agent: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for NewWish { wish, at } in pieces {
            let (until, count) = by_agent.entry(&wish.agent).or_insert((i64::MAX, 0));
            // Nobody gets what was not ready yet when they asked.
            *until = at.as_microsecond().min(*until);
            *count += i64::from(wish.count);
        }
        Wishes {
            agents: by_agent.keys().copied().collect(),
            until: by_agent.values().map(|(until, _)| *until).collect(),
            counts: by_agent.values().map(|(_, count)| *count).collect(),
        }
    }
}

/// Returns the agents whose queues are paused or have a limit. Whoever claims from them must be alone, and gets what
/// there is room for.
///
/// Most queues have no restrictions, so that is asked only if one gave nothing.
async fn restricted(
    session: &Session,
    pieces: &[NewWish],
    wishes: &Wishes<'_>,
    rows: &mut Vec<SqlRow>,
) -> Result<HashSet<String>, Fault> {
    let given = rows.iter().map(|row| row.try_get(AGENT)).collect::<Result<HashSet<&str>, _>>()?;
    let empty: Vec<&str> = wishes.agents.iter().copied().filter(|agent| !given.contains(agent)).collect();
    if empty.is_empty() {
        return Ok(HashSet::new());
    }
    let [NewWish { wish, at }] = pieces else {
        let found = session.query(RESTRICTED_AMONG, &[&empty]).await?;
        return found.iter().map(|row| Ok(row.try_get(0)?)).collect();
    };
    if let Some(settings) = session.query(RESTRICTED, &[&wish.agent]).await?.first() {
        let queue = super::queue::read(&wish.agent, settings)?;
        let count = i64::from(room(session, &queue, wish.count).await?);
        if count > 0 {
            *rows =
                session.query(READY, &[&empty, &[at.as_microsecond()].as_slice(), &[count].as_slice(), &true]).await?;
        }
    }
    Ok(HashSet::new())
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
fn decide<'r>(
    rows: impl Iterator<Item = &'r SqlRow>,
    wish: &ClaimRequest,
    at: Timestamp,
    ends: &mut Ends,
) -> Result<(Vec<ClaimedHandoff>, Vec<Change>), Fault> {
    let (mut claimed, mut changes) = (Vec::new(), Vec::new());
    for row in rows {
        let handoff = table::handoff(row)?;
        ends.read(&handoff.run, row, table::END)?;
        let command = Command::Claim(wish.claim());
        // What nobody wants any more is left for the rescue.
        let Ok(transition) = lifecycle::apply(&handoff, command, ends.at(&handoff.run, at)) else { continue };
        let request = table::accepted(row, REQUEST, &handoff.run)?.request;
        claimed.push(ClaimedHandoff { handoff: transition.handoff.clone(), request });
        changes.push(Change::of(transition, ends));
    }
    Ok((claimed, changes))
}

#[cfg(test)]
mod tests {
    use baton_engine::Store;
    use baton_engine::handoff::WrittenDocument;
    use baton_engine::lifecycle::Accept;
    use baton_engine::{HandoffId, RunId, Terms};

    use super::super::Postgres;
    use super::*;

    async fn with_handoffs(count: usize) -> Postgres {
        let store = Postgres::connect(&baton_testbed::PostgresServer::shared().new_database()).await.unwrap();
        let request = |number: usize| {
            let id = HandoffId::parse(format!("a{number}")).unwrap();
            let request = WrittenDocument {
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
        let session = store.0.session().await.unwrap();
        let wishes: super::super::session::Parameters<'_> =
            &[&["builder"].as_slice(), &[0_i64].as_slice(), &[1_i64].as_slice(), &false];
        for analyzed in [false, true] {
            if analyzed {
                // With so few rows the server would rather read the whole table, if we let it.
                session.client().batch_execute("ANALYZE handoffs; ANALYZE events").await.unwrap();
            }
            let explain = format!("EXPLAIN {READY}");
            let rows = session.client().query(&explain, wishes).await.unwrap();
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
        let (mut one, mut other) = (store.0.session().await.unwrap(), store.0.session().await.unwrap());
        let (agent, now) = (["builder"].as_slice(), [0_i64].as_slice());
        let taken = one.begin_with(READY, &[&agent, &now, &[3_i64].as_slice(), &false]).await.unwrap();
        let left = other.begin_with(READY, &[&agent, &now, &[100_i64].as_slice(), &false]).await.unwrap();
        assert_eq!((taken.len(), left.len()), (3, 7));
    }
}
