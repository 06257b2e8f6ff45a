//! Where one case plays: a model with a script, a home for the programs, a workspace, and Baton.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::journal::Journal;
use super::launch::{self, Session};
use super::model::{Model, Usage};
use super::programs::{Home, Programs};
use super::script::Script;
use super::vendor::Vendor;

/// No case takes longer; a program that hangs is part of none.
const LIMIT: Duration = Duration::from_secs(240);
/// How long Baton may take to end what it has started.
const ENDING: Duration = Duration::from_secs(15);

/// The name of the run of every case.
pub(crate) const RUN: &str = "it";

/// What every answer of the model claims to have used.
const USAGE: Usage = Usage { input: 1000, cached: 200, output: 50 };

/// A place with everything that a case needs.
#[derive(Debug)]
pub(crate) struct Stage {
    folder: PathBuf,
    baton: PathBuf,
    programs: Programs,
    home: Home,
    pub(crate) model: Model,
}

/// What a command of Baton said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    /// Sets the stage in an empty folder.
    pub(crate) fn set(folder: PathBuf, baton: &Path, programs: &Programs, script: Script) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        // OpenCode finds those of Claude Code.
        for skills in [".claude/skills", ".codex/skills", ".gemini/skills"] {
            let skill = folder.join("ws").join(skills).join("designing");
            std::fs::create_dir_all(&skill)?;
            let text = "---\nname: designing\ndescription: How designs are written here\n---\n\nKeep it short.\n";
            std::fs::write(skill.join("SKILL.md"), text)?;
        }
        let model = Model::start(script, USAGE, &folder.join("model.log"))?;
        let home = Home::create(folder.join("home"), &model)?;
        Ok(Self { folder, baton: baton.to_owned(), programs: programs.clone(), home, model })
    }

    /// Returns a path in the workspace.
    pub(crate) fn in_workspace(&self, path: &str) -> PathBuf {
        self.folder.join("ws").join(path)
    }

    /// Returns a path in the home folder of the programs.
    pub(crate) fn in_home(&self, path: &str) -> PathBuf {
        self.home.folder.join(path)
    }

    /// Writes a file into the workspace.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.in_workspace(path);
        std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        Ok(std::fs::write(path, text)?)
    }

    /// Runs a workflow to its end and returns what was journalled.
    pub(crate) fn run(&self, workflow: &Value) -> Result<Journal> {
        self.run_with(workflow, &[])
    }

    /// Runs a workflow with variables that differ from the usual ones; an empty one is removed.
    pub(crate) fn run_with(&self, workflow: &Value, variables: &[(&str, &str)]) -> Result<Journal> {
        let started = self.start(workflow, variables)?;
        Ok(Journal::read(self.wait(started, "run")?))
    }

    /// Starts a run and does not wait for it.
    pub(crate) fn start(&self, workflow: &Value, variables: &[(&str, &str)]) -> Result<Child> {
        let file = self.folder.join("workflow.json");
        std::fs::write(&file, serde_json::to_string_pretty(workflow)?)?;
        let mut command = self.command("run")?;
        command.arg("run").arg(file).args(["--workspace", "ws", "--id", RUN, "--no-input", "--json"]);
        for (name, value) in variables {
            if value.is_empty() {
                command.env_remove(name)
            } else {
                command.env(name, value)
            };
        }
        Ok(command.spawn()?)
    }

    /// Continues the run and returns what was journalled since.
    pub(crate) fn resume(&self) -> Result<Journal> {
        let mut command = self.command("resume")?;
        command.args(["resume", RUN, "--no-input", "--json"]);
        Ok(Journal::read(self.wait(command.spawn()?, "resume")?))
    }

    /// Runs one of the programs without Baton around it, in the workspace; a hook finds Baton on the search path.
    pub(crate) fn program(&self, vendor: Vendor, arguments: &[&str], prompt: &str) -> Result<Ended> {
        let mut command = launch::command(vendor, Session::Begins, arguments, &self.folder.join("last-message"));
        let mut search_path = vec![self.baton.parent().context("Baton is in a folder")?.to_owned()];
        search_path.extend(std::env::split_paths(&self.programs.search_path()?));
        command.current_dir(self.in_workspace(""));
        let mut command = self.surrounded(command, vendor.name())?;
        // With `--skip-trust` alone Gemini CLI does not read the settings of the workspace, where the hooks are.
        command
            .env("PATH", std::env::join_paths(search_path)?)
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
            .stdin(Stdio::piped());
        let mut child = command.spawn()?;
        child.stdin.take().context("standard input is piped")?.write_all(prompt.as_bytes())?;
        self.wait(child, vendor.name())
    }

    /// Waits until something is there; what the case waits for comes soon or never.
    pub(crate) fn wait_for(&self, path: &str, running: &mut Child) -> Result<()> {
        let until = Instant::now() + LIMIT;
        while !self.in_workspace(path).exists() {
            if let Some(status) = running.try_wait()? {
                bail!("baton ended ({status}) before `{path}` was there");
            }
            if Instant::now() > until {
                end(running)?;
                bail!("`{path}` did not appear within {LIMIT:?}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Lets a run go on until it has journalled something, and ends it then.
    pub(crate) fn stop_when(&self, running: &mut Child, journalled: &str) -> Result<Journal> {
        let until = Instant::now() + LIMIT;
        let read = |kind: &str| std::fs::read_to_string(self.folder.join(format!("run.{kind}")));
        while !read("stdout")?.contains(journalled) && running.try_wait()?.is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        end(running)?;
        Ok(Journal::read(Ended { code: running.wait()?.code(), stdout: read("stdout")?, stderr: read("stderr")? }))
    }

    /// Returns the names of the variables that an agent must inherit to find the model.
    pub(crate) fn variables(&self) -> Result<Vec<&'static str>> {
        let environment = self.home.environment(&self.programs, &self.model)?;
        let own = ["PATH", "HOME", "USER", "LANG", "TERM"];
        Ok(environment.into_iter().map(|(name, _)| name).filter(|name| !own.contains(name)).collect())
    }

    /// Waits until a command of Baton has ended, or ends it.
    pub(crate) fn wait(&self, mut child: Child, name: &str) -> Result<Ended> {
        let until = Instant::now() + LIMIT;
        let code = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if Instant::now() > until {
                end(&mut child)?;
                bail!("`baton {name}` did not end within {LIMIT:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let read = |kind: &str| std::fs::read_to_string(self.folder.join(format!("{name}.{kind}")));
        Ok(Ended { code, stdout: read("stdout")?, stderr: read("stderr")? })
    }

    fn command(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(&self.baton);
        command.current_dir(&self.folder);
        self.surrounded(command, name)
    }

    /// Gives a command the environment of the stage, and files for what it prints.
    fn surrounded(&self, mut command: Command, name: &str) -> Result<Command> {
        command.env_clear().envs(self.home.environment(&self.programs, &self.model)?);
        command.stdin(Stdio::null());
        command.stdout(File::create(self.folder.join(format!("{name}.stdout")))?);
        command.stderr(File::create(self.folder.join(format!("{name}.stderr")))?);
        Ok(command)
    }
}

/// Asks Baton to end, so that it ends its agents, and kills it if it does not.
fn end(child: &mut Child) -> Result<()> {
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    let until = Instant::now() + ENDING;
    while child.try_wait()?.is_none() {
        if Instant::now() > until {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
