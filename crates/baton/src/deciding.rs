//! A person's decision from the command line. It fails closed: without somebody who sees and answers, nothing is decided.

use std::sync::Arc;

use baton_engine::engine::{Caller, GivenDecision, Problem};
use baton_engine::lifecycle::{Command, Decision, readable_claimant};
use baton_engine::people::{Question, choice_or_number};
use baton_engine::{Handoff, State};
use baton_protocol::printable;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::exhibits::Exhibits;
use crate::guard;
use crate::output::Output;
use crate::people::keyboard::Keyboard;
use crate::people::talk::Talk;
use crate::recorded_keys;
use crate::render;
use crate::signing::SigningOptions;
use crate::store::{Access, Session, StoreOptions};

/// Stands for what was shown where nothing is asked any more.
const NOTHING_SHOWN: &str = "nothing was shown";

/// Who decides, about what.
#[derive(Debug, Args)]
pub(crate) struct DeciderOptions {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// A name to show; your account or your signature says who you are
    #[arg(long = "as", value_name = "NAME")]
    label: Option<String>,
    /// Decide without confirmation; needs --shown
    #[arg(long, requires = "shown")]
    yes: bool,
    /// What you looked at: the digest that `baton show` and `baton inbox --json` print, or at least 12 characters of it
    #[arg(long, value_name = "DIGEST")]
    shown: Option<String>,
    #[command(flatten)]
    signing: SigningOptions,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// What the command line says about a decision; what it leaves open is asked at the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Approve it.
    Approve,
    /// Send it back, with the reason.
    Reject(Option<String>),
    /// Answer in words.
    Answer(Option<String>),
    /// Choose one of what is offered.
    Choose(String),
    /// Ask the agent something.
    Ask(Option<String>),
}

/// Records a decision, if somebody makes it knowingly.
pub(crate) fn decide(
    options: &DeciderOptions,
    wanted: &Wanted,
    note: Option<&str>,
    output: &Output,
) -> Result<Exit, CommandError> {
    let label = options.label.as_deref();
    let person = if options.signing.is_wanted() { guard::signer(label)? } else { guard::person(label)? };
    let session = Session::open(&options.store, Access::Look, output)?;
    let person = session.known(person);
    let caller = person.caller();
    session.run(async {
        let handoff = session.engine.asked(session.engine.resolve(&options.id).await?).await?;
        let events = session.engine.events_of_run(&handoff.run).await?;
        let question = Question::of(&handoff, &events);
        let given = wanted.given(&session, question.as_ref())?;
        let decided = match (options.yes, &options.shown) {
            (true, Some(shown)) => {
                let decision = given.ok_or_else(|| wanted.incomplete())?;
                Some((decision, shown.clone()))
            }
            _ => {
                at_terminal(&session, &handoff, (options, question.as_ref()), (wanted, given, &caller), output).await?
            }
        };
        let Some((decision, shown)) = decided else {
            output.note(&format!("{}: nothing was decided", handoff.id));
            return Ok(Exit::No);
        };
        let given = GivenDecision { decision, shown, note: note.map(str::to_owned), label: None, signature: None };
        let mut decide = session.engine.decision(&handoff, question.as_ref(), given, &caller)?;
        if options.signing.is_wanted() {
            // Under a signature stands what was typed, whatever the account is called.
            decide.label = options.label.as_deref().map(|label| label.trim().to_owned());
        }
        let approval = handoff.terms.approval.as_ref();
        if let Some(changed) = approval.and_then(|rule| recorded_keys::difference(&rule.approvers, &session.approvers))
        {
            output.note(&format!("warning: {changed}"));
        }
        // Nobody signs, or types a passphrase, for what would be refused whoever signs it.
        if options.signing.is_made_here()
            && let Some(refused) = session.engine.foresee(&open_to_all(&handoff), Command::Decide(decide.clone()))
        {
            return Err(session.engine.with_decision(refused).await.into());
        }
        let text = decide.signed_text(&handoff.id);
        if options.signing.to_sign {
            if let Some(question) = &question {
                output.note(render::question::lines(question, output.paint_beside()).trim_end());
            }
            output.data(&text)?;
            return Ok(Exit::Done);
        }
        if let Some(signature) = options.signing.signature(approval, &text)? {
            decide = decide.signed(signature, approval);
        }
        let is_signed = decide.known.signature().is_some();
        let applied = session.engine.decide(&handoff, decide, &caller).await;
        let applied = applied.map_err(CommandError::from).map_err(|error| match approval {
            Some(rule) if !is_signed && rule.has_keys() && error.exit_code() == Exit::No => {
                error.hint(format!("an approver can sign with: baton … {} --sign", handoff.id))
            }
            _ => error,
        })?;
        session.tell(&applied, options.json, output)?;
        if !options.json {
            tell_next(&session, &applied.handoff, &options.store, output).await;
        }
        Ok(Exit::Done)
    })
}

/// Prints who goes on with the run, or how it goes on.
async fn tell_next(session: &Session, decided: &Handoff, store: &StoreOptions, output: &Output) {
    if matches!(decided.state, State::AwaitingPerson { .. }) {
        return;
    }
    // What belongs to no workflow goes on with whoever claims it.
    let Ok(run) = session.engine.resolve_run(decided.run.as_str()).await else { return };
    match &run.state {
        State::Claimed { lease } => {
            output.note(&format!("{} continues, driven by {}", run.id, printable(readable_claimant(&lease.claimant))));
        }
        State::Pending { .. } => output.note(&format!("next: baton resume {}{}", run.id, store.repeated())),
        _ => {}
    }
}

/// Shows what is to be decided, and asks; `None` if nothing was decided.
async fn at_terminal(
    session: &Session,
    handoff: &Handoff,
    (options, question): (&DeciderOptions, Option<&Question>),
    (wanted, given, caller): (&Wanted, Option<Decision>, &Caller),
    output: &Output,
) -> Result<Option<(Decision, String)>, CommandError> {
    let decision = given.clone().unwrap_or_else(|| question.map_or(Decision::Approve, |asked| wanted.sample(asked)));
    // What was looked at, or else what will be shown here.
    let shown = options.shown.clone().or_else(|| handoff.shown().map(|shown| shown.0));
    let foreseen = |shown: &str| {
        let given = GivenDecision {
            decision: decision.clone(),
            shown: shown.to_owned(),
            note: None,
            label: None,
            signature: None,
        };
        session.engine.decision(handoff, question, given, caller)
    };
    if !output.can_ask() {
        // What is decided already needs no terminal any more.
        if question.is_none()
            && let Some(refused) = session.engine.foresee(handoff, Command::Decide(foreseen(NOTHING_SHOWN)?))
        {
            return Err(session.engine.with_decision(refused).await.into());
        }
        let is_signed = handoff.terms.approval.as_ref().is_some_and(|rule| rule.signed) && !options.signing.is_wanted();
        let sign = if is_signed { " --sign" } else { "" };
        let store = options.store.repeated();
        let hint = format!(
            "`baton show {}{store}` shows it; then decide with --yes --shown DIGEST{sign}",
            handoff.id.in_shell()
        );
        return Err(CommandError::usage("not a terminal: a decision needs one, or --shown DIGEST --yes").hint(hint));
    }
    let Some(shown) = shown else {
        return Err(CommandError::no(format!("{}: nothing to decide", handoff.id)));
    };
    let foreseen = foreseen(&shown)?;
    // Whose signature it will be is not known yet.
    let foreseeable = if options.signing.is_wanted() { open_to_all(handoff) } else { handoff.clone() };
    // Nobody is asked for what would not count; and what changes meanwhile was not shown.
    if let Some(refused) = session.engine.foresee(&foreseeable, Command::Decide(foreseen)) {
        return Err(session.engine.with_decision(refused).await.into());
    }
    let Some(question) = question else {
        return Err(CommandError::no(format!("{}: nothing to decide", handoff.id)));
    };
    let mut keyboard = Keyboard::new();
    let exhibits = Exhibits::in_store(&session.store);
    let mut talk = Talk::new(output, &mut keyboard, Some(&exhibits));
    talk.screen.write(&format!("{}\n", render::question::lines(question, talk.paint())));
    let decision = match given {
        Some(decision) => {
            if let Some((name, words)) = given_words(&decision) {
                talk.tell(&format!("{name}: {words}"));
            }
            talk.confirm(wanted.prompt(), Some(question)).await.then_some(decision)
        }
        None => wanted.ask(question, &mut talk).await,
    };
    Ok(decision.map(|decision| (decision, shown)))
}

/// Returns a handoff that everybody may decide about.
fn open_to_all(handoff: &Handoff) -> Handoff {
    let mut open = handoff.clone();
    Arc::make_mut(&mut open.terms).approval = None;
    open
}

impl Wanted {
    /// Returns the decision, if the command line says all of it; the error says why it cannot be made.
    fn given(&self, session: &Session, question: Option<&Question>) -> Result<Option<Decision>, CommandError> {
        let given = match self {
            Wanted::Approve => Some(Decision::Approve),
            Wanted::Reject(feedback) => feedback.clone().map(|feedback| Decision::Reject { feedback }),
            Wanted::Ask(question) => question.clone().map(|question| Decision::Ask { question }),
            Wanted::Choose(word) => Some(Decision::Answer { answers: word.clone() }),
            Wanted::Answer(answers) => answers.clone().map(|answers| Decision::Answer { answers }),
        };
        let Some(question) = question else { return Ok(given) };
        let id = &question.handoff;
        if let Wanted::Choose(word) = self {
            if question.choices.is_empty() {
                let message = format!("{id}: no choices are offered");
                return Err(CommandError::usage(message).hint("answer in words: baton answer ID TEXT"));
            }
            // Words of one's own are an answer, but no choice.
            let chosen = choice_or_number(word, &question.choices);
            chosen.map_err(|why| Problem::NotOffered { id: id.clone(), why })?;
        }
        // Nobody is asked for the words of what cannot be decided.
        let meant = session.engine.meaning(question, given.clone().unwrap_or_else(|| self.sample(question)))?;
        Ok(given.map(|_| meant))
    }

    /// Asks for what the command line left open.
    async fn ask(&self, question: &Question, talk: &mut Talk<'_>) -> Option<Decision> {
        match self {
            Wanted::Approve => None,
            Wanted::Reject(_) => {
                let feedback = talk.text("What must be done differently?").await?;
                Some(Decision::Reject { feedback })
            }
            Wanted::Ask(_) => Some(Decision::Ask { question: talk.text("What do you want to know?").await? }),
            Wanted::Answer(_) | Wanted::Choose(_) => {
                let answers = match question.choices.is_empty() || question.reply.is_answer() {
                    true => talk.answers(question).await?,
                    false => talk.choose("Your choice, by number or name", &question.choices).await?,
                };
                Some(Decision::Answer { answers })
            }
        }
    }

    /// Returns such a decision, whatever the words will be.
    fn sample(&self, question: &Question) -> Decision {
        let text = "…".to_owned();
        match self {
            Wanted::Approve => Decision::Approve,
            Wanted::Reject(_) => Decision::Reject { feedback: text },
            Wanted::Ask(_) => Decision::Ask { question: text },
            Wanted::Answer(_) | Wanted::Choose(_) => {
                Decision::Answer { answers: question.choices.first().map_or(text, |(choice, _)| choice.clone()) }
            }
        }
    }

    fn prompt(&self) -> &'static str {
        match self {
            Wanted::Approve => "Approve this?",
            Wanted::Reject(_) => "Reject this?",
            Wanted::Answer(_) => "Answer this?",
            Wanted::Choose(_) => "Choose this?",
            Wanted::Ask(_) => "Ask this?",
        }
    }

    fn incomplete(&self) -> CommandError {
        let (what, hint) = match self {
            Wanted::Reject(_) => ("the reason is missing", "say with --note what must be done differently"),
            Wanted::Ask(_) => ("the question is missing", "write it after the id"),
            Wanted::Approve | Wanted::Answer(_) | Wanted::Choose(_) => {
                ("the answer is missing", "write it after the id, or give --choice or --file")
            }
        };
        CommandError::usage(what).hint(hint)
    }
}

/// Returns the words of a decision that was given with the command, so that people see what they confirm.
fn given_words(decision: &Decision) -> Option<(&'static str, &str)> {
    let name = match decision {
        Decision::Approve | Decision::Reject { .. } => "feedback",
        Decision::Answer { .. } => "answer",
        Decision::Ask { .. } => "question",
    };
    Some((name, decision.words()?))
}
