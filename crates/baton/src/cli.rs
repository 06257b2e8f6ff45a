//! The command line: names, options and help. The names are a promise.

mod overview;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    ack, answer, approve, ask, audit, cancel, check, claim, completions, convert, dir, doctor, explain, fail, graph,
    heartbeat, hook, inbox, init, list, log, man_pages, prune, queue, reject, report, requeue, resume, retry, route,
    run, runs, schema, send, serve, show, store, token, wait, worker, workflow,
};
use crate::output::Color;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The handoff runtime for teams of agents
///
/// Runs workflows: gives each agent its prompt, reads and verifies its report, decides what comes next, asks people where
/// people must decide, and continues after a crash where it stopped.
///
/// Reads, checks and converts what agents hand over, in six dialects: metadata-block, phase-block, package, task, mailbox and
/// Baton's own, native. Delivers it through a durable queue or through plain folders.
///
/// `baton run FOLDER` runs a workflow, `baton inbox` shows what waits for you, `baton resume RUN` continues a run.
#[derive(Debug, Parser)]
#[command(name = "baton", version, styles = STYLES, max_term_width = 100, after_help = EXITS)]
pub(crate) struct Cli {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true, display_order = 1000)]
    pub color: Color,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Returns the command line as people read it, on lines of this width: its commands stand under headings.
    pub(crate) fn for_people(columns: usize) -> clap::Command {
        overview::with_overview(Cli::command(), columns)
    }
}

const EXITS: &str = "Exit codes: 0 done · 1 the answer is no · 2 wrong usage, configuration or unreadable path · \
3 waiting for a person · 70 internal error, please report it · 75 temporarily unavailable, try again · 130 interrupted with Ctrl-C";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Options),
    Run(run::Options),
    Resume(resume::Options),
    Retry(retry::Options),
    #[command(alias = "status")]
    Runs(runs::Options),
    Log(log::Options),
    #[command(aliases = ["validate", "lint"])]
    Check(check::Options),
    Explain(explain::Options),
    Convert(convert::Options),
    Schema(schema::Options),
    Workflow(workflow::Options),
    Graph(graph::Options),
    Route(route::Options),
    Send(send::Options),
    Claim(claim::Options),
    Ack(ack::Options),
    Heartbeat(heartbeat::Options),
    Report(report::Options),
    Fail(fail::Options),
    Wait(wait::Options),
    Cancel(cancel::Options),
    Requeue(requeue::Options),
    List(list::Options),
    Show(show::Options),
    Queue(queue::Options),
    Inbox(inbox::Options),
    Approve(approve::Options),
    Reject(reject::Options),
    Answer(answer::Options),
    Ask(ask::Options),
    Worker(worker::Options),
    Serve(serve::Options),
    Token(token::Options),
    Audit(audit::Options),
    Prune(prune::Options),
    Store(store::Options),
    Doctor(doctor::Options),
    Dir(dir::Options),
    Hook(hook::Options),
    Completions(completions::Options),
    ManPages(man_pages::Options),
    /// Print the manual of the command line as Markdown
    #[command(hide = true)]
    HelpMarkdown,
    /// Print the description of the HTTP API
    #[command(hide = true)]
    OpenapiJson,
    /// Print the lifecycle of a handoff as Markdown
    #[command(hide = true)]
    LifecycleMarkdown,
}
