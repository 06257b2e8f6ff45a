//! What pages need again and again, so that a page that many people watch does not read the same journal each time. It
//! holds nothing that the store does not have: forgetting it costs time only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_engine::engine::{Problem, RunRecord};
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::people::plain_words;
use baton_engine::run::Run;
use baton_engine::session::Spending;
use baton_engine::{HandoffId, RunId, flow};
use baton_page::inbox::asked;
use baton_page::run::called_off;
use baton_views::run_summary::{RunSummary, phases_done};

use crate::agent_figures::EndedFigures;
use crate::server::Server;

/// How many runs are remembered with their journals.
const RUNS_MAX: usize = 16;

/// How many events are remembered altogether; the run that was looked at last is always kept.
const EVENTS_MAX: usize = 60_000;

/// How many rows of lists are remembered.
const ROWS_MAX: usize = 5_000;

/// How much of a text a search looks at.
const TEXT_BYTES_MAX: usize = 400;

/// How much of a run a search by text looks at.
const WORDS_BYTES_MAX: usize = 8_000;

/// What pages remember.
#[derive(Default)]
pub(crate) struct PageMemory {
    /// Runs with their journals, the one that was looked at last at the end.
    runs: Mutex<Vec<Arc<RunRecord>>>,
    rows: Mutex<HashMap<RunId, RowFigures>>,
    pub(crate) ended: Mutex<HashMap<HandoffId, EndedFigures>>,
}

/// What a row of the list of runs shows beyond the handoffs of the run.
#[derive(Debug, Clone)]
pub(super) struct RowFigures {
    /// The number of the last event that it is about.
    seq: u64,
    pub(super) workflow: String,
    /// What a person is asked first, or who called it off, in one sentence; otherwise empty.
    pub(super) asked: String,
    /// How many phases of its workflow have passed, and how many it has.
    pub(super) phases: (usize, usize),
    pub(super) spending: Spending,
    pub(super) tokens: u64,
    /// What a search by text looks at beyond names: inputs, summaries and what was asked, in small letters.
    pub(super) words: Arc<str>,
}

/// Locks something that is whole whatever happened while it was locked before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PageMemory {
    fn known(&self, root: &Handoff) -> Option<Arc<RunRecord>> {
        // One that was pruned and begun anew under the same id is another run.
        let is_same = |known: &&Arc<RunRecord>| {
            known.run.id == root.run && known.run.root().handoff.accepted_at == root.accepted_at
        };
        lock(&self.runs).iter().find(is_same).cloned()
    }

    fn keep(&self, record: &Arc<RunRecord>) {
        let mut runs = lock(&self.runs);
        runs.retain(|known| known.run.id != record.run.id);
        runs.push(Arc::clone(record));
        let events = |runs: &[Arc<RunRecord>]| runs.iter().map(|known| known.events.len()).sum::<usize>();
        while runs.len() > 1 && (runs.len() > RUNS_MAX || events(&runs) > EVENTS_MAX) {
            runs.remove(0);
        }
    }
}

impl Server {
    /// Reads a run; of one that was looked at before, only what has happened since.
    pub(super) async fn run_record(&self, root: &Handoff) -> Result<Arc<RunRecord>, Problem> {
        let record = match self.pages.known(root) {
            Some(known) => match self.engine.run_since(&known).await? {
                Some(record) => Arc::new(record),
                None => known,
            },
            None => Arc::new(self.engine.run(&root.run).await?),
        };
        self.pages.keep(&record);
        Ok(record)
    }

    /// Returns what a row of the list of runs shows of a run whose last event has this number.
    pub(super) async fn row_figures(&self, root: &Handoff, seq: u64) -> Result<RowFigures, Problem> {
        let known = lock(&self.pages.rows).get(&root.run).filter(|row| row.seq == seq).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // One that goes on is read again soon; one that is over never.
        let record = if root.state.name().is_finished() {
            Arc::new(self.engine.run(&root.run).await?)
        } else {
            self.run_record(root).await?
        };
        let total = RunSummary::of(&record.run, &record.events, self.engine.now()).total;
        let workflow = record.run.definition.name().to_owned();
        let run = &record.run;
        let first = run.waiting().find_map(|tracked| flow::question(run, tracked));
        let asked = match root.state.name() {
            StateName::Cancelled => called_off(run, &record.events).unwrap_or_default(),
            _ => first.as_ref().map(asked).unwrap_or_default(),
        };
        let phases = phases_done(run);
        let (spending, tokens, words) = (total.spending, total.tokens, words(run));
        let row = RowFigures { seq, workflow, asked, phases, spending, tokens, words };
        let mut rows = lock(&self.pages.rows);
        if rows.len() >= ROWS_MAX {
            rows.clear();
        }
        rows.insert(root.run.clone(), row.clone());
        Ok(row)
    }
}

/// Returns the words of a run that a search by text looks at.
fn words(run: &Run) -> Arc<str> {
    let inputs = run.definition.inputs.values().map(plain_words);
    let said = run.handoffs().flat_map(|tracked| {
        let failure = tracked.handoff.last_failure.as_ref().map(|failure| failure.text());
        let asked = tracked.asked().and_then(|request| request.instructions.clone());
        [tracked.report().and_then(|report| report.summary.clone()), failure, asked].into_iter().flatten()
    });
    let mut words = String::new();
    for text in inputs.chain(said) {
        words.push_str(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_lowercase());
        words.push('\n');
        if words.len() > WORDS_BYTES_MAX {
            break;
        }
    }
    words.into()
}
