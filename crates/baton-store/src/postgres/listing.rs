//! Lists and counts of handoffs. What is finished is never gone through: the database counts it, and an index has it in order.

use baton_engine::handoff::{Handoff, StateName};
use baton_engine::store::{Count, Filter, StoreError};
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::fault::Fault;
use super::table;
use crate::rows;

/// What is not finished: each part has an index that holds nothing else.
macro_rules! unfinished {
    () => {
        "SELECT * FROM handoffs WHERE state = 'pending'
         UNION ALL SELECT * FROM handoffs WHERE wake_at IS NOT NULL AND state = 'claimed'
         UNION ALL SELECT * FROM handoffs WHERE state IN ('verifying', 'blocked', 'awaiting_person')"
    };
}

/// Whether an agent and its state are wanted: by its name, or by that of its queue in a workflow.
macro_rules! is_wanted {
    () => {
        "($1::text IS NULL OR $1 IN (agent, substr(agent, strpos(agent, '/') + 1)))
         AND ($2::text[] IS NULL OR state = ANY ($2))"
    };
}

const EVERYTHING: &str = concat!(
    "SELECT ",
    table::columns!(),
    " FROM handoffs AS h WHERE h.position < $1 ORDER BY h.position DESC LIMIT $2"
);

const FILTERED: &str = concat!(
    "WITH ended AS (SELECT agent, state FROM finished_counts WHERE ",
    is_wanted!(),
    " GROUP BY agent, state),
     finished AS (SELECT one.* FROM ended CROSS JOIN LATERAL (
         SELECT * FROM handoffs WHERE finished_at IS NOT NULL AND handoffs.agent = ended.agent
             AND handoffs.state = ended.state AND position < $3 ORDER BY position DESC LIMIT $4) AS one),
     unfinished AS (SELECT * FROM (",
    unfinished!(),
    ") AS every WHERE ",
    is_wanted!(),
    " AND position < $3)
     SELECT ",
    table::columns!(),
    " FROM (SELECT * FROM finished UNION ALL SELECT * FROM unfinished) AS h ORDER BY h.position DESC LIMIT $4"
);

const CENSUS: &str = concat!(
    "SELECT agent, state, sum(handoffs)::bigint FROM finished_counts GROUP BY agent, state HAVING sum(handoffs) <> 0
     UNION ALL SELECT agent, state, count(*) FROM (",
    unfinished!(),
    ") AS every GROUP BY agent, state ORDER BY 1, 2"
);

/// Lists handoffs, the newest first.
pub(super) async fn list(node: &Node, filter: &Filter) -> Result<Vec<Handoff>, Fault> {
    if filter.agent.as_deref().is_some_and(table::is_unknowable) {
        return Ok(Vec::new());
    }
    let session = node.session().await?;
    let behind: i64 = match &filter.after {
        Some(id) => {
            let found = session.query("SELECT position FROM handoffs WHERE id = $1", &[&id.as_str()]).await?;
            let row = found.first().ok_or_else(|| StoreError::NotFound(id.clone()))?;
            row.try_get(0)?
        }
        None => i64::MAX,
    };
    let limit = i64::from(filter.limit);
    let found = if filter.agent.is_none() && filter.states.is_empty() {
        session.query(EVERYTHING, &[&behind, &limit]).await?
    } else {
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        let states = (!states.is_empty()).then_some(states);
        session.query(FILTERED, &[&filter.agent, &states, &behind, &limit]).await?
    };
    found.iter().map(table::handoff).collect()
}

/// Counts the handoffs of each agent in each state.
pub(super) async fn census(node: &Node) -> Result<Vec<Count>, Fault> {
    let count = |row: &SqlRow| {
        let word: &str = row.try_get(1)?;
        let state = StateName::parse(word).ok_or_else(|| StoreError::Damaged(format!("unknown state `{word}`")))?;
        Ok(Count { agent: row.try_get(0)?, state, handoffs: rows::unsigned(row.try_get(2)?)? })
    };
    node.session().await?.query(CENSUS, &[]).await?.iter().map(count).collect()
}
