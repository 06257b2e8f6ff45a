//! `baton inbox`: everything that waits for a person.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::engine::{Caller, InboxPage, InboxPlace, NotAPlace};
use baton_engine::id::UnsafeId;
use baton_engine::known::Decider;
use baton_engine::people::{People, Question};
use baton_engine::{Handoff, RunId};
use clap::Args;
use serde_json::json;

use crate::bound_answers;
use crate::command_error::{CommandError, Exit};
use crate::exhibits::Exhibits;
use crate::guard::{self, Person};
use crate::output::Output;
use crate::people::InTurn;
use crate::people::answers::{self, Answers};
use crate::people::talk::Screen;
use crate::render;
use crate::store::{Access, Session, StoreOptions};

/// Show everything that is waiting for a person
///
/// The one that has waited longest comes first, each with the command that answers it. With --decide you are asked
/// about each at the terminal, one after the other; with --answers a file plays the person, and is recorded as such.
/// Both exit with 3 if something is still waiting.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton inbox\n  baton inbox --decide\n  baton inbox --run run-7 --json")]
pub(crate) struct Options {
    /// Only those of this run
    #[arg(long, value_name = "RUN", value_parser = parse_run)]
    run: Option<RunId>,
    /// Decide each of them at this terminal
    #[arg(long, conflicts_with = "json")]
    decide: bool,
    /// Decide with the answers of this file; see docs/gates.md
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    answers: Option<PathBuf>,
    /// Continue after this position, the end of the previous page
    #[arg(long, value_name = "PLACE", value_parser = parse_place)]
    after: Option<InboxPlace>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

fn parse_run(run: &str) -> Result<RunId, UnsafeId> {
    RunId::parse(run)
}

fn parse_place(text: &str) -> Result<InboxPlace, NotAPlace> {
    text.parse()
}

/// When to look again although no change was reported.
const LOOKED_AFTER: Duration = Duration::from_secs(1);

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let decides = options.decide || options.answers.is_some();
    let person = decides.then(|| guard::person(None)).transpose()?;
    let answers = options.answers.as_deref().map(Answers::open).transpose()?.map(Arc::new);
    if options.decide && !output.can_ask() {
        return Err(CommandError::usage("not a terminal: --decide needs one")
            .hint("`baton inbox` shows what waits, and how to answer it"));
    }
    let session = match answers.is_some() {
        // A server would record them as decisions of whoever has the token.
        true => Session::open_database(&options.store, Access::Look, output)?,
        false => Session::open(&options.store, Access::Look, output)?,
    };
    let person = person.map(|person| session.known(person));
    session.run(async {
        let (run, after) = (options.run.as_ref(), options.after.as_ref());
        let InboxPage { waiting, next, more } = session.engine.inbox(run, after, options.limit).await?;
        if let Some(answers) = &answers {
            forget_what_was_used(&session, answers, &waiting).await?;
        }
        let screen = options.decide.then(|| Arc::new(*output) as Arc<dyn Screen>);
        // Without somebody at the terminal only the file is asked.
        let asked = |person: &Person| match &answers {
            Some(answers) if !options.decide => Decider::unproven(answers.name()),
            _ => person.decider(),
        };
        let people = person.clone().map(|person| {
            let (asked, caller) = (asked(&person), person.caller());
            (InTurn::new(person, answers.clone(), screen, Exhibits::in_store(&session.store)), asked, caller)
        });
        let exit = match &people {
            None => show(&session, options, (&waiting, next.as_ref()), output).map(|()| Exit::Done)?,
            Some((people, asked, caller)) => decide(&session, (people, asked, caller), &waiting, output).await?,
        };
        if let Some(answers) = &answers {
            for line in answers.unused() {
                output.note(&format!("{}:{line}: nothing asked for this answer", answers.name()));
            }
        }
        if let Some(last) = next.filter(|_| !options.json) {
            output.note(&format!("{more} more are waiting; list them with --after {last}"));
        }
        Ok(exit)
    })
}

fn show(
    session: &Session,
    options: &Options,
    (waiting, next): (&[(Handoff, Question)], Option<&InboxPlace>),
    output: &Output,
) -> Result<(), CommandError> {
    let store = options.store.repeated();
    if options.json {
        let rows: Vec<_> =
            waiting.iter().map(|(handoff, question)| render::inbox::json(handoff, question, &store)).collect();
        return output.json(&json!({ "version": 1, "waiting": rows, "next": next.map(InboxPlace::to_string) }));
    }
    if waiting.is_empty() {
        output.note(&nothing_waits(session));
        return Ok(());
    }
    output.data(&render::inbox::lines(waiting, &store, session.now(), output.paint()))
}

/// The message when nothing waits, as far as the caller may see.
fn nothing_waits(session: &Session) -> String {
    let is_restricted = session.remote.as_ref().is_some_and(|server| server.caller().agent.is_some());
    let what = if is_restricted { "nothing that this token may see" } else { "nothing" };
    format!("{what} is waiting for a person in {}", session.location)
}

/// Asks about each, and records what was said. What is decided elsewhere meanwhile is taken back, and the next one comes.
async fn decide(
    session: &Session,
    (people, asked, caller): (&dyn People, &Decider, &Caller),
    waiting: &[(Handoff, Question)],
    output: &Output,
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    for (handoff, question) in waiting {
        let said = tokio::select! {
            biased;
            () = decided_elsewhere(session, question) => None,
            said = people.decide(question) => Some(said),
        };
        let Some(said) = said else {
            if let Ok(Some((decide, _))) = session.engine.last_decision(&handoff.id).await {
                output.note(&format!("{}: {}", handoff.id, baton_views::sentence::decided_elsewhere(&decide)));
            }
            continue;
        };
        let Some(said) = said else {
            let why = question.is_for(asked).err().map(|why| format!(": {why}")).unwrap_or_default();
            output.note(&format!("{}: nothing was decided{why}", handoff.id));
            exit = Exit::Waiting;
            continue;
        };
        // A file of answers is another door than the terminal, though the same person opened both.
        let caller = Caller { door: said.door, ..caller.clone() };
        match session.engine.decide(handoff, question.decided(said), &caller).await {
            Ok(applied) => session.tell(&applied, false, output)?,
            Err(error) => {
                output.error(&error.into());
                exit = Exit::Waiting;
            }
        }
    }
    if waiting.is_empty() {
        output.note(&nothing_waits(session));
    }
    Ok(exit)
}

/// Waits until a question is no longer the one that is asked.
async fn decided_elsewhere(session: &Session, question: &Question) {
    loop {
        let seen = session.store.changes();
        // A store that cannot be reached tells nothing; the decision itself will say so.
        if let Ok(found) = session.store.find(&question.handoff).await
            && !found.is_some_and(|handoff| is_still_asked(&handoff, question))
        {
            return;
        }
        session.store.changed(seen, LOOKED_AFTER).await;
    }
}

fn is_still_asked(handoff: &Handoff, question: &Question) -> bool {
    baton_views::handoff::ask(handoff) == Some(question.ask) && handoff.shown().as_ref() == Some(&question.shown)
}

/// Each answer is used once, however often the command is given.
async fn forget_what_was_used(
    session: &Session,
    answers: &Answers,
    waiting: &[(Handoff, Question)],
) -> Result<(), CommandError> {
    let mut runs: Vec<&RunId> = waiting.iter().map(|(handoff, _)| &handoff.run).collect();
    runs.sort();
    runs.dedup();
    for run in runs {
        // A handoff outside of a workflow has no workspace that is known.
        if let Ok(Some(definition)) = session.engine.definition(run).await {
            bound_answers::check(session.state.as_ref(), (run, &definition), answers)?;
        }
        answers.forget(&answers::recorded(&session.engine.events_of_run(run).await?));
    }
    Ok(())
}
