//! Who runs the program, and on which machine.

/// Returns the name of the account that runs us. The operating system knows it; variables can say anything.
pub(crate) fn name() -> String {
    let plain = |name: &String| !name.trim().is_empty() && !name.contains(char::is_control);
    whoami::username().ok().filter(plain).unwrap_or_else(unnamed)
}

/// Returns a name for one process that works: `user@host:pid`.
pub(crate) fn claimant() -> String {
    format!("{}@{}:{}", name(), host(), std::process::id())
}

#[cfg(unix)]
fn unnamed() -> String {
    format!("uid-{}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn unnamed() -> String {
    "unknown".to_owned()
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "localhost".to_owned())
}
