//! Lists and counts of handoffs. What is finished is never gone through: the database counts it, and an index has it in order.

use baton_engine::HandoffId;
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::store::{Count, Filter, StoreError};
use rusqlite::{Connection, Row as SqlRow, params, params_from_iter};

use super::look::all;
use super::{table, translate};
use crate::rows;

/// Where a handoff stands in the order of acceptance.
const PLACE: &str = "SELECT rowid FROM handoffs WHERE id = ?1";

/// What is finished, by agent and state.
const FINISHED: &str = "SELECT rowid FROM handoffs INDEXED BY handoffs_finished
    WHERE finished_at IS NOT NULL AND agent = ?1 AND state = ?2 AND rowid < ?3 ORDER BY rowid DESC LIMIT ?4";

/// What is not finished: each part has an index that holds nothing else.
const UNFINISHED: &str = "
    SELECT rowid, agent, state FROM handoffs INDEXED BY handoffs_ready WHERE state = 'pending'
    UNION ALL SELECT rowid, agent, state FROM handoffs INDEXED BY handoffs_wake
        WHERE wake_at IS NOT NULL AND state = 'claimed'
    UNION ALL SELECT rowid, agent, state FROM handoffs INDEXED BY handoffs_held
        WHERE state = 'verifying' OR state = 'blocked' OR state = 'awaiting_person'";

/// Whether an agent is meant by its name, or by that of its queue in a workflow.
const IS_MEANT: &str = "?1 IN (agent, substr(agent, instr(agent, '/') + 1))";

/// Lists handoffs, the newest first.
pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
    // A handoff that finishes while we look is in one of the parts, and not in both or none.
    let snapshot = connection.unchecked_transaction().map_err(translate)?;
    let place = |id: &HandoffId| match all(&snapshot, PLACE, [id.as_str()], integer)?.first() {
        Some(place) => Ok(*place),
        None => Err(StoreError::NotFound(id.clone())),
    };
    let behind = filter.after.as_ref().map(place).transpose()?.unwrap_or(i64::MAX);
    let places = if filter.agent.is_none() && filter.states.is_empty() {
        let sql = "SELECT rowid FROM handoffs WHERE rowid < ?1 ORDER BY rowid DESC LIMIT ?2";
        all(&snapshot, sql, params![behind, filter.limit], integer)?
    } else {
        let mut places = finished(&snapshot, filter, behind)?;
        places.extend(unfinished(&snapshot, filter, behind)?);
        places.sort_unstable_by_key(|place| std::cmp::Reverse(*place));
        places.truncate(filter.limit as usize);
        places
    };
    let one = concat!("SELECT ", table::columns!(), " FROM handoffs WHERE rowid = ?1");
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        found.extend(all(&snapshot, one, [place], table::row)?.iter().map(rows::Row::handoff));
    }
    found.into_iter().collect()
}

fn finished(connection: &Connection, filter: &Filter, behind: i64) -> Result<Vec<i64>, StoreError> {
    let wanted = |state: StateName| state.is_finished() && (filter.states.is_empty() || filter.states.contains(&state));
    let mut places = Vec::new();
    for agent in agents(connection, filter)? {
        for state in StateName::ALL.into_iter().filter(|state| wanted(*state)) {
            let parameters = params![agent, state.as_str(), behind, filter.limit];
            places.extend(all(connection, FINISHED, parameters, integer)?);
        }
    }
    Ok(places)
}

/// Returns the agents that are meant and have finished something.
fn agents(connection: &Connection, filter: &Filter) -> Result<Vec<String>, StoreError> {
    let read = |row: &SqlRow<'_>| row.get(0);
    match &filter.agent {
        Some(agent) => {
            let sql = format!("SELECT DISTINCT agent FROM finished_counts WHERE {IS_MEANT}");
            all(connection, &sql, [agent], read)
        }
        None => all(connection, "SELECT DISTINCT agent FROM finished_counts", [], read),
    }
}

fn unfinished(connection: &Connection, filter: &Filter, behind: i64) -> Result<Vec<i64>, StoreError> {
    let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    let of_agent = if filter.agent.is_some() { IS_MEANT } else { "?1 IS NULL" };
    let places = vec!["?"; states.len()].join(", ");
    let in_state = if states.is_empty() { "TRUE".to_owned() } else { format!("state IN ({places})") };
    let sql = format!(
        "SELECT rowid FROM ({UNFINISHED}) WHERE {of_agent} AND {in_state} AND rowid < {behind}
         ORDER BY rowid DESC LIMIT {}",
        filter.limit
    );
    let parameters = std::iter::once(filter.agent.as_deref()).chain(states.into_iter().map(Some));
    all(connection, &sql, params_from_iter(parameters), integer)
}

fn integer(row: &SqlRow<'_>) -> rusqlite::Result<i64> {
    row.get(0)
}

/// Counts the handoffs of each agent in each state.
pub(super) fn census(connection: &Connection) -> Result<Vec<Count>, StoreError> {
    let sql = format!(
        "SELECT agent, state, handoffs FROM finished_counts WHERE handoffs <> 0
         UNION ALL SELECT agent, state, count(*) FROM ({UNFINISHED}) GROUP BY agent, state ORDER BY agent, state"
    );
    let counted: Vec<(String, String, i64)> =
        all(connection, &sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let count = |(agent, word, handoffs): (String, String, i64)| {
        let unknown = || StoreError::Damaged(format!("unknown state `{word}`"));
        Ok(Count { agent, state: StateName::parse(&word).ok_or_else(unknown)?, handoffs: rows::unsigned(handoffs)? })
    };
    counted.into_iter().map(count).collect()
}
