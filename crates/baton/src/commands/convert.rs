//! `baton convert`: writes a document in another dialect and names what could not be carried.

use std::path::PathBuf;

use baton_protocol::convert::{self, Form};
use baton_protocol::diagnostic::{Lines, Place};
use baton_protocol::read::Format;
use baton_protocol::read::locate::Spans;
use baton_protocol::{Dialect, Hints, Reading, Severity, Surroundings, printable};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::discover::{Input, NotRead};
use crate::output::Output;

/// Convert a document to another dialect
///
/// The document goes to standard output; what has no place in the other dialect is named on standard error, by pointer
/// and line. Unknown fields survive in the native form and come back from it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton convert --to native review.md > review.json\n  \
baton convert --to package --json task.json")]
pub(crate) struct Options {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The dialect to write
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    to: Dialect,
    /// The dialect to read, instead of recognising it
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// How to write the document [default: the usual form of the dialect]
    #[arg(long, value_enum, value_name = "FORM")]
    form: Option<FormName>,
    /// Write the document and the losses as one JSON document
    #[arg(long, conflicts_with = "form")]
    json: bool,
    /// Fail if anything is lost
    #[arg(long)]
    strict: bool,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormName {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// A fenced JSON block for Markdown.
    Block,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let input = if options.file.as_os_str() == "-" { Input::Stdin } else { Input::File(options.file.clone()) };
    let name = input.name();
    let bytes = input.read().map_err(|not_read| match not_read {
        NotRead::TooLarge(_) => CommandError::no(not_read.describe(&name)),
        NotRead::Problem(_) => CommandError::usage(not_read.describe(&name)),
    })?;
    let reading = baton_protocol::read(&bytes, Hints { format: Format::of_path(&name), dialect: options.dialect });
    let (Some(document), Some(from)) = (&reading.document, reading.dialect) else {
        return Err(not_read(&name, &bytes, &reading));
    };
    let conversion = convert::convert(document, from, options.to)
        .map_err(|refusal| CommandError::no(format!("{name}: {refusal}")))?;
    let losses = located(&conversion.losses, &bytes, &reading);
    if options.json {
        let losses: Vec<_> = losses
            .iter()
            .map(|(pointer, line, column)| json!({ "pointer": pointer, "line": line, "column": column }))
            .collect();
        let result = json!({
            "version": 1, "path": name, "from": from.as_str(), "to": options.to.as_str(),
            "document": conversion.value, "losses": losses,
        });
        output.json(&result)?;
    } else {
        let form = options.form.map_or(Form::of(options.to), Form::from);
        output.data(&convert::render(&conversion.value, form))?;
        for (pointer, line, column) in &losses {
            let (name, pointer) = (printable(&name), printable(pointer));
            output.note(&format!("{name}:{line}:{column}: lost: {pointer} has no place in {}", options.to));
        }
    }
    Ok(if options.strict && !losses.is_empty() { Exit::No } else { Exit::Done })
}

/// Explains why a file cannot be converted: the first error in it.
fn not_read(name: &str, bytes: &[u8], reading: &Reading<'_>) -> CommandError {
    let judgement =
        baton_protocol::judge(bytes, reading, &Surroundings::default(), &baton_protocol::Settings::default());
    match judgement.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        Some(first) => {
            let error = CommandError::no(format!("{name}:{}:{}: {}", first.line, first.column, first.message));
            match first.help {
                Some(help) => error.hint(help),
                None => error,
            }
        }
        None => CommandError::internal(format!("{name} was not read, but nothing says why")),
    }
}

/// Finds the positions of what was lost.
fn located(losses: &[String], bytes: &[u8], reading: &Reading<'_>) -> Vec<(String, usize, usize)> {
    let Some(block) = reading.block.as_ref().filter(|_| !losses.is_empty()) else { return Vec::new() };
    let (spans, lines) = (Spans::of(block), Lines::new(bytes));
    let position = |pointer: &String| {
        let span = block.span_to_file(spans.find(&Place::Name(pointer.clone())));
        let (line, column) = lines.position(span.start);
        (pointer.clone(), line, column)
    };
    // Where there are two spellings, the one that the document does not use was not lost.
    losses.iter().filter(|pointer| spans.has(pointer)).map(position).collect()
}

impl From<FormName> for Form {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Json => Form::Json,
            FormName::Yaml => Form::Yaml,
            FormName::Block => Form::Block,
        }
    }
}
