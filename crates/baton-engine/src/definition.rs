//! What a run was started with: the workflow as it was then, the workflows inside it, the inputs and the places.
//!
//! It stands in the request of the run, so that a resumed run does not depend on files that were edited meanwhile.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_protocol::model::Request;
use baton_protocol::model::request::{Input, Party};
use baton_protocol::workflow::{GateFields, Phase, Workflow};
use baton_protocol::{Dialect, Document, Hints, convert, is_printable, printable_json};
use serde_json::{Map, Value};

use crate::approval::{Approval, Approver};
use crate::handoff::WrittenDocument;
use crate::id::RunId;
use crate::step::ORCHESTRATOR;
use crate::stored::{self, Unreadable};

/// The schema that the data of a run's request is marked with.
const SCHEMA: &str = "baton.run";

/// What a run was started with.
///
/// ```
/// use baton_engine::definition::Definition;
///
/// let text = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";
/// let definition: Definition = baton_engine::memory::definition(text);
/// assert_eq!(definition.locate("build").expect("a phase").phase().agent.as_deref(), Some("dev"));
///
/// // The request of a run keeps all of it, so that the run goes on with what it began with.
/// let request = definition.request(&baton_engine::RunId::parse("r-1")?, "ana");
/// assert_eq!(Definition::of_request(&request)?, definition);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The workflow.
    pub workflow: Workflow,
    /// The folder of its file.
    pub folder: PathBuf,
    /// The name of its file, if somebody noted it.
    pub file: Option<String>,
    /// The workflows that are phases of it, by the path that it names.
    pub nested: BTreeMap<String, Definition>,
    /// The templates of its agents, by the path that it names.
    pub templates: BTreeMap<String, String>,
    /// What was given, with the defaults filled in.
    pub inputs: Map<String, Value>,
    /// Where the agents work.
    pub workspace: PathBuf,
    /// Who may sign decisions, with their keys as they were when the run began.
    pub approvers: Vec<Approver>,
}

/// Why a workflow cannot begin with what it is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputFault {
    /// It does not know such an input.
    #[error("the workflow has no input `{0}`")]
    Unknown(String),
    /// It needs an input that was not given.
    #[error("the workflow needs the input `{0}`")]
    Missing(String),
}

impl Definition {
    /// Returns the name of the workflow.
    pub fn name(&self) -> &str {
        self.workflow.name.as_deref().unwrap_or("workflow")
    }

    /// Fills in the defaults of inputs; the error names what is missing or unknown.
    pub fn inputs(workflow: &Workflow, mut given: Map<String, Value>) -> Result<Map<String, Value>, InputFault> {
        if let Some(unknown) = given.keys().find(|name| workflow.inputs.get(name).is_none()) {
            return Err(InputFault::Unknown(unknown.clone()));
        }
        for (name, declared) in workflow.inputs.iter() {
            let is_needed = declared.required == Some(true);
            if given.get(name).is_some_and(|value| !(is_needed && value.is_null())) {
                continue;
            }
            match (&declared.default, is_needed) {
                (Some(default), _) => given.insert(name.to_owned(), default.clone()),
                (None, true) => return Err(InputFault::Missing(name.to_owned())),
                (None, false) => given.insert(name.to_owned(), Value::Null),
            };
        }
        Ok(given)
    }

    /// Reads the value of an input that somebody typed: a list, an object, a number, true/false, null or text in quotation marks
    /// as JSON, anything else as text.
    pub fn typed_input(text: &str) -> Result<Value, serde_json::Error> {
        if text.starts_with('"')
            && let Ok(quoted) = serde_json::from_str(text)
        {
            return Ok(Value::String(quoted));
        }
        // A version such as 1.10 is not a number: only what is written back in the same way is one.
        let number = serde_json::from_str::<serde_json::Number>(text).is_ok_and(|number| number.to_string() == text);
        let is_json = text.starts_with(['[', '{']) || number || matches!(text, "true" | "false" | "null");
        if is_json { serde_json::from_str(text) } else { Ok(Value::String(text.to_owned())) }
    }

    /// Writes what an input was given as somebody would type it; empty if it was given nothing and has no default.
    pub fn typed(&self, name: &str) -> String {
        let has_default = || self.workflow.inputs.get(name).is_some_and(|declared| declared.default.is_some());
        let given = self.inputs.get(name).filter(|value| !value.is_null() || has_default());
        given.map(Definition::as_typed).unwrap_or_default()
    }

    /// Writes the value of an input as somebody would type it; the opposite of [`typed_input`](Definition::typed_input).
    pub fn as_typed(value: &Value) -> String {
        match value {
            Value::String(text) if is_typed_as_it_is(text) => text.clone(),
            _ => printable_json(value),
        }
    }

    /// Writes the request that begins a run.
    pub fn request(&self, run: &RunId, from: &str) -> WrittenDocument {
        let party = |agent: &str| Some(Party { agent: Some(agent.to_owned()), ..Party::default() });
        let request = Request {
            id: Some(run.to_string()),
            from: party(from),
            to: party(ORCHESTRATOR),
            instructions: Some(format!("Run the workflow {}.", self.name())),
            input: Some(Input { schema: Some(SCHEMA.to_owned()), data: Some(stored::definition::write(self)) }),
            ..Request::default()
        };
        let value = Dialect::Native.write(&Document::Request(Box::new(request))).unwrap_or(Value::Null);
        WrittenDocument::new(Dialect::Native, convert::render(&value, convert::Form::Json))
    }

    /// Reads the request that began a run; the error says why it did not.
    pub fn of_request(written: &WrittenDocument) -> Result<Definition, Unreadable> {
        let damaged = |why: &str| Unreadable::Damaged(why.to_owned());
        let hints = Hints { format: None, dialect: Some(Dialect::Native) };
        let Some(Document::Request(request)) = baton_protocol::read(written.text.as_bytes(), hints).document else {
            return Err(damaged("its request is damaged"));
        };
        let input = request.input.filter(|input| input.schema.as_deref() == Some(SCHEMA));
        let data = input.and_then(|input| input.data).ok_or_else(|| damaged("its request holds no workflow"))?;
        stored::definition::read(&data)
    }

    /// Returns who may decide at a gate; `None` if everybody may.
    pub fn approval(&self, gate: &GateFields) -> Option<Approval> {
        if !gate.names_deciders() {
            return None;
        }
        let signed = gate.signed == Some(true);
        let known = |name: &String| {
            let known = self.approvers.iter().find(|approver| approver.name == *name).cloned();
            known.unwrap_or_else(|| Approver { name: name.clone(), keys: Vec::new() })
        };
        let approvers = match gate.approver_names().is_empty() && signed {
            true => self.approvers.iter().filter(|approver| !approver.keys.is_empty()).cloned().collect(),
            false => gate.approver_names().iter().map(known).collect(),
        };
        let at_least = gate.at_least.map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX));
        Some(Approval { at_least, signed, approvers })
    }

    /// Finds a phase by its path, such as `tools/get-issue/review`.
    pub fn locate(&self, path: &str) -> Option<LocatedPhase<'_>> {
        let (siblings, prefix, lane) = (self.workflow.phases.as_slice(), String::new(), String::new());
        let mut located =
            LocatedPhase { definition: self, siblings, index: 0, prefix, group: None, lane, around: Vec::new() };
        let mut segments = path.split('/');
        let mut wanted = segments.next()?;
        loop {
            located.index = located.siblings.iter().position(|phase| phase.id() == wanted)?;
            let Some(next) = segments.next() else { return Some(located) };
            let phase = located.phase();
            located.prefix = format!("{}{wanted}/", located.prefix);
            located.group = Some(phase);
            wanted = next;
            if let Some(nested) = &phase.workflow {
                let path = located.prefix.trim_end_matches('/').to_owned();
                located.around.push(Nesting { definition: located.definition, path });
                located.definition = located.definition.nested.get(nested)?;
                located.siblings = &located.definition.workflow.phases;
            } else if phase.foreach.is_some() {
                located.prefix = format!("{}{wanted}/", located.prefix);
                located.lane.clone_from(&located.prefix);
                located.siblings = &phase.phases;
                wanted = segments.next()?;
            } else {
                located.lane = format!("{}{wanted}/", located.prefix);
                located.siblings = &phase.parallel;
            }
        }
    }
}

/// Returns whether text needs no quotation marks: it is read as nothing else, and a form neither trims it nor shows parts of it
/// in another way.
fn is_typed_as_it_is(text: &str) -> bool {
    let is_read_so = Definition::typed_input(text).is_ok_and(|read| read.as_str() == Some(text));
    is_read_so && !text.is_empty() && text.trim() == text && text.chars().all(is_printable)
}

/// A phase in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedPhase<'d> {
    /// The workflow that it belongs to.
    pub definition: &'d Definition,
    /// The phases beside it, in their order.
    pub siblings: &'d [Phase],
    /// Which of them it is.
    pub index: usize,
    /// What stands before its name in its path.
    pub prefix: String,
    /// The phase that holds it, if one does.
    pub group: Option<&'d Phase>,
    /// The innermost line of phases around it that goes on at the same time as others: an item of a list, or a branch,
    /// by the beginning of its path, such as `tools/get-issue/`. Empty if nothing goes on beside it.
    pub lane: String,
    /// The workflows around its own, the outermost first.
    pub around: Vec<Nesting<'d>>,
}

/// A workflow with another one inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Nesting<'d> {
    /// The workflow around.
    pub definition: &'d Definition,
    /// The path of the phase that is the workflow inside.
    pub path: String,
}

impl<'d> LocatedPhase<'d> {
    /// Returns the phase.
    pub fn phase(&self) -> &'d Phase {
        &self.siblings[self.index]
    }

    /// Returns the workflows that it belongs to, the outermost first.
    pub fn workflows(&self) -> impl DoubleEndedIterator<Item = &'d Definition> {
        self.around.iter().map(|around| around.definition).chain([self.definition])
    }

    /// Returns whether the phases beside it run at the same time.
    pub fn is_branch(&self) -> bool {
        self.group.is_some_and(|group| !group.parallel.is_empty())
    }

    /// Returns whether it belongs to a list or runs at the same time as others, at whatever depth.
    pub fn is_in_lane(&self) -> bool {
        !self.lane.is_empty()
    }

    /// Returns the path of a phase beside it.
    pub fn path_of(&self, phase: &Phase) -> String {
        format!("{}{}", self.prefix, phase.id())
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{printable, workflow};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn definition(text: &str) -> Definition {
        Definition {
            approvers: Vec::new(),
            workflow: workflow::read(text.as_bytes()).workflow.expect("readable"),
            folder: PathBuf::from("/flows"),
            file: None,
            nested: BTreeMap::new(),
            templates: BTreeMap::new(),
            inputs: Map::new(),
            workspace: PathBuf::from("/work"),
        }
    }

    const FLOW: &str = "
name: outer
inputs: {feature: {default: login}, size: {required: true}}
agents: {a: {command: [./a]}}
phases:
  - {id: first, agent: a}
  - {id: tools, foreach: inputs.tools, as: tool, phases: [{id: design, agent: a}, {id: build, agent: a}]}
  - {id: quality, parallel: [{id: lint, check: 'true'}, {id: deep, workflow: other.yaml}]}
";

    #[test]
    fn request_of_a_run_is_read_as_it_was_written() {
        let mut outer = definition(FLOW);
        outer.nested.insert("other.yaml".to_owned(), definition("name: other\nphases: [{id: x, agent: a}]"));
        outer.inputs.insert("feature".to_owned(), json!("login"));
        let run = RunId::parse("run-1").expect("safe");
        assert_eq!(Definition::of_request(&outer.request(&run, "ana")), Ok(outer));
    }

    #[test]
    fn definition_of_a_newer_program_is_told_from_one_that_is_damaged() {
        let run = RunId::parse("run-1").expect("safe");
        let written = definition(FLOW).request(&run, "ana");
        let with = |from: &str, to: &str| {
            let text = written.text.replacen(from, to, 1);
            assert_ne!(text, written.text);
            Definition::of_request(&WrittenDocument { text, ..written.clone() })
        };
        let folder = "\"folder\": \"/flows\"";
        assert_eq!(with(folder, &format!("{folder}, \"later\": {{}}")), Ok(definition(FLOW)));
        let newer = with(folder, &format!("{folder}, \"v\": 2"));
        assert_eq!(newer, Err(Unreadable::Newer { found: 2, known: 1 }));
        let damaged = with(folder, "\"folder\": 7");
        assert!(matches!(damaged, Err(Unreadable::Damaged(_))), "{damaged:?}");
    }

    #[test]
    fn phases_are_found_inside_others() {
        let mut outer = definition(FLOW);
        outer.nested.insert("other.yaml".to_owned(), definition("name: other\nphases: [{id: x, agent: a}]"));
        let id =
            |path: &str| outer.locate(path).map(|located| (located.prefix.clone(), located.phase().id().to_owned()));
        assert_eq!(id("first"), Some((String::new(), "first".to_owned())));
        assert_eq!(id("tools/get-issue/build"), Some(("tools/get-issue/".to_owned(), "build".to_owned())));
        assert_eq!(id("quality/lint"), Some(("quality/".to_owned(), "lint".to_owned())));
        assert_eq!(id("quality/deep/x"), Some(("quality/deep/".to_owned(), "x".to_owned())));
        assert_eq!(id("quality/nothing"), None);
        let lane = |path: &str| outer.locate(path).map(|located| located.lane);
        assert_eq!(lane("tools"), Some(String::new()));
        assert_eq!(lane("tools/get-issue/build"), Some("tools/get-issue/".to_owned()));
        assert_eq!(lane("quality/deep/x"), Some("quality/deep/".to_owned()));
    }

    #[test]
    fn inputs_are_read_as_somebody_types_them() {
        let read = |text: &str| Definition::typed_input(text).ok();
        assert_eq!(read("5"), Some(json!(5)));
        assert_eq!(read("\"5\""), Some(json!("5")));
        assert_eq!(read("\"Dates\" and times"), Some(json!("\"Dates\" and times")));
        assert_eq!(read("1.10"), Some(json!("1.10")));
        assert_eq!(read("null"), Some(json!(null)));
        assert_eq!(read("[1,"), None);
        let typed = ["5", "null", "[1,", "", " a", "\"x\"", "a\r\nb", "\u{1f468}\u{200d}"]
            .map(|text| Definition::as_typed(&json!(text)));
        assert_eq!(
            typed,
            ["\"5\"", "\"null\"", "\"[1,\"", "\"\"", "\" a\"", r#""\"x\"""#, r#""a\r\nb""#, "\"\u{1f468}\\u200d\""]
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = || prop_oneof!["\\PC*", any::<String>(), "[\"\\[{0-9. \r\n\u{200d}a]{0,4}", Just("true".to_owned())];
        let plain = prop_oneof![
            text().prop_map(Value::String),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        plain.prop_recursive(2, 8, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((text(), inner), 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn input_that_is_shown_in_a_form_comes_back_as_it_was(value in value()) {
            let typed = Definition::as_typed(&value);
            // A page shows it so, and a form is read without the space around it.
            prop_assert_eq!(printable(typed.trim()), typed.clone());
            prop_assert_eq!(Definition::typed_input(&typed).ok(), Some(value));
        }
    }

    #[test]
    fn inputs_are_complete_and_known() {
        let flow = definition(FLOW).workflow;
        let give = |given: Value| Definition::inputs(&flow, given.as_object().cloned().unwrap_or_default());
        assert_eq!(give(json!({})), Err(InputFault::Missing("size".to_owned())));
        assert_eq!(give(json!({"size": null})), Err(InputFault::Missing("size".to_owned())));
        assert_eq!(give(json!({"speed": 1})), Err(InputFault::Unknown("speed".to_owned())));
        let filled = give(json!({"size": 3})).expect("complete");
        assert_eq!(Value::Object(filled), json!({"size": 3, "feature": "login"}));
    }
}
