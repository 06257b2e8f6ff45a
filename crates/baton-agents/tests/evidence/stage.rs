//! A workspace with an attempt in it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use baton_agents::evidence::LocalEvidence;
use baton_engine::StateFolder;
use baton_engine::evidence::{CheckCommand, ClaimFinding, Evidence, ExaminedClaim, Scene, Transcript};
use baton_engine::handoff::Digest;
use baton_protocol::model::{Artifact, Report};
use baton_testbed::Scratch;

/// Files, eyes on them, and what is expected.
pub(crate) struct Stage {
    pub(crate) scratch: Scratch,
    pub(crate) scene: Scene,
    pub(crate) eyes: LocalEvidence,
}

impl Stage {
    /// A git repository with two committed sources, a plan and an ignored folder.
    pub(crate) fn repository() -> Self {
        let stage = Stage::plain();
        stage.write(".gitignore", "/build/\n*.log\n").git(&["init", "--quiet"]).git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--message", "first"]);
        stage
    }

    /// The same without git.
    pub(crate) fn plain() -> Self {
        let scratch = Scratch::new();
        let scene = Scene {
            workspace: scratch.path("work"),
            workflow_folder: scratch.path("flows"),
            folder: scratch.path("work/.baton/attempt-1"),
            ..Scene::default()
        };
        scratch.folder(&scene.folder).folder(&scene.workflow_folder);
        let inherited = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let eyes = LocalEvidence::new(inherited, StateFolder::at(scratch.path("state")));
        let stage = Stage { scene, scratch, eyes };
        stage.write("src/quota.rs", "fn quota() {}\n".repeat(40));
        stage.write("src/limits.rs", "fn limits() {}\n").write("docs/plan.md", "the plan\n");
        stage
    }

    /// Runs git in the workspace.
    pub(crate) fn git(&self, arguments: &[&str]) -> &Self {
        let mut git = Command::new("git");
        git.current_dir(&self.scene.workspace).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments).status().unwrap().success());
        self
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        self.scratch.write(self.path(path), content);
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.path(path)).unwrap();
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.scene.workspace.join(path)
    }

    /// Lets an agent work and examines what it says.
    pub(crate) async fn attempt(&mut self, work: impl FnOnce(&Stage), report: &Report) -> Vec<ExaminedClaim> {
        self.remember().await;
        work(self);
        self.examine(report).await
    }

    /// Takes down how the transcript is when the agent has ended.
    pub(crate) fn seal_transcript(&mut self, name: &str) {
        let path = self.scratch.path(name);
        let sha256 = Digest::of(&fs::read(&path).unwrap()).0;
        self.scene.transcript = Some(Transcript { path: path.to_string_lossy().into_owned(), sha256 });
    }

    /// Returns the file that is kept for the case that the process dies.
    pub(crate) fn kept_baseline(&self) -> PathBuf {
        let state = StateFolder::at(self.scratch.path("state"));
        let kept = fs::read_dir(state.measures(&self.scene.workspace, &self.scene.folder)).unwrap();
        let [file] = &kept.map(|file| file.unwrap().path()).collect::<Vec<_>>()[..] else { panic!("one is kept") };
        file.clone()
    }

    /// Remembers how the workspace is now, as a driver does that begins an attempt.
    pub(crate) async fn remember(&mut self) {
        self.scene.before = self.eyes.remember(&self.scene.workspace).await;
        self.scene.baseline = self.scene.before.as_ref().and_then(|before| before.digest.clone());
        self.eyes.keep(&self.scene).await;
    }

    pub(crate) async fn examine(&self, report: &Report) -> Vec<ExaminedClaim> {
        self.eyes.examine(&self.scene, report).await
    }
}

/// A report that names changed files.
pub(crate) fn modified(paths: &[&str]) -> Report {
    Report { files_modified: owned(paths), ..Report::default() }
}

/// A report that names artifacts.
pub(crate) fn made(paths: &[&str]) -> Report {
    Report { artifacts: artifacts(paths), ..Report::default() }
}

pub(crate) fn artifacts(paths: &[&str]) -> Vec<Artifact> {
    paths.iter().map(|path| Artifact::bare((*path).to_owned())).collect()
}

pub(crate) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A check that runs a line of shell.
pub(crate) fn check(name: &str, line: &str) -> CheckCommand {
    CheckCommand {
        name: name.to_owned(),
        words: owned(&["sh", "-c", line]),
        timeout: Duration::from_secs(60),
        ..CheckCommand::default()
    }
}

/// Returns the rules with this verdict, one per entry.
pub(crate) fn rules_with(examined: &[ExaminedClaim], verdict: ClaimFinding) -> Vec<&str> {
    examined.iter().filter(|examined| examined.verdict == verdict).map(|examined| examined.rule.as_str()).collect()
}

/// Returns the rules that were refuted.
pub(crate) fn refuted(examined: &[ExaminedClaim]) -> Vec<&str> {
    rules_with(examined, ClaimFinding::Refuted)
}

/// Shows what people see.
pub(crate) fn shown(examined: &[ExaminedClaim]) -> String {
    let line = |one: &ExaminedClaim| {
        let asks = if one.asks_person { " (a person must look)" } else { "" };
        format!("{:?} {}: {}{asks}\n", one.verdict, one.rule, one.sentence())
    };
    examined.iter().map(line).collect()
}
