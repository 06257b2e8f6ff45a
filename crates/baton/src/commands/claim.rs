//! `baton claim`: takes what waits for an agent, and prints the request.

use std::path::PathBuf;
use std::time::Duration;

use baton_agents::workspace::WorkspaceFolder;
use baton_engine::driver::HandInWay;
use baton_engine::engine::{StoreNews, WaitFor};
use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::lifecycle::Command;
use baton_engine::retry::milliseconds;
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Order};
use baton_protocol::convert::{self, Form};
use baton_protocol::wire::closest;
use baton_protocol::{Dialect, Hints, Kind, printable};
use clap::Args;
use serde_json::{Value, json};

use super::check::parse_dialect;
use crate::briefing::{self, Briefing};
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use crate::{briefer, guard, render, user};
use baton_engine::engine::{agent_name, plain_name};
use baton_engine::engine::{parse_duration, parse_lease};

/// Claim what waits for an agent
///
/// Takes the most urgent request that is ready, and prints it. The id and the fence, which later commands need, go to
/// standard error, or are part of --json. Nobody else can claim it until the lease ends: extend the lease with `baton
/// heartbeat`, and finish with `baton report` or `baton fail`. Exits with 1 if nothing is ready.
///
/// With --prompt it prints the whole prompt instead: the task, what others handed over (fenced, as data), mandatory
/// skills, the output directory, what is verified, the form of the report, and how to hand it in.
///
/// If the workspace is known (--workspace, or that of the run if it is on this machine), missing artifacts of the
/// request are listed; it is claimed anyway.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton claim --agent reviewer\n  baton claim --agent reviewer --wait --lease 5m --json\n  \
baton claim --agent reviewer --wait 30s --dialect native > request.json\n  baton claim --agent reviewer --prompt | my-agent"
)]
pub(crate) struct Options {
    /// The agent that works
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    agent: String,
    /// Who works, for the record [default: user, host and process]
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    claimant: Option<String>,
    /// How long without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_lease, allow_hyphen_values = true)]
    lease: Duration,
    /// How many at most; needs --json
    #[arg(long, value_name = "N", requires = "json", value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: Option<u32>,
    /// Wait until something is ready, or for this long
    #[arg(long, value_name = "DURATION", num_args = 0..=1, value_parser = parse_duration)]
    wait: Option<Option<Duration>>,
    /// Write the request in this dialect instead of its own
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Print the whole prompt instead of the request
    #[arg(long, conflicts_with = "dialect")]
    prompt: bool,
    /// The folder that should have the artifacts [default: the workspace of the run, if it is on this machine]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    if let Some(dialect) = options.dialect.filter(|dialect| !dialect.has(Kind::Request)) {
        return Err(CommandError::usage(format!("the dialect {dialect} has no requests")));
    }
    let workspace = options.workspace.as_deref().map(WorkspaceFolder::open).transpose()?;
    let session = Session::open(&options.store, Access::Change, output)?;
    let wish = ClaimRequest {
        agent: options.agent.clone(),
        claimant: options.claimant.clone().unwrap_or_else(user::claimant),
        lease_ms: milliseconds(options.lease),
        count: options.count.unwrap_or(1),
        times_itself: false,
        author: None,
    };
    let (limit, caller) = (options.wait.unwrap_or(Some(Duration::ZERO)), guard::anybody());
    session.run(async {
        let heard = |news: StoreNews<'_>| output.store_news(news);
        let waiting = WaitFor { agent: Some(&options.agent), limit, tell: &heard };
        let claimed = session.engine.wait_for(waiting, async || {
            let claimed = session.engine.claim(&wish, &caller).await?;
            Ok(Some(claimed).filter(|claimed| !claimed.is_empty()))
        });
        let claimed = claimed.await?.unwrap_or_default();
        if claimed.is_empty() {
            nothing(options, &session, output).await?;
            return Ok(Exit::No);
        }
        let mut works = Vec::with_capacity(claimed.len());
        for claimed in claimed {
            works.push(ClaimedWork::of(claimed, options, workspace.as_ref(), &session, output).await?);
        }
        tell(options, &works, &session, output).await
    })
}

/// Reports that nothing is ready, and why that may be surprising.
async fn nothing(options: &Options, session: &Session, output: &Output) -> Result<(), CommandError> {
    let agent = &options.agent;
    let queue = session.store.queue(agent).await?;
    output.note(&match (queue.paused, queue.concurrency) {
        (true, _) => format!("the queue of {agent} is paused"),
        (false, Some(limit)) => format!("nothing is ready for {agent}: its queue hands out at most {limit} at a time"),
        (false, None) => format!("nothing is ready for {agent}"),
    });
    if !options.json {
        tell_other_queues(agent, session, output).await?;
        tell_unknown_agent(agent, session, output).await;
    }
    match (options.json, options.count) {
        (false, _) => Ok(()),
        (true, Some(_)) => output.json(&json!({ "version": 1, "claims": [] })),
        (true, None) => output.json(&json!({
            "version": 1, "handoff": null, "fence": null, "attempt": null, "acknowledge_by": null, "notes": [],
            "request": null, "prompt": null, "missing_artifacts": [], "traceparent": null,
        })),
    }
}

/// Hints, when nothing was ever sent to an agent, that its name may be mistyped.
async fn tell_unknown_agent(agent: &str, session: &Session, output: &Output) {
    // Whoever may see only one queue knows its name.
    let Ok(queues) = session.engine.queue_counts(Vec::new()).await else { return };
    let known: Vec<&str> = queues.iter().map(|(queue, _)| queue.agent.as_str()).collect();
    if known.is_empty() || known.contains(&agent) {
        return;
    }
    let close = closest(agent, &known).map(|close| format!("; did you mean `{close}`?")).unwrap_or_default();
    output.note(&format!("nothing was ever sent to {agent}{close}"));
}

/// Hints, when the queue of an agent is empty, that an agent of a workflow has the same name.
pub(crate) async fn tell_other_queues(agent: &str, session: &Session, output: &Output) -> Result<(), CommandError> {
    let others = session.engine.other_queues(agent).await?;
    if !others.is_empty() {
        let queues = others.join(", --agent ");
        output.note(&format!("work of a workflow waits in a queue of its own: --agent {queues}"));
    }
    Ok(())
}

/// What was claimed, with what there is to tell about it.
struct ClaimedWork {
    handoff: Handoff,
    request: WrittenDocument,
    /// What an agent is told, or why there is no prompt; `None` if neither a run nor the options want one.
    brief: Option<Result<Briefing, String>>,
    missing_artifacts: Vec<String>,
}

impl ClaimedWork {
    async fn of(
        claimed: ClaimedHandoff,
        options: &Options,
        workspace: Option<&WorkspaceFolder>,
        session: &Session,
        output: &Output,
    ) -> Result<ClaimedWork, CommandError> {
        let (store, briefer) = (session.store.as_ref(), briefer::of(session));
        let brief = match options.prompt || options.json || claimed.handoff.terms.step.is_some() {
            true => Some(briefer.brief(&claimed, HandInWay::Command).await?),
            false => None,
        };
        if let Some(Ok(briefing)) = &brief {
            let scene = briefing.brief.scene.as_ref();
            if let Some(known) = briefing::remember(&claimed.handoff, scene, session.state.as_ref()).await {
                // A claim that is lost by now needs none.
                let _ = store.apply(Order::new(claimed.handoff.id.clone(), known), session.now()).await;
            }
        }
        let ClaimedHandoff { handoff, request } = claimed;
        let missing = |folder: &WorkspaceFolder| briefing::missing_artifacts(&request, folder);
        let missing_artifacts = match (workspace, &handoff.terms.step) {
            (Some(folder), _) => missing(folder),
            (None, Some(_)) => {
                let definition = briefer.definition(&handoff.run).await?;
                let elsewhere = || match &brief {
                    Some(Ok(briefing)) => briefing.missing_elsewhere.clone(),
                    Some(Err(_)) | None => Vec::new(),
                };
                briefing::workspace(definition.as_ref()).as_ref().map_or_else(elsewhere, missing)
            }
            (None, None) => Vec::new(),
        };
        let request = in_dialect(&request, options.dialect, output);
        Ok(ClaimedWork { handoff, request, brief, missing_artifacts })
    }

    fn prompt(&self) -> Option<&str> {
        self.brief.as_ref()?.as_ref().ok().map(|briefing| briefing.brief.job.prompt.as_str())
    }

    fn traceparent(&self) -> Option<&str> {
        self.brief.as_ref()?.as_ref().ok()?.brief.job.traceparent.as_deref()
    }

    fn as_json(&self) -> Value {
        let more = [
            ("prompt", self.prompt().into()),
            ("missing_artifacts", self.missing_artifacts.clone().into()),
            ("traceparent", self.traceparent().into()),
        ];
        baton_views::handoff::claim(&self.handoff, &self.request, more)
    }
}

async fn tell(
    options: &Options,
    works: &[ClaimedWork],
    session: &Session,
    output: &Output,
) -> Result<Exit, CommandError> {
    for work in works {
        if !work.missing_artifacts.is_empty() {
            output.note(&printable(&briefing::missing(&work.handoff, &work.missing_artifacts)));
        }
        match &work.brief {
            Some(Err(why)) if options.prompt && !options.json => {
                return Err(give_up(session, &work.handoff, why).await?);
            }
            Some(Err(why)) => output.note(&printable(&format!("{}: no prompt: {why}", work.handoff.id))),
            Some(Ok(briefing)) if options.prompt || options.json => {
                briefing.brief.shortened.iter().for_each(|what| output.note(&printable(what)));
            }
            Some(Ok(_)) | None => {}
        }
    }
    match (options.json, options.count, works) {
        (true, Some(_), _) => {
            let claims: Vec<Value> = works.iter().map(ClaimedWork::as_json).collect();
            output.json(&json!({ "version": 1, "claims": claims }))?;
        }
        (true, None, _) => {
            let mut claim = json!({ "version": 1 });
            if let (Some(claim), Some(Value::Object(members))) =
                (claim.as_object_mut(), works.first().map(ClaimedWork::as_json))
            {
                claim.extend(members);
            }
            output.json(&claim)?;
        }
        (false, _, _) => works.iter().try_for_each(|work| tell_plainly(options, work, session, output))?,
    }
    Ok(Exit::Done)
}

fn tell_plainly(options: &Options, work: &ClaimedWork, session: &Session, output: &Output) -> Result<(), CommandError> {
    let ClaimedWork { handoff, request, .. } = work;
    let prompt = if options.prompt { work.prompt() } else { None };
    output.document(prompt.unwrap_or(&request.text))?;
    let (id, fence) = (&handoff.id, handoff.fence);
    output.note(&format!("{id} {}", baton_views::handoff::state(handoff, session.now())));
    handoff.notes.iter().for_each(|note| output.note(render::handoff::note_line(note, None).trim_end()));
    if handoff.terms.step.is_some() && !options.prompt {
        output.note("this is the bare request; `baton claim --prompt` also shows skills, output directory and checks");
    }
    if handoff.terms.acknowledge {
        let by = handoff.acknowledge_by().map(|by| format!(" by {by}, or it goes back")).unwrap_or_default();
        output.note(&format!("acknowledge it{by}: baton ack {} --fence {fence}", id.in_shell()));
    }
    output.note(&format!("then: baton report {} --fence {fence} FILE", id.in_shell()));
    Ok(())
}

/// Gives up a handoff whose prompt cannot be made, as the driver does: no attempt would change that.
async fn give_up(session: &Session, handoff: &Handoff, why: &str) -> Result<CommandError, CommandError> {
    let fail = Command::Fail(briefing::no_prompt(handoff.fence, why));
    let given_up = session.engine.apply(handoff, fail, Vec::new(), &guard::anybody()).await?.handoff;
    let state = baton_views::handoff::state(&given_up, session.now());
    Ok(CommandError::no(format!("{}: its prompt cannot be made: {why}; it is {state}", handoff.id)))
}

/// Writes the request in another dialect. It is claimed by now, so what cannot be converted is handed over as it is.
fn in_dialect(request: &WrittenDocument, dialect: Option<Dialect>, output: &Output) -> WrittenDocument {
    let own = Dialect::parse(&request.dialect);
    let (Some(to), Some(from)) = (dialect.filter(|dialect| Some(*dialect) != own), own) else { return request.clone() };
    let reading = baton_protocol::read(request.text.as_bytes(), Hints { format: None, dialect: Some(from) });
    let converted = reading.document.as_ref().and_then(|document| convert::convert(document, from, to).ok());
    let Some(conversion) = converted else {
        output.note(&format!("the request cannot be written in {to}; this is {from}"));
        return request.clone();
    };
    for pointer in &conversion.losses {
        output.note(&format!("lost: {} has no place in {to}", baton_protocol::printable(pointer)));
    }
    WrittenDocument::new(to, convert::render(&conversion.value, Form::of(to)))
}
