//! `baton claim`: takes what waits for an agent, and prints the request.

use std::time::Duration;

use baton_engine::handoff::Written;
use baton_engine::lifecycle::LEASE_MS_MAX;
use baton_engine::store::{Claimed, Wish};
use baton_protocol::convert::{self, Form};
use baton_protocol::{Dialect, Hints, Kind};
use clap::Args;
use serde_json::{Value, json};

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::moment::{briefly, parse_duration};
use crate::output::Output;
use crate::sending::{milliseconds, parse_agent, parse_name};
use crate::store::{Access, Session, StoreOptions};
use crate::waiting::wait_for;
use crate::{render, user};

/// Claim what waits for an agent
///
/// Takes the most urgent request that is ready, and prints it; what must be known to go on (the id, the fence) is told
/// on standard error, or with --json. Nobody else gets it until the lease ends: extend it with `baton heartbeat`, and end
/// it with `baton report` or `baton fail`. Exits with 1 if nothing is ready.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton claim --agent reviewer\n  baton claim --agent reviewer --wait --lease 5m --json\n  \
baton claim --agent reviewer --wait 30s --dialect native > request.json"
)]
pub(crate) struct Options {
    /// The agent that works
    #[arg(long, value_name = "AGENT", value_parser = parse_agent)]
    agent: String,
    /// Who works, for the record [default: user, host and process]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    claimant: Option<String>,
    /// How long without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_lease)]
    lease: Duration,
    /// How many at most; needs --json
    #[arg(long, value_name = "N", requires = "json", value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: Option<u32>,
    /// Wait until something is ready, or so long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, value_parser = parse_duration)]
    wait: Option<Option<Duration>>,
    /// Write the request in this dialect instead of its own
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// Reads the length of a lease, for clap.
pub(crate) fn parse_lease(text: &str) -> Result<Duration, String> {
    let lease = parse_duration(text)?;
    match milliseconds(lease) {
        0 => Err("a lease of no time ends at once".to_owned()),
        1..=LEASE_MS_MAX => Ok(lease),
        _ => Err(format!("a lease is at most {} long", briefly(Duration::from_millis(LEASE_MS_MAX)))),
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    if let Some(dialect) = options.dialect.filter(|dialect| !dialect.has(Kind::Request)) {
        return Err(CommandError::usage(format!("the dialect {dialect} has no requests")));
    }
    let session = Session::open(&options.store, Access::Change)?;
    let wish = Wish {
        agent: options.agent.clone(),
        claimant: options.claimant.clone().unwrap_or_else(user::claimant),
        lease_ms: milliseconds(options.lease),
        count: options.count.unwrap_or(1),
    };
    let limit = options.wait.unwrap_or(Some(Duration::ZERO));
    session.run(async {
        let claimed = wait_for(&session, Some(&options.agent), limit, async || {
            let claimed = session.store.claim(&wish, session.now()).await?;
            Ok(Some(claimed).filter(|claimed| !claimed.is_empty()))
        });
        let claimed = claimed.await?.unwrap_or_default();
        if claimed.is_empty() {
            nothing(options, &session, output).await?;
            return Ok(Exit::No);
        }
        tell(options, &claimed, &session, output)?;
        Ok(Exit::Done)
    })
}

/// Tells that nothing is ready, and why that may surprise.
async fn nothing(options: &Options, session: &Session, output: &Output) -> Result<(), CommandError> {
    let agent = &options.agent;
    let queue = session.store.queue(agent).await?;
    output.note(&match (queue.paused, queue.concurrency) {
        (true, _) => format!("the queue of {agent} is paused"),
        (false, Some(limit)) => format!("nothing is ready for {agent}, of which {limit} at a time are handed out"),
        (false, None) => format!("nothing is ready for {agent}"),
    });
    match (options.json, options.count) {
        (false, _) => Ok(()),
        (true, Some(_)) => output.json(&json!({ "version": 1, "claims": [] })),
        (true, None) => output.json(&json!({
            "version": 1, "handoff": null, "fence": null, "attempt": null, "acknowledge_by": null, "notes": [],
            "request": null,
        })),
    }
}

fn tell(options: &Options, claimed: &[Claimed], session: &Session, output: &Output) -> Result<(), CommandError> {
    let requests: Vec<Written> =
        claimed.iter().map(|claimed| in_dialect(&claimed.request, options.dialect, output)).collect();
    let mut claims = claimed.iter().zip(&requests).map(|(claimed, request)| as_json(claimed, request));
    if options.json && options.count.is_some() {
        return output.json(&json!({ "version": 1, "claims": claims.collect::<Vec<_>>() }));
    }
    if options.json {
        let mut claim = json!({ "version": 1 });
        if let (Some(claim), Some(Value::Object(members))) = (claim.as_object_mut(), claims.next()) {
            claim.extend(members);
        }
        return output.json(&claim);
    }
    for (Claimed { handoff, .. }, request) in claimed.iter().zip(&requests) {
        output.document(&request.text)?;
        let (id, fence) = (&handoff.id, handoff.fence);
        output.note(&format!("{id} {}", render::handoff::state(handoff, session.now())));
        handoff.notes.iter().for_each(|note| output.note(render::handoff::note_line(note).trim_end()));
        if handoff.terms.acknowledge {
            let by = handoff.acknowledge_by().map(|by| format!(" by {by}, or it goes back")).unwrap_or_default();
            output.note(&format!("acknowledge it{by}: baton ack {id} --fence {fence}"));
        }
        output.note(&format!("then: baton report {id} --fence {fence} FILE"));
    }
    Ok(())
}

fn as_json(claimed: &Claimed, request: &Written) -> Value {
    let handoff = &claimed.handoff;
    json!({
        "handoff": render::handoff::json(handoff),
        "fence": handoff.fence,
        "attempt": handoff.attempts,
        "acknowledge_by": handoff.acknowledge_by(),
        "notes": handoff.notes.iter().map(render::handoff::note).collect::<Vec<_>>(),
        "request": render::handoff::document(request),
    })
}

/// Writes the request in another dialect. It is claimed by now, so what cannot be converted is handed over as it is.
fn in_dialect(request: &Written, dialect: Option<Dialect>, output: &Output) -> Written {
    let own = Dialect::parse(&request.dialect);
    let (Some(to), Some(from)) = (dialect.filter(|dialect| Some(*dialect) != own), own) else { return request.clone() };
    let reading = baton_protocol::read(request.text.as_bytes(), Hints { format: None, dialect: Some(from) });
    let converted = reading.document.as_ref().and_then(|document| convert::convert(document, from, to).ok());
    let Some(conversion) = converted else {
        output.note(&format!("the request cannot be written in {to}; this is {from}"));
        return request.clone();
    };
    for pointer in &conversion.losses {
        output.note(&format!("lost: {} is not carried by {to}", crate::output::printable(pointer)));
    }
    Written::new(to, convert::render(&conversion.value, Form::of(to)))
}
