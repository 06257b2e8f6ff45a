//! `baton route`: says what would follow from one document, without running anything.

mod told;

use std::path::PathBuf;

use baton_engine::answer::{self, Successors};
use baton_engine::definition::Definition;
use baton_engine::engine::settings_of_phase;
use baton_engine::engine::{SessionTask, ValidDocument, Yardstick};
use baton_engine::rehearsal::{self, RehearsedReport};
use baton_engine::{Clock as _, handoff::WrittenDocument};
use baton_protocol::model::{Document, Report};
use baton_protocol::wire::{same_word, suggest};
use clap::Args;
use serde_json::{Value, json};

use super::run::parse_input;
use crate::clock::SteadyClock;
use crate::command_error::{CommandError, Exit};
use crate::config;
use crate::intake::{Intake, TakenDocument};
use crate::output::Output;
use crate::running::{self, INPUT_OPTION, Started};

/// Show what a report would lead to in a workflow, without running anything
///
/// Reads and checks the document, finds the agent and its phase, and says where the work would go and why: the next
/// phase, another agent, a person, back, or the end; and the prompt that would come next. Claims in the report are
/// believed. Exits with 1 if the document is not valid.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton route review.md --workflow examples/integration\n  \
baton route report.json --workflow workflow.yaml --agent integration-developer --phase implementation --json")]
pub(crate) struct Options {
    /// The report, in any dialect; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The workflow file, or a folder with a workflow.yaml
    #[arg(long, value_name = "WORKFLOW")]
    workflow: PathBuf,
    /// Who wrote it [default: as the document says]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// In which phase [default: every phase of the agent]
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// An input of the workflow, as for `baton run`
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = parse_input)]
    inputs: Vec<(String, Value)>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// The configuration file [default: the nearest baton.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let config = config::read(options.config.as_deref())?;
    let inputs = options.inputs.iter().cloned().collect();
    let workspace = PathBuf::from(".");
    let started =
        Started { path: &options.workflow, inputs, workspace: &workspace, input_hint: INPUT_OPTION, simulated: false };
    let definition = running::definition(started, &config)?;
    if let Some(phase) = &options.phase {
        known_phase(&definition, phase)?;
    }
    let first = definition.workflow.phases.first().map(|phase| phase.id().to_owned()).unwrap_or_default();
    let settings = settings_of_phase(&definition, options.phase.as_ref().unwrap_or(&first), &config.settings);
    // What a run would accept is accepted here.
    let yardstick = Yardstick::of_session(SessionTask::default(), &settings);
    let intake = Intake { by_name: false, ..Intake::by_name(&yardstick, None) };
    let Some(mut taken) = intake.take_any(std::slice::from_ref(&options.file), options.json, output)? else {
        return Ok(Exit::No);
    };
    let taken = taken.pop().ok_or_else(|| CommandError::internal("a document was taken and is not there"))?;
    let TakenDocument { name, valid: taken } = taken;
    let report = report_of(&name, &taken)?;
    let (agent, phases) = place(options, &definition, &report)?;
    let mut rehearsed = Vec::new();
    for phase in phases {
        rehearsed.push((phase.clone(), rehearse(&definition, &phase, &taken.written)?));
    }
    if options.json {
        let phases: Vec<Value> = rehearsed.iter().map(|(phase, rehearsed)| told::json(phase, rehearsed)).collect();
        output.json(&json!({
            "version": 1,
            "path": name,
            "dialect": taken.dialect.as_str(),
            "valid": true,
            "agent": agent,
            "advice": report.next_agent(),
            "phases": phases,
        }))?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{}: {} report of {agent}, valid\n", name, taken.dialect.as_str());
    for (phase, rehearsed) in &rehearsed {
        text.push_str(&told::lines(phase, rehearsed, output.paint()));
    }
    output.data(&text)?;
    Ok(Exit::Done)
}

fn rehearse(definition: &Definition, phase: &str, written: &WrittenDocument) -> Result<RehearsedReport, CommandError> {
    let at = SteadyClock::start().now();
    rehearsal::rehearse(definition, phase, written.clone(), at).map_err(CommandError::no)
}

fn report_of(name: &str, taken: &ValidDocument) -> Result<Report, CommandError> {
    let what = match &taken.document {
        Document::Acknowledgment(_) => "an acknowledgment is followed by nothing",
        Document::Request(_) | Document::Report(_) => "it is not a report",
    };
    let understood = answer::understand(taken.document.clone(), Successors::Nobody);
    understood.map(|understood| understood.report).ok_or_else(|| CommandError::no(format!("{name}: {what}")))
}

fn known_phase(definition: &Definition, phase: &str) -> Result<(), CommandError> {
    if definition.locate(phase).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = definition.workflow.phases.iter().map(|phase| phase.id()).collect();
    Err(CommandError::usage(format!("the workflow {} has no phase `{phase}`", definition.name()))
        .hint(suggest(phase, &known)))
}

/// Finds out who wrote the report, and in which phases that can have been.
fn place(options: &Options, definition: &Definition, report: &Report) -> Result<(String, Vec<String>), CommandError> {
    let of_phase = options.phase.as_ref().and_then(|phase| definition.locate(phase)?.phase().agent.clone());
    let told = report.agent().map(str::to_owned);
    let known: Vec<&str> = definition.workflow.agents.names().collect();
    let named = report.phase.as_ref().map(ToString::to_string);
    let is_meant = |path: &String| named.as_ref().is_some_and(|name| is_called(path, name));
    // Who tells the phase alone tells the agent with it.
    let by_phase = known.iter().find(|agent| rehearsal::phases_of(definition, agent).iter().any(is_meant));
    let by_phase = by_phase.map(|agent| (*agent).to_owned());
    let agent = options.agent.clone().or(told.filter(|_| of_phase.is_none())).or(of_phase).or(by_phase);
    let Some(agent) = agent else {
        return Err(CommandError::usage("the document does not say who wrote it")
            .hint(format!("say it with --agent: {}", known.join(", "))));
    };
    if let Some(phase) = &options.phase {
        return Ok((agent, vec![phase.clone()]));
    }
    let phases = rehearsal::phases_of(definition, &agent);
    let meant: Vec<String> = phases.iter().filter(|path| is_meant(path)).cloned().collect();
    match (meant.is_empty(), phases.is_empty()) {
        (false, _) => Ok((agent, meant)),
        (true, false) => Ok((agent, phases)),
        (true, true) => Err(CommandError::usage(format!("no phase of {} belongs to {agent}", definition.name()))
            .hint(format!("name one with --phase, or another agent with --agent: {}", known.join(", ")))),
    }
}

fn is_called(path: &str, name: &str) -> bool {
    path.rsplit('/').next().is_some_and(|last| same_word(last, name))
}
