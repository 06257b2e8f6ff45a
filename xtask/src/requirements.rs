//! What must be installed before a sub-command can run, and how it gets there.
//!
//! One row per program. On Debian and its relatives missing packages are installed when we are root
//! or may use sudo; elsewhere we say what is needed and stop.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process};

/// A program that must be on the PATH, or where else it is known to be.
pub(crate) struct Requirement {
    program: &'static str,
    /// A folder that is looked into besides the PATH; `*` stands for any one folder.
    folder: Option<&'static str>,
    packages: &'static [&'static str],
    purpose: &'static str,
}

/// What `cargo xtask test` needs.
pub(crate) const TEST: &[Requirement] = &[
    Requirement { program: "git", folder: None, packages: &["git"], purpose: "lists the files of the repository" },
    Requirement { program: "cc", folder: None, packages: &["gcc", "libc6-dev"], purpose: "links programs" },
    Requirement { program: "setsid", folder: None, packages: &["util-linux"], purpose: "leaves a session in tests" },
    Requirement {
        program: "tmux",
        folder: None,
        packages: &["tmux"],
        purpose: "is a terminal that is resized in tests",
    },
    Requirement { program: "script", folder: None, packages: &["bsdutils"], purpose: "is a terminal in tests" },
    Requirement { program: "bwrap", folder: None, packages: &["bubblewrap"], purpose: "cages agents" },
    Requirement {
        program: "ssh-agent",
        folder: None,
        packages: &["openssh-client"],
        purpose: "signs decisions in tests",
    },
    Requirement { program: "chromium", folder: None, packages: &["chromium"], purpose: "looks at the page in tests" },
    Requirement {
        program: "chromedriver",
        folder: None,
        packages: &["chromium-driver"],
        purpose: "drives Chromium in tests",
    },
    Requirement { program: "jq", folder: None, packages: &["jq"], purpose: "reads JSON in the guides" },
    Requirement { program: "python3", folder: None, packages: &["python3"], purpose: "speaks with us in tests" },
    Requirement {
        program: "postgres",
        // Debian keeps the servers of all versions away from the PATH.
        folder: Some("/usr/lib/postgresql/*/bin"),
        packages: &["postgresql"],
        purpose: "keeps handoffs in tests",
    },
    Requirement {
        program: "psql",
        folder: Some("/usr/lib/postgresql/*/bin"),
        packages: &["postgresql-client"],
        purpose: "makes databases for tests",
    },
];

/// What `cargo xtask dist` needs.
pub(crate) const DIST: &[Requirement] = &[
    Requirement { program: "git", folder: None, packages: &["git"], purpose: "knows the time of the commit" },
    Requirement { program: "musl-gcc", folder: None, packages: &["musl-tools"], purpose: "compiles SQLite for musl" },
    Requirement { program: "tar", folder: None, packages: &["tar"], purpose: "packs the archive" },
    Requirement { program: "gzip", folder: None, packages: &["gzip"], purpose: "compresses the archive" },
];

/// What `cargo xtask schemathesis` needs.
pub(crate) const SCHEMATHESIS: &[Requirement] = &[
    Requirement {
        program: "python3",
        folder: None,
        packages: &["python3", "python3-venv"],
        purpose: "runs the checks",
    },
    Requirement { program: "bwrap", folder: None, packages: &["bubblewrap"], purpose: "cages agents" },
];

/// What `cargo xtask fuzz` needs.
pub(crate) const FUZZ: &[Requirement] =
    &[Requirement { program: "c++", folder: None, packages: &["g++"], purpose: "compiles libFuzzer" }];

/// Makes sure that every required program is there, or says what to install.
pub(crate) fn ensure(requirements: &[Requirement]) -> Result<()> {
    let before = missing(requirements);
    if before.is_empty() {
        return Ok(());
    }
    let Some(elevation) = elevation() else {
        return Err(not_installed(&before).into());
    };
    install(&elevation, &packages(&before))?;
    let after = missing(requirements);
    if after.is_empty() { Ok(()) } else { Err(not_installed(&after).into()) }
}

/// Makes sure that the toolchain can format and lint.
pub(crate) fn ensure_components(root: &Path) -> Result<()> {
    for (sub_command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !process::succeeds(&mut process::cargo(root, &[sub_command, "--version"])) {
            let what = format!("`cargo {sub_command}` is not installed");
            let hint = format!("run: rustup component add {component}");
            return Err(Failure::usage(what, hint).into());
        }
    }
    Ok(())
}

fn missing(requirements: &[Requirement]) -> Vec<&Requirement> {
    requirements.iter().filter(|requirement| !is_installed(requirement)).collect()
}

fn packages(requirements: &[&Requirement]) -> Vec<&'static str> {
    requirements.iter().flat_map(|requirement| requirement.packages).copied().collect()
}

fn not_installed(missing: &[&Requirement]) -> Failure {
    let row = |row: &&Requirement| format!("\n  {} ({})", row.program, row.purpose);
    let rows: String = missing.iter().map(row).collect();
    Failure::usage(
        format!("these programs are missing:{rows}"),
        format!("install them; on Debian: apt-get install {}", packages(missing).join(" ")),
    )
}

/// Returns the words to put before `apt-get`, or nothing where we cannot install packages.
fn elevation() -> Option<Vec<&'static str>> {
    if !is_on_path("apt-get") {
        return None;
    }
    let user = process::stdout(Command::new("id").arg("-u"), "").ok()?;
    match (user.trim(), is_on_path("sudo")) {
        ("0", _) => Some(vec![]),
        // Without a terminal nobody can type a password, so sudo must not wait for one.
        (_, true) if !std::io::stdin().is_terminal() => Some(vec!["sudo", "-n"]),
        (_, true) => Some(vec!["sudo"]),
        (_, false) => None,
    }
}

fn install(elevation: &[&str], packages: &[&str]) -> Result<()> {
    output::note(&format!("installing {}", packages.join(" ")));
    let hint = format!("install these packages by hand: {}", packages.join(" "));
    let apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    let words = [elevation, &apt_get].concat();
    let [program, prefix @ ..] = words.as_slice() else {
        return Ok(());
    };
    process::run(Command::new(program).args(prefix).arg("update"), &hint)?;
    let install = ["install", "-y", "--no-install-recommends"];
    process::run(Command::new(program).args(prefix).args(install).args(packages), &hint)
}

fn is_installed(requirement: &Requirement) -> bool {
    let in_folder = |pattern| find_below(pattern, requirement.program).is_some();
    is_on_path(requirement.program) || requirement.folder.is_some_and(in_folder)
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| find(program, &path).is_some())
}

fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Looks into every folder that the pattern stands for.
fn find_below(pattern: &str, program: &str) -> Option<PathBuf> {
    let (parent, child) = pattern.split_once("/*/")?;
    let folders = Path::new(parent).read_dir().ok()?.filter_map(Result::ok);
    folders.map(|folder| folder.path().join(child).join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Requirement = Requirement {
        program: "no-such-program-on-any-machine",
        folder: Some("no-such-folder/*/bin"),
        packages: &["package-one", "package-two"],
        purpose: "shows that it is missed",
    };

    #[test]
    fn absent_program_is_missing() {
        assert_eq!(missing(&[ABSENT]).len(), 1);
    }

    #[test]
    fn program_is_found_in_a_later_folder_of_the_path() {
        let this = std::env::current_exe().unwrap();
        let folder = this.parent().unwrap();
        let name = this.file_stem().unwrap().to_str().unwrap();
        let path = std::env::join_paths([Path::new("no-such-folder"), folder]).unwrap();
        assert_eq!(find(name, &path), Some(this));
    }

    #[test]
    fn program_is_found_below_any_folder_of_the_pattern() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let pattern = format!("{}/*/src", root.display());
        assert_eq!(find_below(&pattern, "requirements.rs"), Some(root.join("xtask/src/requirements.rs")));
        assert_eq!(find_below(&pattern, "no-such-program-on-any-machine"), None);
    }

    #[test]
    fn message_names_program_purpose_and_packages() {
        let message = not_installed(&[&ABSENT]).to_string();
        assert!(message.contains("no-such-program-on-any-machine (shows that it is missed)"));
        assert!(message.ends_with("apt-get install package-one package-two"));
    }
}
