//! The roles on folders: creators write requests, doers claim, complete, fail, dawdle, walk away and sweep.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_agents::directory::{
    ArtifactFile, Completion, Directory, DirectoryError, Folder, FolderClaim, NewFolderHandoff,
};
use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
use baton_engine::retry::Policy;
use baton_testbed::Dice;
use serde_json::json;

use crate::role::{give_up, now, say};
use crate::sender::AGENTS;

/// Creates handoffs.
pub(crate) fn create(root: &Path, name: &str, numbers: Range<u64>) {
    let directory = open(root);
    for number in numbers.clone() {
        let mut dice = Dice::new(number.wrapping_mul(1031) ^ name.len() as u64);
        let id = format!("{name}-{number}");
        let policy = Policy { max_retries: 1000, delay_ms: dice.below(30), ..Policy::NEVER };
        let new = NewFolderHandoff {
            id: Some(HandoffId::parse(id.as_str()).expect("a safe id")),
            timeout: Duration::from_millis(400 + dice.below(500)),
            policy,
            ..NewFolderHandoff::new(name, *dice.pick(&AGENTS), json!({ "number": number }))
        };
        match directory.create(&new, now()) {
            Ok(_) => say(&format!("sent {number} {id}")),
            // The one that was being created when somebody was killed.
            Err(DirectoryError::Exists { .. }) if number == numbers.start => say(&format!("resent {number} {id}")),
            Err(error) => give_up(&format!("creating {id}: {error}")),
        }
    }
}

/// Works until it is killed, or calmly until nothing is left.
pub(crate) fn work(root: &Path, name: &str, seed: u64, calm: bool) {
    let dice = Dice::new(seed);
    let mut doer = Doer { directory: open(root), name: name.to_owned(), dice, calm, sweeps_at: Instant::now() };
    let watch = doer.directory.watch(&[Folder::Pending]);
    loop {
        doer.sweep();
        let agent = *doer.dice.pick(&AGENTS);
        match doer.directory.claim(agent, now()) {
            Ok(noted) => match noted.result {
                Some(claim) => doer.attempt(&claim),
                None => {
                    if calm && doer.nothing_is_open() {
                        return say("drained");
                    }
                    watch.wait(Duration::from_millis(20));
                }
            },
            Err(error) => give_up(&format!("doer {name} cannot claim: {error}")),
        }
    }
}

fn open(root: &Path) -> Directory {
    Directory::open(root).unwrap_or_else(|error| give_up(&format!("the folders cannot be opened: {error}")))
}

struct Doer {
    directory: Directory,
    name: String,
    dice: Dice,
    calm: bool,
    sweeps_at: Instant,
}

impl Doer {
    /// Sweeps now and then. It looks at everything that was ever done, so it may not take most of the time.
    fn sweep(&mut self) {
        let start = Instant::now();
        if start < self.sweeps_at {
            return;
        }
        match self.directory.sweep(now()) {
            Ok(swept) => {
                let rescued = swept.expired.len() + swept.repaired.len();
                if rescued > 0 {
                    say(&format!("rescued {rescued}"));
                }
                // What is unreadable or there twice is never right here: nobody but us writes.
                if let Some(problem) = swept.problems.first() {
                    say(&format!("problem {}: {}", problem.path.display(), problem.fault));
                }
            }
            Err(error) => give_up(&format!("doer {} cannot sweep: {error}", self.name)),
        }
        self.sweeps_at = Instant::now() + Duration::from_millis(100) + 5 * start.elapsed();
    }

    fn nothing_is_open(&self) -> bool {
        let empty = |folder: Folder| {
            let mut names = fs::read_dir(self.directory.folder(folder)).expect("the folder is there");
            let name =
                |name: std::io::Result<fs::DirEntry>| name.expect("a name").file_name().to_string_lossy().into_owned();
            // What is being finished has a private name.
            let is_work =
                |name: String| name.ends_with(".finishing") || (name.ends_with(".json") && !name.starts_with('.'));
            !names.any(|entry| is_work(name(entry)))
        };
        empty(Folder::Pending) && empty(Folder::InProgress)
    }

    fn attempt(&mut self, claim: &FolderClaim) {
        let mischief = if self.calm { 99 } else { self.dice.below(100) };
        match mischief {
            0 => {
                dawdle(claim.handoff.timeout() + Duration::from_millis(self.dice.below(200)));
                self.complete(claim, false);
            }
            1..=9 => self.fail(claim),
            // Walks away: the timeout must end it.
            10 => {}
            11..=50 => self.complete(claim, true),
            _ => self.complete(claim, false),
        }
    }

    fn complete(&self, claim: &FolderClaim, with_artifact: bool) {
        let artifact = with_artifact.then(|| self.artifact(claim));
        let completion = Completion { attempt: Some(claim.attempt), artifact, ..Completion::default() };
        let answer = self.persist(|| self.directory.complete(&claim.id, &completion, now()).map(drop));
        self.tell("done", claim, answer);
    }

    fn fail(&self, claim: &FolderClaim) {
        let failure = Failure::new(Code::processing_error(), "mischief");
        let answer = self.persist(|| self.directory.fail(&claim.id, Some(claim.attempt), &failure, now()).map(drop));
        self.tell("failed", claim, answer);
    }

    /// Writes what was made: it says by whom.
    fn artifact(&self, claim: &FolderClaim) -> ArtifactFile {
        let folder = self.directory.root().join("made").join(&self.name);
        let file = folder.join("result.json");
        let text = json!({ "handoff": claim.id, "attempt": claim.attempt, "by": self.name }).to_string();
        fs::create_dir_all(&folder).and_then(|()| fs::write(&file, text)).expect("a file can be written");
        ArtifactFile { file, kind: None }
    }

    /// Asks again while another process is busy with the same handoff.
    fn persist(&self, mut attempt: impl FnMut() -> Result<(), DirectoryError>) -> Result<(), DirectoryError> {
        for _ in 0..100 {
            match attempt() {
                Err(DirectoryError::Busy { .. }) => {}
                answer => return answer,
            }
        }
        attempt()
    }

    fn tell(&self, word: &str, claim: &FolderClaim, answer: Result<(), DirectoryError>) {
        let (id, attempt) = (&claim.id, claim.attempt);
        match answer {
            Ok(()) => say(&format!("{word} {id} {attempt}")),
            Err(DirectoryError::AttemptOver { .. } | DirectoryError::NotInProgress { .. }) => {
                say(&format!("late {id} {attempt}"))
            }
            Err(error) => give_up(&format!("attempt {attempt} of {id} cannot be {word}: {error}")),
        }
    }
}

/// Lets time pass, as work does.
fn dawdle(time: Duration) {
    let (_nobody, nothing) = std::sync::mpsc::channel::<()>();
    let _ = nothing.recv_timeout(time);
}
