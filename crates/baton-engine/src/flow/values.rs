//! What expressions and templates can speak of: the inputs, the results of earlier phases, the item of a foreach.

use std::collections::HashSet;

use baton_protocol::model::{Document, Request};
use baton_protocol::{Dialect, model::Artifact};
use serde_json::{Map, Value, json};

use super::join;
use crate::answer::context;
use crate::definition::Definition;
use crate::handoff::State;
use crate::run::{Run, TrackedHandoff};

/// Returns the names that the expressions and templates of a phase use: of what they do not speak of, nothing is worked
/// out.
pub fn names<'t>(run: &Run, path: &str, texts: impl IntoIterator<Item = &'t str>) -> Value {
    let spoken_of = SpokenOf::of(texts);
    let given = |inputs: &Map<String, Value>| if spoken_of.inputs { inputs.clone() } else { Map::new() };
    let mut scope = Scope { definition: &run.definition, inputs: given(&run.definition.inputs), items: Map::new() };
    let mut phases = Map::new();
    let mut prefix = String::new();
    let mut segments = path.split('/').peekable();
    let mut siblings = run.definition.workflow.phases.as_slice();
    while let Some(segment) = segments.next() {
        for phase in siblings.iter().filter(|phase| spoken_of.phases.contains(phase.id())) {
            let visited = run.latest(&format!("{prefix}{}", phase.id()));
            phases.insert(phase.id().to_owned(), visited.map_or_else(nothing, result));
        }
        let Some(phase) = siblings.iter().find(|phase| phase.id() == segment) else { break };
        if segments.peek().is_none() {
            break;
        }
        let group = run.latest(&format!("{prefix}{segment}"));
        prefix = format!("{prefix}{segment}/");
        if let Some(nested) = &phase.workflow {
            let Some(definition) = scope.definition.nested.get(nested) else { break };
            // A workflow inside another one sees what it was given, and nothing else.
            let inputs = group.filter(|_| spoken_of.inputs).map(join::given).unwrap_or_default();
            scope = Scope { definition, inputs, items: Map::new() };
            phases = Map::new();
            siblings = &definition.workflow.phases;
        } else if phase.foreach.is_some() {
            let key = segments.next().unwrap_or_default();
            prefix = format!("{prefix}{key}/");
            let items = group.and_then(|group| group.items().ok());
            let item = items.and_then(|items| items.value(key).cloned()).unwrap_or(Value::Null);
            scope.items.insert(phase.r#as.clone().unwrap_or_else(|| "item".to_owned()), item);
            siblings = &phase.phases;
        } else {
            siblings = &phase.parallel;
        }
    }
    let mut names = scope.items;
    names.insert("inputs".to_owned(), Value::Object(scope.inputs));
    names.insert("phases".to_owned(), Value::Object(phases));
    let started_at = run.started_at.strftime("%Y-%m-%d-%H%M%S").to_string();
    let about = json!({ "id": run.id.as_str(), "workflow": scope.definition.name(), "started_at": started_at });
    names.insert("run".to_owned(), about);
    Value::Object(names)
}

/// What texts speak of.
struct SpokenOf {
    inputs: bool,
    phases: Phases,
}

enum Phases {
    All,
    Named(HashSet<String>),
}

impl SpokenOf {
    fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> SpokenOf {
        let (mut inputs, mut phases) = (false, Phases::Named(HashSet::new()));
        for text in texts {
            inputs |= text.contains("inputs");
            for (at, word) in text.match_indices("phases") {
                let name: Option<String> = text[at + word.len()..]
                    .strip_prefix('.')
                    .map(|rest| rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect());
                match (name, &mut phases) {
                    (Some(name), Phases::Named(names)) if !name.is_empty() => drop(names.insert(name)),
                    // `phases[…]` and loops may mean any of them.
                    _ => phases = Phases::All,
                }
            }
        }
        SpokenOf { inputs, phases }
    }
}

impl Phases {
    fn contains(&self, phase: &str) -> bool {
        match self {
            Phases::All => true,
            Phases::Named(names) => names.contains(phase),
        }
    }
}

struct Scope<'d> {
    definition: &'d Definition,
    inputs: Map<String, Value>,
    items: Map<String, Value>,
}

/// Returns what expressions see of a phase that was not visited.
fn nothing() -> Value {
    json!({
        "status": "not_visited", "passed": false, "failed": false, "visits": 0, "answer": null, "summary": null,
        "context": null, "verdict": null, "decision": null, "findings": null, "output": null, "verification": null,
        "artifacts": [], "files_modified": [], "skills_invoked": [], "issues": [], "decisions": [],
        "open_questions": [], "expectations": null,
    })
}

/// Returns what expressions see of a visit of a phase.
pub fn result(tracked: &TrackedHandoff) -> Value {
    let mut told = Map::new();
    if let Some(report) = tracked.report() {
        let document = Document::Report(Box::new(report.clone()));
        if let Some(Value::Object(native)) = Dialect::Native.write(&document) {
            told = native;
        }
        let paths =
            |artifacts: &[Artifact]| -> Vec<String> { artifacts.iter().map(|one| one.path().to_owned()).collect() };
        told.insert("artifacts".to_owned(), json!(paths(&report.artifacts)));
        told.insert("context".to_owned(), json!(context(report)));
        // A metadata block has no summary of its own: what it says to the next agent is one.
        if report.summary.is_none() {
            told.insert("summary".to_owned(), json!(context(report)));
        }
        told.extend(tracked.told.iter().flat_map(|told| in_package(told.package.as_deref())));
        for empty in ["files_modified", "skills_invoked", "issues", "decisions", "open_questions"] {
            told.entry(empty).or_insert_with(|| json!([]));
        }
        for absent in ["summary", "verdict", "decision", "findings", "output", "verification", "expectations"] {
            told.entry(absent).or_insert(Value::Null);
        }
    }
    told.insert("status".to_owned(), json!(tracked.handoff.state.name().as_str()));
    told.insert("passed".to_owned(), json!(tracked.passed()));
    told.insert("visits".to_owned(), json!(tracked.step.visit));
    told.insert("answer".to_owned(), json!(tracked.answer()));
    told.insert("failed".to_owned(), json!(matches!(tracked.handoff.state, State::Failed { .. })));
    Value::Object(told)
}

/// Returns what a package says that a report has no place for.
fn in_package(package: Option<&Request>) -> Map<String, Value> {
    let document = package.map(|package| Document::Request(Box::new(package.clone())));
    let native = document.and_then(|document| Dialect::Native.write(&document)).unwrap_or_default();
    let members = ["/context/decisions", "/context/open_questions", "/expectations"];
    let member = |pointer: &str| {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        native.pointer(pointer).map(|value| (name.to_owned(), value.clone()))
    };
    members.into_iter().filter_map(member).collect()
}
