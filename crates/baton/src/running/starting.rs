//! From a workflow file to what a run is started with.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use baton_engine::RunId;
use baton_engine::approval::Approver;
use baton_engine::definition::Definition;
use baton_engine::ssh::allowed_signers::{self, AllowedSigner};
use baton_host::open_followed;
use baton_protocol::Severity;
use baton_protocol::workflow::{self, Flow, GateFields, Phase, Workflow};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::command_error::CommandError;
use crate::config::Config;
use crate::workflow_file::{self, WorkflowFolder};

/// How deep workflows can be inside each other.
const DEPTH_MAX: usize = 8;

/// What a run is started with.
pub(crate) struct Started<'a> {
    /// The workflow file, or the folder that it is in.
    pub path: &'a Path,
    /// What was given, by name.
    pub inputs: Map<String, Value>,
    /// Where the agents work.
    pub workspace: &'a Path,
    /// How whoever starts it gives inputs.
    pub input_hint: &'static str,
    /// Whether nobody works, so that nothing that is given is missing.
    pub simulated: bool,
}

/// No more of a file is compared with what a run began with.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How inputs are given on the command line.
pub(crate) const INPUT_OPTION: &str = "give inputs with --input NAME=VALUE";

/// Reads and judges a workflow with everything that belongs to it. Only what is valid is run.
pub(crate) fn definition(started: Started<'_>, config: &Config) -> Result<Definition, CommandError> {
    fs::create_dir_all(started.workspace)
        .map_err(|error| CommandError::usage(format!("cannot make {}: {error}", started.workspace.display())))?;
    let workspace = fs::canonicalize(started.workspace)
        .map_err(|error| CommandError::usage(format!("cannot find {}: {error}", started.workspace.display())))?;
    // The journal keeps it as text, and a name that was changed on the way might be that of another folder.
    if workspace.to_str().is_none() {
        return Err(CommandError::usage(format!("the path of the workspace is not UTF-8: {}", workspace.display()))
            .hint("rename the folder, or name another one with --workspace"));
    }
    let mut definition = read(started.path, &workspace, config, 0)?;
    if started.simulated {
        // What is missing is made up.
        definition.inputs = started.inputs;
        return Ok(definition);
    }
    definition.inputs = Definition::inputs(&definition.workflow, started.inputs).map_err(|why| {
        let names: Vec<&str> = definition.workflow.inputs.names().collect();
        let known = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        CommandError::usage(why).hint(format!("{}; {known}", started.input_hint))
    })?;
    Ok(definition)
}

fn read(path: &Path, workspace: &Path, config: &Config, depth: usize) -> Result<Definition, CommandError> {
    let shown = path.display();
    if depth > DEPTH_MAX {
        return Err(CommandError::usage(format!("{shown}: more than {DEPTH_MAX} workflows inside each other"))
            .hint("take out a level"));
    }
    let file = workflow_file::locate(path).map_err(|why| CommandError::usage(format!("{shown}: {why}")))?;
    let bytes =
        fs::read(&file).map_err(|error| CommandError::usage(format!("cannot read {}: {error}", file.display())))?;
    let reading = workflow::read(&bytes);
    let signers = workflow_file::signers(reading.workflow.as_ref(), &config.approvers)?;
    let judgement = workflow::judge(&bytes, &reading, Some(&WorkflowFolder::new(&file, workspace)), &config.settings);
    let errors = judgement.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let first = errors.clone().next();
    let (Some(workflow), None) = (reading.workflow, first) else {
        let (line, message) = first.map_or((1, "it cannot be read"), |found| (found.line, found.message.as_str()));
        let more = errors.count().saturating_sub(1);
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        return Err(CommandError::usage(format!("{}:{line}: {message}{more}", file.display()))
            .hint(format!("baton workflow check {} shows all of it", file.display())));
    };
    let folder = fs::canonicalize(workflow_file::folder_of(&file))
        .map_err(|error| CommandError::usage(format!("cannot find the folder of {}: {error}", file.display())))?;
    let nested = nested(&workflow, &folder, workspace, config, depth)?;
    let templates = templates(&workflow, &folder)?;
    let approvers = approvers(&workflow, &signers);
    let (inputs, workspace) = (Map::new(), workspace.to_owned());
    let file = file.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Definition { workflow, folder, file, nested, templates, inputs, workspace, approvers })
}

fn nested(
    workflow: &Workflow,
    folder: &Path,
    workspace: &Path,
    config: &Config,
    depth: usize,
) -> Result<BTreeMap<String, Definition>, CommandError> {
    let mut found = BTreeMap::new();
    let mut phases: Vec<&Phase> = workflow.phases.iter().collect();
    while let Some(phase) = phases.pop() {
        phases.extend(phase.parallel.iter().chain(&phase.phases));
        if let Some(name) = phase.workflow.as_ref().filter(|name| !found.contains_key(*name)) {
            found.insert(name.clone(), read(&folder.join(name), workspace, config, depth + 1)?);
        }
    }
    Ok(found)
}

/// Returns everybody whom the gates of a workflow ask for, with the keys that they have now.
fn approvers(workflow: &Workflow, signers: &[AllowedSigner]) -> Vec<Approver> {
    let flow = Flow::of(workflow);
    let gates: Vec<&GateFields> = flow.steps.iter().flat_map(|step| step.phase.gates()).map(|(_, gate)| gate).collect();
    let is_for_all = |gate: &&GateFields| gate.signed == Some(true) && gate.approver_names().is_empty();
    let mut found = if gates.iter().any(is_for_all) { allowed_signers::everybody(signers) } else { Vec::new() };
    for name in gates.iter().flat_map(|gate| gate.approver_names()) {
        if !found.iter().any(|approver| approver.name == *name) {
            found.push(allowed_signers::approver(signers, name));
        }
    }
    found
}

fn templates(workflow: &Workflow, folder: &Path) -> Result<BTreeMap<String, String>, CommandError> {
    let paths = workflow.agents.iter().filter_map(|(_, agent)| agent.template.clone());
    let read = |path: String| {
        let file: PathBuf = folder.join(&path);
        let text = fs::read_to_string(&file)
            .map_err(|error| CommandError::usage(format!("cannot read the template {}: {error}", file.display())))?;
        Ok((path, text))
    };
    paths.map(read).collect()
}

/// Returns which programs of a workflow and of those inside of it cannot be found, and what to do about it.
pub(crate) fn missing_programs(begun: &Definition, config: &Config) -> Vec<String> {
    let mut missing = Vec::new();
    let name = begun.file.as_deref().unwrap_or_default();
    let file = begun.folder.join(name);
    if let Ok(bytes) = fs::read(&file) {
        let around = WorkflowFolder::new(&file, &begun.workspace);
        let judgement = workflow::judge(&bytes, &workflow::read(&bytes), Some(&around), &config.settings);
        let found = judgement.diagnostics.into_iter().filter(|found| found.code == "missing-command");
        missing.extend(found.map(|found| {
            let help = found.help.map(|help| format!("; {help}")).unwrap_or_default();
            format!("{name}:{}: {}{help}", found.line, found.message)
        }));
    }
    missing.extend(begun.nested.values().flat_map(|nested| missing_programs(nested, config)));
    missing
}

/// Returns the files of a workflow that say something else than when the run began. Files that are gone are not among them:
/// the run does not need them.
pub(crate) fn changed_files(begun: &Definition) -> Vec<PathBuf> {
    let mut changed: Vec<PathBuf> = begun.nested.values().flat_map(changed_files).collect();
    let file = begun.file.iter().map(|name| begun.folder.join(name));
    let differs =
        |file: &PathBuf| current(file).is_ok_and(|now| workflow::read(&now).workflow.as_ref() != Some(&begun.workflow));
    changed.extend(file.filter(differs));
    let templates = begun.templates.iter().map(|(path, text)| (begun.folder.join(path), text));
    let differs = |(file, text): &(PathBuf, &String)| current(file).is_ok_and(|now| now != text.as_bytes());
    changed.extend(templates.filter(differs).map(|(file, _)| file));
    changed.sort();
    changed.dedup();
    changed
}

/// Reads a file of a workflow again. In a workspace, agents may have put a pipe in its place, or one without an end.
fn current(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_followed(file)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the command that starts another run of the same workflow, with the same inputs in the same workspace; `None` if it
/// was not read from a file.
pub(crate) fn command_to_start(begun: &Definition, given: &Map<String, Value>) -> Option<String> {
    let file = begun.folder.join(begun.file.as_ref()?);
    let quoted = |path: &Path| baton_host::quoted(&path.to_string_lossy());
    let mut command = format!("baton run {} --workspace {}", quoted(&file), quoted(&begun.workspace));
    let mut inputs = begun.inputs.clone();
    inputs.extend(given.clone());
    for (name, value) in &inputs {
        let default = begun.workflow.inputs.get(name).and_then(|declared| declared.default.as_ref());
        if default.unwrap_or(&Value::Null) != value {
            let typed = Definition::as_typed(value);
            command.push_str(&format!(" --input {}", baton_host::quoted(&format!("{name}={typed}"))));
        }
    }
    Some(command)
}

/// Makes the id of a new run of a workflow with this name.
pub(crate) fn new_run_id(workflow: &str) -> RunId {
    RunId::of_workflow(workflow, Uuid::now_v7())
}
