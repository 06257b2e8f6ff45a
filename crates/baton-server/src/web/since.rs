//! What has changed since people decided last about what they are asked now.

use baton_engine::RunId;
use baton_engine::engine::{EarlierQuestion, RunRecord};
use baton_engine::evidence::{ChangedFile, changed_files};
use baton_engine::handoff::Handoff;
use baton_engine::people::Question;
use baton_page::exhibit::{EXHIBITS_MAX, Exhibit, ExhibitContent};
use baton_page::since::ChangesSince;
use baton_protocol::printable;

use super::handoff::run_around;
use crate::access::Principal;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// What was decided, and the files that are not as they were then.
pub(super) struct Since {
    run: RunId,
    earlier: EarlierQuestion,
    files: Vec<ChangedFile>,
    unchanged: usize,
}

impl Since {
    /// Looks at a question of a run; `None` if nobody has decided about the same before.
    pub(super) fn of(record: &RunRecord, question: &Question) -> Option<Since> {
        let earlier = EarlierQuestion::of(record, &question.handoff)?;
        let (files, unchanged) = changed_files(&earlier.question.examined, &question.examined);
        Some(Since { run: question.run.clone(), earlier, files, unchanged })
    }

    /// Looks at the run of a question, if somebody may see it.
    pub(super) async fn around(
        server: &Server,
        principal: &Principal,
        handoff: &Handoff,
        question: &Question,
    ) -> Result<Option<Since>, ProblemJson> {
        Ok(run_around(server, principal, handoff).await?.and_then(|record| Since::of(&record, question)))
    }

    /// Shows the files that a page has room for.
    pub(super) async fn first_files(&self, server: &Server) -> Vec<Exhibit> {
        server.host.changes(&self.run, &self.files[..self.files.len().min(EXHIBITS_MAX)]).await
    }

    /// Returns what the page of the question shows, with its first files.
    pub(super) fn page<'s>(&'s self, changed: &'s [Exhibit]) -> ChangesSince<'s> {
        let left_out = self.files.len() - changed.len();
        ChangesSince { earlier: &self.earlier, changed, left_out, unchanged: self.unchanged }
    }

    /// Writes what has changed in all files, or in the one with this path; `None` if that has not changed.
    pub(super) async fn text(&self, server: &Server, path: Option<&str>) -> Option<String> {
        let is_wanted = |file: &&ChangedFile| path.is_none_or(|path| path == file.path);
        let files: Vec<ChangedFile> = self.files.iter().filter(is_wanted).cloned().collect();
        if files.is_empty() {
            return path.is_none().then(|| "no file has changed\n".to_owned());
        }
        let shown = server.host.changes(&self.run, &files).await;
        let told = |exhibit: &Exhibit| match &exhibit.content {
            ExhibitContent::NotShown(why) => format!("{}: {why}\n", exhibit.path),
            content => format!("{}\n{}\n", exhibit.path, content.text().trim_end()),
        };
        Some(printable(&shown.iter().map(told).collect::<Vec<_>>().join("\n")))
    }
}
