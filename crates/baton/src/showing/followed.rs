//! A run that a server drives, shown here: the server is asked to begin it or to go on with it, and its journal is followed
//! until it ends or waits for a person. Ctrl-C ends the showing, not the run.

use std::sync::Mutex;

use baton_engine::driver::{End, News};
use baton_engine::engine::{Problem, StoreNews, WaitFor};
use baton_engine::flow::Restart;
use baton_engine::handoff::{Handoff, State};
use baton_engine::journal::{Event, Head};
use baton_engine::run::Run;
use baton_engine::store::StoreError;
use baton_engine::{HandoffId, flow};
use baton_store::remote::RemoteStore;
use baton_views::run_summary::RunSummary;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::ending::exit_of;
use super::{Show, Start, Watching, events};
use crate::command_error::{CommandError, Exit};
use crate::render;

/// How many events are read at a time.
const EVENTS_MAX: u32 = 500;

/// What was read of a run.
#[derive(Default)]
struct Followed {
    run: Option<Run>,
    head: Option<Head>,
    events: Vec<Event>,
}

impl Show<'_> {
    /// Lets a server begin a run of a workflow that it knows, and shows it.
    pub(crate) fn begin_served(&self, server: &RemoteStore, start: &Value) -> Result<Exit, CommandError> {
        let begun = self.session.run(self.begin_once(server, start));
        begun?;
        self.show_served(Followed::default())
    }

    /// Begins a run. If the answer is lost, the run that was begun by then is the one.
    async fn begin_once(&self, server: &RemoteStore, start: &Value) -> Result<(), CommandError> {
        let lost = match server.post("/api/v1/runs", start).await {
            Ok(_) => return Ok(()),
            Err(error @ StoreError::Unreachable(_)) => error,
            Err(error) => return Err(error.into()),
        };
        let root = HandoffId::parse(self.id.as_str()).map_err(CommandError::usage)?;
        match self.session.store.find(&root).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) | Err(_) => Err(lost.into()),
        }
    }

    /// Lets a server go on with a run, and shows it.
    pub(super) fn drive_served(&self, server: &RemoteStore, start: &Start<'_>) -> Result<Exit, CommandError> {
        let followed = self.session.run(async {
            let mut followed = Followed::default();
            while self.read(&mut followed, None).await? {}
            let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", self.id);
            let asked = match start {
                Start::Again { restart: Restart { from, note, inputs }, .. } => {
                    server.post(&path("retry"), &json!({ "from": from, "note": note, "inputs": inputs })).await
                }
                Start::New(_) | Start::On => server.post(&path("resume"), &json!({})).await,
            };
            asked.map_err(|error| CommandError::from(error).about(self.id.as_str()))?;
            Ok::<_, CommandError>(followed)
        })?;
        self.show_served(followed)
    }

    fn show_served(&self, followed: Followed) -> Result<Exit, CommandError> {
        if self.options.answers.is_some() {
            return Err(CommandError::usage(
                "--answers is for runs that are driven here; this one is driven by a server",
            )
            .hint("decide with baton approve, reject or answer"));
        }
        let watching = self.watching();
        self.tell(&watching, &format!("{} is driven by the server", self.id));
        let followed = Mutex::new(followed);
        self.session.run(async {
            let failed = |error| CommandError::internal(format!("cannot listen to signals: {error}"));
            let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
            let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
            let end = tokio::select! {
                end = self.follow_to_its_end(&followed, &watching) => Some(end?),
                _ = interrupt.recv() => None,
                _ = terminate.recv() => None,
            };
            if let Watching::Terminal(live) = &watching {
                live.finish();
            }
            let Some(end) = end else {
                return Err(CommandError::interrupted(format!("{} goes on without being watched", self.id))
                    .hint(format!("baton log {} --follow{}", self.id, self.store.repeated())));
            };
            let followed = followed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.tell_served_end(followed, &end, &watching)
        })
    }

    /// Waits until the run ends, or until only a person can let it go on; a server that is away is waited for.
    async fn follow_to_its_end(&self, followed: &Mutex<Followed>, watching: &Watching) -> Result<End, CommandError> {
        let heard = |news: StoreNews<'_>| self.output.store_news(news);
        let waiting = WaitFor { agent: None, limit: None, tell: &heard };
        let end = self.session.engine.wait_for(waiting, async || {
            let mut read = std::mem::take(&mut *followed.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
            // The handoff comes before its events: then the last one is not missed.
            let looked = self.look(&mut read, watching).await;
            *followed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = read;
            looked
        });
        Ok(end.await?.unwrap_or(End::Stopped))
    }

    async fn look(&self, followed: &mut Followed, watching: &Watching) -> Result<Option<End>, Problem> {
        let root = self.session.engine.resolve_run(self.id.as_str()).await?;
        while self.read(followed, Some(watching)).await? {}
        Ok(match &root.state {
            State::Completed { .. } => Some(End::Completed),
            State::Cancelled { .. } => Some(End::Cancelled),
            State::Failed { .. } => {
                Some(End::Failed(root.last_failure.as_ref().map(|failure| failure.text()).unwrap_or_default()))
            }
            _ if self.options.wait => None,
            _ => self.asked(&root, followed).await?,
        })
    }

    /// Returns what is asked, if nothing happens before a person has decided.
    async fn asked(&self, root: &Handoff, followed: &Followed) -> Result<Option<End>, Problem> {
        let is_settled = self.session.engine.is_settled(std::slice::from_ref(root), false).await?;
        let Some(run) = followed.run.as_ref().filter(|_| is_settled) else { return Ok(None) };
        let questions: Vec<_> = run.waiting().filter_map(|tracked| flow::question(run, tracked)).collect();
        Ok((!questions.is_empty()).then_some(End::Waiting(questions)))
    }

    /// Reads on, and tells what is new. Returns whether there may be more.
    async fn read(&self, followed: &mut Followed, watching: Option<&Watching>) -> Result<bool, Problem> {
        let after = followed.head.map_or(0, |head| head.seq);
        let page = self.session.store.history(self.id, after, EVENTS_MAX).await?;
        let is_full = page.len() == EVENTS_MAX as usize;
        for event in page {
            match &mut followed.run {
                // What does not fit together is for the audit to tell.
                Some(run) => drop(run.absorb(&event)),
                None => followed.run = Run::begin(&event).ok(),
            }
            if let (Some(run), Some(watching)) = (&followed.run, watching) {
                watching.audience().hear(run, &News::Event(&event));
            }
            followed.head = Some(event.head());
            followed.events.push(event);
        }
        Ok(is_full)
    }

    fn tell_served_end(&self, followed: Followed, end: &End, watching: &Watching) -> Result<Exit, CommandError> {
        let Followed { run: Some(run), head, events: journal } = followed else {
            return Err(CommandError::no(format!("{}: its journal cannot be read", self.id)));
        };
        let (exit, head) = (exit_of(end, false), head.unwrap_or(Head::START));
        if matches!(watching, Watching::Machine(_)) {
            let mut line = events::of_end(&run, end, exit, None, self.store);
            line["events"] = json!(head.seq);
            line["head"] = json!(head.hash.to_string());
            self.output.data(&format!("{line}\n"))?;
            return Ok(exit);
        }
        let summary = RunSummary::of(&run, &journal, self.session.now());
        self.output.data(&format!("\n{}", render::run::table(&summary, self.output.width())))?;
        self.tell_end(&run, end);
        self.output.note(&self.next(&run, end, None, head));
        Ok(exit)
    }
}
