//! Files that a run keeps current while it goes on, for people and tools that read folders.

use std::borrow::Cow;
use std::path::{Component, Path};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::tree::Node;
use crate::wire::{Reader, Wire, vocabulary};

vocabulary! {
    /// A file or folder that a run keeps current while it goes on.
    pub enum View, "view", unknown_kind {
        /// `state/current.json`: every handoff with its status.
        State = "state",
        /// `.project/07-audit/sessions/RUN`: what was asked, and what agents wrote.
        Archive = "archive",
        /// `MANIFEST.yaml` in the output directory: phases, agents and artifacts.
        Manifest = "manifest",
        /// `context/phase-status.json`: every phase with its status.
        PhaseStatus = "phase-status",
        /// `artifacts/registry.json`: every artifact with its phase, agent, status and dependencies.
        Registry = "registry",
    }
}

/// A view, and the folder of the workspace that it is in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedView {
    /// The view; missing if it could not be read.
    pub view: Option<View>,
    /// The folder, relative to the workspace, unless it is the usual one.
    pub folder: Option<String>,
}

impl Wire for PlacedView {
    const EXPECTED: &'static str = "a view, or an object with a view and its folder inside the workspace";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Object(mut members) if members.len() == 1 && is_folder(&members[0].1) => {
                let (name, folder) = members.remove(0);
                let folder = String::read(folder, reader);
                View::read(Node::Text(name), reader).map(|view| PlacedView { view: Some(view), folder })
            }
            Node::Text(_) => View::read(node, reader).map(|view| PlacedView { view: Some(view), folder: None }),
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match (self.view, &self.folder) {
            (Some(view), Some(folder)) => Value::Object(Map::from_iter([(view.as_str().to_owned(), json!(folder))])),
            (Some(view), None) => view.write(),
            (None, _) => Value::Null,
        }
    }
}

/// Returns whether a value names a folder inside the workspace, as far as its words go.
fn is_folder(node: &Node<'_>) -> bool {
    let Node::Text(text) = node else { return false };
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !text.is_empty() && Path::new(text.as_ref()).components().all(inside)
}

impl JsonSchema for PlacedView {
    fn schema_name() -> Cow<'static, str> {
        "PlacedView".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<View>();
        let folder = json!({ "type": "string", "minLength": 1, "description": "A folder inside the workspace." });
        let folders: Map<String, Value> = View::WORDS.iter().map(|view| ((*view).to_owned(), folder.clone())).collect();
        json_schema!({
            "anyOf": [
                word,
                { "type": "object", "properties": folders, "minProperties": 1, "maxProperties": 1 },
            ],
            "description": "A view, or a view and the folder that it stands in.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow;

    fn read(views: &str) -> (Vec<PlacedView>, Vec<String>) {
        let text = format!("name: w\nviews: {views}\nagents: {{a: {{queue: true}}}}\nphases: [{{id: x, agent: a}}]\n");
        let reading = workflow::read(text.as_bytes());
        let judgement = workflow::judge(text.as_bytes(), &reading, None, &crate::Settings::default());
        let told = judgement
            .diagnostics
            .iter()
            .map(|found| format!("{}: {}; {}", found.code, found.message, found.help.clone().unwrap_or_default()));
        (reading.workflow.map(|workflow| workflow.views).unwrap_or_default(), told.collect())
    }

    #[test]
    fn views_are_words_or_words_with_a_folder() {
        let (views, told) = read("[state, {phase-status: exchange}, phase_status]");
        assert_eq!(told, [""; 0]);
        let placed = |view, folder: Option<&str>| PlacedView { view: Some(view), folder: folder.map(str::to_owned) };
        let status = View::PhaseStatus;
        assert_eq!(views, [placed(View::State, None), placed(status, Some("exchange")), placed(status, None)]);
        let written: Vec<Value> = views.iter().map(Wire::write).collect();
        assert_eq!(json!(written), json!(["state", { "phase-status": "exchange" }, "phase-status"]));
    }

    #[test]
    fn unknown_view_is_an_error_with_a_suggestion() {
        let (_, told) = read("[stat]");
        assert!(told[0].starts_with("unknown-kind: unknown view `stat`; did you mean `state`?"), "{told:?}");
    }

    #[test]
    fn folder_of_a_view_stays_inside_the_workspace() {
        for folder in ["../elsewhere", "/tmp", "''", "[a]"] {
            let (views, told) = read(&format!("[{{state: {folder}}}]"));
            assert!(
                views.iter().all(|placed| placed.view.is_none())
                    && told.len() == 1
                    && told[0].contains("inside the workspace"),
                "{told:?}"
            );
        }
    }
}
