//! The documents that the orchestrator writes: what it asks of agents, checks and people, and what it reports itself.

use std::collections::HashSet;

use baton_protocol::model::artifact::ArtifactFields;
use baton_protocol::model::report::Output;
use baton_protocol::model::request::{
    Context, Expectations, Gate, HandedOver, Input, Party, RetryPolicy, WorkflowState,
};
use baton_protocol::model::terms::{ExpectedOutput, GateType, HandoffKind, Outcome, TaskPhase};
use baton_protocol::model::{Artifact, Document, Kind, Report, Request};
use baton_protocol::rules::review_without_verdict::REVIEW;
use baton_protocol::wire::Label;
use baton_protocol::workflow::AgentFields;
use baton_protocol::{Dialect, Hints, convert, read};
use jiff::Timestamp;
use serde_json::{Map, Number, Value};

use super::judging::judges;
use super::values::names;
use super::{FlowFault, PhasePart, UnfitDocument, turn};
use crate::answer::context;
use crate::definition::LocatedPhase;
use crate::expression;
use crate::handoff::WrittenDocument;
use crate::handover;
use crate::id::HandoffId;
use crate::prompt;
use crate::run::{Run, TrackedHandoff};
use crate::step::{CHECK, GROUP, HUMAN, ORCHESTRATOR, Role};

/// The longest summary that a request of a task carries, in tokens.
const SUMMARY_TOKENS_MAX: usize = 500;

/// The longest that a request repeats of what was handed over, in tokens.
const GIVEN_TOKENS_MAX: usize = 2_000;

/// How many handoffs are named in a request.
const HANDED_OVER_MAX: usize = 100;

/// How many artifacts are named where many results are put together; all of them stand in the reports of their makers.
pub(super) const ARTIFACTS_MAX: usize = 1_000;

/// What is known when something is asked.
pub(super) struct Asking<'a> {
    pub(super) run: &'a Run,
    pub(super) located: &'a LocatedPhase<'a>,
    pub(super) path: &'a str,
    pub(super) id: &'a HandoffId,
    pub(super) from: &'a str,
    /// Those whose results it goes on from.
    pub(super) givers: Vec<&'a TrackedHandoff>,
    pub(super) at: Timestamp,
}

impl Asking<'_> {
    /// What is asked of an agent.
    pub(super) fn work(&self, name: &str, agent: &AgentFields) -> Result<WrittenDocument, FlowFault> {
        let phase = self.located.phase();
        let dialect = dialect_of(agent);
        let inputs = self.inputs()?;
        let in_tasks = agent.dialect.as_deref().and_then(Dialect::parse) == Some(Dialect::Task);
        let is_review = turn::is_review(phase);
        // Every task is of a kind, whatever its phase is called; what a review finds is a validation.
        let usual =
            || in_tasks.then(|| if judges(self.located, name) { TaskPhase::Validate } else { TaskPhase::Write });
        let kind = phase.kind.as_deref().or(Some(phase.id())).and_then(TaskPhase::parse).or_else(usual);
        let output = kind.and_then(|kind| ExpectedOutput::ALL.iter().find(|output| output.phase() == kind));
        let schema = agent.output_schema.clone();
        let retry = phase.retry.as_ref().or(agent.retry.as_ref()).map(|retry| RetryPolicy {
            max_retries: retry.max_retries,
            retry_delay_seconds: retry.delay.and_then(|delay| seconds(delay.milliseconds)),
            backoff_multiplier: retry.multiplier.clone(),
        });
        let (instructions, facts) = self.task()?;
        let mut plain = self.plain(name);
        let context = plain.context.get_or_insert_default();
        context.facts.extend(facts);
        context.spec_path = self.spec_path(&inputs);
        self.add_relevant_files(&inputs, &mut context.relevant_files);
        // A task keeps its identifier through all of its phases; the summary that it is given has a limit.
        if in_tasks {
            plain.id = Some(self.run.id.to_string());
            context.summary = context.summary.take().map(|text| prompt::shortened(&text, SUMMARY_TOKENS_MAX));
        }
        let request = Request {
            instructions: Some(instructions),
            phase: Some(Label::Name(kind.map_or_else(|| phase.id().to_owned(), |kind| kind.as_str().to_owned()))),
            expectations: Some(Expectations {
                deliverable: phase.deliverable.clone(),
                constraints: phase.constraints.clone(),
                success_criteria: phase.success_criteria.clone(),
                output: match output {
                    Some(output) if in_tasks || !is_review => Some(output.as_str().to_owned()),
                    _ => is_review.then(|| REVIEW.to_owned()),
                },
                schema,
                destination: None,
            }),
            input: (!inputs.is_empty())
                .then(|| Input { schema: agent.input_schema.clone(), data: Some(Value::Object(inputs)) }),
            timeout_seconds: phase.timeout.or(agent.timeout).and_then(|timeout| seconds(timeout.milliseconds)),
            retry,
            ..plain
        };
        let folders = agent.directory.is_some() || agent.dialect.as_deref() == Some(Dialect::Mailbox.as_str());
        Ok(write(dialect, if folders { self.for_folders(request, agent) } else { request }))
    }

    /// Adds what agents behind folders are told beyond others: the phases of both sides, and which artifact goes where.
    fn for_folders(&self, mut request: Request, agent: &AgentFields) -> Request {
        if let (Some(from), Some(giver)) = (&mut request.from, self.givers.last()) {
            from.phase = Some(label(&giver.step.phase));
        }
        if let Some(to) = &mut request.to {
            to.phase = Some(label(self.path));
        }
        let expected = request.expectations.get_or_insert_default();
        expected.output = expected.output.take().or_else(|| expected.deliverable.clone());
        // Whoever completes puts the time in, and the ending too where the request does not know it.
        let ending = if agent.output_schema.is_some() { ".json" } else { "" };
        expected.destination = Some(format!("artifacts/{}/artifact-{}-{{timestamp}}{ending}", self.path, self.id));
        request
    }

    /// What a command is run for.
    pub(super) fn check(&self) -> Result<WrittenDocument, FlowFault> {
        let command = self.located.phase().check.as_ref().map(ToString::to_string).unwrap_or_default();
        let instructions = Some(format!("Run `{command}`: it passes if it ends with 0."));
        Ok(write("native", Request { instructions, ..self.plain(CHECK) }))
    }

    /// What a person is asked by a phase that is a gate.
    pub(super) fn gate(&self) -> Result<WrittenDocument, FlowFault> {
        let phase = self.located.phase();
        let fields = phase.gate.clone().unwrap_or_default();
        let usual = [("approve", "continue"), ("reject", "send it back with what must change")];
        let options: Map<String, Value> = match fields.choices.is_empty() {
            true => usual.into_iter().map(|(word, meaning)| (word.to_owned(), Value::from(meaning))).collect(),
            false => fields.choices.clone(),
        };
        let (instructions, _) = self.task()?;
        let items = if fields.items.is_empty() { vec![instructions.clone()] } else { fields.items };
        let gate = Gate {
            r#type: fields.r#type.or(Some(GateType::Blocking)),
            name: fields.name.or_else(|| Some(phase.id().to_owned())),
            step: Some(Label::Name(phase.id().to_owned())),
            items,
            options,
        };
        let (kind, instructions) = (Some(HandoffKind::Gate), Some(instructions));
        Ok(write("package", Request { kind, instructions, gate: Some(gate), ..self.plain(HUMAN) }))
    }

    /// What a group is made with.
    pub(super) fn group(&self, data: Value) -> WrittenDocument {
        let input = Some(Input { schema: None, data: Some(data) });
        write("native", Request { input, ..self.plain(GROUP) })
    }

    /// What every request has.
    fn plain(&self, to: &str) -> Request {
        let steps = |phases: &[baton_protocol::workflow::Phase]| -> Vec<Label> {
            phases.iter().map(|phase| Label::Name(phase.id().to_owned())).collect()
        };
        // What runs at the same time is one step, between those around it.
        let around =
            self.located.is_branch().then(|| self.run.definition.locate(self.located.prefix.trim_end_matches('/')));
        let around = around.flatten();
        let located = around.as_ref().unwrap_or(self.located);
        let (before, after) = located.siblings.split_at(located.index);
        Request {
            id: Some(self.id.to_string()),
            timestamp: Some(self.at.to_string()),
            kind: Some(HandoffKind::Sequential),
            from: party(self.from),
            to: party(to),
            phase: Some(Label::Name(self.located.phase().id().to_owned())),
            context: Some(self.context()),
            workflow: Some(WorkflowState {
                name: Some(self.located.definition.name().to_owned()),
                current_step: Some(Label::Number(Number::from(before.len() as u64 + 1))),
                completed_steps: steps(before),
                remaining_steps: steps(after.get(1..).unwrap_or_default()),
            }),
            ..Request::default()
        }
    }

    /// What those before it have handed over, as far as a request has a place for it. The prompt has the rest.
    fn context(&self) -> Context {
        let feature = self.run.definition.inputs.get("feature").and_then(Value::as_str);
        let mut knows =
            Context { feature: Some(feature.unwrap_or(self.run.definition.name()).to_owned()), ..Context::default() };
        let several = self.givers.len() > 1;
        let mut summaries = Vec::new();
        for giver in &self.givers {
            let said = giver.report().and_then(context).or(giver.answer()).unwrap_or_default();
            match giver.step.role {
                Role::Check | Role::Gate if said.is_empty() => {}
                Role::Check | Role::Gate => {
                    knows.facts.insert(giver.step.phase.clone(), Value::from(said));
                }
                _ if several => summaries.push(format!("{}: {said}", giver.step.phase)),
                _ => summaries.push(said.to_owned()),
            }
            knows.handed_over.extend(self.handed_over(giver));
            let Some(told) = &giver.told else { continue };
            extend(&mut knows.artifacts, told.report.artifacts.iter().cloned());
            extend(&mut knows.relevant_files, handover::paths(told));
            // The agent's own output is part of what it handed over.
            extend(&mut knows.artifacts, told.output_file().map(|path| output_of(path, giver)));
            extend(&mut knows.artifacts, told.report.output.as_ref().and_then(result_of));
            if let Some(package) = told.package.as_ref().and_then(|package| package.context.as_ref()) {
                extend(&mut knows.decisions, package.decisions.iter().cloned());
                extend(&mut knows.open_questions, package.open_questions.iter().cloned());
            }
        }
        summaries.retain(|said| !said.is_empty());
        // A request need not carry what stands in files; the prompt has the rest.
        let summary = (!summaries.is_empty()).then(|| summaries.join("\n"));
        knows.summary = summary.map(|text| prompt::shortened(&text, GIVEN_TOKENS_MAX));
        // The list of a large group stands in one file, which the prompt names.
        knows.handed_over.truncate(HANDED_OVER_MAX);
        knows
    }

    fn handed_over(&self, giver: &TrackedHandoff) -> Option<HandedOver> {
        let told = giver.told.as_ref()?;
        Some(HandedOver {
            handoff: Some(giver.handoff.id.to_string()),
            phase: Some(giver.step.phase.clone()),
            agent: Some(giver.handoff.terms.to.clone()),
            file: handover::file_of(self.run, giver),
            sha256: Some(told.written.digest().0),
        })
    }

    /// Returns the specification: what the phase or the run was given under that name, or else what somebody before named.
    fn spec_path(&self, inputs: &Map<String, Value>) -> Option<String> {
        let named = |inputs: &Map<String, Value>| {
            ["spec_path", "spec"].iter().find_map(|name| inputs.get(*name)?.as_str().map(str::to_owned))
        };
        let before = || self.givers.iter().find_map(|giver| handover::spec_path(giver.told.as_ref()?));
        let asked = || self.givers.iter().find_map(|giver| giver.asked()?.context.as_ref()?.spec_path.clone());
        named(inputs).or_else(|| named(&self.run.definition.inputs)).or_else(before).or_else(asked)
    }

    /// Adds the files that the phase was given under that name, or those of the run where nobody before named any.
    fn add_relevant_files(&self, inputs: &Map<String, Value>, files: &mut Vec<String>) {
        let of_run = || self.run.definition.inputs.get("relevant_files").filter(|_| files.is_empty());
        let mut named = match inputs.get("relevant_files").or_else(of_run) {
            Some(Value::Array(paths)) => paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect(),
            Some(Value::String(path)) => vec![path.clone()],
            _ => Vec::new(),
        };
        extend(&mut named, std::mem::take(files));
        *files = named;
    }

    /// Renders the task. What agents said is named in it, and stands in the facts, where it is fenced.
    fn task(&self) -> Result<(String, Map<String, Value>), FlowFault> {
        let phase = self.located.phase();
        let (id, workflow) = (phase.id(), self.located.definition.name());
        let usual = || match &phase.gate {
            None => format!("Work on the phase {id} of {workflow}."),
            Some(gate) if gate.choices.is_empty() => format!("A decision at `{id}`: may {workflow} continue?"),
            Some(_) => format!("A decision at `{id}`: how should {workflow} continue?"),
        };
        let Some(task) = &phase.task else { return Ok((phase.title.clone().unwrap_or_else(usual), Map::new())) };
        if !task.contains("{{") && !task.contains("{%") {
            return Ok((task.clone(), Map::new()));
        }
        let mut names = names(self.run, self.path, [task.as_str()]);
        let mut quoted = Quoted::default();
        if let Value::Object(names) = &mut names {
            // The inputs of the run are the user's; the rest comes from agents, also what a workflow inside it is given.
            let inner = !std::ptr::eq(self.located.definition, &*self.run.definition);
            names
                .iter_mut()
                .filter(|(name, _)| name.as_str() != "run" && (inner || name.as_str() != "inputs"))
                .for_each(|(_, value)| quoted.quote(value));
        }
        let text = expression::render(task, &names).map_err(|fault| PhasePart::Task.wrong(self.path, fault))?;
        let facts = quoted.said_in(&text);
        Ok((text, facts))
    }

    /// Evaluates the inputs of the phase. Anything but text is taken as it is.
    pub(super) fn inputs(&self) -> Result<Map<String, Value>, FlowFault> {
        let inputs = &self.located.phase().inputs;
        if inputs.is_empty() {
            return Ok(Map::new());
        }
        let names = names(self.run, self.path, inputs.values().filter_map(Value::as_str));
        let evaluate = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::String(text) => {
                    let part = || PhasePart::Input { name: name.clone(), expression: text.clone() };
                    expression::evaluate(text, &names).map_err(|fault| part().wrong(self.path, fault))?
                }
                value => value.clone(),
            };
            Ok((name.clone(), value))
        };
        inputs.iter().map(evaluate).collect()
    }
}

/// Texts of agents that a task refers to.
#[derive(Default)]
struct Quoted(Vec<String>);

impl Quoted {
    /// Puts a name in the place of every text that is more than a word or a path.
    fn quote(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if !is_word(text) => {
                self.0.push(std::mem::take(text));
                *text = Quoted::name(self.0.len());
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.quote(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.quote(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn name(number: usize) -> String {
        format!("(value {number}, below)")
    }

    /// Returns the texts that are named in a task.
    fn said_in(self, task: &str) -> Map<String, Value> {
        let named = self.0.into_iter().enumerate().map(|(index, text)| (index + 1, text));
        let said = named.filter(|(number, _)| task.contains(&Quoted::name(*number)));
        said.map(|(number, text)| (format!("value {number}"), Value::String(text))).collect()
    }
}

/// Returns whether a text is a word, a number or a path, which cannot tell anybody what to do.
fn is_word(text: &str) -> bool {
    text.len() <= 120 && !text.contains(char::is_whitespace) && !text.contains(char::is_control)
}

/// Adds what is not there yet.
fn extend<T: PartialEq>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The file that contains an agent's report, as an artifact.
fn output_of(path: &str, giver: &TrackedHandoff) -> Artifact {
    let description = Some(format!("what {} handed over in {}", giver.handoff.terms.to, giver.step.phase));
    let fields = ArtifactFields { path: Some(path.to_owned()), r#type: Some("doc".to_owned()), description, id: None };
    Artifact { fields, bare: false }
}

/// What came out, as an answer in a folder tells it, as an artifact.
fn result_of(output: &Output) -> Option<Artifact> {
    let path = Some(output.artifact_path.clone().filter(|path| !path.trim().is_empty())?);
    let (id, r#type) = (output.artifact_id.clone(), output.artifact_type.clone());
    Some(Artifact { fields: ArtifactFields { path, r#type, description: None, id }, bare: false })
}

/// Returns the sender of the handoff that follows another.
pub(super) fn voice(tracked: &TrackedHandoff) -> String {
    match tracked.step.role {
        Role::Work | Role::Delegation => tracked.handoff.terms.to.clone(),
        _ => ORCHESTRATOR.to_owned(),
    }
}

/// Returns a phase as a label: one whose name is a number is one.
fn label(phase: &str) -> Label {
    phase.parse().map_or_else(|_| Label::Name(phase.to_owned()), Label::Number)
}

/// Names a party.
pub(super) fn party(agent: &str) -> Option<Party> {
    Some(Party { agent: Some(agent.to_owned()), ..Party::default() })
}

/// Returns the dialect in which a request to an agent is kept: the native one, which loses nothing, unless the agent
/// claims its work itself and reads it as it is.
pub(super) fn dialect_of(agent: &AgentFields) -> &str {
    let own = agent.dialect.as_deref().filter(|_| agent.queue == Some(true));
    own.unwrap_or(Dialect::Native.as_str())
}

/// Writes a request in a dialect; in the native one where that dialect has no requests.
pub(crate) fn write(dialect: &str, request: Request) -> WrittenDocument {
    let wanted = Dialect::parse(dialect).filter(|dialect| dialect.has(Kind::Request)).unwrap_or(Dialect::Native);
    written(wanted, Document::Request(Box::new(request)))
}

/// Returns why a document that we wrote could not be read again. It must be readable: an unreadable request would be an
/// empty one to whoever gets it.
pub fn fits(written: &WrittenDocument) -> Result<(), UnfitDocument> {
    read_back(written).map(drop)
}

/// Reads what we wrote; the error says why that is impossible.
pub(super) fn read_back(written: &WrittenDocument) -> Result<Document, UnfitDocument> {
    let bytes = written.text.len();
    if bytes > read::BYTES_MAX {
        return Err(UnfitDocument::TooLarge { bytes });
    }
    let hints = Hints { format: None, dialect: Dialect::parse(&written.dialect) };
    let reading = baton_protocol::read(written.text.as_bytes(), hints);
    reading.document.ok_or_else(|| {
        let why = reading.findings.as_slice().first().map(|finding| finding.message.clone());
        UnfitDocument::Unreadable(why.unwrap_or_else(|| "it cannot be read".to_owned()))
    })
}

/// Writes a report of the orchestrator itself.
pub(super) fn written_report(report: Report) -> WrittenDocument {
    written(Dialect::Native, Document::Report(Box::new(report)))
}

/// Writes a document in a dialect; in the native one where that dialect has no such document.
pub(crate) fn written(dialect: Dialect, document: Document) -> WrittenDocument {
    let (dialect, value) = match dialect.write(&document) {
        Some(value) => (dialect, value),
        None => (Dialect::Native, Dialect::Native.write(&document).unwrap_or(Value::Null)),
    };
    WrittenDocument::new(dialect, convert::render(&value, convert::Form::of(dialect)))
}

/// What a run reports when all of it is done.
pub(super) fn final_report(run: &Run, why: &str) -> WrittenDocument {
    let phases: Vec<&TrackedHandoff> = run.handoffs().filter(|tracked| tracked.step.role.is_phase()).collect();
    let made = phases.iter().filter_map(|phase| phase.report()).flat_map(|report| &report.artifacts);
    let mut seen = HashSet::new();
    let artifacts = made.filter(|artifact| seen.insert(format!("{artifact:?}"))).take(ARTIFACTS_MAX).cloned().collect();
    let last = phases.iter().rev().find_map(|phase| phase.report().and_then(context));
    let summary =
        format!("{} is done: {} steps; {why}. {}", run.definition.name(), phases.len(), last.unwrap_or_default());
    written_report(Report {
        id: Some(run.id.to_string()),
        from: party(ORCHESTRATOR),
        outcome: Some(Outcome::Complete),
        summary: Some(summary.trim().to_owned()),
        artifacts,
        ..Report::default()
    })
}

fn seconds(milliseconds: u64) -> Option<Number> {
    match milliseconds % 1000 {
        0 => Some(Number::from(milliseconds / 1000)),
        _ => Number::from_f64(milliseconds as f64 / 1000.0),
    }
}
