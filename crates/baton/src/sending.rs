//! The terms of a handoff as options.

use std::time::Duration;

use baton_engine::Priority;
use baton_engine::engine::{
    Problem, TermsFault, WantedTerms, WantedTime, agent_name, parse_duration, parse_moment, parse_priority, plain_key,
    plain_name,
};
use clap::Args;

use crate::command_error::CommandError;

/// The terms that options set; each goes before what the document says.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Terms")]
pub(crate) struct TermOptions {
    /// The agent that receives it
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    to: Option<String>,
    /// Who hands over [default: the user]
    #[arg(long, value_name = "AGENT", value_parser = plain_name)]
    from: Option<String>,
    /// How urgent it is: low, normal, high or critical
    #[arg(long, value_name = "PRIORITY", value_parser = parse_priority)]
    priority: Option<Priority>,
    /// An idempotency key: sending it again returns the same handoff
    #[arg(long, value_name = "KEY", value_parser = plain_key)]
    pub key: Option<String>,
    /// Earliest time to claim it, or a duration from now
    #[arg(long, value_name = "TIME|DURATION", value_parser = parse_moment)]
    not_before: Option<WantedTime>,
    /// Give up after this time, or after this duration from now
    #[arg(long, value_name = "TIME|DURATION", value_parser = parse_moment)]
    deadline: Option<WantedTime>,
    /// How long one attempt may take, even with heartbeats
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    /// How long it may wait to be claimed
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pick_up_within: Option<Duration>,
    /// How soon after its claim it must be acknowledged; without that its report does not count
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    acknowledge_within: Option<Duration>,
    /// How many attempts may follow the first
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
    /// How long to wait before the first retry
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    retry_delay: Option<Duration>,
    /// How the wait grows from one retry to the next
    #[arg(long, value_name = "FACTOR")]
    backoff: Option<f64>,
    /// Random share of the wait, from 0 to 1
    #[arg(long, value_name = "PART")]
    jitter: Option<f64>,
}

impl TermOptions {
    /// Returns the terms.
    pub(crate) fn wanted(&self) -> WantedTerms {
        WantedTerms {
            to: self.to.clone(),
            from: self.from.clone(),
            priority: self.priority,
            key: self.key.clone(),
            not_before: self.not_before,
            deadline: self.deadline,
            timeout: self.timeout,
            pick_up_within: self.pick_up_within,
            acknowledge_within: self.acknowledge_within,
            max_retries: self.max_retries,
            retry_delay: self.retry_delay,
            backoff: self.backoff,
            jitter: self.jitter,
        }
    }

    /// Returns whether any of them is set.
    pub(crate) fn is_given(&self) -> bool {
        *self != TermOptions::default()
    }
}

/// The error when a request cannot be sent. A fault of the document itself is reported with its name.
pub(crate) fn refused(problem: Problem, name: &str) -> CommandError {
    let is_about_the_document =
        matches!(problem, Problem::WrongKind { .. } | Problem::Terms(TermsFault::NoReceiver | TermsFault::Document(_)));
    let error = CommandError::from(problem);
    if is_about_the_document { error.about(name) } else { error }
}
