//! Filled-in examples of what an agent must write: valid documents for this very handoff.

mod findings;

use baton_protocol::convert::{self, Form};
use baton_protocol::model::report::{Output, Report, SuggestedNext};
use baton_protocol::model::request::{Context, DecisionMade, Party, Request};
use baton_protocol::model::terms::{AgentDecision, ExpectedOutput, HandoffKind, Outcome, TaskPhase};
use baton_protocol::model::{Acknowledgment, Artifact, Document};
use baton_protocol::rules::missing_verification;
use baton_protocol::wire::Label;
use baton_protocol::{Dialect, Kind};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::Briefing;

/// A time for requests that have none. Not midnight: that would look invented.
const SOME_TIME: &str = "2026-03-14T09:26:53Z";

/// What an agent must write, filled in.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// The report.
    pub(super) report: String,
    /// The format of the report, as a code block names it.
    pub(super) form: &'static str,
    /// The members that must not be replaced.
    pub(super) echoes: &'static str,
    /// The acknowledgment; empty unless one is wanted.
    pub(super) acknowledgment: String,
}

/// Makes the examples for a briefing.
pub(super) fn of(briefing: &Briefing<'_>) -> Example {
    let work = Work::of(briefing);
    let document = match briefing.dialect.has(Kind::Report) {
        true => Document::Report(Box::new(work.report())),
        false => Document::Request(Box::new(work.return_package())),
    };
    let (form, echoes) = match briefing.dialect {
        Dialect::MetadataBlock => ("json", "`agent` and `feature_directory`"),
        Dialect::PhaseBlock => ("json", "`agent`, `phase` and `feature_directory`"),
        Dialect::Package => ("yaml", "`id` and `from`"),
        Dialect::Task => ("json", "`task_id` and `phase`"),
        Dialect::Mailbox => ("json", "`handoff_id`, `source` and `target`"),
        Dialect::Native => ("json", "`baton`, `document`, `id`, `from` and `phase`"),
    };
    let acknowledgment = match briefing.acknowledge {
        true => written(Dialect::Package, &Document::Acknowledgment(Box::new(work.acknowledgment()))),
        false => String::new(),
    };
    Example { report: written(briefing.dialect, &document), form, echoes, acknowledgment }
}

fn written(dialect: Dialect, document: &Document) -> String {
    let form = if dialect == Dialect::Package { Form::Yaml } else { Form::Json };
    let mut value = dialect.write(document).unwrap_or_default();
    // A block without skills says so; an empty list is not written otherwise.
    if let (Dialect::MetadataBlock | Dialect::PhaseBlock, Value::Object(block)) = (dialect, &mut value)
        && !block.contains_key("skills_invoked")
    {
        block.shift_insert(block.len().min(4), "skills_invoked".to_owned(), Value::Array(Vec::new()));
    }
    // One spelling of a time is enough to show.
    if let (Dialect::Mailbox, Value::Object(answer)) = (dialect, &mut value) {
        answer.shift_remove("completed_at");
    }
    convert::render(&value, form).trim_end().to_owned()
}

/// A piece of work that could have been done in this phase.
struct Work<'a> {
    briefing: &'a Briefing<'a>,
    /// The last part of the phase's path.
    name: &'a str,
    /// The file that was made.
    path: String,
    /// When it ended.
    ended: String,
}

impl<'a> Work<'a> {
    fn of(briefing: &'a Briefing<'a>) -> Self {
        let name = briefing.phase.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("result");
        let ending = if briefing.dialect == Dialect::Mailbox { "json" } else { "md" };
        let file = format!("{name}.{ending}");
        let folder = briefing.output_directory.trim_end_matches('/');
        // Artifacts are named relative to the workspace, whatever the folder is.
        let path = match folder.is_empty() || folder == "." || folder.starts_with('/') {
            true => file,
            false => format!("{folder}/{file}"),
        };
        Work { briefing, name, path, ended: some_minutes_after(briefing.request.timestamp.as_deref()) }
    }

    fn report(&self) -> Report {
        match self.briefing.dialect {
            Dialect::Task => self.task_report(),
            Dialect::Mailbox => self.mailbox_report(),
            _ => self.block_report(),
        }
    }

    /// What the blocks and the native form say; each takes what it knows.
    fn block_report(&self) -> Report {
        let context = format!(
            "Start from section 2 of {}. Rows without an id stay in a list of their own; REQ-7 is open and needs a decision.",
            self.path
        );
        let directory = Some(self.briefing.output_directory).filter(|folder| !folder.is_empty()).unwrap_or(".");
        Report {
            id: self.briefing.request.id.clone(),
            from: Some(self.agent()),
            phase: Some(self.phase()),
            output_type: Some(self.name.to_owned()),
            timestamp: Some(self.ended.clone()),
            outcome: Some(Outcome::Complete),
            feature_directory: Some(directory.to_owned()),
            summary: Some(self.summary()),
            skills_invoked: self.briefing.mandatory_skills.iter().map(|skill| skill.name.clone()).collect(),
            source_files_verified: vec!["src/rows.rs:10-42".to_owned()],
            files_modified: vec!["src/rows.rs".to_owned()],
            artifacts: vec![Artifact::bare(self.path.clone())],
            verification: self.verification(),
            next: Some(SuggestedNext { context: Some(context), ..SuggestedNext::default() }),
            ..Report::default()
        }
    }

    fn task_report(&self) -> Report {
        let phase = task_phase(self.briefing.request);
        Report {
            id: self.briefing.request.id.clone(),
            phase: Some(Label::Name(phase.as_str().to_owned())),
            outcome: Some(Outcome::Complete),
            decision: Some(AgentDecision::Proceed),
            findings: Some(findings::of(phase, &self.path)),
            summary: Some(self.summary()),
            ..Report::default()
        }
    }

    fn mailbox_report(&self) -> Report {
        let request = self.briefing.request;
        let wanted = request.expectations.as_ref();
        let destination = wanted.and_then(|wanted| wanted.destination.clone());
        let kind = wanted.and_then(|wanted| wanted.output.clone());
        let mut validation = Map::from_iter([("status".to_owned(), Value::from("passed"))]);
        validation.extend(self.verification());
        Report {
            id: request.id.clone(),
            from: Some(self.agent()),
            to: request.from.clone(),
            requested_at: request.timestamp.clone(),
            timestamp: Some(self.ended.clone()),
            outcome: Some(Outcome::Complete),
            output: Some(Output {
                artifact_id: Some(format!("{}-1", self.name)),
                // A destination with a blank to fill in is no path yet.
                artifact_path: Some(destination.filter(|path| is_plain(path)).unwrap_or_else(|| self.path.clone())),
                artifact_type: Some(kind.unwrap_or_else(|| self.name.to_owned())),
                schema_compliance: Some("valid".to_owned()),
            }),
            validation,
            next_steps: vec!["Show the rows without an id in the import dialog".to_owned()],
            ..Report::default()
        }
    }

    fn return_package(&self) -> Request {
        let request = self.briefing.request;
        let back = request.from.as_ref().and_then(|from| from.agent.clone());
        let decision = DecisionMade {
            id: Some("D-001".to_owned()),
            decision: Some("Rows without an id stay in a list of their own".to_owned()),
            rationale: Some("The customer corrects them by hand once a week".to_owned()),
        };
        let mut artifact = Artifact::bare(self.path.clone());
        artifact.bare = false;
        artifact.fields.r#type = Some("doc".to_owned());
        artifact.fields.description = Some("3 sections: fields, mapping, open points".to_owned());
        Request {
            id: request.id.clone(),
            timestamp: Some(self.ended.clone()),
            kind: Some(HandoffKind::Return),
            from: Some(Party { agent: Some(self.briefing.agent.to_owned()), ..Party::default() }),
            to: Some(Party {
                agent: Some(back.unwrap_or_else(|| "orchestrator".to_owned())),
                reason: Some(format!("The work of {} is done", self.name)),
                ..Party::default()
            }),
            context: Some(Context {
                summary: Some(self.summary()),
                decisions: vec![decision],
                artifacts: vec![artifact],
                ..Context::default()
            }),
            ..Request::default()
        }
    }

    fn acknowledgment(&self) -> Acknowledgment {
        Acknowledgment {
            id: self.briefing.request.id.clone(),
            received: Some(true),
            from: self.briefing.request.from.as_ref().and_then(|from| from.agent.clone()),
            task: Some("Describe how the 12 fields of the old import map to the new one".to_owned()),
            constraints: vec!["No new dependency".to_owned(), "Nothing outside of src/import changes".to_owned()],
            starting: Some(true),
            ..Acknowledgment::default()
        }
    }

    fn summary(&self) -> String {
        format!(
            "Wrote {} with 3 sections: 12 fields are mapped, REQ-7 is open because the API has no call for it.",
            self.path
        )
    }

    /// The checks that Baton runs are compared with what is said under their names.
    fn verification(&self) -> Map<String, Value> {
        let checks = self.briefing.checks.iter().map(|check| check.name.clone());
        let owed = owed(self.briefing).iter().map(|key| (*key).to_owned());
        checks.chain(owed).map(|name| (name, Value::Bool(true))).collect()
    }

    fn agent(&self) -> Party {
        let phase = self.briefing.request.to.as_ref().and_then(|to| to.phase.clone());
        Party { agent: Some(self.briefing.agent.to_owned()), phase, ..Party::default() }
    }

    fn phase(&self) -> Label {
        let asked = self.briefing.request.phase.clone();
        asked.unwrap_or_else(|| Label::Name(self.name.to_owned()))
    }
}

/// Returns what a phase block must say under `verification`.
pub(super) fn owed(briefing: &Briefing<'_>) -> &'static [&'static str] {
    let phase = briefing.phase.rsplit('/').next().unwrap_or_default();
    if briefing.dialect == Dialect::PhaseBlock { missing_verification::owed(phase) } else { &[] }
}

/// The phase of a task: as the request says, or as the form of the wanted answer tells.
fn task_phase(request: &Request) -> TaskPhase {
    let said = request.phase.as_ref().and_then(Label::name).and_then(TaskPhase::parse);
    let wanted = request.expectations.as_ref().and_then(|wanted| wanted.output.as_deref());
    let told = || wanted.and_then(ExpectedOutput::parse).map(ExpectedOutput::phase);
    said.or_else(told).unwrap_or(TaskPhase::Write)
}

fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.contains(['{', '}', '<', '>', '*'])
}

fn some_minutes_after(timestamp: Option<&str>) -> String {
    let asked = timestamp.and_then(|timestamp| timestamp.parse::<Timestamp>().ok());
    let ended = asked.and_then(|asked| asked.checked_add(SignedDuration::from_secs(431)).ok());
    ended.map_or_else(|| SOME_TIME.to_owned(), |ended| ended.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
