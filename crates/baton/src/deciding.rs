//! A person's decision from the terminal. It fails closed: without somebody who sees and answers, nothing is decided.

use baton_engine::Handoff;
use baton_engine::handoff::Digest;
use baton_engine::lifecycle::{Command, Decide, Decision};
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::store::{Access, Session, StoreOptions, shown_document};
use crate::user;

/// The door that is recorded with a decision.
const DOOR: &str = "cli";

/// Who decides, about what.
#[derive(Debug, Args)]
pub(crate) struct DeciderOptions {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Who decides [default: the user]
    #[arg(long = "as", value_name = "NAME")]
    decider: Option<String>,
    /// Decide without being asked again; needs --shown
    #[arg(long, requires = "shown")]
    yes: bool,
    /// What was looked at: the digest of the report, as `baton show` prints it
    #[arg(long, value_name = "DIGEST")]
    shown: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// Records a decision, if somebody makes it knowingly.
pub(crate) fn decide(
    options: &DeciderOptions,
    question: &str,
    decision: Decision,
    output: &Output,
) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look)?;
    session.run(async {
        let handoff = session.resolve(&options.id).await?;
        let Some(shown) = shown(&session, &handoff, options, question, output).await? else {
            output.note(&format!("{}: nothing was decided", handoff.id));
            return Ok(Exit::No);
        };
        let by = options.decider.clone().unwrap_or_else(user::name);
        let command = Command::Decide(Decide { by, door: DOOR.to_owned(), shown, decision, note: None });
        let applied = session.apply(&handoff, command, Vec::new()).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}

/// Returns what the person was shown; `None` if they did not say yes.
async fn shown(
    session: &Session,
    handoff: &Handoff,
    options: &DeciderOptions,
    question: &str,
    output: &Output,
) -> Result<Option<Digest>, CommandError> {
    if let (true, Some(digest)) = (options.yes, &options.shown) {
        return Ok(Some(Digest(digest.trim().to_lowercase())));
    }
    if !output.can_ask() {
        let hint = format!("`baton show {}` shows it; then decide with --yes --shown DIGEST", handoff.id);
        return Err(CommandError::usage("a person decides at a terminal, and this is none").hint(hint));
    }
    let events = session.events_of(handoff).await?;
    output.note(render::handoff::lines(handoff, session.now()).trim_end());
    if let Some(document) = shown_document(&events, handoff.last_report.as_ref()) {
        output.note(&format!("\n{}\n", crate::output::printable(document.text.trim_end())));
    }
    let current = options.shown.clone().map(Digest).or_else(|| handoff.last_report.clone());
    let asks_for_decision = render::handoff::ask(handoff).is_some();
    match current {
        // The store says best why this cannot be decided.
        Some(digest) if !asks_for_decision => Ok(Some(digest)),
        Some(digest) => Ok(output.confirm(question).then_some(digest)),
        None => Err(CommandError::no(format!("{}: there is nothing to decide about", handoff.id))),
    }
}
