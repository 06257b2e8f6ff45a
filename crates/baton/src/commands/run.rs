//! `baton run`: takes a team of agents from the first phase to the last.

mod simulation;

use std::path::PathBuf;

use baton_engine::definition::Definition;
use baton_engine::{Handoff, HandoffId, RunId};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::running::{self, INPUT_OPTION, Started};
use crate::showing::{Show, ShowOptions};
use crate::store::{Access, Session, StoreOptions};

/// Run a workflow: agents, checks, gates, from the first phase to the last
///
/// Every step is recorded before it takes effect: the run can be killed at any moment, and `baton resume` continues it.
/// On a terminal you are asked when a person must decide; otherwise the run exits with 3 and says what waits.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton run --input feature=login\n  \
baton run examples/feature --workspace /tmp/demo --answers examples/feature/answers.yaml\n  \
baton run workflow.yaml --no-input --json\n  baton run --simulate")]
pub(crate) struct Options {
    /// The workflow file, or a folder with a workflow.yaml; with a server as the store: the name of a workflow [default: this folder]
    #[arg(default_value = ".", hide_default_value = true)]
    workflow: PathBuf,
    /// An input of the workflow; the value is text, or JSON if it reads as a list, an object, a number, true/false, null or text in quotation marks
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = parse_input)]
    inputs: Vec<(String, Value)>,
    /// Where the agents work; created if it does not exist. Of a server, a folder inside its workspace
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// The identifier of the run [default: the name of the workflow and a few letters]
    #[arg(long, value_name = "ID", value_parser = RunId::chosen)]
    id: Option<RunId>,
    /// Dry run: play every branch with simulated agents, and show which phases, gates and routes are reached
    #[arg(long, conflicts_with_all = ["id", "no_input", "wait", "answers"])]
    simulate: bool,
    #[command(flatten)]
    show: ShowOptions,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let inputs: Map<String, Value> = options.inputs.iter().cloned().collect();
    if !options.simulate && options.store.is_server()? {
        return run_on_server(options, inputs, output);
    }
    let config = options.store.configuration()?;
    let (workspace, simulated) = (&*options.workspace, options.simulate);
    let definition = running::definition(
        Started { path: &options.workflow, inputs, workspace, input_hint: INPUT_OPTION, simulated },
        &config,
    )?;
    if options.simulate {
        return simulation::show(&definition, options.show.json, output);
    }
    running::missing_programs(&definition, &config).iter().for_each(|told| output.note(&format!("warning: {told}")));
    let session = Session::open(&options.store, Access::Change, output)?;
    refuse_existing(options, &session)?;
    let id = options.id.clone().unwrap_or_else(|| running::new_run_id(definition.name()));
    let show = Show { session: &session, store: &options.store, options: &options.show, output, id: &id };
    show.begin(&definition)
}

/// Lets a server run a workflow that it knows by its name.
fn run_on_server(options: &Options, inputs: Map<String, Value>, output: &Output) -> Result<Exit, CommandError> {
    let name = options.workflow.to_str().filter(|name| *name != ".");
    let Some(name) = name else {
        return Err(CommandError::usage("a server runs workflows that it knows by their names, and none is given")
            .hint("name one: baton run NAME; `baton serve --workflow` says which there are"));
    };
    let session = Session::open(&options.store, Access::Change, output)?;
    let Some(server) = &session.remote else {
        return Err(CommandError::internal("the store is not a server"));
    };
    refuse_existing(options, &session)?;
    // Whoever names the run finds it again if the answer is lost.
    let id = match &options.id {
        Some(id) => id.clone(),
        None => running::new_run_id(name),
    };
    let workspace = options.workspace.to_str().filter(|folder| *folder != ".");
    let start = json!({ "workflow": name, "inputs": inputs, "workspace": workspace, "id": id });
    let show = Show { session: &session, store: &options.store, options: &options.show, output, id: &id };
    show.begin_served(server, &start)
}

/// Refuses the id of a run that is there: nothing would be run, and it would look as if it were.
fn refuse_existing(options: &Options, session: &Session) -> Result<(), CommandError> {
    let Some(id) = &options.id else { return Ok(()) };
    let root = HandoffId::parse(id.as_str()).map_err(CommandError::usage)?;
    let Some(run) = session.run(session.store.find(&root))?.filter(Handoff::is_run) else { return Ok(()) };
    let state = run.state.name();
    Err(match state.is_finished() {
        true => CommandError::no(format!("run `{id}` exists already and is {state}"))
            .hint("choose another --id, or leave it out"),
        false => CommandError::no(format!("run `{id}` exists already and is not finished"))
            .hint(format!("baton resume {id}{} continues it", options.store.repeated())),
    })
}

pub(super) fn parse_input(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let value = Definition::typed_input(value).map_err(|error| format!("the value is not JSON: {error}"))?;
    Ok((name.trim().to_owned(), value))
}
