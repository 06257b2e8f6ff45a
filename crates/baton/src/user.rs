//! Who runs the program, and on which machine.

/// Returns the name of the user.
pub(crate) fn name() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|variable| std::env::var(variable).ok());
    let plain = |name: &String| !name.trim().is_empty() && !name.contains(char::is_control);
    named.filter(plain).unwrap_or_else(unnamed)
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
