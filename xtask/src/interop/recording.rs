//! `cargo xtask interop --record`: runs the programs as their profiles do and keeps what they print.
//!
//! The tests of the profiles read these files, so that they need neither npm nor minutes.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::launch::{self, SESSION, Session};
use super::model::{Model, Usage};
use super::programs::{Home, Programs};
use super::recordings::{Recording, Start, all};
use super::scrub;
use super::vendor::Vendor;
use crate::output;

/// What every answer claims to have used.
const USAGE: Usage = Usage { input: 1000, cached: 200, output: 50 };

/// Records every case whose name is asked for, or all of them.
pub(crate) fn run(root: &Path, folder: &Path, names: &[&str]) -> Result<()> {
    let programs = Programs::install(&folder.join("programs"))?;
    let target = root.join("crates/baton-agents/tests/recorded");
    let wanted = |recording: &Recording| {
        let name = format!("{}/{}", recording.vendor.name(), recording.name);
        names.is_empty() || names.iter().any(|part| name.contains(part))
    };
    let recordings: Vec<Recording> = all().into_iter().filter(wanted).collect();
    let of = |vendor: Vendor| recordings.iter().filter(move |recording| recording.vendor == vendor);
    std::thread::scope(|scope| {
        let threads: Vec<_> = Vendor::ALL
            .into_iter()
            .map(|vendor| {
                let (programs, target) = (&programs, &target);
                scope.spawn(move || of(vendor).try_for_each(|recording| record(programs, folder, target, recording)))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a recording panicked"))?)
    })
}

fn record(programs: &Programs, folder: &Path, target: &Path, recording: &Recording) -> Result<()> {
    let place = Place::create(folder.join("recorded").join(recording.vendor.name()).join(recording.name))?;
    let model = Model::start(recording.script.clone(), USAGE, &place.inside("model.log"))?;
    let home = Home::create(place.inside("home"), &model)?;
    let names = [
        (place.inside("ws"), "/project"),
        (home.folder.clone(), "/home/ana"),
        (place.folder.clone(), "/tmp"),
        (programs.folder.clone(), "/opt/programs"),
    ];
    let began = Instant::now();
    let mut session = match recording.vendor {
        Vendor::Opencode => "ses_0000000000000000000000000".to_owned(),
        _ => SESSION.to_owned(),
    };
    for (index, turn) in recording.turns.iter().enumerate() {
        let name = if index == 0 { recording.name.to_owned() } else { format!("{}-{}", recording.name, index + 1) };
        let mut command =
            command(recording, if turn.resumes { Session::GoesOn(&session) } else { Session::Begins }, &place);
        command.env_clear().envs(home.environment(programs, &model)?);
        for (variable, value) in &recording.environment {
            if value.is_empty() {
                command.env_remove(variable)
            } else {
                command.env(variable, value)
            };
        }
        let ended = run_once(&mut command, turn.prompt, turn.killed_at, &place, &name, recording.limit)?;
        let printed = std::fs::read_to_string(place.inside(&format!("{name}.stdout")))?;
        session = session_of(recording.vendor, &printed).unwrap_or(session);
        keep(&target.join(recording.vendor.name()), &name, &place, &names, ended)?;
        let asked = model.asked();
        output::note(&format!(
            "{}/{name}: {} after {}, {} calls, {} bytes",
            recording.vendor.name(),
            exit(ended),
            output::seconds(began.elapsed()),
            asked.calls,
            asked.bytes
        ));
    }
    Ok(())
}

/// Where one recording works.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn create(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        for skills in [".claude/skills", ".codex/skills", ".gemini/skills", ".opencode/skills"] {
            let skill = folder.join("ws").join(skills).join("designing");
            std::fs::create_dir_all(&skill)?;
            std::fs::write(
                skill.join("SKILL.md"),
                "---\nname: designing\ndescription: How designs are written here\n---\n\nKeep it short.\n",
            )?;
        }
        Ok(Self { folder })
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn command(recording: &Recording, session: Session<'_>, place: &Place) -> Command {
    let mut command = launch::command(recording.vendor, session, &recording.arguments, &place.inside("last-message"));
    command.current_dir(place.inside("ws"));
    if recording.start == Start::InGit {
        let _not_there = Command::new("git").arg("init").arg("-q").current_dir(place.inside("ws")).status();
    }
    command
}

fn run_once(
    command: &mut Command,
    prompt: &str,
    killed_at: Option<&str>,
    place: &Place,
    name: &str,
    limit: Duration,
) -> Result<ExitStatus> {
    let (stdout, stderr) = (place.inside(&format!("{name}.stdout")), place.inside(&format!("{name}.stderr")));
    command.stdin(Stdio::piped()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?).process_group(0);
    let mut child = command.spawn().context("the program could not be started")?;
    child.stdin.take().context("stdin is piped")?.write_all(prompt.as_bytes()).or_else(|error| {
        // A program that refuses its arguments does not read its prompt.
        if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
    })?;
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let seen = killed_at.is_some_and(|file| place.inside("ws").join(file).exists());
        if seen || Instant::now() > until {
            return killed(&mut child);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn killed(child: &mut Child) -> Result<ExitStatus> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status()?;
    Ok(child.wait()?)
}

fn session_of(vendor: Vendor, printed: &str) -> Option<String> {
    let field = match vendor {
        Vendor::Claude | Vendor::Gemini => return None,
        Vendor::Codex => "thread_id",
        Vendor::Opencode => "sessionID",
    };
    let event = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
    printed.lines().filter_map(event).find_map(|event| event[field].as_str().map(str::to_owned))
}

fn keep(target: &Path, name: &str, place: &Place, names: &[(PathBuf, &str)], ended: ExitStatus) -> Result<()> {
    std::fs::create_dir_all(target)?;
    for (from, to) in [("stdout", "jsonl"), ("stderr", "stderr")] {
        let text = std::fs::read(place.inside(&format!("{name}.{from}")))?;
        let text = scrub::text(&String::from_utf8_lossy(&text), names);
        std::fs::write(target.join(format!("{name}.{to}")), text)?;
    }
    std::fs::write(target.join(format!("{name}.exit")), format!("{}\n", exit(ended)))?;
    Ok(())
}

fn exit(status: ExitStatus) -> String {
    status.code().map_or_else(|| format!("signal {}", status.signal().unwrap_or_default()), |code| code.to_string())
}
