//! `cargo xtask interop`: the real programs of four vendors, run by Baton against a scripted model on loopback.
//!
//! It needs node and npm, and minutes; the test command does without and reads what was recorded here.

mod anthropic;
mod generate_content;
mod http;
mod model;
mod programs;
mod recording;
mod recordings;
mod responses;
mod script;
mod scrub;
mod vendor;

use std::path::{Path, PathBuf};

use anyhow::Result;

/// Runs the cases that are named, or all of them.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = root.join(target).join("interop");
    match arguments {
        ["--record", names @ ..] => recording::run(root, &folder, names),
        _ => Ok(()),
    }
}
