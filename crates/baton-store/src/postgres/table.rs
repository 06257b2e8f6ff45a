//! The rows of the tables: how they are read, and the two statements that write them.

use std::collections::{HashMap, HashSet};

use baton_engine::handoff::Handoff;
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{Accept, Transition};
use baton_engine::store::StoreError;
use baton_engine::stored::body;
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::fault::Fault;
use super::session::Session;
use crate::plan::End;
use crate::rows::{self, Columns, Row, signed};

/// The columns of a [`Row`], in the order in which [`row`] reads them.
macro_rules! columns {
    () => {
        "h.id, h.run, h.version, h.fence, h.accepted_seq, h.last_seq, h.head, h.body"
    };
}
pub(super) use columns;

/// The columns of an [`End`], right behind those of the row.
macro_rules! end_columns {
    () => {
        "last.seq, last.hash, last.at"
    };
}
pub(super) use end_columns;

/// Finds the last event of the run of `h`: one step into the index of the journal.
macro_rules! join_end {
    () => {
        " CROSS JOIN LATERAL (SELECT seq, hash, at FROM events WHERE run = h.run ORDER BY seq DESC LIMIT 1) AS last "
    };
}
pub(super) use join_end;

/// The column at which the end of the journal begins.
pub(super) const END: usize = 8;

/// Finds handoffs by their ids, and where the journals of their runs end.
macro_rules! look {
    () => {
        concat!(
            "SELECT ",
            $crate::postgres::table::columns!(),
            ", ",
            $crate::postgres::table::end_columns!(),
            " FROM handoffs AS h ",
            $crate::postgres::table::join_end!(),
            " WHERE h.id = ANY ($1)"
        )
    };
}
pub(super) use look;

/// Reads a row.
pub(super) fn row(row: &SqlRow) -> Result<Row, Fault> {
    Ok(Row {
        id: row.try_get(0)?,
        run: row.try_get(1)?,
        version: row.try_get(2)?,
        fence: row.try_get(3)?,
        accepted_seq: row.try_get(4)?,
        last_seq: row.try_get(5)?,
        head: row.try_get(6)?,
        body: row.try_get(7)?,
    })
}

/// Reads the handoff of a row.
pub(super) fn handoff(found: &SqlRow) -> Result<Handoff, Fault> {
    Ok(row(found)?.handoff()?)
}

/// Reads the end of a journal, from this column on.
pub(super) fn end(row: &SqlRow, column: usize) -> Result<End, Fault> {
    let (seq, hash, at): (i64, &[u8], i64) = (row.try_get(column)?, row.try_get(column + 1)?, row.try_get(column + 2)?);
    Ok(End { head: Head { seq: rows::unsigned(seq)?, hash: rows::hash(hash)? }, at: Some(rows::time(at)?) })
}

/// Where the journals of the runs end that a transaction writes to.
#[derive(Debug, Default)]
pub(super) struct Ends(HashMap<RunId, End>);

impl Ends {
    /// Takes the end that stands in a row, from this column on.
    pub(super) fn read(&mut self, run: &RunId, row: &SqlRow, column: usize) -> Result<(), Fault> {
        let end = end(row, column)?;
        self.0.entry(run.clone()).or_insert(end);
        Ok(())
    }

    /// Takes the last event of a handoff for the end of its run.
    pub(super) fn know(&mut self, handoff: &Handoff, head: Head) {
        self.0.insert(handoff.run.clone(), End { head, at: Some(handoff.changed_at) });
    }

    /// Returns the time, but none before the last event of the run.
    pub(super) fn at(&self, run: &RunId, at: Timestamp) -> Timestamp {
        self.0.get(run).and_then(|end| end.at).map_or(at, |latest| latest.max(at))
    }

    /// Makes the event of a transition, and lets the next one follow it.
    pub(super) fn record(&mut self, transition: &Transition) -> Event {
        let handoff = &transition.handoff;
        let head = self.0.get(&handoff.run).map_or(Head::START, |end| end.head);
        let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
        self.0.insert(handoff.run.clone(), End { head: event.head(), at: Some(event.at) });
        event
    }
}

/// Finds where journals end.
pub(super) const ENDS: &str = "SELECT last.run, last.seq, last.hash, last.at FROM unnest($1::text[]) AS wanted (run)
    CROSS JOIN LATERAL (
        SELECT run, seq, hash, at FROM events WHERE run = wanted.run COLLATE \"C\" ORDER BY seq DESC LIMIT 1
    ) AS last";

/// Reads the answer to [`ENDS`].
pub(super) fn ends(found: &[SqlRow], ends: &mut Ends) -> Result<(), Fault> {
    for row in found {
        let run = RunId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?;
        ends.read(&run, row, 1)?;
    }
    Ok(())
}

/// A handoff as it will be, with the event that made it so.
pub(super) struct Change {
    pub(super) handoff: Handoff,
    pub(super) event: Event,
}

impl Change {
    /// Takes a transition to be written.
    pub(super) fn of(transition: Transition, ends: &mut Ends) -> Change {
        let event = ends.record(&transition);
        Change { handoff: transition.handoff, event }
    }
}

/// Writes handoffs that have changed, each with its event, if they are still what they were before, and returns which.
///
/// The order keeps nodes from waiting for each other: first all rows, as they stand in the arrays, and only then the
/// events. If each row came with its event, a node could hold the event that another needs, which holds the next row.
pub(super) const UPDATE: &str = "WITH updated AS (
        UPDATE handoffs SET state = change.state, version = change.version, fence = change.fence,
            ready_at = change.ready_at, wake_at = change.wake_at, finished_at = change.finished_at,
            last_seq = change.seq, head = change.hash, body = change.body
        FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                    $8::bigint[], $9::bytea[], $10::text[], $11::bigint[], $12::text[], $13::text[])
            AS change (id, version, state, fence, ready_at, wake_at, finished_at, seq, hash, body, at, kind, detail)
        WHERE handoffs.id = change.id COLLATE \"C\" AND handoffs.version = change.version - 1
        RETURNING handoffs.run, change.seq, handoffs.id, change.version, change.at, change.kind, change.detail,
            change.hash
    )
    INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
    SELECT * FROM updated ORDER BY 1, 2 RETURNING handoff";

/// Writes handoffs that are new, each with its event.
///
/// Returns those that were not there already; the others are left out.
pub(super) const INSERT: &str = "WITH request AS (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                             $7::bigint[], $8::bigint[], $9::bytea[], $10::text[], $11::bigint[], $12::text[],
                             $13::text[], $14::text[], $15::text[], $16::smallint[], $17::text[])
            AS request (id, version, state, fence, ready_at, wake_at, finished_at, seq, hash, body, at, kind, detail,
                        run, agent, priority, key)
    ), inserted AS (
        INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                              accepted_seq, last_seq, head, body)
        SELECT id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key, seq, seq, hash, body
        FROM request
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
    SELECT run, seq, id, version, at, kind, detail, hash FROM request
    WHERE id COLLATE \"C\" IN (SELECT id FROM inserted) RETURNING handoff";

/// The columns of changes, as the arrays that [`UPDATE`] and [`INSERT`] take.
#[derive(Default)]
pub(super) struct Arrays<'c> {
    id: Vec<&'c str>,
    version: Vec<i64>,
    state: Vec<&'static str>,
    fence: Vec<i64>,
    ready_at: Vec<Option<i64>>,
    wake_at: Vec<Option<i64>>,
    finished_at: Vec<Option<i64>>,
    seq: Vec<i64>,
    hash: Vec<&'c [u8]>,
    body: Vec<String>,
    at: Vec<i64>,
    kind: Vec<&'c str>,
    detail: Vec<&'c str>,
    run: Vec<&'c str>,
    agent: Vec<&'c str>,
    priority: Vec<i16>,
    key: Vec<Option<&'c str>>,
}

impl<'c> Arrays<'c> {
    pub(super) fn of(changes: impl IntoIterator<Item = &'c Change>) -> Arrays<'c> {
        let mut arrays = Arrays::default();
        changes.into_iter().for_each(|change| arrays.push(change));
        arrays
    }

    fn push(&mut self, change: &'c Change) {
        let Change { handoff, event } = change;
        let columns = Columns::of(handoff);
        self.id.push(handoff.id.as_str());
        self.version.push(signed(handoff.version));
        self.state.push(columns.state);
        self.fence.push(signed(handoff.fence.0));
        self.ready_at.push(columns.ready_at);
        self.wake_at.push(columns.wake_at);
        self.finished_at.push(columns.finished_at);
        self.seq.push(signed(event.seq));
        self.hash.push(&event.hash.0);
        self.body.push(body::write(handoff));
        self.at.push(event.at.as_microsecond());
        self.kind.push(&event.kind);
        self.detail.push(&event.detail);
        self.run.push(handoff.run.as_str());
        self.agent.push(columns.agent);
        self.priority.push(columns.priority);
        self.key.push(columns.key);
    }

    /// Returns the parameters of [`INSERT`]; the first 13 of them are those of [`UPDATE`].
    pub(super) fn parameters(&self) -> [&(dyn tokio_postgres::types::ToSql + Sync); 17] {
        [
            &self.id,
            &self.version,
            &self.state,
            &self.fence,
            &self.ready_at,
            &self.wake_at,
            &self.finished_at,
            &self.seq,
            &self.hash,
            &self.body,
            &self.at,
            &self.kind,
            &self.detail,
            &self.run,
            &self.agent,
            &self.priority,
            &self.key,
        ]
    }
}

/// Of the parameters of [`INSERT`], how many [`UPDATE`] takes.
pub(super) const UPDATE_PARAMETERS: usize = 13;

/// Reads the answer to [`UPDATE`] and [`INSERT`]: the ids of what was written.
pub(super) fn written(found: &[SqlRow]) -> Result<HashSet<&str>, Fault> {
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Reads the request of a handoff, from the event with which it was accepted.
pub(super) fn accepted(row: &SqlRow, column: usize, run: &RunId) -> Result<Accept, Fault> {
    let damaged = |why: String| Fault::Final(StoreError::Damaged(format!("run `{run}`: {why}")));
    let (kind, detail): (Option<&str>, Option<&str>) = (row.try_get(column)?, row.try_get(column + 1)?);
    let (Some(kind), Some(detail)) = (kind, detail) else {
        return Err(damaged("the event with the request is missing".to_owned()));
    };
    match Fact::read(kind, detail) {
        Ok(Fact::Accepted(accept)) => Ok(*accept),
        Ok(fact) => Err(damaged(format!("a handoff begins with `{}`", fact.kind()))),
        Err(why) => Err(Fault::Final(why.at(&format!("run `{run}`")))),
    }
}

/// Returns whether the database cannot know this name: its texts have no NUL.
pub(super) fn is_unknowable(name: &str) -> bool {
    name.contains('\0')
}

/// Finds a handoff.
pub(super) async fn find(session: &Session, id: &HandoffId) -> Result<Option<Handoff>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM handoffs AS h WHERE h.id = $1");
    session.query(sql, &[&id.as_str()]).await?.first().map(handoff).transpose()
}

/// Finds several handoffs.
pub(super) async fn find_all(session: &Session, ids: &[HandoffId]) -> Result<Vec<Handoff>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM handoffs AS h WHERE h.id = ANY($1)");
    let ids: Vec<&str> = ids.iter().map(HandoffId::as_str).collect();
    session.query(sql, &[&ids]).await?.iter().map(handoff).collect()
}
