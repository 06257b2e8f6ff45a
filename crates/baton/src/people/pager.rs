//! Shows a long text in the pager that the person has chosen, as git does.

use std::process::Stdio;

use baton_protocol::printable;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Ends a pager that is not needed any more: the question was decided elsewhere. It gets the chance to restore the terminal.
struct Paging(Option<Pid>);

impl Drop for Paging {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// Shows a text in `$BATON_PAGER`, `$PAGER` or `less`; the error is that there is none.
pub(super) async fn page(text: &str) -> Result<(), std::io::Error> {
    let set = |name: &str| std::env::var(name).ok().filter(|pager| !pager.trim().is_empty());
    let pager = set("BATON_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| "less".to_owned());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {pager}")]).stdin(Stdio::piped());
    if set("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let mut child = command.spawn()?;
    let mut paging = Paging(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    if let Some(mut input) = child.stdin.take() {
        // Whoever has read enough closes the pager before it has taken everything.
        let _ = input.write_all(printable(text).as_bytes()).await;
    }
    let status = child.wait().await?;
    paging.0 = None;
    match status.code() {
        Some(126 | 127) => Err(std::io::Error::other(format!("pager `{pager}` not found"))),
        _ => Ok(()),
    }
}
