//! What a person may want to read before deciding: the files that are decided about, what has changed in them, and what
//! those before have handed over.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use baton_engine::RunId;
use baton_engine::driver;
use baton_engine::evidence::{ChangedFile, SeenFile, seen_files};
use baton_engine::handoff::Digest;
use baton_engine::people::Question;
use baton_engine::store::Store;
use baton_server::{Exhibit, ExhibitContent, LAST_COMMIT, LAST_DECISION, NOW};
use similar::TextDiff;

/// Finds what belongs to a question.
#[derive(Clone)]
pub(crate) struct Exhibits(Arc<dyn Store>);

/// How many lines around a difference are shown.
const AROUND: usize = 5;

/// Why a file is not shown that is there.
const NOT_TEXT: &str = "It is not text.";

/// Why a file is not shown that was there when people decided last.
const GONE: &str = "It is gone, or is not part of this any more.";

impl Exhibits {
    /// Finds it in this store.
    pub(crate) fn in_store(store: &Arc<dyn Store>) -> Exhibits {
        Exhibits(store.clone())
    }

    /// Returns all of it as one text.
    pub(crate) async fn of(&self, question: &Question) -> String {
        let run = driver::load(self.0.as_ref(), &question.run).await.ok();
        let mut shown = HashSet::new();
        // A report may name a file as made and as changed.
        let files: Vec<SeenFile> =
            seen_files(&question.examined).filter(|file| shown.insert(file.path.clone())).collect();
        let workspace = run.as_ref().map(|run| run.definition.workspace.as_path());
        let files = self.files(&question.run, workspace, &files).await;
        let mut parts: Vec<String> = files.iter().map(as_text).collect();
        let tracked = run.as_ref().and_then(|run| Some((run, run.find(&question.handoff)?)));
        for handover in tracked.map(|(run, tracked)| driver::handed_to(run, tracked)).unwrap_or_default() {
            parts.push(headed(&format!("{} has handed over", handover.label), &handover.text));
        }
        if question.document.is_some() {
            parts.push(headed("what is decided about", &baton_views::question::whole(question)));
        }
        parts.join("\n")
    }

    /// Shows files as they were examined: what has changed since the last commit, or all of a file that is new.
    pub(crate) async fn files(&self, run: &RunId, workspace: Option<&Path>, files: &[SeenFile]) -> Vec<Exhibit> {
        let mut shown = Vec::with_capacity(files.len());
        for SeenFile { path, sha256 } in files {
            let (content, is_kept) = match self.text_of(run, sha256.as_deref()).await {
                Ok(now) => (compared(workspace, path, now).await, true),
                // What is not text is there, too.
                Err(why) => (ExhibitContent::NotShown(why.to_owned()), why == NOT_TEXT),
            };
            shown.push(Exhibit { path: path.clone(), sha256: sha256.clone().filter(|_| is_kept), content });
        }
        shown
    }

    /// Shows what has changed in files since people decided about them.
    pub(crate) async fn changes(&self, run: &RunId, files: &[ChangedFile]) -> Vec<Exhibit> {
        let mut shown = Vec::with_capacity(files.len());
        for ChangedFile { path, before, now: sha256 } in files {
            let before = self.text_of(run, before.as_deref()).await.ok();
            let (content, is_kept) = match (self.text_of(run, sha256.as_deref()).await, before) {
                (Ok(now), Some(before)) => (difference(&before, now, LAST_DECISION), true),
                (Ok(now), None) => (ExhibitContent::Text(now), true),
                (Err(_), _) if sha256.is_none() => (ExhibitContent::NotShown(GONE.to_owned()), false),
                (Err(why), _) => (ExhibitContent::NotShown(why.to_owned()), why == NOT_TEXT),
            };
            shown.push(Exhibit { path: path.clone(), sha256: sha256.clone().filter(|_| is_kept), content });
        }
        shown
    }

    async fn text_of(&self, run: &RunId, sha256: Option<&str>) -> Result<String, &'static str> {
        let digest = Digest(sha256.ok_or("It does not exist, or is too large to be stored.")?.to_owned());
        let kept = self.0.content(run, &digest).await.ok().flatten().filter(|bytes| Digest::of(bytes) == digest);
        let bytes = kept.ok_or("It was too large to be stored; see the workspace.")?;
        String::from_utf8(bytes).map_err(|_| NOT_TEXT)
    }
}

/// Compares a file with what it was in the last commit.
async fn compared(workspace: Option<&Path>, path: &str, now: String) -> ExhibitContent {
    let before = match workspace {
        Some(workspace) => {
            let (workspace, path) = (workspace.to_owned(), path.to_owned());
            tokio::task::spawn_blocking(move || committed(&workspace, &path)).await.ok().flatten()
        }
        None => None,
    };
    match before {
        Some(before) => difference(&before, now, LAST_COMMIT),
        None => ExhibitContent::Text(now),
    }
}

fn difference(before: &str, now: String, since: &str) -> ExhibitContent {
    if before == now {
        return ExhibitContent::Unchanged(now);
    }
    let difference = TextDiff::from_lines(before, &now);
    let mut unified = difference.unified_diff();
    ExhibitContent::Difference(unified.context_radius(AROUND).header(since, NOW).to_string())
}

fn as_text(exhibit: &Exhibit) -> String {
    let path = &exhibit.path;
    match &exhibit.content {
        ExhibitContent::NotShown(text) | ExhibitContent::Text(text) => headed(path, text),
        ExhibitContent::Unchanged(text) => headed(&format!("{path} (as in the last commit)"), text),
        ExhibitContent::Difference(text) => headed(&format!("{path} (changes since the last commit)"), text),
    }
}

fn headed(title: &str, text: &str) -> String {
    format!("━━ {title}\n\n{}\n", text.trim_end())
}

/// Returns a file of the workspace as it is in the last commit. Only the object itself is read: an agent can name programs
/// in the configuration of the repository that git starts to compare files.
fn committed(workspace: &Path, path: &str) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(workspace).args(["cat-file", "blob", &format!("HEAD:./{path}")]);
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null()).stderr(Stdio::null());
    let read = git.output().ok().filter(|read| read.status.success())?;
    String::from_utf8(read.stdout).ok()
}
