//! Every expression, template and command of a workflow file, with its place.

use serde_json::Value;

use super::expression::{Reference, SyntaxFault, of_expression, of_template};
use super::{CommandLine, Workflow, WorkflowCase};
use crate::wire::join;

/// A text that is worked out when the workflow runs.
#[derive(Debug, Clone, Copy)]
pub enum WorkedText<'w> {
    /// An expression that gives a value.
    Expression(&'w str),
    /// A text with expressions in it.
    Template(&'w str),
}

impl<'w> WorkedText<'w> {
    /// Returns it as it is written.
    pub fn text(self) -> &'w str {
        let (WorkedText::Expression(text) | WorkedText::Template(text)) = self;
        text
    }

    /// Finds out which names it uses; the error says why it cannot be read.
    pub fn references(self) -> Result<Vec<Reference>, SyntaxFault> {
        match self {
            WorkedText::Expression(text) => of_expression(text),
            WorkedText::Template(text) => of_template(text),
        }
    }
}

/// Where something is worked out: its pointer, and the step that it belongs to, unless it is of the whole workflow.
pub type Spot = (String, Option<usize>);

impl<'a> WorkflowCase<'a> {
    /// Returns everything that is worked out when the workflow runs.
    pub fn worked(&self) -> Vec<(Spot, WorkedText<'a>)> {
        let directory = self.workflow.output_directory.as_deref();
        let mut found: Vec<(Spot, WorkedText<'a>)> = directory
            .map(|text| (("/output_directory".to_owned(), None), WorkedText::Template(text)))
            .into_iter()
            .collect();
        for (index, step) in self.flow.steps.iter().enumerate() {
            let (phase, spot) = (step.phase, |member: &str| (join(&step.pointer, member), Some(index)));
            found.extend(phase.when.as_deref().map(|text| (spot("when"), WorkedText::Expression(text))));
            found.extend(phase.foreach.as_deref().map(|text| (spot("foreach"), WorkedText::Expression(text))));
            found.extend(phase.task.as_deref().map(|text| (spot("task"), WorkedText::Template(text))));
            for (name, value) in &phase.inputs {
                if let Value::String(text) = value {
                    let pointer = join(&join(&step.pointer, "inputs"), name);
                    found.push(((pointer, Some(index)), WorkedText::Expression(text)));
                }
            }
        }
        found
    }

    /// Returns every command with its pointer.
    pub fn commands(&self) -> Vec<(String, &'a CommandLine)> {
        let mut found = agents(self.workflow);
        for step in &self.flow.steps {
            let phase = step.phase;
            found.extend(phase.check.as_ref().map(|command| (join(&step.pointer, "check"), command)));
            let gates = phase.gates().map(|(member, gate)| (format!("{member}/checks"), &gate.checks));
            for (member, checks) in std::iter::once(("verify".to_owned(), &phase.verify)).chain(gates) {
                for (index, check) in checks.iter().enumerate() {
                    let pointer = format!("{}/{member}/{index}/run", step.pointer);
                    found.extend(check.run.as_ref().map(|command| (pointer, command)));
                }
            }
        }
        found
    }
}

fn agents(workflow: &Workflow) -> Vec<(String, &CommandLine)> {
    let command = |(name, agent)| -> Option<(String, &CommandLine)> {
        let agent: &super::AgentFields = agent;
        Some((join(&join("/agents", name), "command"), agent.command.as_ref()?))
    };
    workflow.agents.iter().filter_map(command).collect()
}
