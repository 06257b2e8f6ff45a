//! A folder with a workflow, its agents and a workspace, and the program that runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_engine::Fence;
use baton_engine::journal::Event;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::{HandoffId, RunId, StateFolder};
use baton_store::Location;
use baton_testbed::{ChildLines, Process, Scratch, isolate, state_home};

/// The program under test.
pub(crate) const BATON: &str = env!("CARGO_BIN_EXE_baton");

/// Nothing takes longer, on the slowest machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The identifier that every run of these tests is given.
pub(crate) const RUN: &str = "t";

/// What every agent in Python begins with: `report` hands in a report, `workspace` is the folder to work in.
const PREAMBLE: &str = r#"#!/usr/bin/env python3
import json, os, signal, subprocess, sys, time
workspace = os.environ["BATON_WORKSPACE"]
os.chdir(workspace)
prompt = sys.stdin.read()

def report(outcome="complete", **members):
    document = {"baton": 1, "document": "report", "id": os.environ["BATON_HANDOFF_ID"], "outcome": outcome,
                "summary": "Wrote the parser for dates and its three tests."}
    document.update(members)
    with open(os.environ["BATON_REPORT_FILE"], "w") as file:
        json.dump(document, file)

def write(path, text):
    with open(path, "w") as file:
        file.write(text)
"#;

/// A folder with a workflow, its agents and a workspace.
pub(crate) struct Site {
    pub(crate) scratch: Scratch,
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Site {
    pub(crate) fn new() -> Site {
        let scratch = Scratch::new();
        scratch.folder("workspace");
        Site { scratch }
    }

    /// A site whose workspace is a git repository with a first commit.
    pub(crate) fn with_git() -> Site {
        let site = Site::new();
        site.scratch.write("workspace/old.txt", "as it was\n");
        let commit = "git init -q . && git add -A && git -c user.name=t -c user.email=t@localhost commit -q -m first";
        let mut git = Command::new("sh");
        git.args(["-c", commit]).current_dir(site.scratch.path("workspace"));
        assert!(git.status().expect("git is there").success());
        site
    }

    pub(crate) fn workflow(self, text: &str) -> Site {
        self.scratch.write("flow/workflow.yaml", text);
        self
    }

    /// Writes an agent in Python; it begins with what every agent needs.
    pub(crate) fn agent(self, name: &str, body: &str) -> Site {
        let path = format!("flow/{name}.py");
        self.scratch.write(&path, format!("{PREAMBLE}{body}\n"));
        let permissions = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.scratch.path(&path), permissions).expect("our own file");
        self
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(BATON);
        command.args(arguments).stderr(Stdio::piped());
        command
    }

    /// Makes a command that sees nothing of the user who runs the tests.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        isolate(&mut command, self.scratch.root()).current_dir(self.scratch.root());
        command
    }

    /// Returns the state folder that the program uses here.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::at(state_home(self.scratch.root()).join("baton"))
    }

    /// Returns the file of the store that the program uses here.
    pub(crate) fn store(&self) -> PathBuf {
        self.state().of(self.scratch.root()).join("baton.db")
    }

    /// Runs the program to its end, with nothing on standard input.
    pub(crate) fn baton(&self, arguments: &[&str]) -> Ended {
        let mut process = self.start(arguments);
        process.close_input();
        end(&mut process)
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn(&mut self.command(arguments))
    }

    /// Runs the workflow; nobody can be asked.
    pub(crate) fn run(&self, more: &[&str]) -> Ended {
        self.baton(&[&RUN_FLOW[..], more].concat())
    }

    pub(crate) fn resume(&self, more: &[&str]) -> Ended {
        self.baton(&[&["resume", RUN, "--no-input"], more].concat())
    }

    /// Returns the journal of the run; nothing if it was never accepted.
    pub(crate) fn journal(&self) -> Vec<Event> {
        let location = Location::Sqlite(self.store());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let store = baton_store::open(&location).await.expect("the store opens");
            store.history(&RunId::parse(RUN).expect("safe"), 0, 100_000).await.expect("the journal can be read")
        })
    }

    /// Returns the run as its journal tells it.
    pub(crate) fn told(&self) -> Run {
        Run::of_journal(&self.journal()).expect("a journal that can be read")
    }

    /// Returns the folder of an attempt.
    pub(crate) fn attempt(&self, handoff: &str, fence: Fence) -> PathBuf {
        self.scratch.path(format!("workspace/.baton/runs/{RUN}/{handoff}/{fence}"))
    }

    /// Makes a pipe: it has an end when the last process that holds it has ended.
    pub(crate) fn pipe(&self, name: &str) -> String {
        let path = self.scratch.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
        path.to_string_lossy().into_owned()
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
    }
}

pub(crate) const RUN_FLOW: [&str; 7] = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"];

/// Waits for the end of the program and for what it has to say.
pub(crate) fn end(process: &mut Process) -> Ended {
    let stdout = process.stdout.rest(LONG).expect("the program ends").join("\n");
    let stderr = process.stderr.as_ref().expect("a pipe").rest(LONG).expect("the program ends").join("\n");
    let status = process.wait(LONG).expect("the program ends");
    Ended { code: status.code(), stdout, stderr }
}

/// Reads a pipe from now on; waits until somebody writes to it.
pub(crate) fn listen(path: &str) -> ChildLines {
    let path = path.to_owned();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(ChildLines::of(fs::File::open(path).expect("the pipe opens"))));
    receiver.recv_timeout(LONG).expect("somebody writes")
}

/// Finds a handoff of a run by its name.
pub(crate) fn find<'r>(run: &'r Run, name: &str) -> &'r TrackedHandoff {
    let id = HandoffId::parse(format!("{RUN}.{name}")).expect("safe");
    let known = || run.handoffs().map(|tracked| tracked.handoff.id.to_string()).collect::<Vec<_>>().join(", ");
    run.find(&id).unwrap_or_else(|| panic!("there is no {id} among {}", known()))
}
