//! Filled-in examples of what an agent must write: valid documents for this very handoff.

mod findings;

use baton_protocol::convert::{self, Form};
use baton_protocol::model::report::{Output, Report, SuggestedNext};
use baton_protocol::model::request::{Context, Party, Request};
use baton_protocol::model::terms::{AgentDecision, ExpectedOutput, HandoffKind, Outcome, TaskPhase};
use baton_protocol::model::{Acknowledgment, Artifact, Document};
use baton_protocol::rules::review_without_verdict::REVIEW;
use baton_protocol::rules::{copied_example, missing_verification};
use baton_protocol::wire::{Label, same_word};
use baton_protocol::{Dialect, Kind};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Briefing, ReportTo};
use crate::answer::is_called_reviewer;
use crate::overlap::{covers, overlap};

/// A time for requests that have none. Not midnight: that would look invented.
const SOME_TIME: &str = "2026-03-14T09:26:53Z";

/// What stands for a file that was read. A real one would be a claim that nobody has made.
const READ_FILE: &str = "<a file that you read>:<first line>-<last line>";

/// What stands for a verdict. Whoever hands in the example as it is has not given one.
const VERDICT: &str = "<APPROVED or CHANGES_REQUESTED>";

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

/// Returns whether the agent judges the work of others: the workflow says so, or its own name or that of the phase.
pub(super) fn reviews(briefing: &Briefing<'_>) -> bool {
    if briefing.dialect == Dialect::Task {
        return is_verdict(task_phase(briefing.request));
    }
    let asked = briefing.request.expectations.as_ref().and_then(|wanted| wanted.output.as_deref());
    let phase = briefing.phase.rsplit('/').next().unwrap_or_default();
    let is_called_so = || [phase, briefing.agent].into_iter().any(is_called_reviewer);
    briefing.judges.unwrap_or_else(is_called_so) || asked.is_some_and(|asked| same_word(asked, REVIEW))
}

/// Returns whether a phase of a task says whether something passed. The example says that it did not: nobody may approve by
/// copying.
fn is_verdict(phase: TaskPhase) -> bool {
    matches!(phase, TaskPhase::Validate | TaskPhase::Parallel)
}

/// Returns where the agent puts its output, if it may write there.
pub(super) fn output_directory<'a>(briefing: &Briefing<'a>) -> Option<&'a str> {
    let folder = Some(briefing.output_directory).filter(|folder| !folder.is_empty())?;
    let is_covered = |patterns: &[String]| patterns.iter().any(|pattern| overlap(pattern, folder));
    briefing.writes.is_none_or(is_covered).then_some(folder)
}

/// Returns whether the phase may write a file.
fn may_write(briefing: &Briefing<'_>, file: &str) -> bool {
    briefing.writes.is_none_or(|patterns| patterns.iter().any(|pattern| covers(pattern, file)))
}

/// A piece of work that could have been done in this phase.
struct Work<'a> {
    briefing: &'a Briefing<'a>,
    /// The last part of the phase's path.
    name: &'a str,
    /// The file that was made, if any may be.
    path: Option<String>,
    /// When it ended, where somebody else reads that.
    ended: Option<String>,
}

impl<'a> Work<'a> {
    fn of(briefing: &'a Briefing<'a>) -> Self {
        let name = briefing.phase.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("result");
        // Baton notes itself when a report came; only what lies in folders is read by others.
        let ended = matches!(briefing.report_to, ReportTo::Folder);
        let ended = ended.then(|| some_minutes_after(briefing.request.timestamp.as_deref()));
        Work { briefing, name, path: path(briefing, name), ended }
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
        let directory = output_directory(self.briefing).unwrap_or(".");
        Report {
            id: self.briefing.request.id.clone(),
            from: Some(self.agent()),
            phase: Some(self.phase()),
            output_type: Some(self.name.to_owned()),
            timestamp: self.ended.clone(),
            outcome: Some(Outcome::Complete),
            verdict: reviews(self.briefing).then(|| VERDICT.to_owned()),
            feature_directory: Some(directory.to_owned()),
            summary: Some(copied_example::SUMMARY.to_owned()),
            skills_invoked: self.briefing.mandatory_skills.iter().map(|skill| skill.name.clone()).collect(),
            source_files_verified: self.may_read().then(|| READ_FILE.to_owned()).into_iter().collect(),
            files_modified: self.path.clone().into_iter().collect(),
            artifacts: self.path.clone().map(Artifact::bare).into_iter().collect(),
            verification: self.verification(),
            next: Some(SuggestedNext { context: Some(copied_example::CONTEXT.to_owned()), ..SuggestedNext::default() }),
            ..Report::default()
        }
    }

    /// Returns whether the agent was given a file to read.
    fn may_read(&self) -> bool {
        let Some(context) = &self.briefing.request.context else { return false };
        !context.artifacts.is_empty() || !context.relevant_files.is_empty()
    }

    fn task_report(&self) -> Report {
        let phase = task_phase(self.briefing.request);
        Report {
            id: self.briefing.request.id.clone(),
            phase: Some(Label::Name(phase.as_str().to_owned())),
            outcome: Some(Outcome::Complete),
            decision: Some(if is_verdict(phase) { AgentDecision::Stop } else { AgentDecision::Proceed }),
            findings: Some(findings::of(phase, self.path.as_deref())),
            summary: Some(copied_example::SUMMARY.to_owned()),
            ..Report::default()
        }
    }

    fn mailbox_report(&self) -> Report {
        let request = self.briefing.request;
        let wanted = request.expectations.as_ref();
        // A destination with a blank to fill in is not a path yet.
        let destination = wanted.and_then(|wanted| wanted.destination.clone());
        let destination = destination.filter(|path| is_plain(path) && may_write(self.briefing, path));
        let kind = wanted.and_then(|wanted| wanted.output.clone());
        let mut validation = Map::from_iter([("status".to_owned(), Value::from("passed"))]);
        validation.extend(self.verification());
        Report {
            id: request.id.clone(),
            from: Some(self.agent()),
            to: request.from.clone(),
            requested_at: request.timestamp.clone(),
            timestamp: self.ended.clone(),
            outcome: Some(Outcome::Complete),
            output: Some(Output {
                artifact_id: Some(format!("{}-1", self.name)),
                artifact_path: destination.or_else(|| self.path.clone()),
                artifact_type: Some(kind.unwrap_or_else(|| self.name.to_owned())),
                schema_compliance: Some("valid".to_owned()),
            }),
            verdict: reviews(self.briefing).then(|| VERDICT.to_owned()),
            validation,
            next_steps: vec![copied_example::NEXT_STEP.to_owned()],
            ..Report::default()
        }
    }

    fn return_package(&self) -> Request {
        let request = self.briefing.request;
        let back = request.from.as_ref().and_then(|from| from.agent.clone());
        let artifact = |path: String| {
            let mut artifact = Artifact::bare(path);
            artifact.bare = false;
            artifact.fields.r#type = Some("doc".to_owned());
            artifact.fields.description = Some("<what it holds>".to_owned());
            artifact
        };
        Request {
            id: request.id.clone(),
            timestamp: self.ended.clone(),
            kind: Some(HandoffKind::Return),
            verdict: reviews(self.briefing).then(|| VERDICT.to_owned()),
            from: Some(Party { agent: Some(self.briefing.agent.to_owned()), ..Party::default() }),
            to: Some(Party {
                agent: Some(back.unwrap_or_else(|| "orchestrator".to_owned())),
                reason: Some(format!("The work of {} is done", self.name)),
                ..Party::default()
            }),
            context: Some(Context {
                summary: Some(copied_example::SUMMARY.to_owned()),
                artifacts: self.path.clone().map(artifact).into_iter().collect(),
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
            task: Some(copied_example::TASK.to_owned()),
            starting: Some(true),
            ..Acknowledgment::default()
        }
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

/// Returns a file that the agent is to make, where it may: the deliverable, one of those that it may change, or one in its
/// output. Without a place of its own the file lies anywhere.
fn path(briefing: &Briefing<'_>, name: &str) -> Option<String> {
    let ending = if briefing.dialect == Dialect::Mailbox { "json" } else { "md" };
    let deliverable = briefing.request.expectations.as_ref().and_then(|wanted| wanted.deliverable.as_deref());
    let words = deliverable.unwrap_or_default().split([' ', ',', ';', '`', '"', '(', ')']);
    let named = words.map(|word| word.trim_end_matches('.')).filter(|word| is_plain(word) && is_file(word));
    let patterns = briefing.writes.unwrap_or_default();
    let plain = patterns.iter().map(String::as_str).filter(|pattern| is_plain(pattern) && is_file(pattern));
    let in_output = output_directory(briefing).map(|folder| {
        let folder = folder.trim_end_matches('/');
        // Artifacts are named relative to the workspace, whatever the folder is.
        let inside = !(folder.is_empty() || folder == "." || folder.starts_with('/'));
        if inside { format!("{folder}/{name}.{ending}") } else { format!("{name}.{ending}") }
    });
    let fits = patterns.iter().filter_map(|pattern| fitting(pattern));
    let anywhere = format!("{name}.{ending}");
    let mut places = named.chain(plain).map(str::to_owned).chain(in_output).chain(fits).chain([anywhere]);
    places.find(|path| may_write(briefing, path))
}

/// Makes a path that fits a pattern, such as `src/<file>` for `src/**` and `docs/<file>.md` for `docs/*.md`.
fn fitting(pattern: &str) -> Option<String> {
    let pattern = pattern.trim_start_matches("./");
    let folders = pattern.split('/').take_while(|part| is_plain(part));
    let last = pattern.rsplit('/').next().filter(|last| !is_plain(last))?;
    let ending = last.rsplit_once('.').map(|(_, ending)| ending).filter(|ending| is_plain(ending));
    let file = ending.map_or_else(|| "<file>".to_owned(), |ending| format!("<file>.{ending}"));
    Some(folders.chain([file.as_str()]).collect::<Vec<_>>().join("/"))
}

/// Returns whether a path looks like that of a file: its last part has an ending.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    !ending.is_empty()
        && !path.starts_with('/')
        && ending.chars().all(char::is_alphanumeric)
        && name.len() > ending.len() + 1
}

fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.contains(['{', '}', '<', '>', '*', '?', '[', ' '])
}

fn some_minutes_after(timestamp: Option<&str>) -> String {
    let asked = timestamp.and_then(|timestamp| timestamp.parse::<Timestamp>().ok());
    let ended = asked.and_then(|asked| asked.checked_add(SignedDuration::from_secs(431)).ok());
    ended.map_or_else(|| SOME_TIME.to_owned(), |ended| ended.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
