//! The target that a static program is built for: the musl one of this machine's processor.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process};

/// Returns the name of the target; the error says that there is none.
pub(super) fn of_this_machine() -> Result<String> {
    if std::env::consts::OS == "linux" {
        return Ok(format!("{}-unknown-linux-musl", std::env::consts::ARCH));
    }
    Err(Failure::usage("releases are for Linux and are built on Linux", "run it there, or in a container").into())
}

/// Makes sure that the toolchain has the standard library for this target.
pub(super) fn ensure(root: &Path, target: &str) -> Result<()> {
    if is_installed(root, target) {
        return Ok(());
    }
    output::note(&format!("adding the target {target}"));
    let added = Command::new("rustup").current_dir(root).args(["target", "add", target]).status();
    if added.is_ok_and(|status| status.success()) && is_installed(root, target) {
        return Ok(());
    }
    Err(not_installed(target).into())
}

fn not_installed(target: &str) -> Failure {
    let hint = format!(
        "run: rustup target add {target}; without rustup, install your distribution's Rust standard library for musl"
    );
    Failure::usage(format!("Rust's standard library for {target} is not installed and cannot be added"), hint)
}

/// Returns whether the compiler that builds this repository has the standard library of the target.
fn is_installed(root: &Path, target: &str) -> bool {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root).args(["--print", "target-libdir", "--target", target]);
    process::stdout(&mut command, "").is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_target_is_one_error_with_what_to_do() {
        let message = not_installed("x86_64-unknown-linux-musl").to_string();
        assert!(message.starts_with("Rust's standard library for x86_64-unknown-linux-musl is not installed"));
        assert!(message.contains("hint: run: rustup target add x86_64-unknown-linux-musl;"));
    }

    #[test]
    fn target_of_this_build_is_installed_and_an_unknown_one_is_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(!is_installed(root, "no-such-processor-unknown-linux-musl"));
    }
}
