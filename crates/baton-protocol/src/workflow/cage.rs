//! What the processes of a workflow may see, change and use up: `sandbox`, `cage` and `writes`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{AgentFields, Workflow};
use crate::tree::Node;
use crate::wire::{Reader, Wire, vocabulary, wire};

vocabulary! {
    /// Whether processes are caged.
    pub enum Sandbox, "word for a sandbox", unknown_kind {
        /// By the best that the machine has.
        On = "on",
        /// Not at all.
        Off = "off",
    }
}

wire! {
    /// What processes may see, change and use up, beyond what follows from the phase.
    pub struct CageFields {
        /// Files and folders that are not there; `~/` is the home folder, other paths are relative to the workspace.
        optional hide: Vec<String>,
        /// Files and folders that may be changed although they lie outside of the workspace; they are never hidden.
        optional write: Vec<String>,
        /// Whether there is a network; default: `true`.
        optional network: Option<bool>,
        /// The most processes at the same time; default: 4096. The kernel does not count those of root.
        optional processes: Option<u64>,
        /// The most that one file may grow to, in MiB; default: 16384.
        optional file_megabytes: Option<u64>,
        /// The most files that one process may have open; default: 65536.
        optional open_files: Option<u64>,
    }
}

/// Patterns of files. An empty list is not the same as none: it fits nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathPatterns(pub Vec<String>);

impl Wire for PathPatterns {
    const EXPECTED: &'static str = "a list of patterns";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::List(nodes) => {
                if let Some(outside) = nodes.iter().filter_map(Node::as_text).find(|pattern| lies_outside(pattern)) {
                    let message = format!("`{outside}` lies outside of the workspace, where nobody may write");
                    let help = "write a pattern relative to the workspace, such as `src/**`".to_owned();
                    reader.wrong_value(message, Some(help), Node::List(nodes));
                    return None;
                }
                Some(PathPatterns(
                    nodes.into_iter().enumerate().map(|(index, node)| reader.item(index, node)).collect(),
                ))
            }
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        json!(self.0)
    }
}

fn lies_outside(pattern: &str) -> bool {
    pattern.starts_with('/') || pattern.split('/').any(|part| part == "..")
}

impl JsonSchema for PathPatterns {
    fn schema_name() -> Cow<'static, str> {
        "PathPatterns".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": { "type": "string" },
            "description": "Patterns of files in the workspace; none of them if the list is empty.",
        })
    }
}

/// What a workflow and one of its agents say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Confinement {
    /// Whether the workflow has switched the cage off.
    pub off: bool,
    /// What the cage is like.
    pub cage: CageFields,
}

impl Workflow {
    /// Returns how processes of this workflow are confined. What an agent says about itself wins; lists add up.
    pub fn confinement(&self, agent: Option<&AgentFields>) -> Confinement {
        let sandbox = agent.and_then(|agent| agent.sandbox).or(self.sandbox);
        let (ours, theirs) = (self.cage.as_ref(), agent.and_then(|agent| agent.cage.as_ref()));
        let both = || theirs.into_iter().chain(ours);
        Confinement {
            off: sandbox == Some(Sandbox::Off),
            cage: CageFields {
                hide: both().flat_map(|cage| cage.hide.clone()).collect(),
                write: both().flat_map(|cage| cage.write.clone()).collect(),
                network: both().find_map(|cage| cage.network),
                processes: both().find_map(|cage| cage.processes),
                file_megabytes: both().find_map(|cage| cage.file_megabytes),
                open_files: both().find_map(|cage| cage.open_files),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::read;

    fn workflow(text: &str) -> Workflow {
        let reading = read(format!("name: w\nphases: [{{id: x, agent: a, writes: []}}]\n{text}").as_bytes());
        assert!(reading.findings.is_empty(), "{:?}", reading.findings);
        reading.workflow.expect("readable")
    }

    #[test]
    fn agent_wins_over_workflow_and_lists_add_up() {
        let text = "sandbox: off\ncage: {hide: [secret], network: false, processes: 9}\n\
                    agents: {a: {command: x, sandbox: on, cage: {hide: [~/more], processes: 7}}, b: {command: x}}";
        let workflow = workflow(text);
        let a = workflow.confinement(workflow.agent("a"));
        assert!(!a.off);
        assert_eq!(a.cage.hide, ["~/more", "secret"]);
        assert_eq!((a.cage.network, a.cage.processes), (Some(false), Some(7)));
        let b = workflow.confinement(workflow.agent("b"));
        assert_eq!((b.off, b.cage.processes), (true, Some(9)));
        assert!(workflow.confinement(None).off);
    }

    #[test]
    fn empty_list_of_writes_is_not_the_same_as_none() {
        let workflow = workflow("agents: {a: {command: x}}");
        assert_eq!(workflow.phases[0].writes, Some(PathPatterns(Vec::new())));
        let written = Wire::write(&workflow);
        assert_eq!(written["phases"][0]["writes"], json!([]));
    }
}
