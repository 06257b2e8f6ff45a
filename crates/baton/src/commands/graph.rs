//! `baton graph`: draws a workflow.

use std::path::{Path, PathBuf};

use baton_host::atomic_file;
use baton_views::graph::of_run::{marked, without_driver};
use baton_views::graph::{Graph, dot, mermaid, svg};
use baton_views::standing::RunStanding;
use clap::{Args, ValueEnum};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::running;
use crate::store::{Access, Session, StoreOptions};
use crate::workflow_file;

/// Draw a workflow or a run as Mermaid, DOT or SVG
///
/// The picture has the phases in their order, what runs at the same time and for each item, other workflows inside it,
/// and where blocked and failed work goes. A run also shows how far each phase is, how often it was visited, how long
/// that took, the path that was taken, who helped and who was asked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton graph workflow.yaml\n  \
baton graph workflow.yaml --format svg --output workflow.svg\n  baton graph examples/integration --format dot | dot -Tpng\n  \
baton graph integration-k3f9q2 --output run.svg")]
pub(crate) struct Options {
    /// A workflow file, a folder with a workflow.yaml, `-` for standard input, or a run: its id, or a unique beginning
    /// [default: the workflow of this folder]
    #[arg(default_value = ".", hide_default_value = true, value_name = "WORKFLOW|RUN")]
    workflow: PathBuf,
    /// How to draw it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write it to a file; without --format its name decides
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOptions,
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
    /// Returns the format that a file name promises; one that promises nothing gets a flowchart.
    fn of(path: &Path) -> Result<Format, CommandError> {
        let Some(ending) = path.extension() else { return Ok(Format::Mermaid) };
        match ending.to_string_lossy().to_ascii_lowercase().as_str() {
            "svg" => Ok(Format::Svg),
            "dot" | "gv" => Ok(Format::Dot),
            "mmd" | "mermaid" | "md" | "txt" => Ok(Format::Mermaid),
            _ => Err(CommandError::usage(format!("{}: unknown picture format", path.display()))
                .hint("end its name with .svg, .dot or .mmd, or use --format")),
        }
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let promised = || options.output.as_deref().map_or(Ok(Format::Mermaid), Format::of);
    let format = options.format.map_or_else(promised, Ok)?;
    let is_file = options.workflow.exists() || options.workflow.as_os_str() == "-";
    let run = if is_file { None } else { of_run(options, output)? };
    let graph = match run {
        Some(graph) => graph,
        None => of_file(&options.workflow).map_err(|error| match is_file {
            true => error,
            false => error.hint("it is not the id of a run either: `baton runs` shows what runs there are"),
        })?,
    };
    let text = match format {
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

fn of_file(path: &Path) -> Result<Graph, CommandError> {
    let opened = workflow_file::open(path)?;
    let nested = |folder: &Path, path: &str| {
        let inner = workflow_file::open(&folder.join(path)).ok()?;
        Some((inner.workflow, inner.folder))
    };
    Ok(Graph::of(&opened.workflow, &opened.folder, &nested))
}

/// Draws the run that is meant, if there is one; what is neither a run nor a file is told as a file that is missing.
fn of_run(options: &Options, output: &Output) -> Result<Option<Graph>, CommandError> {
    let Some(id) = options.workflow.to_str().filter(|id| !id.contains(['/', '.'])) else { return Ok(None) };
    let Ok(session) = Session::open(&options.store, Access::Look, output) else { return Ok(None) };
    session.run(async {
        let Ok(root) = session.engine.resolve_run(id).await else {
            return match session.engine.plain_run(id).await {
                Ok(Some(_)) => Err(CommandError::no(format!("{id} has no workflow, so there is nothing to draw"))
                    .hint(format!("baton show {id} lists its handoffs"))),
                Ok(None) | Err(_) => Ok(None),
            };
        };
        let run = session.engine.run(&root.run).await?.run;
        let inside = run.handoffs().map(|tracked| &tracked.handoff);
        let standing = RunStanding::of(&run.root().handoff, inside, session.now(), running::is_dead);
        let graph = marked(&run, session.now());
        Ok(Some(if standing.driver().is_some() { graph } else { without_driver(graph) }))
    })
}
