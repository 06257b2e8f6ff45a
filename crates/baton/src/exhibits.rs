//! What a person may want to read before deciding: the files that are decided about, what has changed in them, and what
//! those before have handed over.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use baton_engine::driver;
use baton_engine::evidence::{SeenFile, seen_files};
use baton_engine::handoff::Digest;
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_engine::store::Store;
use similar::TextDiff;

/// Finds what belongs to a question.
#[derive(Clone)]
pub(crate) struct Exhibits(Arc<dyn Store>);

/// So many lines around a difference are shown.
const AROUND: usize = 5;

impl Exhibits {
    /// Finds it in this store.
    pub(crate) fn in_store(store: &Arc<dyn Store>) -> Exhibits {
        Exhibits(store.clone())
    }

    /// Returns all of it as one text.
    pub(crate) async fn of(&self, question: &Question) -> String {
        let run = driver::load(self.0.as_ref(), &question.run).await.ok();
        let mut parts = Vec::new();
        let mut shown = HashSet::new();
        // A report may name a file as made and as changed.
        for file in seen_files(&question.examined).filter(|file| shown.insert(file.path.clone())) {
            parts.push(self.file(question, &file, run.as_ref()).await);
        }
        let tracked = run.as_ref().and_then(|run| Some((run, run.find(&question.handoff)?)));
        for handover in tracked.map(|(run, tracked)| driver::handed_to(run, tracked)).unwrap_or_default() {
            parts.push(headed(&format!("{} has handed over", handover.label), &handover.text));
        }
        if question.document.is_some() {
            parts.push(headed("what is decided about", &baton_views::question::whole(question)));
        }
        parts.join("\n")
    }

    /// Shows a file as it is decided about: what has changed since the last commit, or all of it if it is new.
    async fn file(&self, question: &Question, file: &SeenFile, run: Option<&Run>) -> String {
        let path = &file.path;
        let Some(digest) = file.sha256.clone().map(Digest) else {
            return headed(path, "It does not exist, or is too large to be stored.");
        };
        let kept = self.0.content(&question.run, &digest).await.ok().flatten();
        let Some(now) = kept.filter(|bytes| Digest::of(bytes) == digest) else {
            return headed(path, "It was too large to be stored; see the workspace.");
        };
        let Ok(now) = String::from_utf8(now) else { return headed(path, "It is not text.") };
        match run.and_then(|run| committed(&run.definition.workspace, path)) {
            Some(before) if before == now => headed(&format!("{path} (as in the last commit)"), &now),
            Some(before) => {
                let difference = TextDiff::from_lines(&before, &now);
                let mut unified = difference.unified_diff();
                let unified = unified.context_radius(AROUND).header("last commit", "now");
                headed(&format!("{path} (changes since the last commit)"), &unified.to_string())
            }
            None => headed(path, &now),
        }
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
