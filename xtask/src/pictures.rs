//! `cargo xtask pictures`: draws the terminals in docs/images from what the program prints in a real one, which is tmux.
//! The pages of a browser beside them are not drawn here.

mod drawing;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::failure::Failure;
use crate::generate::executable;
use crate::{output, process};

/// The name of each picture, how wide its terminal is, and what is typed there.
const PICTURES: [(&str, usize, &[&str]); 3] = [
    (
        "run",
        100,
        &["baton run examples/integration --workspace target/demo --answers examples/integration/answers.yaml"],
    ),
    ("check", 110, &["baton check examples/broken/review.md"]),
    (
        "queue",
        100,
        &[
            "baton send --to finder --retry-delay 0 research-request.json",
            "baton worker --agent finder --claimant worker-1 --lease 1s -- sh -c 'kill -9 $PPID'",
            "baton claim --agent finder --claimant worker-2 --wait > request.json",
            "baton report rate-limit-07 --fence 1 research-report.json",
            "baton report rate-limit-07 --fence 2 research-report.json",
            "baton log rate-limit-07",
            "baton audit verify rate-limit-07",
        ],
    ),
];

/// Prints a command as somebody would type it, and runs it.
const TYPE_IN: &str = r#"type_in() { printf '\033[1;32m$\033[0m %s\n' "$1"; eval "$1"; }"#;

const HINT: &str = "try the commands of xtask/src/pictures.rs by hand";

/// Draws every terminal again. Its title, for those who do not see it, stays.
pub(crate) fn run(root: &Path) -> Result<()> {
    if !process::succeeds(Command::new("tmux").arg("-V")) {
        return Err(Failure::usage("the pictures are taken in tmux, which is missing", "install tmux").into());
    }
    let build = ["build", "--quiet", "--package", "baton", "--bin", "baton", "--message-format", "json"];
    let messages = process::stdout(&mut process::cargo(root, &build), "mend the program first")?;
    let program = executable(&messages).context("Cargo built no program called `baton`")?;
    for (name, columns, commands) in PICTURES {
        let path = format!("docs/images/{name}.svg");
        let old = fs::read_to_string(root.join(&path)).with_context(|| format!("{path} cannot be read"))?;
        let title = old.lines().find(|line| line.starts_with("<title")).context("the picture has no title")?;
        let screen = taken((name, columns, commands), &stage(root)?, &program)?;
        fs::write(root.join(&path), drawing::svg(&screen, title, columns))
            .with_context(|| format!("{path} cannot be written"))?;
        output::note(&format!("wrote {path}"));
    }
    Ok(())
}

/// Makes a folder with the files that the commands name, and with nothing from earlier pictures.
fn stage(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/pictures");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("target/pictures cannot be removed")?;
    }
    fs::create_dir_all(&folder).context("target/pictures cannot be made")?;
    symlink(root.join("examples"), folder.join("examples"))?;
    for name in ["research-request.json", "research-report.json"] {
        fs::copy(root.join("examples/handoffs/tasks").join(name), folder.join(name))?;
    }
    Ok(folder)
}

/// Types commands in a terminal, and returns its screen with colours.
fn taken((name, columns, commands): (&str, usize, &[&str]), folder: &Path, program: &Path) -> Result<String> {
    let typed: Result<Vec<String>, _> = commands
        .iter()
        .map(|command| Ok::<_, shlex::QuoteError>(format!("type_in {}\n", shlex::try_quote(command)?)))
        .collect();
    // The screen must stay until it was looked at.
    let script = format!("{TYPE_IN}\n{}tmux wait-for -S done\nexec cat\n", typed?.join("echo\n"));
    fs::write(folder.join("typed.sh"), script)?;
    let programs = program.parent().context("the program is in a folder")?.display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    // A server of its own for each picture: nobody's sessions and settings are touched.
    let server = format!("baton-picture-{name}");
    let tmux = |arguments: &[&str]| {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &server, "-f", "/dev/null"]).args(arguments).current_dir(folder);
        command.env("PATH", &path).env("XDG_STATE_HOME", folder.join("state"));
        command.env_remove("NO_COLOR").env_remove("TMUX");
        command
    };
    process::run(&mut tmux(&["new-session", "-d", "-x", &columns.to_string(), "-y", "300", "sh typed.sh"]), HINT)?;
    let screen = process::run(&mut tmux(&["wait-for", "done"]), HINT)
        .and_then(|()| process::stdout(&mut tmux(&["capture-pane", "-e", "-p"]), HINT));
    process::run(&mut tmux(&["kill-server"]), HINT)?;
    screen
}
