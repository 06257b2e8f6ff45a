//! The one place where a document from outside is read and judged. The same report gets the same verdict, whoever hands it
//! in and through whichever door.

use baton_protocol::model::{Document, Request};
use baton_protocol::read::{self, Format};
use baton_protocol::rules::summary_over_budget;
use baton_protocol::settings::{Level, Permission};
use baton_protocol::surroundings::{Schemas, Workspace};
use baton_protocol::{Dialect, Hints, Judgement, Kind, Reading, Settings, Severity, Surroundings};
use serde_json::Value;

use super::{Engine, Problem};
use crate::definition::{Definition, LocatedPhase};
use crate::driver::Brief;
use crate::evidence::Scene;
use crate::failure::{Code, Failure, FailureOutput};
use crate::flow::{self, limits};
use crate::handoff::{Handoff, WrittenDocument};
use crate::output_directory::{output_directory, plain_output_directory};
use crate::report_contract::ReportContract;
use crate::run::Run;

/// How many mistakes are listed in a failure.
const TOLD_MAX: usize = 20;

/// Returns the settings for the reports of a phase: the project's, and what the workflow says.
pub fn settings_of_phase(definition: &Definition, phase: &str, settings: &Settings) -> Settings {
    match definition.locate(phase) {
        Some(located) => settings_of(&located, settings),
        None => settings.clone(),
    }
}

pub(crate) fn settings_of(located: &LocatedPhase<'_>, settings: &Settings) -> Settings {
    let workflow = &located.definition.workflow;
    let mut settings = settings.clone();
    let allowed = workflow
        .allow
        .iter()
        .filter_map(|allowance| Some(Permission { rule: allowance.rule.clone()?, reason: allowance.reason.clone()? }));
    settings.permissions.extend(allowed);
    settings.reasons.extend(workflow.reasons.iter().cloned());
    settings.reasons.extend(workflow.routes.iter().filter_map(|route| route.reason.clone()));
    settings.phases.extend(workflow.phases.iter().map(|phase| phase.id().to_owned()));
    settings.phases.extend(located.siblings.iter().map(|phase| phase.id().to_owned()));
    if let Some(tokens) = limits::smallest(located, |limits| limits.summary_tokens) {
        settings.summary_tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        // A limit that somebody has set is one. A severity that the project has set stays.
        settings.levels.entry(summary_over_budget::RULE.name).or_insert(Level::At(Severity::Error));
    }
    settings
}

/// A document as a door has read it.
#[derive(Clone, Copy)]
pub struct IncomingDocument<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its format, where its name tells it.
    pub format: Option<Format>,
    /// Its dialect, where the sender says so; it goes before what the workflow says.
    pub dialect: Option<Dialect>,
    /// Where it lies.
    pub path: Option<&'a str>,
    /// The files that it refers to, if they can be read.
    pub workspace: Option<&'a dyn Workspace>,
    /// The schemas beside it.
    pub schemas: Option<&'a dyn Schemas>,
    /// The id of the request that it answers, where the place in which it lay tells that.
    pub answers: Option<&'a str>,
}

impl<'a> IncomingDocument<'a> {
    /// Takes bytes of which nothing else is known.
    pub fn of(bytes: &'a [u8]) -> IncomingDocument<'a> {
        IncomingDocument {
            bytes,
            format: None,
            dialect: None,
            path: None,
            workspace: None,
            schemas: None,
            answers: None,
        }
    }
}

/// What a document is judged by: the project's settings, those of the workflow, how the agent writes, what was asked.
#[derive(Debug, Clone)]
pub struct Yardstick {
    /// The project's settings, with what the workflow says.
    pub settings: Settings,
    /// How the agent writes, where the workflow says so.
    pub dialect: Option<Dialect>,
    /// The agents that come next anyway. Without a workflow that is the sender.
    pub following: Vec<String>,
    /// Whom the document must be from, if a run has asked for it.
    agent: Option<String>,
    /// What phase it must be about.
    phase: Option<String>,
    /// What it answers.
    request: Option<Request>,
    /// Where the agent was told to put its output.
    output_directory: Option<String>,
    /// Whether Baton itself knows when it came, so that the document need not say so.
    times_are_kept: bool,
}

/// What an agent was asked inside of a session that Baton looks into.
#[derive(Debug, Clone, Default)]
pub struct SessionTask {
    /// Whom the document must be from, if that has a name.
    pub agent: Option<String>,
    /// What phase of a run it is about, if it is one.
    pub phase: Option<String>,
    /// How the agent writes, where that is agreed.
    pub dialect: Option<Dialect>,
    /// What was asked, as far as that is known.
    pub request: Option<Request>,
    /// Where the agent was told to put its output.
    pub output_directory: Option<String>,
}

impl Engine {
    /// Returns the yardstick for what is handed in for a handoff. The run is read only where the workflow itself does
    /// not say enough.
    pub async fn yardstick(
        &self,
        handoff: &Handoff,
        request: Option<&WrittenDocument>,
        definition: Option<&Definition>,
    ) -> Result<Yardstick, Problem> {
        let yardstick = Yardstick::of_handoff(handoff, request, definition, &self.settings);
        let step = handoff.terms.step.as_ref().zip(definition);
        if step.is_none() || yardstick.output_directory.is_some() {
            return Ok(yardstick);
        }
        let run = self.run_now(&handoff.run).await?;
        Ok(yardstick.in_run(&run, handoff))
    }
}

impl Yardstick {
    /// Judges by the project's settings alone.
    pub fn of_project(settings: &Settings) -> Yardstick {
        Yardstick {
            settings: settings.clone(),
            dialect: None,
            following: Vec::new(),
            agent: None,
            phase: None,
            request: None,
            output_directory: None,
            times_are_kept: false,
        }
    }

    /// Judges what an agent hands in inside of a session.
    pub fn of_session(task: SessionTask, settings: &Settings) -> Yardstick {
        let SessionTask { agent, phase, dialect, request, output_directory } = task;
        let times_are_kept = true;
        Yardstick {
            dialect,
            agent,
            phase,
            request,
            output_directory,
            times_are_kept,
            ..Yardstick::of_project(settings)
        }
    }

    /// Judges what an agent hands in to its driver.
    pub(crate) fn of_brief(brief: &Brief<'_>, scene: &Scene, settings: Settings) -> Yardstick {
        Yardstick {
            settings,
            dialect: brief.dialect(),
            following: brief.following(),
            agent: Some(brief.tracked.handoff.terms.to.clone()),
            phase: brief.phase().map(|_| brief.tracked.step.phase.clone()),
            request: scene.request.clone(),
            output_directory: scene.output_directory.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
            times_are_kept: true,
        }
    }

    /// Judges what is handed in for a handoff: in a run by what its workflow says, as its driver does.
    pub fn of_handoff(
        handoff: &Handoff,
        request: Option<&WrittenDocument>,
        definition: Option<&Definition>,
        settings: &Settings,
    ) -> Yardstick {
        let request = request.and_then(|written| asked(written, handoff));
        let Some((step, definition)) = handoff.terms.step.as_ref().zip(definition) else {
            let following = vec![handoff.terms.from.clone()];
            // The journal says when whatever is handed in for a handoff came.
            return Yardstick { following, request, times_are_kept: true, ..Yardstick::of_project(settings) };
        };
        let agent = definition.locate(&step.phase).and_then(|phase| phase.definition.workflow.agent(&handoff.terms.to));
        Yardstick {
            settings: settings_of_phase(definition, &step.phase, settings),
            dialect: agent.and_then(|agent| agent.dialect.as_deref()).and_then(Dialect::parse),
            following: flow::following(definition, &step.phase),
            agent: Some(handoff.terms.to.clone()),
            // Whoever helps works in a phase of somebody else's.
            phase: step.role.is_phase().then(|| step.phase.clone()),
            request,
            output_directory: plain_output_directory(definition, &handoff.run, &step.phase)
                .map(|folder| folder.to_string_lossy().into_owned()),
            times_are_kept: true,
        }
    }

    /// Knows what only the run tells: where the agent of this handoff was told to put its output.
    #[must_use]
    pub fn in_run(self, run: &Run, handoff: &Handoff) -> Yardstick {
        let told = handoff.terms.step.as_ref().and_then(|step| output_directory(run, &step.phase).ok());
        Yardstick { output_directory: told.map(|folder| folder.to_string_lossy().into_owned()), ..self }
    }

    /// Writes it for somebody who works on the handoff elsewhere and has the request.
    pub fn json(&self) -> Value {
        let contract = ReportContract { dialect: self.dialect, settings: self.settings.clone(), ..Default::default() };
        let mut form = contract.json();
        form["following"] = self.following.clone().into();
        form["agent"] = self.agent.clone().into();
        form["phase"] = self.phase.clone().into();
        form["output_directory"] = self.output_directory.clone().into();
        form
    }

    /// Reads what was written for somebody elsewhere who works on this handoff; what is not known is as usual.
    pub fn of_json(form: &Value, handoff: &Handoff, request: Option<&WrittenDocument>) -> Yardstick {
        let ReportContract { dialect, settings, .. } = ReportContract::of_json(form);
        let text = |name: &str| form[name].as_str().map(str::to_owned);
        let following = form["following"].as_array().into_iter().flatten();
        Yardstick {
            settings,
            dialect,
            following: following.filter_map(Value::as_str).map(str::to_owned).collect(),
            agent: text("agent"),
            phase: text("phase"),
            request: request.and_then(|written| asked(written, handoff)),
            output_directory: text("output_directory"),
            times_are_kept: true,
        }
    }

    /// Judges acknowledgments of the same handoff. How an agent writes its reports says nothing about them: most dialects
    /// have no form for one.
    #[must_use]
    pub fn for_acknowledgments(&self) -> Yardstick {
        Yardstick { dialect: None, ..self.clone() }
    }

    /// Reads and judges a document.
    pub fn judge(&self, incoming: &IncomingDocument<'_>) -> JudgedDocument {
        let hints = Hints { format: incoming.format, dialect: incoming.dialect.or(self.dialect) };
        let reading = baton_protocol::read(incoming.bytes, hints);
        let named = |id: &str| Some(Request { id: Some(id.to_owned()), ..self.request.clone()? });
        let named = incoming.answers.and_then(named);
        let surroundings = Surroundings {
            path: incoming.path,
            request: named.as_ref().or(self.request.as_ref()),
            workspace: incoming.workspace,
            schemas: incoming.schemas,
            agent: self.agent.as_deref(),
            phase: self.phase.as_deref(),
            output_directory: self.output_directory.as_deref(),
            times_are_kept: self.times_are_kept,
        };
        let judgement = baton_protocol::judge(incoming.bytes, &reading, &surroundings, &self.settings);
        let (dialect, kind) = (reading.dialect, reading.document.as_ref().map(Document::kind));
        let text = std::str::from_utf8(incoming.bytes).ok();
        let valid = match (reading.document, dialect, text) {
            (Some(document), Some(dialect), Some(text)) if judgement.valid => Some(ValidDocument {
                dialect,
                document,
                written: WrittenDocument::new(dialect, text).judged(&judgement),
            }),
            _ => None,
        };
        JudgedDocument { dialect, kind, judgement, valid }
    }

    /// Judges a document that is too large to be read.
    pub fn judge_too_large(&self, length: u64) -> JudgedDocument {
        let reading = Reading::unreadable(read::too_large(length));
        let judgement = baton_protocol::judge(b"", &reading, &Surroundings::default(), &self.settings);
        JudgedDocument { dialect: None, kind: None, judgement, valid: None }
    }
}

/// Reads what an answer is compared with. Where the request has no id of its own, the prompt shows that of the handoff.
fn asked(written: &WrittenDocument, handoff: &Handoff) -> Option<Request> {
    let mut request = written.read_request()?;
    request.id.get_or_insert_with(|| handoff.id.to_string());
    Some(request)
}

/// What came out about a document.
#[derive(Debug)]
pub struct JudgedDocument {
    /// Its dialect, as far as it was recognised.
    pub dialect: Option<Dialect>,
    /// Its kind.
    pub kind: Option<Kind>,
    /// The verdict.
    pub judgement: Judgement,
    /// The document, if it is valid.
    pub valid: Option<ValidDocument>,
}

impl JudgedDocument {
    /// Returns the failure of an attempt whose report this is not; `what` says in a line what is wrong.
    pub fn failure(&self, what: &str) -> Failure {
        let findings = FailureOutput::Findings(self.told_errors());
        Failure::new(Code::validation_failed(), what).with_output(findings)
    }

    /// Returns what is wrong with it, one line each, for the next attempt.
    pub fn told_errors(&self) -> String {
        let errors = self.judgement.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let count = errors.clone().count();
        let mut lines: Vec<String> = errors
            .take(TOLD_MAX)
            .map(|found| {
                let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
                format!("{}:{} {}: {}{help}", found.line, found.column, found.code, found.message)
            })
            .collect();
        match count.saturating_sub(TOLD_MAX) {
            0 => {}
            more => lines.push(format!("and {more} more")),
        }
        lines.join("\n")
    }
}

/// A valid document.
#[derive(Debug, Clone)]
pub struct ValidDocument {
    /// Its dialect.
    pub dialect: Dialect,
    /// What it says.
    pub document: Document,
    /// The document as it was written.
    pub written: WrittenDocument,
}

impl ValidDocument {
    /// Takes a document that must be of a kind.
    pub fn of_kind(self, wanted: Kind) -> Result<ValidDocument, Problem> {
        let found = self.document.kind();
        if found == wanted { Ok(self) } else { Err(Problem::WrongKind { found, wanted }) }
    }
}
