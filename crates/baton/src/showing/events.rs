//! A run for machines: one JSON object per line. The form is a promise; members are added, never changed.

use std::sync::Arc;

use baton_engine::agent::Job;
use baton_engine::driver::{Audience, End, News, Seen};
use baton_engine::lifecycle::readable_claimant;
use baton_engine::run::Run;
use baton_engine::{Clock, RunId};
use baton_views::activity;
use baton_views::event::{self, VERSION, phase_of};
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::store::StoreOptions;

/// Writes a JSON object for each event.
pub(super) struct Events {
    pub(super) output: Output,
    pub(super) clock: Arc<dyn Clock>,
}

impl Audience for Events {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Event(event) => {
                let phase = run.find(&event.handoff).and_then(|tracked| phase_of(&tracked.handoff));
                self.write(&event::json(event, phase));
            }
            News::Note(text) => {
                self.write(&json!({ "version": VERSION, "run": run.id, "event": "note", "detail": { "text": text } }));
            }
            News::Begins(_) | News::Examines(_) | News::Asks(_) => {}
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.write(&activity::json(job, seen, self.clock.now()));
    }
}

impl Events {
    pub(super) fn write(&self, value: &Value) {
        // A reader that has gone away does not stop the run; what happens is in the journal.
        let _ = self.output.data(&format!("{value}\n"));
    }
}

/// Returns the last line if the driver could not go on: the run goes on when it is resumed.
pub(super) fn of_error(run: &RunId, error: &CommandError) -> Value {
    json!({
        "version": VERSION,
        "run": run,
        "event": "ended",
        "end": "interrupted",
        "why": error.message,
        "exit": error.exit_code().code(),
        "waiting": [],
        "record": null,
    })
}

/// Returns the last line: how driving the run ended.
pub(super) fn of_end(run: &Run, end: &End, exit: Exit, record: Option<&str>, store: &StoreOptions) -> Value {
    let (word, why) = match end {
        End::Completed => ("completed", None),
        End::Failed(why) => ("failed", Some(why.as_str())),
        End::Cancelled => ("cancelled", None),
        End::Waiting(_) => ("waiting", None),
        End::Stopped => ("stopped", None),
        End::Lost(by) => ("lost", Some(readable_claimant(by))),
    };
    let store = store.repeated();
    let questions = match end {
        End::Waiting(questions) => questions.as_slice(),
        _ => &[],
    };
    let waiting: Vec<Value> = questions
        .iter()
        .filter_map(|question| Some((&run.find(&question.handoff)?.handoff, question)))
        .map(|(handoff, question)| render::inbox::json(handoff, question, &store))
        .collect();
    json!({
        "version": VERSION,
        "run": run.id,
        "event": "ended",
        "end": word,
        "why": why,
        "exit": exit.code(),
        "waiting": waiting,
        "record": record,
    })
}
