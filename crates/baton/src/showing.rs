//! Showing a run while it is driven: on a terminal, in plain lines, or as JSON events; and what came out in the end.

pub(crate) mod activities;
mod ending;
mod events;
mod followed;
mod live;
mod moved;
mod notifying;
mod panel;
mod plain;
mod quiet_keyboard;
mod served;
mod warning;
mod webhook;

pub(crate) use served::{ServedShow, Watched};

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::RunId;
use baton_engine::definition::Definition;
use baton_engine::driver::{Audience, Driver, DriverProblem, End, News, WorkspaceProblem};
use baton_engine::flow::{NoWayBack, Restart};
use baton_engine::lifecycle::{Refusal, readable_claimant};
use baton_engine::run::Run;
use baton_engine::runs::{DrivenRuns, Runs as _};
use baton_engine::store::StoreError;
use baton_protocol::wire::closest;
use clap::Args;
use serde_json::Map;

use crate::bound_answers;
use crate::command_error::{CommandError, Exit};
use crate::config;
use crate::exhibits::Exhibits;
use crate::guard::{self, Person};
use crate::output::Output;
use crate::people::InTurn;
use crate::people::answers::{self, Answers};
use crate::people::talk::Screen;
use crate::recorded_keys;
use crate::running::{self, Driven};
use crate::store::{Session, StoreOptions};
use crate::telemetry;
use crate::views::Views;
use activities::Activities;
use ending::exit_of;
use events::Events;
use live::Live;
use notifying::Notifier;
use plain::Plain;

/// How a run is shown, and who is asked.
#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// Never ask: exit with 3 when a person must decide
    #[arg(long)]
    no_input: bool,
    /// Where a person must decide, wait until somebody decides elsewhere
    #[arg(long)]
    wait: bool,
    /// A file that plays the person, for demonstrations and tests; recorded as such
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Write each event as a JSON object on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// A run that is to be driven and shown.
pub(crate) struct Show<'a> {
    /// Where it is kept.
    pub session: &'a Session,
    /// How that is found by other commands.
    pub store: &'a StoreOptions,
    /// How it is shown.
    pub options: &'a ShowOptions,
    /// Where it is shown.
    pub output: &'a Output,
    /// The run.
    pub id: &'a RunId,
}

/// How a run that is to be driven starts.
enum Start<'a> {
    /// It begins.
    New(&'a Definition),
    /// It goes on.
    On,
    /// It begins again from a phase, or from the one that it came to last.
    Again { restart: &'a Restart, person: Person },
}

/// Who watches a run.
enum Watching {
    Terminal(Arc<Live>),
    Reader(Arc<Plain>),
    Machine(Arc<Events>),
}

impl Show<'_> {
    /// Begins a run, drives it and shows it.
    pub(crate) fn begin(&self, definition: &Definition) -> Result<Exit, CommandError> {
        self.drive(Start::New(definition))
    }

    /// Drives a run that was begun before, and shows it.
    pub(crate) fn resume(&self) -> Result<Exit, CommandError> {
        self.drive(Start::On)
    }

    /// Lets a run begin again from a phase, or from the one that it came to last, drives it and shows it.
    pub(crate) fn begin_again(&self, restart: &Restart) -> Result<Exit, CommandError> {
        self.drive(Start::Again { restart, person: guard::person(None)? })
    }

    /// Lets the collector see what an audience hears, if there is one.
    fn traced(&self, audience: Arc<dyn Audience>) -> Arc<dyn Audience> {
        if let Some(why) = self.session.no_telemetry() {
            self.output.note(&format!("warning: no spans are sent: {why}"));
        }
        telemetry::traced(audience, self.session.telemetry())
    }

    fn drive(&self, start: Start<'_>) -> Result<Exit, CommandError> {
        if let Some(server) = &self.session.remote {
            return self.drive_served(server, &start);
        }
        let answers = self.options.answers.as_deref().map(Answers::open).transpose()?.map(Arc::new);
        let watching = self.watching();
        let people = self.people(answers.clone(), &watching)?;
        let notifier = Arc::new(Notifier::before(self.traced(watching.audience()), self.session, None)?);
        let (clock, state) = (self.session.clock.clone(), self.session.state()?.clone());
        let views = Arc::new(Views::before(Arc::new(Activities::before(notifier.clone(), clock, state))));
        let scripts = self.scripts(&start, answers.as_deref())?;
        let decided_by = answers.as_ref().map(|answers| answers.places()).unwrap_or_default();
        let driver = running::driver(self.session, Arc::new(people), views.clone(), scripts, decided_by)?;
        let runs = DrivenRuns::by(driver.clone());
        self.session.run(async {
            match start {
                Start::New(definition) => {
                    self.refuse_anchor_inside(&definition.workspace)?;
                    let begun = runs.begin(self.id, definition, &guard::anybody(), None).await;
                    begun.map_err(|problem| self.not_driven(problem))?;
                    self.tell_beginning(&driver, &watching).await?;
                }
                Start::On | Start::Again { .. } => {
                    let run = self.take_up(&driver, &watching, answers.as_deref()).await?;
                    let given = match &start {
                        Start::Again { restart, .. } => restart.inputs.clone(),
                        Start::New(_) | Start::On => Map::new(),
                    };
                    self.warn_of_changes(&watching, &run, &given);
                    if let Start::Again { restart, person } = start {
                        let begun = runs.begin_again(self.id, restart, &person.caller()).await;
                        let phase = begun.map_err(|problem| self.not_driven(problem))?;
                        self.tell(&watching, &format!("{} starts again from {phase}", self.id));
                    }
                    self.warn_of_differences(&watching, &run);
                }
            }
            if let Watching::Terminal(live) = &watching {
                live.clone().watch_for_suspension()?;
            }
            let ended = running::drive(&runs, &views, self.id, &|text| self.tell(&watching, text)).await;
            if let Watching::Terminal(live) = &watching {
                live.finish();
            }
            self.session.finish_telemetry(self.output).await;
            for why in notifier.finish().await {
                notifying::warn(self.output, &why);
            }
            self.conclude(ended, &watching, &views, answers.as_deref()).await
        })
    }

    /// Returns the workflow and its scripts, after a look at whether the answers and the anchor belong to it.
    fn scripts(&self, start: &Start<'_>, answers: Option<&Answers>) -> Result<Vec<PathBuf>, CommandError> {
        let scripts = match start {
            Start::New(definition) => {
                let state = self.session.state()?;
                answers
                    .into_iter()
                    .try_for_each(|answers| bound_answers::note(state, (self.id, definition), answers))?;
                running::scripts(definition)
            }
            Start::On | Start::Again { .. } => {
                let (run, state) = (self.session.run(self.beginning())?, self.session.state.as_ref());
                let check = |answers| bound_answers::check(state, (self.id, &run.definition), answers);
                answers.into_iter().try_for_each(check)?;
                running::scripts(&run.definition)
            }
        };
        if let Some(anchor) = &self.session.anchor
            && scripts.iter().any(|script| anchor.is_at(script))
        {
            return Err(config::not_an_anchor("baton.toml", "the workflow, or one of its scripts"));
        }
        Ok(scripts)
    }

    /// Takes up a run that was begun before.
    async fn take_up(
        &self,
        driver: &Driver,
        watching: &Watching,
        answers: Option<&Answers>,
    ) -> Result<Run, CommandError> {
        let events = self.session.engine.events_of_run(self.id).await?;
        let run = driver.load(self.id).await?;
        self.refuse_anchor_inside(&run.definition.workspace)?;
        answers.iter().for_each(|answers| answers.forget(&answers::recorded(&events)));
        self.tell(watching, &format!("resume {}", self.id));
        Ok(run)
    }

    /// Warns of what is missing, and of approvers who are others than when the run began.
    fn warn_of_differences(&self, watching: &Watching, run: &Run) {
        self.warn_of_gaps(watching, run);
        let recorded = recorded_keys::of_run(&run.definition);
        if let Some(changed) = recorded_keys::difference(&recorded, &self.session.approvers) {
            self.tell(watching, &format!("warning: {changed}"));
        }
    }

    /// Shows how it ended, and clears away what is no longer needed.
    async fn conclude(
        &self,
        ended: Result<Driven, CommandError>,
        watching: &Watching,
        views: &Views,
        answers: Option<&Answers>,
    ) -> Result<Exit, CommandError> {
        let told = match ended {
            Ok(Driven { end: Ok(end), is_interrupted }) => {
                let exit = exit_of(&end, is_interrupted);
                self.end(&end, exit, watching, views).await.map(|()| (end, exit))
            }
            Ok(Driven { end: Err(problem), .. }) => Err(self.not_driven(problem)),
            Err(error) => Err(error),
        };
        let (end, exit) = told.inspect_err(|error| {
            // Whoever reads the events must know that no more come.
            if let Watching::Machine(events) = watching {
                events.write(&events::of_error(self.id, error));
            }
        })?;
        if end == End::Completed {
            self.session.forget_measures(self.id).await;
        }
        // What is not over may still ask for it.
        let over = matches!(end, End::Completed | End::Failed(_) | End::Cancelled);
        for answers in answers.iter().filter(|_| over) {
            for line in answers.unused() {
                self.tell(watching, &format!("{}:{line}: nothing asked for this answer", answers.name()));
            }
        }
        Ok(exit)
    }

    /// The error when the run was not begun, or is not driven.
    fn not_driven(&self, problem: DriverProblem) -> CommandError {
        match problem {
            // It was endured for as long as it makes sense here; whoever starts it again may find room.
            DriverProblem::Store(error @ StoreError::Unwritable(_)) => CommandError::try_again(error.to_string())
                .hint("free space on the disk, or check the permissions of the file"),
            DriverProblem::Store(error) => error.into(),
            DriverProblem::Workspace(WorkspaceProblem::Missing(workspace)) => self.moved_away(&workspace),
            DriverProblem::Workspace(WorkspaceProblem::Held { workspace, run, driver }) => {
                running::held(self.id, &workspace, &run, &driver)
            }
            DriverProblem::Workspace(WorkspaceProblem::Unusable(why)) => CommandError::usage(why),
            DriverProblem::Driven(driver) => {
                CommandError::no(format!("{} is driven by {}", self.id, readable_claimant(&driver)))
                    .hint("stop that first, with Ctrl-C where it runs or with baton cancel")
            }
            DriverProblem::NoWayBack(why) => self.no_way_back(&why),
        }
    }

    fn no_way_back(&self, why: &NoWayBack) -> CommandError {
        match why {
            NoWayBack::Unknown { given, phases } => {
                let names: Vec<&str> = phases.iter().map(String::as_str).collect();
                let close = closest(given, &names).map(|close| format!("did you mean `{close}`? "));
                let hint = format!("{}the phases are {}", close.unwrap_or_default(), phases.join(", "));
                CommandError::usage(format!("{}: {why}", self.id)).hint(hint)
            }
            NoWayBack::Inside { phase, .. } => {
                CommandError::usage(format!("{}: {why}", self.id)).hint(format!("use --from {phase}"))
            }
            NoWayBack::NotReached { at, .. } => CommandError::no(format!("{}: {why}", self.id))
                .hint(format!("baton retry {} continues from {at}", self.id)),
            NoWayBack::Guarded { gate, .. } | NoWayBack::Changed { gate, .. } => {
                let gate = gate.split('/').next().unwrap_or(gate);
                CommandError::no(format!("{}: {why}", self.id)).hint(format!(
                    "baton resume {0} --from {gate} asks again; if that was never reached, baton resume {0} \
                                   continues, or go back to a phase before it",
                    self.id
                ))
            }
            NoWayBack::Unseen { gate, .. } => {
                let gate = gate.split('/').next().unwrap_or(gate);
                CommandError::no(format!("{}: {why}", self.id)).hint(format!(
                    "give other inputs with --from {gate} or an earlier phase, so that a person sees them"
                ))
            }
            NoWayBack::Input(_) => CommandError::usage(format!("{}: {why}", self.id))
                .hint(format!("baton show {} tells what it was given", self.id)),
            NoWayBack::Begun(_) => CommandError::try_again(format!("{}: {why}", self.id))
                .hint(format!("wait until that run ends, or continue it with baton resume {}", self.id)),
            NoWayBack::NothingFailed { decided: false, phase } => {
                let outer = phase.split('/').next().unwrap_or(phase);
                CommandError::no(format!("{}: {why}", self.id)).hint(format!(
                    "decide with baton inbox; baton resume {} --from {outer} does it again all the same",
                    self.id
                ))
            }
            NoWayBack::NotBegun | NoWayBack::NothingFailed { .. } => {
                CommandError::no(format!("{}: {why}", self.id)).hint(format!("baton resume {} continues it", self.id))
            }
            NoWayBack::Refused(Refusal::WrongState { state, .. }) => {
                CommandError::no(format!("{} is {state}: nothing to do again", self.id))
                    .hint("baton run starts a new run")
            }
            NoWayBack::Refused(refusal) => CommandError::no(format!("{}: {refusal}", self.id)),
        }
    }

    /// What proves the journal must not lie where agents write.
    fn refuse_anchor_inside(&self, workspace: &Path) -> Result<(), CommandError> {
        let Some(file) = self.session.anchor.as_ref().and_then(|anchor| anchor.file()) else { return Ok(()) };
        let workspace = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
        // The file itself may be a link, and need not be there yet.
        let places = file.parent().into_iter().chain([file]).filter_map(|place| fs::canonicalize(place).ok());
        if places.into_iter().any(|place| place.starts_with(&workspace)) {
            let why = format!("the anchor file {} lies in the workspace, where agents can change it", file.display());
            return Err(CommandError::usage(why).hint("name a file elsewhere under [anchor] in baton.toml"));
        }
        Ok(())
    }

    fn watching(&self) -> Watching {
        let output = *self.output;
        match (self.options.json, output.is_watched()) {
            (true, _) => Watching::Machine(Arc::new(Events { output, clock: self.session.clock.clone() })),
            (false, true) => Watching::Terminal(Arc::new(Live::new(output, self.session.clock.clone()))),
            (false, false) => {
                let elsewhere = self.options.wait.then(|| self.store.repeated());
                Watching::Reader(Arc::new(Plain { output, clock: self.session.clock.clone(), elsewhere }))
            }
        }
    }

    /// Returns who decides: the file first, then whoever sits at the terminal.
    ///
    /// Inside the work on another handoff nobody can be asked: an agent may run a workflow, but decides nothing in it.
    fn people(&self, answers: Option<Arc<Answers>>, watching: &Watching) -> Result<InTurn, CommandError> {
        let screen: Arc<dyn Screen> = match watching {
            Watching::Terminal(live) => live.clone(),
            Watching::Reader(_) | Watching::Machine(_) => Arc::new(*self.output),
        };
        let screen = Some(screen).filter(|_| self.output.can_ask() && !self.options.no_input);
        let people = match (guard::person(None), &answers) {
            (Ok(person), _) => InTurn::new(person, answers, screen, Exhibits::in_store(&self.session.store)),
            (Err(refused), Some(_)) => return Err(refused),
            (Err(_), None) => InTurn::nobody(),
        };
        Ok(if self.options.wait { people.or_elsewhere() } else { people })
    }

    /// Shows which run begins, with the event that it begins with.
    async fn tell_beginning(&self, driver: &Driver, watching: &Watching) -> Result<(), CommandError> {
        let run = self.beginning().await?;
        let events = self.session.store.history(self.id, 0, 1).await?;
        self.tell(watching, &format!("run {} of {}", run.id, run.definition.name()));
        self.warn_of_gaps(watching, &run);
        events.iter().for_each(|event| driver.audience.hear(&run, &News::Event(event)));
        Ok(())
    }

    /// Returns the run as it began.
    async fn beginning(&self) -> Result<Run, CommandError> {
        let events = self.session.store.history(self.id, 0, 1).await?;
        Run::of_journal(&events).map_err(CommandError::internal)
    }

    /// Shows something to people; machines have the events.
    fn tell(&self, watching: &Watching, text: &str) {
        match watching {
            Watching::Terminal(live) => live.say(&self.output.paint_beside().fitted(text)),
            Watching::Reader(_) => self.output.note(text),
            Watching::Machine(_) => {}
        }
    }
}

impl Watching {
    fn audience(&self) -> Arc<dyn Audience> {
        match self {
            Watching::Terminal(live) => live.clone(),
            Watching::Reader(plain) => plain.clone(),
            Watching::Machine(events) => events.clone(),
        }
    }
}
