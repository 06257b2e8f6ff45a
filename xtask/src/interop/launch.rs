//! How the programs are started without Baton: as their profiles do it.

use std::path::Path;
use std::process::Command;

use super::vendor::Vendor;

/// A session id that we choose where the program lets us.
pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// Whether a session begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Session<'a> {
    Begins,
    GoesOn(&'a str),
}

/// Returns the program with its arguments; the prompt is expected on standard input.
pub(crate) fn command(vendor: Vendor, session: Session<'_>, arguments: &[&str], last_message: &Path) -> Command {
    let mut command = Command::new(vendor.name());
    match vendor {
        Vendor::Claude => command.args(["-p", "--output-format", "stream-json", "--verbose"]),
        Vendor::Codex => command.args(["exec", "--json", "--output-last-message"]).arg(last_message),
        Vendor::Gemini => command.args(["--output-format", "stream-json"]),
        Vendor::Opencode => command.args(["run", "--format", "json"]),
    };
    match (vendor, session) {
        (Vendor::Claude | Vendor::Gemini, Session::Begins) => command.args(["--session-id", SESSION]),
        (Vendor::Claude | Vendor::Gemini, Session::GoesOn(id)) => command.args(["--resume", id]),
        (Vendor::Opencode, Session::GoesOn(id)) => command.args(["--session", id]),
        (Vendor::Opencode | Vendor::Codex, _) => &mut command,
    };
    command.args(arguments);
    match (vendor, session) {
        (Vendor::Codex, Session::Begins) => command.arg("-"),
        (Vendor::Codex, Session::GoesOn(id)) => command.args(["resume", id, "-"]),
        _ => &mut command,
    };
    command
}
