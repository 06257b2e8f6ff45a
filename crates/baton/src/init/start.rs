//! A small start in any folder: a workflow that runs at once, the agents in it, and the schema for editors.
//!
//! Nothing that is there is changed, only `.gitignore` gets the lines that it lacks.

use std::path::Path;

use baton_protocol::schema;

use super::examples::Example;
use super::file_writing::refused;
use super::{FileChange, SetUp, made, read};
use crate::command_error::CommandError;

/// What `baton init` writes where nobody names an example.
const SMALL: [(&str, &str); 3] = [
    ("workflow.yaml", include_str!("start/workflow.yaml")),
    ("agents/writer.sh", include_str!("start/writer.sh")),
    ("agents/reviewer.sh", include_str!("start/reviewer.sh")),
];

/// The schema of workflow files, which the first line of the workflow names for editors.
const SCHEMA: &str = ".baton/workflow.schema.json";

/// Lists what repositories leave out.
const IGNORE: &str = ".gitignore";

/// Works out what is written for a start: an example, or the small one.
pub(crate) fn plan_start(project: &Path, example: Option<Example>) -> Result<SetUp, CommandError> {
    let files = example.map_or(&SMALL[..], Example::files);
    let mut set_up = SetUp::default();
    for (path, text) in files {
        set_up.changes.push(created(project, path, (*text).to_owned())?);
    }
    if example.is_none() {
        set_up.changes.push(created(project, SCHEMA, schema_text())?);
    }
    let taken: Vec<&str> =
        set_up.changes.iter().filter(|change| change.is_edit()).map(|change| &*change.path).collect();
    if !taken.is_empty() {
        return Err(refused(format!("already exists with different content: {}", taken.join(", ")))
            .hint("`baton init` never overwrites a file; give it another folder: baton init DIR"));
    }
    set_up.changes.push(ignored(project, example)?);
    set_up.check(project)
}

/// Returns the command that runs what was written. Examples want a folder of their own to work in.
pub(crate) fn next_command(project: &Path, example: Option<Example>) -> String {
    let run = if example.is_some() { "baton run --workspace work" } else { "baton run" };
    if project == Path::new(".") {
        run.to_owned()
    } else {
        format!("cd {} && {run}", baton_host::quoted(&project.to_string_lossy()))
    }
}

fn created(project: &Path, path: &str, text: String) -> Result<FileChange, CommandError> {
    Ok(made(project, path, read(&project.join(path))?, text))
}

fn schema_text() -> String {
    let schema = schema::find("workflow").expect("workflows have a schema");
    format!("{schema:#}\n")
}

/// Adds the lines that are missing.
fn ignored(project: &Path, example: Option<Example>) -> Result<FileChange, CommandError> {
    let before = read(&project.join(IGNORE))?;
    let mut text = before.clone().unwrap_or_default();
    let wanted = example.map_or(&[".baton/"][..], |_| &[".baton/", "__pycache__/", "work/"]);
    for line in wanted {
        let bare = |line: &str| line.trim().trim_matches('/').to_owned();
        if !text.lines().any(|there| bare(there) == bare(line)) {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("{end}{line}\n"));
        }
    }
    Ok(made(project, IGNORE, before, text))
}
