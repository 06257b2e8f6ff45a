//! From bytes to a workflow: a whole file of YAML or JSON.

use serde_json::{Map, Value};

use super::Workflow;
use super::advice::ADVICE;
use crate::diagnostic::{Findings, Place};
use crate::read::{Block, Format, Trouble, allow, conflict, conflicted, decode};
use crate::reading::{note_encoding, permission, unreadable};
use crate::settings::Permission;
use crate::tree::Node;
use crate::wire::{Reader, Wire};

/// What reading a workflow file gave.
#[derive(Debug, Default)]
pub struct WorkflowReading {
    /// The workflow, as far as it could be read. It is valid only if no finding is an error.
    pub workflow: Option<Workflow>,
    /// What was found while reading.
    pub findings: Findings,
    /// Where lists and objects stand that are empty.
    pub empty: Vec<String>,
    /// Where something could not be read that is like what was found before it.
    pub unsaid: Vec<String>,
    /// Members that were meant by unknown names: the structure that they are in, and what they are called.
    pub assumed: Vec<(String, &'static str)>,
    /// What the comments of the file allow, with their reasons.
    pub permissions: Vec<Permission>,
    /// Whether the file could be parsed, so that findings can point into it.
    pub parsed: bool,
}

/// What to do about a workflow that is not JSON although it begins like it.
const IN_JSON: &str =
    "put names and texts in double quotes, and a comma between two members but not after the last one";

/// Reads a workflow file. Never fails: what cannot be read is a finding.
pub fn read(bytes: &[u8]) -> WorkflowReading {
    let mut reading = WorkflowReading::default();
    if let Err(trouble) = reading.read_bytes(bytes) {
        reading.findings.push(unreadable(trouble));
    }
    reading
}

/// Returns the whole file as a block: JSON if it begins like JSON, otherwise YAML.
pub(super) fn block(bytes: &[u8]) -> Result<Block<'_>, Trouble> {
    if bytes.trim_ascii().is_empty() {
        return Err(nothing_said());
    }
    let (text, offset) = decode(bytes)?;
    let format = if text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Yaml };
    Ok(Block::whole(format, text, offset))
}

fn nothing_said() -> Trouble {
    Trouble::new("the file is empty", 0..0)
        .help("write `name`, `agents` and `phases`; `baton init` makes a small workflow")
}

impl WorkflowReading {
    /// Makes the reading of something that cannot be read.
    pub fn unreadable(trouble: Trouble) -> Self {
        let mut reading = WorkflowReading::default();
        reading.findings.push(unreadable(trouble));
        reading
    }

    fn read_bytes(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let block = block(bytes)?;
        let offset = block.to_file(0);
        note_encoding(&block.text, offset, &mut self.findings);
        if let Some(at) = conflict(&block.text) {
            return Err(conflicted(block.to_file(at)));
        }
        let node = block.parse().map_err(|trouble| {
            let span = block.span_to_file(trouble.span.clone());
            // What helps with a report of an agent does not help whoever writes a workflow.
            let is_for_reports = |help: &String| help.contains("the agent");
            let help = trouble.help.map(|help| if is_for_reports(&help) { IN_JSON.to_owned() } else { help });
            Trouble { span, help, message: trouble.message }
        })?;
        self.parsed = true;
        if node == Node::Null {
            return Err(nothing_said());
        }
        let mut reader = Reader::with_advice(&ADVICE);
        self.workflow = Workflow::read(node, &mut reader);
        let is_empty = |value: &Value| *value == Value::Array(Vec::new()) || *value == Value::Object(Map::new());
        self.empty =
            reader.residue.into_iter().filter(|(_, value)| is_empty(value)).map(|(pointer, _)| pointer).collect();
        self.unsaid = reader.unsaid;
        self.assumed = reader.assumed;
        self.findings.append(reader.findings);
        self.judge_allowances();
        self.take_comments(&block, offset);
        Ok(())
    }

    /// Judges what the workflow allows its reports: like any permission it names a rule and a reason.
    fn judge_allowances(&mut self) {
        let Some(workflow) = &self.workflow else { return };
        for (index, allowance) in workflow.allow.iter().enumerate() {
            if let (Some(rule), Some(reason)) = (&allowance.rule, &allowance.reason)
                && let Err(finding) = permission(rule, reason, Place::Value(format!("/allow/{index}")))
            {
                self.findings.push(finding.help("name a rule of `baton explain`, with the reason"));
            }
        }
    }

    fn take_comments(&mut self, block: &Block<'_>, offset: usize) {
        for comment in allow::comments(&block.text, block.format) {
            let place = Place::Bytes(comment.span.start + offset..comment.span.end + offset);
            match permission(comment.rule, comment.reason, place) {
                Ok(permission) => self.permissions.push(permission),
                Err(finding) => self.findings.push(finding),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::workflow::judge;

    fn codes(text: &str) -> Vec<(&'static str, usize, usize)> {
        let judgement = judge(text.as_bytes(), &read(text.as_bytes()), None, &Settings::default());
        judgement.diagnostics.iter().map(|found| (found.code, found.line, found.column)).collect()
    }

    #[test]
    fn yaml_and_json_say_the_same() {
        let yaml = read(b"name: a\nagents: {b: {command: [x]}}\nphases:\n  - {id: c, agent: b, timeout: 5m}\n");
        let json =
            read(br#"{"name":"a","agents":{"b":{"command":["x"]}},"phases":[{"id":"c","agent":"b","timeout":"5m"}]}"#);
        assert!(yaml.findings.is_empty() && json.findings.is_empty(), "{yaml:?} {json:?}");
        assert_eq!(yaml.workflow, json.workflow);
    }

    #[test]
    fn a_text_with_fences_in_it_is_still_yaml() {
        let reading = read(b"name: a\nphases:\n  - id: b\n    task: |\n      ```json\n      {}\n      ```\n");
        assert!(reading.findings.is_empty(), "{reading:?}");
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_place() {
        assert_eq!(codes(""), [("unreadable", 1, 1)]);
        assert_eq!(codes("name: [\n"), [("unreadable", 1, 7)]);
        assert_eq!(codes("- a\n- b\n"), [("wrong-type", 1, 1)]);
        assert_eq!(codes("name: a\nname: b\n"), [("unreadable", 2, 1)]);
        assert_eq!(codes("name: a\nphases: 3\n"), [("wrong-type", 2, 9)]);
    }

    #[test]
    fn comments_allow_what_is_no_error() {
        let reading = read(b"name: a # baton: allow carriage-return: an old editor\r\nphases: []\r\n");
        assert_eq!(reading.permissions.len(), 1);
        assert_eq!(
            codes("name: a # baton: allow no-such-rule: x\nphases: [{id: b, check: ls}]\n"),
            [("bad-allow", 1, 9)]
        );
    }
}
