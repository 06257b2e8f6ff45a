//! The queues: leases that nobody rescued, dead letters, and queues that are paused.

use std::collections::BTreeSet;

use baton_engine::handoff::StateName;
use baton_engine::store::{Count, Error, Filter};
use jiff::Timestamp;

use super::Sign;
use crate::render::counted;
use crate::store::Session;

/// How many claimed handoffs are looked at.
const LOOKED_AT_MAX: u32 = 10_000;

pub(super) async fn look(session: &Session) -> Result<Vec<Sign>, Error> {
    let census = session.store.census().await?;
    let filter = Filter { agent: None, states: vec![StateName::Claimed], after: None, limit: LOOKED_AT_MAX };
    let claimed = session.store.list(&filter).await?;
    let ends = claimed.iter().filter_map(|handoff| handoff.wakes_at());
    let mut signs = vec![leases(ends.collect(), session.now()), dead_letters(&census)];
    let queues = session.store.queues().await?;
    let paused: BTreeSet<&str> = queues.iter().filter(|queue| queue.paused).map(|queue| queue.agent.as_str()).collect();
    signs.push(match paused.is_empty() {
        true => Sign::fine("queues", "none is paused"),
        false => Sign::warning(
            "queues",
            format!("paused: {}", paused.into_iter().collect::<Vec<_>>().join(", ")),
            "nothing is handed out until `baton queue resume AGENT`",
        ),
    });
    Ok(signs)
}

fn leases(ends: Vec<Timestamp>, now: Timestamp) -> Sign {
    let expired = ends.iter().filter(|end| **end <= now).count();
    match expired {
        0 => Sign::fine("leases", format!("{} held, none has expired", ends.len())),
        _ => Sign::warning(
            "leases",
            match expired {
                1 => "1 has expired and nobody has rescued it".to_owned(),
                _ => format!("{expired} have expired and nobody has rescued them"),
            },
            "any worker or `baton claim` rescues what has expired: is one running?",
        ),
    }
}

fn dead_letters(census: &[Count]) -> Sign {
    let failed: Vec<&Count> = census.iter().filter(|count| count.state == StateName::Failed).collect();
    let total: u64 = failed.iter().map(|count| count.handoffs).sum();
    if total == 0 {
        return Sign::fine("dead letters", "none");
    }
    let each: Vec<String> = failed.iter().map(|count| format!("{} {}", count.handoffs, count.agent)).collect();
    let were = if total == 1 { "was" } else { "were" };
    Sign::warning(
        "dead letters",
        format!("{} {were} given up ({})", counted(total, "handoff"), each.join(", ")),
        "`baton list --state failed` shows them, `baton requeue ID` brings one back",
    )
}
