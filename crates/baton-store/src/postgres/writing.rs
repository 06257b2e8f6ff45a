//! Writing what was planned: one statement for all rows and all events of a transaction.

use baton_engine::stored::body;
use tokio_postgres::types::ToSql;

use crate::plan::Made;
use crate::rows::{Columns, signed};

/// Writes handoffs that have changed or are new, each once, and all events.
///
/// The rows that change are locked by whoever uses this. An id, a key or an event that somebody else has written
/// meanwhile is an error, and undoes the transaction.
pub(super) const WRITE: &str = "WITH change AS (
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::bigint[], $7::bigint[],
                             $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[],
                             $14::bytea[], $15::text[], $16::bigint[])
            AS change (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                       accepted_seq, last_seq, head, body, before)
    ), updated AS (
        UPDATE handoffs SET state = change.state, version = change.version, fence = change.fence,
            ready_at = change.ready_at, wake_at = change.wake_at, finished_at = change.finished_at,
            last_seq = change.last_seq, head = change.head, body = change.body
        FROM change WHERE handoffs.id = change.id COLLATE \"C\" AND handoffs.version = change.before
        RETURNING handoffs.id
    ), inserted AS (
        INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                              accepted_seq, last_seq, head, body)
        SELECT id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key, accepted_seq,
               last_seq, head, body
        FROM change WHERE before IS NULL
        RETURNING id
    )
    INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
    SELECT * FROM unnest($17::text[], $18::bigint[], $19::text[], $20::bigint[], $21::bigint[], $22::text[],
                         $23::text[], $24::bytea[])
    WHERE (SELECT count(*) FROM updated) + (SELECT count(*) FROM inserted) = cardinality($1)";

/// The columns of rows and events, as the arrays that [`WRITE`] takes.
#[derive(Default)]
pub(super) struct Written<'m> {
    row: Rows<'m>,
    event: Events<'m>,
}

#[derive(Default)]
struct Rows<'m> {
    id: Vec<&'m str>,
    run: Vec<&'m str>,
    agent: Vec<&'m str>,
    priority: Vec<i16>,
    state: Vec<&'static str>,
    version: Vec<i64>,
    fence: Vec<i64>,
    ready_at: Vec<Option<i64>>,
    wake_at: Vec<Option<i64>>,
    finished_at: Vec<Option<i64>>,
    key: Vec<Option<&'m str>>,
    accepted_seq: Vec<i64>,
    last_seq: Vec<i64>,
    head: Vec<Vec<u8>>,
    body: Vec<String>,
    before: Vec<Option<i64>>,
}

#[derive(Default)]
struct Events<'m> {
    run: Vec<&'m str>,
    seq: Vec<i64>,
    handoff: Vec<&'m str>,
    version: Vec<i64>,
    at: Vec<i64>,
    kind: Vec<&'m str>,
    detail: Vec<&'m str>,
    hash: Vec<&'m [u8]>,
}

impl<'m> Written<'m> {
    pub(super) fn of(made: &'m Made) -> Written<'m> {
        let mut written = Written::default();
        let row = &mut written.row;
        for (planned, head) in made.changed() {
            let (handoff, columns) = (&planned.handoff, Columns::of(&planned.handoff));
            row.id.push(handoff.id.as_str());
            row.run.push(handoff.run.as_str());
            row.agent.push(columns.agent);
            row.priority.push(columns.priority);
            row.state.push(columns.state);
            row.version.push(signed(handoff.version));
            row.fence.push(signed(handoff.fence.0));
            row.ready_at.push(columns.ready_at);
            row.wake_at.push(columns.wake_at);
            row.finished_at.push(columns.finished_at);
            row.key.push(columns.key);
            row.accepted_seq.push(signed(planned.accepted_seq));
            row.last_seq.push(signed(head.seq));
            row.head.push(head.hash.0.to_vec());
            row.body.push(body::write(handoff));
            row.before.push(planned.before.map(signed));
        }
        let columns = &mut written.event;
        for event in &made.events {
            columns.run.push(event.run.as_str());
            columns.seq.push(signed(event.seq));
            columns.handoff.push(event.handoff.as_str());
            columns.version.push(signed(event.version));
            columns.at.push(event.at.as_microsecond());
            columns.kind.push(&event.kind);
            columns.detail.push(&event.detail);
            columns.hash.push(&event.hash.0);
        }
        written
    }

    /// Returns the parameters of [`WRITE`].
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 24] {
        let Written { row, event } = self;
        [
            &row.id,
            &row.run,
            &row.agent,
            &row.priority,
            &row.state,
            &row.version,
            &row.fence,
            &row.ready_at,
            &row.wake_at,
            &row.finished_at,
            &row.key,
            &row.accepted_seq,
            &row.last_seq,
            &row.head,
            &row.body,
            &row.before,
            &event.run,
            &event.seq,
            &event.handoff,
            &event.version,
            &event.at,
            &event.kind,
            &event.detail,
            &event.hash,
        ]
    }
}
