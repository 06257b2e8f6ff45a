//! Views of a run: files in the workspace that people and tools read while it goes on. They follow the journal, are
//! replaced as a whole, and are never read back; a run goes on without one that cannot be written.
//!
//! Before an agent begins and before a person is asked they are brought up to date, so that an agent finds itself at
//! work. Everything else is written a little later, many events at once, and never takes more than a small share of
//! the run's time: a run of a thousand handoffs does not write a list of a thousand entries a thousand times.

mod artifacts;
mod budget;
mod contents;
mod progress;

pub(crate) use contents::current;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_agents::directory;
use baton_engine::HandoffId;
use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::handoff::Digest;
use baton_engine::run::{JournalFault, Run};
use baton_engine::view;
use baton_host::SharedFolder;
use baton_protocol::convert::{Form, render};
use baton_protocol::workflow::{PlacedView, View};
use baton_views::archive;
use tokio::sync::Notify;

use crate::command_error::CommandError;
use budget::TimeBudget;

/// How long events are collected before they are shown, unless somebody begins to work.
const COLLECTED: Duration = Duration::from_millis(100);

/// Passes on to an audience what happens, and keeps the views of the run current.
pub(crate) struct Views {
    audience: Arc<dyn Audience>,
    kept: Mutex<Option<Kept>>,
    changed: Notify,
}

/// What is known of a run, and what of it is shown.
struct Kept {
    run: Run,
    /// Since when something is not shown.
    stale_since: Option<Instant>,
    /// The handoffs that have changed since the archive was written.
    stale: HashSet<HandoffId>,
    /// The handoffs that are in the archive, each with the report that it shows.
    archived: HashMap<HandoffId, Option<Digest>>,
    /// What was last written, by path.
    shown: HashMap<PathBuf, String>,
    /// The views for which a warning was printed that they cannot be written.
    told: HashSet<View>,
    budget: TimeBudget,
}

impl Audience for Views {
    fn hear(&self, run: &Run, news: &News<'_>) {
        self.audience.hear(run, news);
        if run.definition.workflow.views.is_empty() {
            return;
        }
        let mut kept = self.lock();
        match news {
            News::Event(event) => {
                match &mut *kept {
                    Some(kept) => kept.follow(run, &event.handoff, |known| known.absorb(event)),
                    None => *kept = Some(Kept::of(run)),
                }
                self.changed.notify_one();
            }
            News::Begins(_) | News::Asks(_) => {
                let kept = kept.as_mut().filter(|kept| kept.budget.wait().is_zero());
                kept.into_iter().for_each(|kept| self.write(kept));
            }
            News::Examines(_) | News::Note(_) => {}
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.audience.see(job, seen);
    }
}

impl Views {
    /// Stands between a driver and its audience.
    pub(crate) fn before(audience: Arc<dyn Audience>) -> Views {
        Views { audience, kept: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until something should be written.
    pub(crate) async fn are_due(&self) {
        loop {
            let changed = self.changed.notified();
            let due = self.lock().as_ref().and_then(Kept::due_in);
            match due {
                Some(wait) => return tokio::time::sleep(wait).await,
                None => changed.await,
            }
        }
    }

    /// Writes what has changed since the last time.
    pub(crate) fn catch_up(&self) {
        self.lock().iter_mut().for_each(|kept| self.write(kept));
    }

    /// Writes the views of a run as its journal tells it now, whatever was written before; `archive` writes the whole
    /// session, if the run keeps one, into its folder.
    pub(crate) fn finish(&self, run: &Run, archive: impl FnOnce(&Path) -> Result<(), CommandError>) {
        if run.definition.workflow.views.is_empty() {
            return;
        }
        let mut kept = Kept { stale: HashSet::new(), ..Kept::of(run) };
        kept.told = self.lock().take().map(|kept| kept.told).unwrap_or_default();
        self.write(&mut kept);
        let placed = run.definition.workflow.views.iter().find(|placed| placed.view == Some(View::Archive));
        if let Some(folder) = placed.and_then(|placed| view::place(run, placed).ok()) {
            let written = archive(&folder).map_err(|error| error.message);
            written.err().into_iter().for_each(|why| self.tell(&mut kept, View::Archive, &why));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, kept: &mut Kept) {
        for (view, why) in kept.write() {
            self.tell(kept, view, &why);
        }
    }

    /// Warns once that a view cannot be written.
    fn tell(&self, kept: &mut Kept, view: View, why: &str) {
        if kept.told.insert(view) {
            let note = format!("the view `{}` cannot be written: {why}", view.as_str());
            self.audience.hear(&kept.run, &News::Note(&note));
        }
    }
}

impl Kept {
    fn of(run: &Run) -> Kept {
        Kept {
            stale_since: Some(Instant::now()),
            stale: run.handoffs().map(|tracked| tracked.handoff.id.clone()).collect(),
            run: run.clone(),
            archived: HashMap::new(),
            shown: HashMap::new(),
            told: HashSet::new(),
            budget: TimeBudget::start(),
        }
    }

    fn follow(&mut self, run: &Run, changed: &HandoffId, absorb: impl FnOnce(&mut Run) -> Result<(), JournalFault>) {
        // Copying the run for each event would take as long as the run is.
        if run.seq != self.run.seq + 1 || absorb(&mut self.run).is_err() {
            *self =
                Kept { shown: std::mem::take(&mut self.shown), told: std::mem::take(&mut self.told), ..Kept::of(run) };
        }
        self.stale.insert(changed.clone());
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Returns how long it takes until something should be written, if there is anything.
    fn due_in(&self) -> Option<Duration> {
        let collected = COLLECTED.saturating_sub(self.stale_since?.elapsed());
        Some(collected.max(self.budget.wait()))
    }

    /// Writes the views; returns those that could not be written, with the reason.
    fn write(&mut self) -> Vec<(View, String)> {
        if self.stale_since.take().is_none() {
            return Vec::new();
        }
        let begin = Instant::now();
        let definition = Arc::clone(&self.run.definition);
        let mut failed = Vec::new();
        for placed in &definition.workflow.views {
            if let (Some(view), Err(why)) = (placed.view, self.write_view(placed)) {
                failed.push((view, why));
            }
        }
        self.budget.spend(begin.elapsed());
        failed
    }

    fn write_view(&mut self, placed: &PlacedView) -> Result<(), String> {
        let Some(view) = placed.view else { return Ok(()) };
        let path = view::place(&self.run, placed).map_err(|why| why.to_string())?;
        let text = match view {
            View::Archive => return self.write_archive(&path),
            View::Registry => return self.write_registry(&path),
            View::State => render(&contents::current(&self.run), Form::Json),
            View::PhaseStatus => render(&contents::phase_status(&self.run), Form::Json),
            View::Manifest => render(&contents::manifest(&self.run), Form::Yaml),
        };
        self.put(path, text)
    }

    /// Writes the files of the handoffs that have changed.
    fn write_archive(&mut self, folder: &Path) -> Result<(), String> {
        let mut stale = std::mem::take(&mut self.stale);
        let mut written = Ok(());
        stale.retain(|id| {
            written = written.clone().and_then(|()| self.write_exchange(folder, id));
            written.is_err()
        });
        self.stale = stale;
        written
    }

    fn write_exchange(&mut self, folder: &Path, id: &HandoffId) -> Result<(), String> {
        let Some(tracked) = self.run.find(id) else { return Ok(()) };
        let last_report = tracked.handoff.last_report.clone();
        // Most of what happens to a handoff changes neither what was asked nor what was answered.
        let before = self.archived.get(id);
        let asked = before.is_none().then(|| archive::asked(&tracked.handoff, &tracked.request));
        let report = tracked.told.as_ref().filter(|_| before != Some(&last_report));
        let answered = report.and_then(|told| archive::answered(&tracked.handoff, &told.written));
        for file in asked.into_iter().chain(answered) {
            self.replace(&folder.join(file.path), &file.text)?;
        }
        self.archived.insert(id.clone(), last_report);
        Ok(())
    }

    /// Lists the artifacts of the run among those that are listed already.
    fn write_registry(&mut self, path: &Path) -> Result<(), String> {
        let workspace = &self.run.definition.workspace;
        let root = path.ancestors().nth(2).unwrap_or(workspace);
        let mut entries = artifacts::registry(&self.run);
        for listed in entries.iter_mut().filter_map(|entry| entry.get_mut("path")) {
            let full = workspace.join(listed.as_str().unwrap_or_default());
            if let Ok(inner) = full.strip_prefix(root) {
                *listed = inner.to_string_lossy().into();
            }
        }
        if entries.is_empty() && !self.shown.contains_key(path) {
            return Ok(());
        }
        let text = serde_json::to_string(&entries).unwrap_or_default();
        if self.shown.get(path) != Some(&text) {
            folder_of(workspace, path).map_err(|error| format!("{}: {error}", path.display()))?;
            directory::list_artifacts_of_run(root, &self.run.id, entries).map_err(|error| error.to_string())?;
            self.shown.insert(path.to_owned(), text);
        }
        Ok(())
    }

    fn put(&mut self, path: PathBuf, text: String) -> Result<(), String> {
        if self.shown.get(&path) != Some(&text) {
            self.replace(&path, &text)?;
            self.shown.insert(path, text);
        }
        Ok(())
    }

    fn replace(&self, path: &Path, text: &str) -> Result<(), String> {
        let folder = folder_of(&self.run.definition.workspace, path);
        let written = folder.and_then(|folder| folder.write(path.file_name().unwrap_or_default(), text.as_bytes()));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Makes the folder of a view, which lies in the workspace. A link on the way may be the work of an agent.
fn folder_of(workspace: &Path, path: &Path) -> io::Result<SharedFolder> {
    let folder = path.parent().filter(|folder| folder.starts_with(workspace));
    let folder = folder.ok_or_else(|| io::Error::other("it lies outside the workspace"))?;
    SharedFolder::make(workspace, folder)
}
