//! `baton graph`: draws a workflow.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::command_error::{CommandError, Exit};
use crate::graph::{Graph, dot, mermaid, svg};
use crate::output::Output;
use crate::{atomic_file, workflow_file};

/// Draw a workflow as Mermaid, DOT or SVG
///
/// The picture has the phases in their order, what runs at the same time and for each item, other workflows inside it,
/// and where blocked and failed work goes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton graph workflow.yaml\n  \
baton graph workflow.yaml --format svg --output workflow.svg\n  baton graph examples/integration --format dot | dot -Tpng")]
pub(crate) struct Options {
    /// A workflow file, a folder with a workflow.yaml, or `-` for standard input
    #[arg(value_name = "WORKFLOW")]
    workflow: PathBuf,
    /// How to draw it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write it to a file; without --format its name decides
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A flowchart for Markdown pages (the default).
    Mermaid,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
}

impl Format {
    /// Returns the format that a file name promises.
    fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "dot" | "gv" => Some(Format::Dot),
            "mmd" | "mermaid" => Some(Format::Mermaid),
            _ => None,
        }
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let opened = workflow_file::open(&options.workflow)?;
    let nested = |folder: &Path, path: &str| {
        let inner = workflow_file::open(&folder.join(path)).ok()?;
        Some((inner.workflow, inner.folder))
    };
    let graph = Graph::of(&opened.workflow, &opened.folder, &nested);
    let promised = options.output.as_deref().and_then(Format::of);
    let text = match options.format.or(promised).unwrap_or(Format::Mermaid) {
        Format::Mermaid => mermaid::render(&graph),
        Format::Dot => dot::render(&graph),
        Format::Svg => svg::render(&graph),
    };
    match &options.output {
        None => output.data(&text)?,
        Some(path) => atomic_file::write(path, text.as_bytes())
            .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))?,
    }
    Ok(Exit::Done)
}
