//! What the agent or the command of a phase has written in its last attempt, from its logs.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::driver;
use baton_engine::handoff::{Handoff, State};
use baton_engine::run::Run;
use baton_engine::step::Role;
use baton_protocol::printable;
use baton_protocol::wire::closest;

use crate::command_error::{CommandError, Exit};
use crate::logs;
use crate::output::Output;
use crate::store::Session;

/// How often it is looked whether there is more.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How many bytes are read at a time.
const CHUNK: u64 = 256 * 1024;

/// Finds the last visit of a phase of a run.
pub(super) async fn visit(session: &Session, handoff: &Handoff, phase: &str) -> Result<Handoff, CommandError> {
    let run = driver::load(session.store.as_ref(), &handoff.run).await?;
    if let Some(latest) = run.latest(phase) {
        return Ok(latest.handoff.clone());
    }
    let mut paths: Vec<&str> = run.handoffs().map(|tracked| tracked.step.phase.as_str()).collect();
    paths.retain(|path| !path.is_empty());
    paths.dedup();
    let hint = match closest(phase, &paths) {
        Some(close) => format!("did you mean {close}?"),
        None => format!("it has entered {}", paths.join(", ")),
    };
    Err(CommandError::no(format!("{} has not entered a phase `{phase}`", run.id)).hint(hint))
}

/// Prints what was written, and with `follow` also what is still to come.
pub(super) async fn print(
    session: &Session,
    handoff: &Handoff,
    follow: bool,
    output: &Output,
) -> Result<Exit, CommandError> {
    let run = driver::load(session.store.as_ref(), &handoff.run).await?;
    let handoff = if handoff.is_run() { last_worked_on(&run)? } else { handoff.clone() };
    let mut written = Logs::of(&run, &handoff);
    let mut is_empty = true;
    loop {
        // What ends between the look and the reading is read as a whole.
        let now = session.store.find(&handoff.id).await?.unwrap_or_else(|| handoff.clone());
        is_empty &= !written.read_on(output)?;
        if now.fence.0 > written.fence {
            written = Logs::of(&run, &now);
            continue;
        }
        let goes_on = matches!(now.state, State::Claimed { .. } | State::Verifying | State::Pending { .. });
        if !follow || !goes_on {
            break;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if is_empty {
        output.note(&format!("{} has written nothing", handoff.id));
    }
    Ok(Exit::Done)
}

/// Finds what was begun last in a run.
fn last_worked_on(run: &Run) -> Result<Handoff, CommandError> {
    let is_work = |role: Role| matches!(role, Role::Work | Role::Delegation | Role::Check);
    let worked = run.handoffs().filter(|tracked| is_work(tracked.step.role) && tracked.begun_at.is_some());
    let last = worked.max_by_key(|tracked| tracked.begun_at).map(|tracked| tracked.handoff.clone());
    last.ok_or_else(|| CommandError::no(format!("nothing has started in {} yet", run.id)))
}

/// The logs of an attempt, and how much of them was printed.
struct Logs {
    fence: u64,
    folder: PathBuf,
    printed: BTreeMap<PathBuf, u64>,
}

impl Logs {
    fn of(run: &Run, handoff: &Handoff) -> Logs {
        let folder = run.attempt_folder(&handoff.id, handoff.fence);
        Logs { fence: handoff.fence.0, folder, printed: BTreeMap::new() }
    }

    /// Prints what has come since. Returns whether anything has.
    fn read_on(&mut self, output: &Output) -> Result<bool, CommandError> {
        let mut has_more = false;
        for path in logs::of_attempt(&self.folder) {
            let printed = self.printed.entry(path.clone()).or_default();
            while let Ok(bytes) = more(&path, *printed)
                && !bytes.is_empty()
            {
                *printed += bytes.len() as u64;
                has_more = true;
                output.data(&printable(&String::from_utf8_lossy(&bytes)))?;
            }
        }
        Ok(has_more)
    }
}

fn more(path: &Path, from: u64) -> std::io::Result<Vec<u8>> {
    let mut file = logs::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(CHUNK).read_to_end(&mut bytes)?;
    Ok(bytes)
}
