//! Where agents put their output: in the directory that the workflow names, inside of the workspace, or in the usual one.

use std::path::{Component, PathBuf};

use crate::definition::Definition;
use crate::expression::{self, ExpressionFault};
use crate::flow;
use crate::id::RunId;
use crate::run::Run;

/// Where output goes unless the workflow says otherwise: a folder for each run in this one.
const OUTPUT: &str = ".baton/output";

/// Why the output directory of an agent is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputFault {
    /// The template of the place cannot be rendered.
    #[error("output_directory: `{template}`: {fault}")]
    Template {
        /// The template.
        template: String,
        /// What is wrong.
        fault: ExpressionFault,
    },
    /// The place is not inside the workspace.
    #[error("output_directory: `{}` leads out of the workspace", .0.display())]
    Outside(PathBuf),
}

/// Returns where the agent of a phase puts its output, or, without a phase, where the run has its own.
///
/// The innermost workflow that sets a directory decides, and its template uses what is known there.
pub(crate) fn output_directory(run: &Run, phase: &str) -> Result<PathBuf, OutputFault> {
    // The usual place needs no template, and every attempt asks for it several times.
    let Some((template, path)) = output_template(&run.definition, phase) else {
        return Ok(usual_output_directory(&run.definition, &run.id));
    };
    let rendered = expression::render(&template, &flow::names(run, &path, [template.as_str()]));
    let relative = rendered.map_err(|fault| OutputFault::Template { template, fault })?;
    let relative = PathBuf::from(relative.trim());
    // A part of it may come from an agent.
    if relative.components().any(|part| matches!(part, Component::ParentDir)) {
        return Err(OutputFault::Outside(relative));
    }
    Ok(run.definition.workspace.join(relative))
}

/// Returns where output is put unless the workflow says otherwise.
fn usual_output_directory(definition: &Definition, run: &RunId) -> PathBuf {
    definition.workspace.join(OUTPUT).join(run.as_str())
}

/// Returns where the agent of a phase puts its output, if nothing that happened in the run is needed to know it.
pub(crate) fn plain_output_directory(definition: &Definition, run: &RunId, phase: &str) -> Option<PathBuf> {
    match output_template(definition, phase) {
        None => Some(usual_output_directory(definition, run)),
        // Something to work out, or to refuse.
        Some((text, _)) if text.contains('{') || text.contains("..") => None,
        Some((text, _)) => Some(definition.workspace.join(text.trim())),
    }
}

/// Returns what the workflow says about where output is put, and the path of the phase that it is worked out for.
fn output_template(definition: &Definition, phase: &str) -> Option<(String, String)> {
    let located = definition.locate(phase);
    let around = located.iter().flat_map(|located| &located.around).rev();
    let around = around.map(|around| (around.definition, around.path.as_str()));
    let own = (located.as_ref().map_or(definition, |located| located.definition), phase);
    let mut places = [own].into_iter().chain(around);
    places.find_map(|(definition, path)| Some((definition.workflow.output_directory.clone()?, path.to_owned())))
}
