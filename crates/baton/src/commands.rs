//! One file per command.

pub(crate) mod ack;
pub(crate) mod answer;
pub(crate) mod approve;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod claim;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod dir;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fail;
pub(crate) mod graph;
pub(crate) mod heartbeat;
mod help_markdown;
pub(crate) mod hook;
pub(crate) mod inbox;
pub(crate) mod init;
mod lifecycle_markdown;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man_pages;
pub(crate) mod prune;
pub(crate) mod queue;
pub(crate) mod reject;
pub(crate) mod report;
pub(crate) mod requeue;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod store;
pub(crate) mod token;
pub(crate) mod wait;
pub(crate) mod worker;
pub(crate) mod workflow;

use crate::cli::Command;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Runs a command.
pub(crate) fn run(command: Command, output: &Output) -> Result<Exit, CommandError> {
    match command {
        Command::Run(options) => run::run(&options, output),
        Command::Resume(options) => resume::run(&options, output),
        Command::Retry(options) => retry::run(&options, output),
        Command::Runs(options) => runs::run(&options, output),
        Command::Log(options) => log::run(&options, output),
        Command::Route(options) => route::run(&options, output),
        Command::Check(options) => check::run(&options, output),
        Command::Explain(options) => explain::run(&options, output),
        Command::Convert(options) => convert::run(&options, output),
        Command::Schema(options) => schema::run(&options, output),
        Command::Workflow(options) => workflow::run(&options, output),
        Command::Graph(options) => graph::run(&options, output),
        Command::Worker(options) => worker::run(&options, output),
        Command::Serve(options) => serve::run(&options, output),
        Command::Token(options) => token::run(&options, output),
        Command::Audit(options) => audit::run(&options, output),
        Command::Prune(options) => prune::run(&options, output),
        Command::Store(options) => store::run(&options, output),
        Command::Doctor(options) => doctor::run(&options, output),
        Command::Dir(options) => dir::run(&options, output),
        Command::Init(options) => init::run(&options, output),
        Command::Hook(options) => hook::run(&options, output),
        Command::Completions(options) => completions::run(&options, output),
        Command::Send(options) => send::run(&options, output),
        Command::Claim(options) => claim::run(&options, output),
        Command::Ack(options) => ack::run(&options, output),
        Command::Heartbeat(options) => heartbeat::run(&options, output),
        Command::Report(options) => report::run(&options, output),
        Command::Fail(options) => fail::run(&options, output),
        Command::Wait(options) => wait::run(&options, output),
        Command::Cancel(options) => cancel::run(&options, output),
        Command::Requeue(options) => requeue::run(&options, output),
        Command::List(options) => list::run(&options, output),
        Command::Show(options) => show::run(&options, output),
        Command::Queue(options) => queue::run(&options, output),
        Command::Inbox(options) => inbox::run(&options, output),
        Command::Approve(options) => approve::run(&options, output),
        Command::Reject(options) => reject::run(&options, output),
        Command::Answer(options) => answer::run(&options, output),
        Command::Ask(options) => ask::run(&options, output),
        Command::ManPages(options) => man_pages::run(&options, output),
        Command::HelpMarkdown => help_markdown::run(output),
        Command::OpenapiJson => output.data(&baton_server::openapi_json()).map(|()| Exit::Done),
        Command::LifecycleMarkdown => lifecycle_markdown::run(output),
    }
}
