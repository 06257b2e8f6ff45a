//! `baton dir create`: asks an agent for something.

use std::path::PathBuf;
use std::time::Duration;

use baton_agents::directory::{DirectoryError, NewFolderHandoff, Priority};
use baton_engine::HandoffId;
use baton_engine::retry::{Policy, RETRIES_MAX};
use baton_protocol::wire::Label;
use clap::Args;

use super::{Folders, read_json, read_object, refusal, show, warn};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use baton_engine::engine::parse_duration;

/// Ask an agent for something
///
/// Writes a request into `pending` and prints its id. Input that breaks its schema is refused, and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir create work --from @lead --to @writer --input task.json --priority high")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    from: String,
    /// Who is asked
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// The phase of the sender: a number or a name
    #[arg(long, value_name = "PHASE", value_parser = parse_phase)]
    source_phase: Option<Label>,
    /// The phase of the receiver: a number or a name
    #[arg(long, value_name = "PHASE", value_parser = parse_phase)]
    target_phase: Option<Label>,
    /// What to work on: a JSON file, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// The id, which is also the name of the file [default: a new one]
    #[arg(long)]
    id: Option<String>,
    /// The schema of the input, a file in `schemas` [default: AGENT.input.schema.json if there is one]
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,
    /// The schema of the artifact, a file in `schemas` [default: AGENT.output.schema.json if there is one]
    #[arg(long, value_name = "NAME")]
    output_schema: Option<String>,
    /// What kind of artifact is wanted
    #[arg(long, value_name = "TYPE")]
    output_type: Option<String>,
    /// Where the artifact belongs, relative to DIR; `{timestamp}` is replaced by the time, and at the end also by the
    /// file extension
    #[arg(long, value_name = "PATH")]
    destination: Option<String>,
    /// What is known about the project: a JSON object, or a file with one
    #[arg(long, value_name = "FILE|JSON")]
    context: Option<String>,
    /// How long an attempt may take: 90s, 5min, 1h30m, or plain seconds
    #[arg(long, value_name = "DURATION", default_value = "300", value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Duration,
    /// How many attempts may follow the first
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=i64::from(RETRIES_MAX)))]
    max_retries: u32,
    /// How long to wait before the second attempt
    #[arg(long, value_name = "DURATION", default_value = "30", value_parser = parse_duration, allow_hyphen_values = true)]
    retry_delay: Duration,
    /// How many times longer every further wait is
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = parse_backoff)]
    backoff: f64,
    /// How urgent it is: low, normal, high or critical
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = parse_priority)]
    priority: Priority,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let directory = options.folders.open()?;
    let id = options.id.as_ref().map(|id| {
        HandoffId::parse(id.as_str()).map_err(|fault| refusal(DirectoryError::UnsafeId { id: id.clone(), fault }))
    });
    for (name, agent) in [("--from", &options.from), ("--to", &options.to)] {
        if agent.trim_start_matches('@').trim().is_empty() {
            return Err(CommandError::usage(format!("{name} names no agent")));
        }
    }
    if options.timeout.is_zero() {
        return Err(CommandError::usage("--timeout must be more than 0"));
    }
    let new = NewFolderHandoff {
        id: id.transpose()?,
        from_phase: options.source_phase.clone(),
        to_phase: options.target_phase.clone(),
        input_schema: options.schema.clone(),
        context: read_object(options.context.as_deref())?,
        output_type: options.output_type.clone(),
        output_schema: options.output_schema.clone(),
        destination: options.destination.clone(),
        timeout: options.timeout,
        priority: options.priority,
        policy: Policy {
            max_retries: options.max_retries,
            delay_ms: u64::try_from(options.retry_delay.as_millis()).unwrap_or(u64::MAX),
            multiplier: options.backoff,
            ..Policy::default()
        },
        ..NewFolderHandoff::new(&options.from, &options.to, read_json(&options.input)?)
    };
    let noted = directory.create(&new, clock::machine_time()).map_err(refusal)?;
    warn(output, &noted.warnings);
    show(output, &options.folders, &noted.result, noted.result.id().unwrap_or_default())?;
    Ok(Exit::Done)
}

/// Reads a phase: what looks like a number is one.
fn parse_phase(text: &str) -> Result<Label, String> {
    match text.trim() {
        "" => Err("write a number or a name".to_owned()),
        text => Ok(text.parse().map_or_else(|_| Label::Name(text.to_owned()), Label::Number)),
    }
}

fn parse_backoff(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor >= 1.0);
    factor.ok_or_else(|| "write a factor of 1 or more, such as 2 or 1.5".to_owned())
}

fn parse_priority(word: &str) -> Result<Priority, String> {
    Priority::parse(word).ok_or_else(|| baton_protocol::wire::suggest(word, Priority::WORDS))
}
