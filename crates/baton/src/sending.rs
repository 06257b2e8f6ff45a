//! Makes handoffs of request documents: the terms come from the options, else from the document, else as usual.

use std::time::Duration;

use baton_engine::asked::{self, Asked};
use baton_engine::lifecycle::Accept;
use baton_engine::{Handoff, HandoffId, Priority, RunId, Terms};
use baton_protocol::model::Document;
use clap::Args;
use jiff::Timestamp;

use crate::command_error::CommandError;
use crate::intake::Taken;
use crate::moment::{Moment, parse_duration, parse_moment};

/// The terms that options set; each goes before what the document says.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Terms")]
pub(crate) struct TermOptions {
    /// Which agent is to receive it
    #[arg(long, value_name = "AGENT", value_parser = parse_agent)]
    to: Option<String>,
    /// Who hands over [default: the user]
    #[arg(long, value_name = "AGENT", value_parser = parse_name)]
    from: Option<String>,
    /// How urgent it is: low, normal, high or critical
    #[arg(long, value_name = "PRIORITY", value_parser = parse_priority)]
    priority: Option<Priority>,
    /// Sending the same key again gives the same handoff
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    pub key: Option<String>,
    /// Not to be claimed before this time, or so long from now
    #[arg(long, value_name = "TIME|DURATION", value_parser = parse_moment)]
    not_before: Option<Moment>,
    /// Of no use after this time, or so long from now
    #[arg(long, value_name = "TIME|DURATION", value_parser = parse_moment)]
    deadline: Option<Moment>,
    /// How long one attempt may take, heartbeats or not
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// How long it may wait until somebody claims it
    #[arg(long, value_name = "DURATION", value_parser = parse_span)]
    pick_up_within: Option<Duration>,
    /// How soon after its claim it must be acknowledged; its report counts only after that
    #[arg(long, value_name = "DURATION", value_parser = parse_span)]
    acknowledge_within: Option<Duration>,
    /// How many attempts may follow the first
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
    /// How long to wait before the first retry
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    retry_delay: Option<Duration>,
    /// How the wait grows from one retry to the next
    #[arg(long, value_name = "FACTOR")]
    backoff: Option<f64>,
    /// Which part of the wait is random, from 0 to 1
    #[arg(long, value_name = "PART")]
    jitter: Option<f64>,
}

/// Where a new handoff belongs.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// Its id, if it is not the document's.
    pub id: Option<HandoffId>,
    /// Its run, if it is not one of its own.
    pub run: Option<RunId>,
    /// The blocked handoff that goes on when it is completed.
    pub returns_to: Option<HandoffId>,
    /// Who hands over, if neither options nor document say so.
    pub from: String,
}

/// Makes the handoff that a request asks for.
pub(crate) fn accept(
    taken: &Taken,
    options: &TermOptions,
    origin: Origin,
    new_id: impl FnOnce() -> HandoffId,
    now: Timestamp,
) -> Result<Accept, CommandError> {
    let Document::Request(request) = &taken.document else {
        return Err(CommandError::internal(format!("{}: this is no request", taken.name)));
    };
    let refused = |why: String| CommandError::no(format!("{}: {why}", taken.name));
    let asked = asked::of_request(request, taken.dialect).map_err(refused)?;
    let to = options.to.clone().or_else(|| asked.to.clone()).ok_or_else(|| {
        CommandError::usage(format!("{}: the request does not say to whom", taken.name)).hint("give --to AGENT")
    })?;
    let to = parse_agent(&to).map_err(refused)?;
    let from = options.from.clone().or_else(|| asked.from.clone()).unwrap_or(origin.from);
    let id = origin.id.or_else(|| asked.id.clone()).unwrap_or_else(new_id);
    let mut terms = Terms { returns_to: origin.returns_to, ..options.terms(from, to, &asked, now) };
    terms.key.clone_from(&options.key);
    terms.retry.check().map_err(CommandError::usage)?;
    if options.timeout.is_some_and(|timeout| milliseconds(timeout) == 0) {
        return Err(CommandError::usage("an attempt that may take no time cannot succeed")
            .hint("give --timeout a duration such as 5m, or leave it out"));
    }
    if let Some(end) = terms.deadline.filter(|end| *end <= now) {
        return Err(CommandError::usage(format!("the deadline has passed: {end}"))
            .hint("give --deadline a time that is still to come, or a duration from now such as 2h"));
    }
    if let (Some(start), Some(end)) = (terms.not_before, terms.deadline)
        && end <= start
    {
        return Err(CommandError::usage("the deadline is not after --not-before"));
    }
    let run = origin.run.unwrap_or_else(|| RunId::alone(&id));
    Ok(Accept { id, run, terms, request: taken.written.clone(), notes: Vec::new() })
}

impl TermOptions {
    fn terms(&self, from: String, to: String, asked: &Asked, now: Timestamp) -> Terms {
        let mut retry = asked.retry;
        retry.max_retries = self.max_retries.unwrap_or(retry.max_retries);
        retry.delay_ms = self.retry_delay.map_or(retry.delay_ms, milliseconds);
        retry.multiplier = self.backoff.unwrap_or(retry.multiplier);
        retry.jitter = self.jitter.unwrap_or(retry.jitter);
        Terms {
            priority: self.priority.or(asked.priority).unwrap_or(Priority::Normal),
            not_before: self.not_before.map(|moment| moment.after(now)),
            deadline: self.deadline.map(|moment| moment.after(now)),
            timeout_ms: self.timeout.map(milliseconds).or(asked.timeout_ms),
            acknowledge: self.acknowledge_within.is_some(),
            acknowledge_within_ms: self.acknowledge_within.map(milliseconds),
            pick_up_within_ms: self.pick_up_within.map(milliseconds),
            retry,
            ..Terms::between(from, to)
        }
    }

    /// Takes the times that durations meant when the same request was sent for the first time.
    pub(crate) fn count_from_the_first_time(&self, terms: &mut Terms, known: &Handoff) {
        let at = known.accepted_at;
        terms.not_before = meant(self.not_before, known.terms.not_before, at).or(terms.not_before);
        terms.deadline = meant(self.deadline, known.terms.deadline, at).or(terms.deadline);
    }

    /// Says whether any of them is set.
    pub(crate) fn is_given(&self) -> bool {
        *self != TermOptions::default()
    }

    /// Says whether a time counts from now, so that the same command means another time later.
    pub(crate) fn is_relative(&self) -> bool {
        [self.not_before, self.deadline].into_iter().flatten().any(|moment| matches!(moment, Moment::In(_)))
    }
}

/// How long after a command was given its request may have been accepted.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(60);

/// Returns the time that a duration meant when the handoff was accepted, if it is the one that was agreed then.
fn meant(moment: Option<Moment>, known: Option<Timestamp>, accepted_at: Timestamp) -> Option<Timestamp> {
    let (Some(Moment::In(_)), Some(known)) = (moment, known) else { return None };
    let late = moment?.after(accepted_at).duration_since(known);
    Duration::try_from(late).is_ok_and(|late| late < ACCEPTED_WITHIN).then_some(known)
}

/// Reads a duration in which somebody must do something, for clap.
fn parse_span(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        none if milliseconds(none) == 0 => Err("nobody can do that in no time: give a duration such as 2m".to_owned()),
        span => Ok(span),
    }
}

/// Returns a duration in milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads the name of an agent as its queue has it, for clap: `@agent` is a way to address `agent`, not another one.
pub(crate) fn parse_agent(name: &str) -> Result<String, String> {
    parse_name(name.strip_prefix('@').unwrap_or(name))
}

/// Reads the name of somebody, for clap.
pub(crate) fn parse_name(name: &str) -> Result<String, String> {
    plain(name, "the name of an agent", 128)
}

fn parse_key(key: &str) -> Result<String, String> {
    plain(key, "a key", 256)
}

fn plain(text: &str, what: &str, bytes_max: usize) -> Result<String, String> {
    match text {
        _ if text.trim().is_empty() => Err(format!("{what} cannot be empty")),
        _ if text.trim() != text => Err(format!("{what} does not begin or end with white space")),
        _ if text.contains(char::is_control) => Err(format!("{what} has no control characters")),
        _ if text.len() > bytes_max => Err(format!("{what} has at most {bytes_max} bytes")),
        _ => Ok(text.to_owned()),
    }
}

fn parse_priority(word: &str) -> Result<Priority, String> {
    let known = ["low", "normal", "high", "critical"];
    Priority::parse(word).ok_or_else(|| baton_protocol::wire::suggest(word, &known))
}
