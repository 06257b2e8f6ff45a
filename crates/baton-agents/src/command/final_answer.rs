//! What a turn of a coding agent came to: its final answer, or why there is none.
//!
//! The answer counts before every file: a draft in a file must not win over what the agent said last.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use baton_engine::agent::{AfterFailure, EndedTurn, Reply, TurnEnd};
use baton_engine::failure::{Code, Failure};
use baton_protocol::read::is_blockless;
use baton_protocol::workflow::{Profile, ReportFrom};
use jiff::Zoned;

use super::answer::{AskedCommand, in_output_directory, in_report_file, kept, read, refused, sealed};
use crate::process::{ProcessEnd, how_it_ended, length, permanent, too_late};
use crate::profile::{self, ClosedDoor, EventStream, Heard, ProgramExit, Recipe, is_report};

/// With what the programs end after an error that they have told.
const TOLD_ERROR: i32 = 1;

/// A turn of a coding agent that has ended.
pub(super) struct EndedProfile<'a> {
    pub(super) profile: Profile,
    pub(super) asked: &'a AskedCommand<'a>,
    pub(super) ended: &'a ProcessEnd,
    pub(super) now: Zoned,
}

impl EndedProfile<'_> {
    /// Returns what the turn came to.
    pub(super) fn turn(&self, stream: &mut EventStream) -> EndedTurn {
        let exit = match self.ended {
            ProcessEnd::Exited { status, tail, .. } => Some(ProgramExit { code: shell_code(*status), tail }),
            _ => None,
        };
        let mut heard = stream.finish(exit.as_ref());
        let (spent, skills) = (heard.counted(&self.asked.job.prompt), heard.take_skills());
        let end = match self.failure(&heard) {
            Some((failure, after)) => TurnEnd::Failed(failure, after),
            None => match self.reply(&mut heard) {
                Ok(reply) => TurnEnd::Answered(reply),
                Err(failure) => TurnEnd::Failed(failure, AfterFailure::Policy),
            },
        };
        EndedTurn { end, spent, skills }
    }

    fn recipe(&self) -> &'static Recipe {
        profile::recipe(self.profile)
    }

    /// Returns why there is nothing to read.
    fn failure(&self, heard: &Heard) -> Option<(Failure, AfterFailure)> {
        let (program, agent) = (self.recipe().program, &self.asked.job.agent);
        let late = |message: String, tail: &str| Some((too_late(message, tail), AfterFailure::Policy));
        let status = match self.ended {
            ProcessEnd::TimedOut { limit, tail } => {
                return late(format!("{agent} ({program}) did not finish within {}", length(*limit)), tail);
            }
            ProcessEnd::Silent { limit, tail } => {
                return late(format!("{agent} ({program}) said nothing for {}", length(*limit)), tail);
            }
            ProcessEnd::Exited { status, .. } => status,
            ProcessEnd::Flooded { .. } | ProcessEnd::Lost(_) => {
                return self.ended.failure().map(|failure| (failure, AfterFailure::Policy));
            }
        };
        if let Some(fault) = &heard.fault {
            let help = (self.recipe().help)(fault.trouble);
            return Some(fault.ended(self.asked.job.session.goes_on, help, &self.now));
        }
        // A program that says that it failed has failed, whatever it said before; its session goes on. But an exit code says
        // nothing new about an error which was told, and which a finished turn has outlived.
        if status.success() || heard.told_error && status.code() == Some(TOLD_ERROR) {
            return None;
        }
        let failure = self.ended.failure()?;
        let ProcessEnd::Exited { tail, .. } = self.ended else { return None };
        let line = profile::telling_line(tail).map(|line| format!(": {line}")).unwrap_or_default();
        let how = how_it_ended(*status).replace("the command", program);
        Some((Failure { message: format!("{how}{line}"), output: None, ..failure }, AfterFailure::Policy))
    }

    fn reply(&self, heard: &mut Heard) -> Result<Reply, Failure> {
        let acknowledgment = read(self.asked.files, &self.asked.files.acknowledgment)?;
        let answer = heard.take_answer();
        let found = match self.asked.report {
            ReportFrom::File => {
                read(self.asked.files, &self.asked.files.report)?.map(|text| in_report_file(text, self.asked))
            }
            ReportFrom::Stdout => answer.map(|text| self.said(text, heard)),
            ReportFrom::Auto => self.anywhere(answer, heard)?,
        };
        let is_report = found.as_ref().is_some_and(|reply| !is_blockless(&reply.text));
        match (found, acknowledgment) {
            (None | Some(_), None) if !is_report && !heard.closed.is_empty() => Err(self.shut_out(&heard.closed)),
            (Some(reply), acknowledgment) => Ok(Reply { acknowledgment, transcript: self.transcript(heard), ..reply }),
            // Whoever has not understood says so and does not begin.
            (None, Some(text)) => Ok(Reply { acknowledgment: Some(text), ..Reply::default() }),
            (None, None) if self.asked.report == ReportFrom::File => {
                let path = self.asked.files.report.display();
                Err(refused(format!("{} wrote no report to {path}", self.recipe().program)))
            }
            (None, None) => Err(refused(format!("{} gave no final answer{}", self.recipe().program, unread(heard)))),
        }
    }

    /// Looks for a report in the answer, then in the file for it, then in the output directory. Prose counts only if there is
    /// nothing better, so that it can be told what is wrong with it.
    fn anywhere(&self, answer: Option<String>, heard: &Heard) -> Result<Option<Reply>, Failure> {
        if let Some(text) = answer.as_ref().filter(|text| is_report(text)) {
            return Ok(Some(self.said(text.clone(), heard)));
        }
        let filed = read(self.asked.files, &self.asked.files.report)?;
        if let Some(text) = filed.as_ref().filter(|text| is_report(text)) {
            return Ok(Some(in_report_file(text.clone(), self.asked)));
        }
        if let Some(reply) = in_output_directory(self.asked, answer.as_deref())? {
            return Ok(Some(reply));
        }
        Ok(match (answer, filed) {
            (Some(text), _) => Some(self.said(text, heard)),
            (None, Some(text)) => Some(in_report_file(text, self.asked)),
            (None, None) => None,
        })
    }

    fn said(&self, text: String, heard: &Heard) -> Reply {
        let path = kept(&text, self.asked);
        let source = format!("the final answer of {}{}", self.recipe().program, unread(heard));
        Reply { text, source, path, ..Reply::default() }
    }

    fn transcript(&self, heard: &Heard) -> Option<baton_engine::evidence::Transcript> {
        if self.profile != Profile::Claude {
            return None;
        }
        let workspace: &Path = &self.asked.job.workspace;
        let path = profile::claude::transcript(self.asked.environment, workspace, heard.session.as_deref()?)?;
        sealed(&path)
    }

    /// The failure of a turn that was refused permissions, with the settings that would grant them. Another attempt
    /// would be refused in the same way.
    fn shut_out(&self, closed: &[ClosedDoor]) -> Failure {
        let what: Vec<String> = closed.iter().map(|door| format!("`{}`", door.what)).collect();
        let mut help: Vec<&str> = closed.iter().map(|door| door.help.as_str()).collect();
        help.dedup();
        let program = self.recipe().program;
        let message = format!("{program} gave no report; it was not allowed to use {}", what.join(", "));
        Failure { help: Some(help.join(", ")), ..permanent(Code::dependency_missing(), message) }
    }
}

/// Names the event that could not be read: it may have been the answer.
fn unread(heard: &Heard) -> String {
    heard.unreadable.as_ref().map(|what| format!(" ({what})")).unwrap_or_default()
}

/// Returns an exit code as a shell tells it.
fn shell_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
