//! What a run was started with, inside the request that began it.

use std::path::PathBuf;

use baton_protocol::wire::Wire as _;
use baton_protocol::workflow;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::approval::StoredApprover;
use super::document::{owned, stored};
use super::{Unreadable, WRITABLE, is_known};
use crate::definition::Definition;

/// The version of the definition. The first one was never written; every later one stands in it as `v`.
const VERSION: u32 = 1;

/// Returns the definition as data of a request.
pub(crate) fn write(definition: &Definition) -> Value {
    let Definition { workflow, folder, file, nested, templates, inputs, workspace, approvers } = definition;
    let nested: Map<String, Value> = nested.iter().map(|(name, inner)| (name.clone(), write(inner))).collect();
    let mut written = json!({
        "workflow": workflow.write(),
        "folder": folder.to_string_lossy(),
        "workspace": workspace.to_string_lossy(),
        "inputs": inputs,
        "templates": templates,
        "nested": nested,
    });
    if !approvers.is_empty() {
        let approvers: Vec<StoredApprover<'_>> = stored(approvers);
        written["approvers"] = serde_json::to_value(approvers).expect(WRITABLE);
    }
    if let Some(file) = file {
        written["file"] = json!(file);
    }
    written
}

/// Reads the definition from the data of a request.
pub(crate) fn read(data: &Value) -> Result<Definition, Unreadable> {
    let version = data.get("v").and_then(Value::as_u64).unwrap_or(u64::from(VERSION));
    is_known(u32::try_from(version).unwrap_or(u32::MAX), VERSION)?;
    known(data).ok_or_else(|| Unreadable::Damaged("this is not a workflow with its inputs".to_owned()))
}

fn known(data: &Value) -> Option<Definition> {
    let text = data.get("workflow")?.to_string();
    let path = |name: &str| Some(PathBuf::from(data.get(name)?.as_str()?));
    let nested = data.get("nested")?.as_object()?;
    let nested = nested.iter().map(|(name, inner)| Some((name.clone(), known(inner)?)));
    let templates = data.get("templates")?.as_object()?;
    let templates = templates.iter().map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
    Some(Definition {
        workflow: workflow::read(text.as_bytes()).workflow?,
        folder: path("folder")?,
        file: data.get("file").and_then(Value::as_str).map(str::to_owned),
        workspace: path("workspace")?,
        inputs: data.get("inputs")?.as_object()?.clone(),
        templates: templates.collect::<Option<_>>()?,
        nested: nested.collect::<Option<_>>()?,
        // What cannot be read must not look as if nobody were named.
        approvers: match data.get("approvers") {
            Some(approvers) => owned(Vec::<StoredApprover<'_>>::deserialize(approvers).ok()?),
            None => Vec::new(),
        },
    })
}
