//! What came out of driving a run: the table, how it ended, where the record is, and what to do next.

use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::Clock as _;
use baton_engine::driver::End;
use baton_engine::handoff::Handoff;
use baton_engine::journal::{Event, Head};
use baton_engine::lifecycle::{Decision, readable_claimant};
use baton_engine::people::Question;
use baton_engine::protection::gaps;
use baton_engine::run::Run;
use baton_protocol::printable;
use baton_views::run_summary::{RunSummary, size};
use baton_views::words::counted;
use serde_json::json;

use super::{Show, Watching, events};
use crate::archive;
use crate::command_error::{CommandError, Exit};
use crate::render;
use crate::render::sheet::Tint;
use crate::store::Session;
use crate::views::Views;

impl Show<'_> {
    /// Writes the record, and tells how it ended.
    pub(super) async fn end(
        &self,
        end: &End,
        exit: Exit,
        watching: &Watching,
        views: &Views,
    ) -> Result<(), CommandError> {
        let journal = self.session.engine.events_of_run(self.id).await?;
        let run = Run::of_journal(&journal).map_err(CommandError::no)?;
        let summary = RunSummary::of(&run, &journal, self.session.now());
        let head = journal.last().map_or(Head::START, Event::head);
        let is_ours = !matches!(end, End::Lost(_));
        let record = if is_ours { self.record(&run, &summary, views).await } else { None };
        if matches!(watching, Watching::Machine(_)) {
            let path = record.as_ref().map(|path| path.display().to_string());
            let mut line = events::of_end(&run, end, exit, path.as_deref(), self.store);
            line["events"] = json!(head.seq);
            line["head"] = json!(head.hash.to_string());
            self.output.data(&format!("{line}\n"))?;
            return Ok(());
        }
        if is_ours {
            self.output.data(&format!("\n{}", render::run::table(&summary, self.output.width())))?;
        }
        self.tell_end(&run, end);
        let record = record.map(|path| path.display().to_string());
        self.output.note(&self.next(&run, end, record.as_deref(), head));
        Ok(())
    }

    /// Writes the record of the run beside its logs, and the views of the run. They follow from the journal: a run does
    /// not fail without them.
    async fn record(&self, run: &Run, summary: &RunSummary, views: &Views) -> Option<PathBuf> {
        match write_record(self.session, run, summary, views).await {
            Ok(folder) => Some(folder),
            Err(error) => {
                self.output.note(&format!("there is no record: {}", error.message));
                None
            }
        }
    }

    pub(super) fn tell_end(&self, run: &Run, end: &End) {
        let paint = self.output.paint_beside();
        let (id, size) = (&run.id, size(run));
        let (tint, text) = match end {
            End::Completed => (Tint::Green, format!("{id} is completed: {size}")),
            End::Failed(why) => {
                let ended = if is_stopped_by_person(run) { "was stopped" } else { "has failed" };
                (Tint::Red, format!("{id} {ended}: {}", printable(why.trim())))
            }
            End::Cancelled => (Tint::Red, format!("{id} was cancelled")),
            End::Waiting(questions) => {
                let count = counted(questions.len() as u64, "question");
                (Tint::Yellow, format!("{id} waits for a person: {count}"))
            }
            End::Stopped => (Tint::Yellow, format!("{id} was interrupted; nothing of it is running any more")),
            End::Lost(by) => (Tint::Yellow, self.lost(run, by)),
        };
        self.output.note(&format!("\n{}", paint.tint(tint, &text)));
        if let End::Waiting(questions) = end {
            let handoff = |question: &Question| Some((run.find(&question.handoff)?.handoff.clone(), question.clone()));
            let waiting: Vec<(Handoff, Question)> = questions.iter().filter_map(handoff).collect();
            let lines = render::inbox::lines(&waiting, &self.store.repeated(), self.session.now(), paint);
            self.output.note(&format!("\n{}", lines.trim_end()));
        }
    }

    /// Returns who drives a run that we do not drive, and until when.
    fn lost(&self, run: &Run, by: &str) -> String {
        let now = self.session.clock.now();
        let until = run.root().handoff.lease().map(|lease| {
            let seconds = lease.until.duration_since(now).as_secs().max(0);
            format!("; its lease ends in {seconds} s unless it is renewed")
        });
        format!("{} is driven by {}{}", run.id, printable(readable_claimant(by)), until.unwrap_or_default())
    }

    /// Returns where the record is, and what can be done next.
    pub(super) fn next(&self, run: &Run, end: &End, record: Option<&str>, head: Head) -> String {
        let paint = self.output.paint_beside();
        let (id, store) = (self.id, self.store.repeated());
        let mut lines: Vec<(&str, String)> = Vec::new();
        lines.extend(record.map(|record| ("record", record.to_owned())));
        // How agents are caged elsewhere, only the journal tells.
        let is_served = self.session.remote.is_some();
        if !matches!(end, End::Lost(_)) && !is_served {
            let gaps = gaps(run);
            let told = if gaps.is_empty() { super::warning::protection(run).to_string() } else { gaps.join("; ") };
            lines.push(("agents", told));
        }
        let command = |verb: &str| paint.tint(Tint::Cyan, &format!("baton {verb} {id}{store}"));
        match end {
            End::Waiting(_) if is_served => {}
            End::Waiting(questions) => {
                let first = match &questions[..] {
                    [only] => render::inbox::command(only, &store),
                    _ => format!("baton inbox{store}"),
                };
                lines.push(("next", format!("{}, then {}", paint.tint(Tint::Cyan, &first), command("resume"))));
            }
            End::Stopped => lines.push(("next", command("resume"))),
            End::Failed(_) | End::Cancelled => lines.push(("try again", command("retry"))),
            End::Lost(_) => {
                lines.push(("watch", format!("{} --follow", command("log"))));
                lines.push(("take over", format!("end that process, then {}", command("resume"))));
            }
            End::Completed => {}
        }
        if !matches!(end, End::Lost(_)) {
            lines.push(("inspect", command("show")));
            lines.push(("", command("log")));
            if !is_served {
                lines.push(("verify", command("audit verify")));
            }
            lines.push(("head", head.hash.to_string()));
        }
        let lines = lines
            .into_iter()
            .map(|(label, text)| format!("{} {text}", paint.tint(Tint::Faint, &format!("{label:<9}"))));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Writes the record of a run beside its logs, and its views. Returns where the record is.
pub(super) async fn write_record(
    session: &Session,
    run: &Run,
    summary: &RunSummary,
    views: &Views,
) -> Result<PathBuf, CommandError> {
    let workspace = shortest(&run.definition.workspace);
    let folder = workspace.join(".baton/runs").join(run.id.as_str()).join("record");
    let files = archive::session(session.store.as_ref(), &run.id).await?;
    views.finish(run, |session| archive::write_session(&run.definition.workspace, session, &files));
    archive::write_record(&workspace, &folder, (&files, &render::run::table(summary, None)), run)?;
    Ok(folder)
}

/// Returns whether a person has ended a run: by a choice at a gate, after a failure or at a limit.
fn is_stopped_by_person(run: &Run) -> bool {
    let last = run.handoffs().rev().find(|tracked| tracked.route.is_some());
    last.is_some_and(|tracked| {
        let stops = tracked.route.as_ref().is_some_and(|route| route.to == "stop");
        stops && tracked.decided.as_ref().is_some_and(|decide| matches!(decide.decision, Decision::Answer { .. }))
    })
}

/// Returns what the end of a run means to whoever started it.
pub(super) fn exit_of(end: &End, is_interrupted: bool) -> Exit {
    match end {
        End::Completed => Exit::Done,
        End::Waiting(_) => Exit::Waiting,
        End::Stopped if is_interrupted => Exit::Interrupted,
        End::Failed(_) | End::Cancelled | End::Stopped => Exit::No,
        // Once its lease has ended, it can be taken over.
        End::Lost(_) => Exit::TryAgain,
    }
}

/// Returns a path as somebody here would write it.
fn shortest(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok().and_then(|here| fs::canonicalize(here).ok());
    let inside = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    inside.unwrap_or_else(|| path.to_owned())
}
