//! One attempt: a command works on a handoff while heartbeats keep the lease; then what came out is reported.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use baton_agents::process::{Environment, FENCE, HANDOFF, Launch, Mark, ProcessEnd, SECOND_LOOK, Sink, ended_badly};
use baton_agents::workspace::WorkspaceFolder;
use baton_agents::{AcknowledgmentFile, Launcher};
use baton_engine::Fence;
use baton_engine::driver::HandInWay;
use baton_engine::engine::{Problem, Yardstick};
use baton_engine::handoff::{Handoff, Note, StateName};
use baton_engine::lifecycle::Command;
use baton_engine::store::{ClaimedHandoff, StoreError};
use baton_engine::{Code, Failure, HandoffId};
use baton_host::SharedFolder;
use baton_views::words::briefly;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::stop::Stop;
use super::workplace::Workplace;
use super::{Worker, answer, passes, patience};
use crate::briefing::{self, Briefing};
use crate::store::TOKEN_VARIABLE;

/// The longest that notes may be in the environment: Linux takes 128 KiB for one variable.
const NOTES_BYTES_MAX: usize = 100 * 1024;

/// How an attempt ended.
pub(super) struct Finish {
    pub id: HandoffId,
    pub fence: Fence,
    pub attempt: u32,
    pub took: Duration,
    pub result: Result,
    /// What went wrong, where something did.
    pub failure: Option<Failure>,
}

/// What became of it.
pub(super) enum Result {
    /// The store has what came out; the handoff after that.
    Recorded(Box<Handoff>),
    /// The command has reported to the store itself; the handoff after that.
    ToldByCommand(Box<Handoff>),
    /// The handoff is not ours any more; nothing was reported.
    Lost(String),
    /// Somebody said stop twice; nothing was reported.
    Killed,
}

impl Finish {
    /// Returns whether it failed.
    pub(super) fn is_failure(&self) -> bool {
        self.failure.is_some() || !matches!(self.result, Result::Recorded(_) | Result::ToldByCommand(_))
    }
}

/// How the work of a command ended.
pub(super) enum Work {
    /// There is something to report.
    Done(Box<Command>),
    /// The command ended well without a report: it may have handed one in for itself; if not, this is to report.
    Silent(Box<Command>),
    /// There is not.
    Over(Result),
}

impl Worker {
    /// Works on a handoff.
    pub(super) async fn attempt(self: Arc<Self>, claimed: ClaimedHandoff, mut stop: watch::Receiver<Stop>) -> Finish {
        let start = Instant::now();
        let handoff = &claimed.handoff;
        let (result, failure) = match self.work(&claimed, &mut stop).await {
            Work::Over(result) => (result, None),
            Work::Done(command) => {
                let command = self.only_if_acknowledged(handoff, *command).await;
                self.record_with_failure(handoff, command, &mut stop).await
            }
            Work::Silent(command) => match self.told_by_command(handoff, &mut stop).await {
                Some(told) => told,
                None => self.record_with_failure(handoff, *command, &mut stop).await,
            },
        };
        Finish {
            id: handoff.id.clone(),
            fence: handoff.fence,
            attempt: handoff.attempts,
            took: start.elapsed(),
            result,
            failure,
        }
    }

    async fn work(&self, claimed: &ClaimedHandoff, stop: &mut watch::Receiver<Stop>) -> Work {
        let fence = claimed.handoff.fence;
        let fail =
            |code: Code, message: String| Work::Done(Box::new(answer::failed(fence, Failure::new(code, message))));
        let too_late = |limit| fail(Code::timeout(), format!("the command did not finish within {}", briefly(limit)));
        let (workplace, yardstick) = match self.prepare(claimed, stop).await {
            Ok(prepared) => prepared,
            Err(work) => return work,
        };
        let not_started = |error| fail(Code::processing_error(), format!("the command cannot be started: {error}"));
        let mut acknowledgment = AcknowledgmentFile::of(&workplace.files);
        let mut running = match self.launch(claimed, &workplace).and_then(|launch| Launcher::default().start(launch)) {
            Ok(running) => running,
            Err(error) => return not_started(error),
        };
        let limit = self.limit(&claimed.handoff);
        let of_end = |ended| match ended {
            ProcessEnd::Exited { status, stdout, .. } if status.success() => match workplace.said(stdout) {
                Ok(said) => {
                    let command = Box::new(answer::of_output(&said, claimed, &yardstick));
                    if matches!(*command, Command::Report(_)) { Work::Done(command) } else { Work::Silent(command) }
                }
                Err(failure) => Work::Done(Box::new(answer::failed(fence, failure))),
            },
            ProcessEnd::Exited { status, stdout, tail } => {
                let failure = ended_badly(Code::processing_error(), status, &stdout, &tail);
                Work::Done(Box::new(answer::failed(fence, failure)))
            }
            ProcessEnd::Flooded { most } => {
                fail(Code::validation_failed(), format!("the command wrote more than {} MiB to stdout", most >> 20))
            }
            ProcessEnd::TimedOut { limit, .. } | ProcessEnd::Silent { limit, .. } => too_late(limit),
            ProcessEnd::Lost(error) => fail(Code::processing_error(), format!("the command was lost: {error}")),
        };
        let mut work = {
            let mut ending = pin!(running.end());
            tokio::select! {
                biased;
                ended = &mut ending => of_end(ended),
                why = self.beat(&claimed.handoff) => {
                    // If we were asleep ourselves it may have ended long ago: then the journal keeps what it has said, even
                    // if it does not count any more.
                    let ended = tokio::time::timeout(SECOND_LOOK, &mut ending).await;
                    ended.map_or_else(|_| Work::Over(Result::Lost(why)), of_end)
                }
                over = self.listen(&claimed.handoff, &yardstick, &mut acknowledgment, stop.clone()) => over,
                limit = expired(limit) => too_late(limit),
                // An error means that nobody can say stop any more, which cannot be while the worker lives.
                () = async { drop(stop.wait_for(|stop| *stop == Stop::Kill).await) } => Work::Over(Result::Killed),
            }
        };
        running.finish_off().await;
        if let Work::Done(command) | Work::Silent(command) = &mut work {
            let changed = briefing::changed(&claimed.handoff, workplace.scene.as_ref(), self.state.as_ref()).await;
            match command.as_mut() {
                Command::Report(report) => report.changed = changed,
                Command::Fail(fail) => fail.changed = changed,
                _ => {}
            }
        }
        match (&work, acknowledgment.last()) {
            (Work::Done(_) | Work::Silent(_), Some(text)) => {
                self.acknowledge(&claimed.handoff, &yardstick, &text, stop).await.unwrap_or(work)
            }
            _ => work,
        }
    }

    /// Makes the prompt of the command, and the place where it works. A store that does not answer is asked again.
    async fn prepare(
        &self,
        claimed: &ClaimedHandoff,
        stop: &mut watch::Receiver<Stop>,
    ) -> std::result::Result<(Workplace, Yardstick), Work> {
        let ClaimedHandoff { handoff, request } = claimed;
        let failed = |failure| Work::Done(Box::new(answer::failed(handoff.fence, failure)));
        let mut missed = 0;
        let Briefing { brief, yardstick, .. } = loop {
            match self.briefer.brief(claimed, HandInWay::Output).await {
                Ok(Ok(briefing)) => break briefing,
                Ok(Err(why)) => {
                    let fail = briefing::no_prompt(handoff.fence, &why);
                    return Err(Work::Done(Box::new(Command::Fail(fail))));
                }
                Err(error) if passes(&error) => missed += 1,
                Err(error) => return Err(failed(Failure::new(Code::processing_error(), error.to_string()))),
            }
            tokio::select! {
                () = tokio::time::sleep(patience(missed)) => {}
                _ = stop.wait_for(|stop| *stop == Stop::Kill) => return Err(Work::Over(Result::Killed)),
            }
        };
        brief.shortened.iter().for_each(|what| self.output.note(&format!("{}: {what}", handoff.id)));
        if let Some(known) = briefing::remember(handoff, brief.scene.as_ref(), self.state.as_ref()).await {
            // A claim that is lost by now needs none.
            let _ = self.engine.apply(handoff, known, Vec::new(), &self.caller).await;
        }
        let workplace = Workplace::prepare(brief, self.assignment.workspace.as_ref()).map_err(failed)?;
        let folder = workplace.folder.as_deref().and_then(|folder| WorkspaceFolder::open(folder).ok());
        let missing = folder.map(|folder| briefing::missing_artifacts(request, &folder)).unwrap_or_default();
        if !missing.is_empty() {
            self.output.note(&briefing::missing(handoff, &missing));
        }
        Ok((workplace, yardstick))
    }

    fn launch(&self, claimed: &ClaimedHandoff, workplace: &Workplace) -> io::Result<Launch> {
        let (handoff, assignment) = (&claimed.handoff, &self.assignment);
        let stderr = match &assignment.log_folder {
            Some(folder) => {
                let log = format!("{}.{}.log", handoff.id, handoff.fence);
                Sink::log(&SharedFolder::open(folder, folder)?, log.as_ref())?
            }
            None => {
                let output = self.output;
                Sink::Listener(Box::new(move |bytes| output.pass_on(bytes)))
            }
        };
        let mut environment = Environment::inherited();
        // Whoever has the token of a person decides as that person.
        if !assignment.passes_token {
            environment.remove(TOKEN_VARIABLE);
        }
        environment.set("BATON_ATTEMPT", handoff.attempts.to_string());
        environment.set("BATON_AGENT", &handoff.terms.to);
        environment.set("BATON_NOTES", notes(&handoff.notes));
        for (name, value) in workplace.variables() {
            environment.set(name, value);
        }
        // An id is unique in its store only. The run is left out: whoever drives it must not kill what a worker does.
        let mark = Mark::new([
            (HANDOFF, handoff.id.to_string()),
            (FENCE, handoff.fence.to_string()),
            ("BATON_STORE", assignment.store.clone()),
        ]);
        Ok(Launch {
            arguments: assignment.arguments.clone(),
            folder: workplace.folder.clone(),
            environment,
            mark,
            input: workplace.prompt.clone().into_bytes(),
            stderr,
            // Whoever starts a worker says what it runs, and lets it reach the store: it has limits, but no cage.
            cage: None,
            may_gain_privileges: true,
            ..Launch::new(&assignment.program)
        })
    }

    /// Returns how long the command may take.
    fn limit(&self, handoff: &Handoff) -> Option<Duration> {
        let agreed = handoff.terms.timeout_ms.map(Duration::from_millis);
        [agreed, self.assignment.timeout].into_iter().flatten().min()
    }

    /// Keeps the lease; returns why when it is lost. A store that does not answer is asked again, sooner.
    async fn beat(&self, handoff: &Handoff) -> String {
        let usual = self.assignment.lease / 3;
        let mut missed = 0;
        loop {
            let pause = if missed == 0 { usual } else { self.soon(missed) };
            tokio::time::sleep(pause).await;
            match self.engine.heartbeat(handoff, handoff.fence, None, &self.caller).await {
                Ok(_) => missed = 0,
                Err(Problem::Refused { refusal, .. }) => return refusal.to_string(),
                Err(Problem::Removed(_) | Problem::Store(StoreError::NotFound(_))) => {
                    return "it was removed".to_owned();
                }
                Err(Problem::Store(error @ StoreError::Gone(_))) => return error.to_string(),
                Err(error) => {
                    if missed == 0 {
                        self.output.note(&format!("{}: no heartbeat: {error}", handoff.id));
                    }
                    missed += 1;
                }
            }
        }
    }

    /// Looks whether the command has reported for itself, with our fence; `None` if the handoff is still claimed.
    async fn told_by_command(
        &self,
        handoff: &Handoff,
        stop: &mut watch::Receiver<Stop>,
    ) -> Option<(Result, Option<Failure>)> {
        let mut missed = 0;
        let found = loop {
            match self.engine.again(handoff).await {
                Ok(found) => break Some(found),
                Err(Problem::Removed(_)) => break None,
                Err(problem) if passes(&problem) => missed += 1,
                Err(error) => return Some((Result::Lost(error.to_string()), None)),
            }
            tokio::select! {
                () = tokio::time::sleep(patience(missed)) => {}
                _ = stop.wait_for(|stop| *stop == Stop::Kill) => return Some((Result::Killed, None)),
            }
        };
        let found = found.filter(|found| found.fence == handoff.fence)?;
        match found.state.name() {
            StateName::Claimed => None,
            StateName::Cancelled => Some((Result::Lost("it was cancelled".to_owned()), None)),
            // Back in the queue or given up: the command said so, or the lease has ended meanwhile.
            StateName::Pending | StateName::Failed => {
                let failure = found.last_failure.clone();
                Some((Result::ToldByCommand(Box::new(found)), failure))
            }
            StateName::Verifying | StateName::Blocked | StateName::AwaitingPerson | StateName::Completed => {
                Some((Result::ToldByCommand(Box::new(found)), None))
            }
        }
    }

    /// Reports, and says what went wrong if that is what is reported.
    async fn record_with_failure(
        &self,
        handoff: &Handoff,
        command: Command,
        stop: &mut watch::Receiver<Stop>,
    ) -> (Result, Option<Failure>) {
        let failure = match &command {
            Command::Fail(fail) => Some(fail.failure.clone()),
            _ => None,
        };
        (self.record(handoff, command, stop).await, failure)
    }

    /// Reports until the store has it, or says that it is not wanted any more.
    pub(super) async fn record(&self, handoff: &Handoff, command: Command, stop: &mut watch::Receiver<Stop>) -> Result {
        let mut missed = 0;
        loop {
            match self.engine.apply(handoff, command.clone(), Vec::new(), &self.caller).await {
                // Perhaps the answer to an earlier try was lost, but not what we said.
                Ok(applied) => return Result::Recorded(Box::new(applied.handoff)),
                Err(Problem::Removed(_)) => return Result::Lost("it was removed".to_owned()),
                Err(Problem::Refused { refusal, .. }) => return Result::Lost(refusal.to_string()),
                Err(problem) if passes(&problem) => {
                    if missed == 0 {
                        self.output.note(&format!("{}: cannot report yet: {problem}", handoff.id));
                    }
                }
                Err(problem) => return Result::Lost(problem.to_string()),
            }
            missed += 1;
            tokio::select! {
                () = tokio::time::sleep(self.soon(missed)) => {}
                _ = stop.wait_for(|stop| *stop == Stop::Kill) => return Result::Killed,
            }
        }
    }
}

/// Waits until a time is over, or for ever if there is none.
pub(super) async fn expired(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}

/// Writes the notes as JSON, the newest ones that fit into a variable.
fn notes(notes: &[Note]) -> String {
    let mut taken: Vec<Value> = Vec::new();
    let mut length = 2;
    for note in notes.iter().rev() {
        let value = baton_views::handoff::note(note);
        length += value.to_string().len() + 1;
        if length > NOTES_BYTES_MAX {
            break;
        }
        taken.push(value);
    }
    taken.reverse();
    Value::Array(taken).to_string()
}

#[cfg(test)]
mod tests {
    use baton_engine::handoff::About;

    use super::*;

    #[test]
    fn notes_fit_into_the_environment() {
        let note = |text: String| Note::new(About::Feedback, "ana", text);
        let many: Vec<Note> = (0..32).map(|number| note(format!("{number} {}", "x".repeat(30_000)))).collect();
        let written = notes(&many);
        assert!(written.len() <= NOTES_BYTES_MAX && written.contains("31 xxx") && !written.contains("\"0 xxx"));
        assert_eq!(notes(&[]), "[]");
    }
}
