//! Where a report goes: the rows of the workflow, then the built-in table, and in the end a person.

use baton_protocol::model::terms::Outcome;
use baton_protocol::wire::{fits, same_word};
use baton_protocol::workflow::{DEFAULT_ROUTES, HUMAN, RouteFields, Workflow};

/// Where something goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To an agent of the workflow, as a delegation.
    Agent(String),
    /// To a person.
    Human,
    /// To a phase of the workflow.
    Phase(String),
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteRow {
    /// A row of the workflow, from 0.
    Workflow(usize),
    /// A row of the built-in table, from 0.
    Default(usize),
    /// No row fits.
    Fallback,
}

/// Where a report goes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutedReport {
    /// Where it goes.
    pub target: Target,
    /// Which row decided.
    pub row: RouteRow,
    /// Why, in one line for people.
    pub why: String,
}

/// Finds out where the report of an agent goes.
///
/// It always has an answer: what fits no row goes to a person, and so does what would go to an agent that the workflow
/// does not have. The built-in table is about blocked agents only; for other outcomes `Row::Fallback` means that the
/// workflow has nothing to say about them.
pub fn route(
    workflow: &Workflow,
    agent: &str,
    status: Outcome,
    reason: Option<&str>,
    verdict: Option<&str>,
) -> RoutedReport {
    let said = Said { agent, status, reason, verdict };
    if let Some(index) = workflow.routes.iter().position(|row| said.fits(row)) {
        return by_workflow(workflow, index);
    }
    let fits = |pattern: &str, known: &str| {
        (pattern == "*" || same_word(pattern, agent)) && reason.is_some_and(|reason| same_word(known, reason))
    };
    match DEFAULT_ROUTES.iter().position(|row| fits(row.agent, row.reason)).filter(|_| status == Outcome::Blocked) {
        Some(index) => by_default(workflow, index),
        None => RoutedReport { target: Target::Human, row: RouteRow::Fallback, why: said.unrouted() },
    }
}

/// Returns the reasons that lead an agent somewhere, beyond those that every agent has: what the workflow adds, its
/// rows, and the agent's own rows of the built-in table.
pub fn reasons(workflow: &Workflow, agent: &str) -> Vec<String> {
    let blocked = |row: &&RouteFields| row.status.unwrap_or(Outcome::Blocked) == Outcome::Blocked;
    let rows = workflow.routes.iter().filter(blocked);
    let rows = rows.filter(|row| row.agent.as_deref().is_none_or(|pattern| fits(pattern, agent)));
    let built_in = DEFAULT_ROUTES.iter().filter(|row| same_word(row.agent, agent)).map(|row| row.reason);
    // A pattern is not a word that an agent could say.
    let patterns = |reason: &&str| !reason.contains('*');
    let all = workflow.reasons.iter().map(String::as_str);
    let all = all.chain(rows.filter_map(|row| row.reason.as_deref()).filter(patterns)).chain(built_in);
    let mut known: Vec<String> = Vec::new();
    for reason in all {
        if !known.iter().any(|other| same_word(other, reason)) {
            known.push(reason.to_owned());
        }
    }
    known
}

/// What a report says that matters for its way.
struct Said<'a> {
    agent: &'a str,
    status: Outcome,
    reason: Option<&'a str>,
    verdict: Option<&'a str>,
}

impl Said<'_> {
    fn fits(&self, row: &RouteFields) -> bool {
        let is_said = |wanted: Option<&str>, said: Option<&str>| {
            wanted.is_none_or(|wanted| said.is_some_and(|said| fits(wanted, said)))
        };
        row.agent.as_deref().is_none_or(|pattern| fits(pattern, self.agent))
            && row.status.unwrap_or(Outcome::Blocked) == self.status
            && is_said(row.reason.as_deref(), self.reason)
            && is_said(row.verdict.as_deref(), self.verdict)
    }

    fn unrouted(&self) -> String {
        let reason = self.reason.map(|reason| format!(" with reason {reason}")).unwrap_or_default();
        format!("no route matches {} of {}{reason}: a person decides", self.status.as_str(), self.agent)
    }
}

fn by_workflow(workflow: &Workflow, index: usize) -> RoutedReport {
    let row = &workflow.routes[index];
    let name = format!("route {} of the workflow", index + 1);
    let (target, why) = match (row.phase.as_deref(), row.to.as_deref()) {
        (Some(phase), _) => (Target::Phase(phase.to_owned()), format!("{name} leads to the phase {phase}")),
        (None, Some(to)) => delegation(workflow, to, &name),
        (None, None) => (Target::Human, format!("{name} has no target: a person decides")),
    };
    RoutedReport { target, row: RouteRow::Workflow(index), why }
}

fn by_default(workflow: &Workflow, index: usize) -> RoutedReport {
    let row = DEFAULT_ROUTES[index];
    let name = format!("the built-in route of {} with reason {}", row.agent, row.reason);
    let (target, why) = delegation(workflow, row.to, &name);
    RoutedReport { target, row: RouteRow::Default(index), why }
}

fn delegation(workflow: &Workflow, to: &str, name: &str) -> (Target, String) {
    let declared = workflow.agents.names().find(|known| *known == to);
    let declared = declared.or_else(|| workflow.agents.names().find(|known| same_word(known, to)));
    match declared {
        _ if same_word(to, HUMAN) => (Target::Human, format!("{name} leads to a person")),
        Some(agent) => (Target::Agent(agent.to_owned()), format!("{name} leads to {agent}")),
        None => (Target::Human, format!("{name} leads to {to}, which this workflow does not have: a person decides")),
    }
}

#[cfg(test)]
mod tests;
