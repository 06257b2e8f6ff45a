//! `cargo xtask dist`: what a release is made of, as one archive with checksums in `dist/`.
//!
//! A static program for Linux, man pages, completions, licences. Nothing in the archive depends on the machine that made
//! it: names are sorted, and every time is that of the commit.

mod elf;
mod target;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::failure::Failure;
use crate::{generate, output, process, requirements};

/// Where the archive goes, below the root of the repository.
const FOLDER: &str = "dist";

/// Each shell, and the place of its script in the archive.
const COMPLETIONS: &[(&str, &str)] = &[("bash", "baton.bash"), ("zsh", "_baton"), ("fish", "baton.fish")];

const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the program and packs it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = target::of_this_machine()?;
    step(1, "looking for the compilers");
    requirements::ensure(requirements::DIST)?;
    target::ensure(root, &target)?;
    step(2, &format!("building for {target}; the first time takes some minutes"));
    let program = build(root, &target)?;
    step(3, "writing man pages and completions");
    let name = format!("baton-{}-{target}", version(&program)?);
    let folder = fill(root, &name, &program)?;
    step(4, "packing");
    let archive = pack(root, &name)?;
    std::fs::remove_dir_all(&folder)?;
    output::note(&format!("program: {}, static", megabytes(&program)?));
    output::note(&format!("archive: {}, {}", megabytes(&archive)?, archive.display()));
    output::result(&format!("{FOLDER}/{name}.tar.gz\n{FOLDER}/SHA256SUMS"));
    Ok(())
}

fn step(number: usize, what: &str) {
    output::note(&format!("dist {number}/4: {what}"));
}

/// Builds the program and makes sure that it needs nothing from the machine that it will run on.
fn build(root: &Path, target: &str) -> Result<PathBuf> {
    let started = Instant::now();
    let arguments = ["build", "--locked", "--profile", "dist", "--package", "baton", "--target", target];
    let mut command = process::cargo(root, &arguments);
    command.arg("--message-format=json-render-diagnostics");
    let messages = process::stdout(&mut command, "correct what the compiler reports above")?;
    let program = generate::executable(&messages).context("Cargo built no program called `baton`")?;
    output::note(&format!("built in {}", output::seconds(started.elapsed())));
    if elf::is_static(&std::fs::read(&program)?) {
        return Ok(program);
    }
    let what = format!("{} is not a static program: it asks for a loader", program.display());
    Err(Failure::no(what, "remove `-C target-feature=-crt-static` from RUSTFLAGS and from Cargo's configuration")
        .into())
}

/// Returns the version that the program tells, such as `0.1.0`.
fn version(program: &Path) -> Result<String> {
    let answer = process::stdout(Command::new(program).arg("--version"), "the program that was built must run here")?;
    answer.split_whitespace().nth(1).map(str::to_owned).context("`baton --version` names no version")
}

/// Makes the folder that is packed.
fn fill(root: &Path, name: &str, program: &Path) -> Result<PathBuf> {
    let folder = root.join(FOLDER).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let completions = folder.join("completions");
    std::fs::create_dir_all(&completions)?;
    std::fs::copy(program, folder.join("baton")).context("the program cannot be copied")?;
    for document in DOCUMENTS {
        std::fs::copy(root.join(document), folder.join(document)).with_context(|| format!("{document} is missing"))?;
    }
    for (shell, file) in COMPLETIONS {
        let script = process::stdout(Command::new(program).args(["completions", shell]), "make this command succeed")?;
        std::fs::write(completions.join(file), script)?;
    }
    let man = Command::new(program)
        .arg("man-pages")
        .arg(folder.join("man/man1"))
        .stderr(std::process::Stdio::null())
        .status()?;
    man.success().then_some(folder).context("`baton man-pages` failed")
}

/// Packs the folder and writes the checksum beside the archive.
fn pack(root: &Path, name: &str) -> Result<PathBuf> {
    let folder = root.join(FOLDER);
    let archive = format!("{name}.tar.gz");
    let time =
        process::stdout(Command::new("git").arg("-C").arg(root).args(["log", "-1", "--format=@%ct"]), "commit first")?;
    let mut tar = Command::new("tar");
    tar.current_dir(&folder).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"]);
    tar.arg(format!("--mtime={}", time.trim())).args(["--use-compress-program=gzip -n -9", "--create", "--file"]);
    process::run(tar.args([&archive, name]), "GNU tar and gzip are needed; see what they say above")?;
    let sums = process::stdout(Command::new("sha256sum").current_dir(&folder).arg(&archive), "sha256sum is needed")?;
    std::fs::write(folder.join("SHA256SUMS"), sums)?;
    Ok(folder.join(archive))
}

fn megabytes(file: &Path) -> Result<String> {
    Ok(format!("{:.1} MB", std::fs::metadata(file)?.len() as f64 / 1e6))
}
