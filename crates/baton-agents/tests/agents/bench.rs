//! A place for one agent to work in, and ways to see what became of its processes.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use baton_agents::CommandAgent;
use baton_engine::agent::{Agent as _, EndedTurn, Job, Reply, TurnEnd, Update, Updates};
use baton_engine::failure::Failure;
use baton_engine::handoff::WrittenDocument;
use baton_engine::{Clock, HandoffId, RunId};
use baton_protocol::Dialect;
use baton_protocol::workflow::{AgentFields, CommandLine};
use baton_testbed::Scratch;

/// Nothing here takes nearly as long.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A place to work in.
pub(crate) struct Bench {
    pub(crate) scratch: Scratch,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let scratch = Scratch::new();
        scratch.folder("workspace").folder("attempt").folder("workflow");
        Bench { scratch }
    }

    /// Something to do; the run is named like the folder, so that no two tests share one.
    pub(crate) fn job(&self) -> Job {
        let run = self.scratch.root().file_name().expect("a name").to_string_lossy().into_owned();
        Job {
            run: RunId::parse(run).expect("a safe name"),
            handoff: HandoffId::parse("hoff-1").expect("a safe name"),
            phase: "build/review".to_owned(),
            agent: "reviewer".to_owned(),
            fence: baton_engine::Fence(7),
            attempt: 2,
            session: Default::default(),
            spent_before: Default::default(),
            ended: 1,
            prompt: "Please review.".to_owned(),
            request: WrittenDocument::new(Dialect::Task, r#"{"task_id": "t", "phase": "write"}"#),
            contract: None,
            notes: Vec::new(),
            workspace: self.scratch.path("workspace"),
            output_directory: self.scratch.path("workspace/out"),
            folder: self.scratch.path("attempt"),
            writes: None,
            undo: Vec::new(),
            confinement: Default::default(),
            timeout: None,
            pick_up_within: None,
            traceparent: None,
        }
    }

    /// An agent that is a piece of shell.
    pub(crate) fn shell(&self, text: &str) -> CommandAgent {
        self.agent(&AgentFields { command: Some(CommandLine::Shell(text.to_owned())), ..AgentFields::default() })
    }

    pub(crate) fn agent(&self, agent: &AgentFields) -> CommandAgent {
        CommandAgent::new("reviewer", agent, &self.scratch.path("workflow"), clock()).expect("it can be reached")
    }

    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        self.scratch.write(name, text);
        let path = self.scratch.path(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
        path
    }

    /// Lets an agent work, and returns how it ended and what it told meanwhile.
    pub(crate) fn heard(&self, agent: &CommandAgent, job: &Job) -> (EndedTurn, Vec<Update>) {
        let (updates, mut told) = tokio::sync::mpsc::unbounded_channel();
        let ended = runtime().block_on(agent.turn(job, &updates));
        drop(updates);
        (ended, std::iter::from_fn(|| told.try_recv().ok()).collect())
    }

    pub(crate) fn attempt(&self, agent: &CommandAgent, job: &Job) -> EndedTurn {
        runtime().block_on(agent.turn(job, &unheard()))
    }

    /// Lets a piece of shell work, and returns what it answered.
    pub(crate) fn answer(&self, text: &str) -> Reply {
        answered(self.attempt(&self.shell(text), &self.job()))
    }

    /// Lets a piece of shell work, and returns how it failed.
    pub(crate) fn failure(&self, text: &str) -> Failure {
        failed(self.attempt(&self.shell(text), &self.job()))
    }

    /// Makes a pipe with a name, into which agents write.
    pub(crate) fn pipe(&self, name: &str) -> PathBuf {
        let path = self.scratch.path(name);
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
        assert!(made.success());
        path
    }
}

/// A clock that shows the afternoon of the recordings.
pub(crate) fn clock() -> Arc<dyn Clock> {
    struct Afternoon;
    impl Clock for Afternoon {
        fn now(&self) -> jiff::Timestamp {
            "2026-11-16T15:00:00Z".parse().expect("a time")
        }

        fn observe(&self, _: jiff::Timestamp) {}
    }
    Arc::new(Afternoon)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Updates that nobody listens to.
pub(crate) fn unheard() -> Updates {
    tokio::sync::mpsc::unbounded_channel().0
}

pub(crate) fn answered(turn: EndedTurn) -> Reply {
    match turn.end {
        TurnEnd::Answered(reply) => reply,
        TurnEnd::Failed(failure, _) => panic!("{failure}"),
    }
}

pub(crate) fn failed(turn: EndedTurn) -> Failure {
    match turn.end {
        TurnEnd::Failed(failure, _) => failure,
        TurnEnd::Answered(reply) => panic!("{reply:?}"),
    }
}

/// Reads from a pipe until nobody holds it for writing any more: then everybody who had it is dead.
pub(crate) fn until_closed(pipe: &Path) -> String {
    let path = pipe.to_owned();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        let _ = sender.send(read.map(|_| text));
    });
    receiver.recv_timeout(LONG).expect("somebody still holds the pipe").expect("it can be read")
}
