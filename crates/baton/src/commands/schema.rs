//! `baton schema`: prints the JSON Schemas of the documents.

use baton_protocol::schema;
use baton_protocol::wire::closest;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Print the JSON Schema of a document
///
/// Without a name, lists them all. Names are DIALECT.DOCUMENT. With --for-model it is written for programs that pass a
/// schema to a model, such as `claude --json-schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton schema task.report > task-report.schema.json\n  \
claude -p --json-schema \"$(baton schema native.report --for-model)\" < prompt.md")]
pub(crate) struct Options {
    /// Name of the schema, such as `task.report`
    name: Option<String>,
    /// Omit what programs that pass a schema to a model refuse: `$schema`, `$id`, lists of types
    #[arg(long, requires = "name")]
    for_model: bool,
    /// List the names as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.name {
        Some(name) => {
            let found = schema::find(name).ok_or_else(|| unknown(name))?;
            output.json(&if options.for_model { schema::for_model(found) } else { found })?;
        }
        None if options.json => {
            let schemas: Vec<_> = schema::names().into_iter().map(|name| json!({ "name": name })).collect();
            output.json(&json!({ "version": 1, "schemas": schemas }))?;
        }
        None => output.data(&(schema::names().join("\n") + "\n"))?,
    }
    Ok(Exit::Done)
}

fn unknown(name: &str) -> CommandError {
    let error = CommandError::usage(format!("unknown schema `{name}`"));
    match closest(name, &schema::names()) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint("`baton schema` lists them all"),
    }
}
