//! `cargo xtask interop`: the real programs of four vendors, run by Baton against a scripted model on loopback.
//!
//! It needs node and npm, and minutes; the test command does without and reads what was recorded here.

mod anthropic;
mod case;
mod cases;
mod generate_content;
mod http;
mod journal;
mod launch;
mod model;
mod programs;
mod recording;
mod recordings;
mod responses;
mod script;
mod scrub;
mod stage;
mod team;
mod vendor;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::failure::Failure;
use crate::{output, process};
use case::Case;
use model::Asked;
use programs::Programs;
use stage::Stage;

const HINT: &str =
    "write: cargo xtask interop [--record | --baton PATH] [PART-OF-A-NAME…]; without names all cases are played";

/// How many cases play at the same time: the programs wait for the disk and for each other's processors.
const AT_ONCE: usize = 2;

/// What came of a case.
struct Played {
    name: String,
    failure: Option<String>,
    asked: Asked,
    wall: Duration,
}

/// Plays the cases whose names contain one of the arguments, or all of them.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = place()?;
    match arguments {
        ["--record", names @ ..] => recording::run(root, &folder, names),
        // Hooks start it by its name.
        ["--baton", baton, ..] if !Path::new(baton).ends_with("baton") => {
            Err(Failure::usage(format!("`{baton}` is not called `baton`"), HINT).into())
        }
        ["--baton", baton, names @ ..] => play(&root.join(baton), &folder, names),
        [option, ..] if option.starts_with('-') => {
            Err(Failure::usage(format!("`cargo xtask interop` does not understand `{option}`"), HINT).into())
        }
        names => {
            process::run(
                &mut process::cargo(root, &["build", "--locked", "--package", "baton"]),
                "fix what does not build",
            )?;
            play(&root.join(target).join("debug/baton"), &folder, names)
        }
    }
}

/// Returns where programs are installed and cases are played: the cache folder of the user. Codex looks for a repository
/// around its workspace, trusts it and reads its settings, so cases must not be played in ours.
fn place() -> Result<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    Ok(cache.context("neither XDG_CACHE_HOME nor HOME names a folder")?.join("baton-interop"))
}

fn play(baton: &Path, folder: &Path, names: &[&str]) -> Result<()> {
    let wanted = |case: &Case| names.is_empty() || names.iter().any(|part| case.name.contains(part));
    let cases: Vec<Case> = case::all().into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err(Failure::usage(format!("no case is called like {}", names.join(", ")), HINT).into());
    }
    let programs = Programs::install(&folder.join("programs"))?;
    let waiting = Mutex::new(cases.into_iter());
    let played = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
                    let result = play_one(&case, baton, folder, &programs);
                    output::result(&line(&result));
                    let Ok(mut played) = played.lock() else { return };
                    played.push(result);
                }
            });
        }
    });
    let mut played = played.into_inner().ok().context("a case panicked")?;
    played.sort_by(|one, other| one.name.cmp(&other.name));
    output::result(&table(&played));
    match played.iter().filter(|played| played.failure.is_some()).count() {
        0 => Ok(()),
        count => Err(Failure::no(
            format!("failed: {count} of {}", played.len()),
            format!("what each printed is in {}", folder.join("cases").display()),
        )
        .into()),
    }
}

fn play_one(case: &Case, baton: &Path, folder: &Path, programs: &Programs) -> Played {
    let began = Instant::now();
    let name = case.name.clone();
    match Stage::set(folder.join("cases").join(&name), baton, programs, case.script.clone()) {
        Ok(stage) => {
            let failure = (case.play)(&stage).err().map(|error| format!("{error:#}"));
            Played { name, failure, asked: stage.model.asked(), wall: began.elapsed() }
        }
        Err(error) => {
            Played { name, failure: Some(format!("{error:#}")), asked: Asked::default(), wall: began.elapsed() }
        }
    }
}

fn line(played: &Played) -> String {
    match &played.failure {
        None => format!("ok      {}", played.name),
        Some(failure) => format!("FAILED  {}: {failure}", played.name),
    }
}

fn table(played: &[Played]) -> String {
    let mut lines = vec![format!("\n{:<36} {:>6} {:>6} {:>10} {:>9}", "CASE", "", "CALLS", "KB SENT", "WALL")];
    for case in played {
        let state = if case.failure.is_some() { "FAILED" } else { "ok" };
        let sent = case.asked.bytes as f64 / 1000.0;
        let wall = output::seconds(case.wall);
        lines.push(format!("{:<36} {state:>6} {:>6} {sent:>10.1} {wall:>9}", case.name, case.asked.calls));
    }
    lines.join("\n")
}
