//! `baton audit`: verifies that the journal is intact, anchors it, and writes the archive of a project.

mod anchor;
mod export;
mod ledger;
mod verify;

pub(crate) use verify::is_sound;

use baton_engine::RunId;
use baton_engine::engine::Problem;
use clap::{Args, Subcommand};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};

/// Verify the journal, anchor it, or export it
#[derive(Debug, Args)]
#[command(mut_arg("store", |arg| arg.global(true)), mut_arg("config", |arg| arg.global(true)))]
#[command(after_help = "Examples:\n  baton audit verify --all\n  baton audit verify hoff-0192 --store team.db\n  \
baton audit export --all --to ../project")]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    store: StoreOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(verify::Options),
    Export(export::Options),
    Anchor(anchor::Options),
}

/// Which runs.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Runs; a handoff means its run
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Every run of the store
    #[arg(long)]
    all: bool,
}

/// How many runs are fetched at once.
const PAGE: u32 = 10_000;

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open_database(&options.store, Access::Look, output)?;
    session.run(async {
        match &options.command {
            Command::Verify(verify) => verify::run(verify, &session, output).await,
            Command::Export(export) => export::run(export, &session, output).await,
            Command::Anchor(anchor) => anchor::run(anchor, &session, output).await,
        }
    })
}

/// Gives runs one after the other, a page at a time.
struct Runs<'s> {
    session: &'s Session,
    page: std::vec::IntoIter<RunId>,
    last: Option<RunId>,
    more: bool,
}

impl<'s> Runs<'s> {
    /// Takes the wanted runs; unknown names are reported at once.
    async fn of(which: &Which, session: &'s Session) -> Result<Runs<'s>, CommandError> {
        let mut page = Vec::new();
        for given in &which.runs {
            page.push(resolve(session, given).await?);
        }
        Ok(Runs { session, page: page.into_iter(), last: None, more: which.all })
    }

    async fn next(&mut self) -> Result<Option<RunId>, CommandError> {
        if self.page.len() == 0 && self.more {
            let page = self.session.store.runs(self.last.as_ref(), PAGE).await?;
            self.more = page.len() == PAGE as usize;
            self.last = page.last().cloned();
            self.page = page.into_iter();
        }
        Ok(self.page.next())
    }

    /// Takes several runs at once; none when there are no more.
    async fn several(&mut self, count: usize) -> Result<Vec<RunId>, CommandError> {
        let mut several = Vec::new();
        while several.len() < count
            && let Some(run) = self.next().await?
        {
            several.push(run);
        }
        Ok(several)
    }
}

/// Finds the run that a name means: its own, or that of a handoff.
async fn resolve(session: &Session, given: &str) -> Result<RunId, CommandError> {
    if let Ok(run) = RunId::parse(given) {
        let known = !session.store.history(&run, 0, 1).await?.is_empty();
        if known || !session.store.handoffs_of(&run).await?.is_empty() {
            return Ok(run);
        }
    }
    if let Some(first) = session.engine.plain_run(given).await?.and_then(|handoffs| handoffs.into_iter().next()) {
        return Ok(first.run);
    }
    let found = session.engine.resolve(given).await;
    found.map(|handoff| handoff.run).map_err(|problem| {
        let is_unknown = matches!(problem, Problem::Unknown { .. });
        let mut error = CommandError::from(problem);
        if is_unknown {
            error.message = format!("there is no run `{given}`, and {}", error.message);
        }
        error
    })
}
