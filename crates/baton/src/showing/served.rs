//! A run that a server drives: what a driver at a terminal would tell there goes to the log, and the rest is the same:
//! views, what agents do, commands under `[notify]`, the record.

use std::sync::Arc;

use baton_engine::RunId;
use baton_engine::driver::{Audience, End, News};
use baton_engine::run::Run;
use baton_protocol::printable;
use baton_views::run_summary::RunSummary;

use super::Notifier;
use super::activities::Activities;
use super::ending::write_record;
use crate::command_error::CommandError;
use crate::output::Output;
use crate::store::Session;
use crate::telemetry;
use crate::views::Views;

/// How a served run is watched.
pub(crate) struct ServedShow<'a> {
    /// Where it is kept.
    pub session: &'a Session,
    /// Where the log goes.
    pub output: &'a Output,
}

/// What watches a served run.
pub(crate) struct Watched {
    views: Arc<Views>,
    notifier: Arc<Notifier>,
}

impl Watched {
    /// Returns whom the driver tells.
    pub(crate) fn audience(&self) -> Arc<dyn Audience> {
        Arc::clone(&self.views) as Arc<dyn Audience>
    }

    /// Returns the views of the run.
    pub(crate) fn views(&self) -> &Views {
        &self.views
    }
}

/// Prints only what belongs in a log: notes, and whom the run waits for. Events are in the journal.
struct Log(Output);

impl Audience for Log {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Note(text) => self.0.note(&printable(&format!("{}: {text}", run.id))),
            News::Asks(question) => {
                self.0.note(&printable(&format!("{} waits for a person: {}", question.handoff, question.title)))
            }
            News::Event(_) | News::Begins(_) | News::Examines(_) => {}
        }
    }
}

impl ServedShow<'_> {
    /// Begins to watch.
    pub(crate) fn watch(&self) -> Result<Watched, CommandError> {
        let (clock, state) = (self.session.clock.clone(), self.session.state()?.clone());
        let log = telemetry::traced(Arc::new(Log(*self.output)), self.session.telemetry());
        let notifier = Arc::new(Notifier::before(log, self.session, Some(*self.output))?);
        let views = Arc::new(Views::before(Arc::new(Activities::before(notifier.clone(), clock, state))));
        Ok(Watched { views, notifier })
    }

    /// Writes the record, and tells how it ended.
    pub(crate) async fn end(&self, id: &RunId, end: &End, watched: &Watched) {
        // What fails tells so itself, as nobody knows how long a run waits.
        watched.notifier.finish().await;
        let told = match end {
            End::Completed => "completed".to_owned(),
            End::Failed(why) => format!("failed: {}", why.trim()),
            End::Cancelled => "cancelled".to_owned(),
            End::Waiting(_) => "waits for a person".to_owned(),
            End::Stopped => "given back".to_owned(),
            End::Lost(by) => format!("driven by {}", baton_engine::lifecycle::readable_claimant(by)),
        };
        self.output.note(&printable(&format!("{id}: {told}")));
        if matches!(end, End::Lost(_)) {
            return;
        }
        let Ok(journal) = self.session.engine.events_of_run(id).await else { return };
        let Ok(run) = Run::of_journal(&journal) else { return };
        let summary = RunSummary::of(&run, &journal, self.session.now());
        if let Err(error) = write_record(self.session, &run, &summary, watched.views()).await {
            self.output.note(&format!("{id}: there is no record: {}", error.message));
        }
        if *end == End::Completed {
            self.session.forget_measures(id).await;
        }
    }
}
