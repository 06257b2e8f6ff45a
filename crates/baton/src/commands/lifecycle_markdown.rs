//! `baton lifecycle-markdown`: the life of a handoff as a document, from the table that the engine finds by trying.

use std::fmt::Write as _;

use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{ACTIONS, Cell, LifecycleRow, REFUSALS, rows};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

const INTRODUCTION: &str = "# Lifecycle

Generated from the code: every command was tried in every state, and this is what happened.

A handoff is accepted once and is never lost after that. A claim gives a lease and a fencing token that is higher than
every one before it. A heartbeat extends the lease; a report, failure or acknowledgment counts only with the latest token.
Late ones are refused and recorded. Every command that has an effect becomes an event of the journal, in the same
transaction as the new state; applying the events in order gives the state again. See the [glossary](glossary.md).
";

const NOTES: &str = "
Each state was tried with the usual terms: leases have ended, deadlines have not, retries are left, nothing must be
verified, and `awaiting_person` waits for a review. Other terms lead elsewhere:

- a complete report goes to `verifying` if the request asks for verification;
- a failure, an expired lease or a refuted report goes to `failed` when no retry is left;
- a deadline that has passed ends every state that is not finished in `failed`;
- `awaiting_person` that waits for clarification takes answers and refuses approval and rejection.
";

/// The arrows that other terms add; the notes explain them.
const OTHER_TERMS: &str = "    claimed --> verifying: report complete (to be verified)
    claimed --> failed: fail, expire (no retry left)
    awaiting_person --> pending: decide answer (clarification)
";

pub(super) fn run(output: &Output) -> Result<Exit, CommandError> {
    output.data(&document(&rows()))?;
    Ok(Exit::Done)
}

fn document(rows: &[LifecycleRow]) -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n## The states\n\n");
    text.push_str(&diagram(rows));
    text.push_str(NOTES);
    text.push_str("\n## Every command in every state\n\nA state means that the command leads there; *italics* are refusals, with † where they are journalled.\n\n");
    text.push_str(&table(rows));
    text.push_str("\n## Actions\n\nWhat the caller does after a command, and after which commands of the table:\n\n");
    for (name, meaning) in ACTIONS {
        let _ = writeln!(text, "- **{name}**: {meaning}{}", after(rows, name));
    }
    text.push_str("\n## Refusals\n\nA refused command changes nothing.\n\n");
    for (name, meaning) in REFUSALS {
        let _ = writeln!(text, "- *{name}*: {meaning}");
    }
    text
}

/// Draws the states as a Mermaid diagram: one arrow between two states, with every command that leads there.
fn diagram(rows: &[LifecycleRow]) -> String {
    let mut text = "```mermaid\nstateDiagram-v2\n    [*] --> pending: accept\n".to_owned();
    for from in StateName::ALL {
        for to in StateName::ALL.into_iter().filter(|to| *to != from) {
            let commands = leading(rows, from, to);
            if !commands.is_empty() {
                let _ = writeln!(text, "    {from} --> {to}: {}", commands.join(", "));
            }
        }
    }
    text.push_str(OTHER_TERMS);
    for end in StateName::ALL.into_iter().filter(|state| state.is_finished()) {
        let _ = writeln!(text, "    {end} --> [*]");
    }
    text.push_str("```\n");
    text
}

/// Returns the commands that lead from one state to another. A colon would end the label of a Mermaid arrow.
fn leading(rows: &[LifecycleRow], from: StateName, to: StateName) -> Vec<String> {
    let leads = |row: &&LifecycleRow| matches!(cell(row, from), Some(Cell::Goes { to: there, .. }) if *there == to);
    rows.iter().filter(leads).map(|row| row.command.replace(": ", " ")).collect()
}

fn cell(row: &LifecycleRow, state: StateName) -> Option<&Cell> {
    StateName::ALL.iter().position(|name| *name == state).and_then(|index| row.cells.get(index))
}

fn table(rows: &[LifecycleRow]) -> String {
    let names: Vec<&str> = StateName::ALL.into_iter().map(StateName::as_str).collect();
    let mut text = format!("| command | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows {
        let cells: Vec<String> = row.cells.iter().map(shown).collect();
        let _ = writeln!(text, "| {} | {} |", row.command, cells.join(" | "));
    }
    text
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Goes { to, actions } if actions.is_empty() => format!("**{to}**"),
        Cell::Goes { to, actions } => format!("**{to}**: {}", actions.join(", ")),
        Cell::Refused { why, journalled: true } => format!("*{why}* †"),
        Cell::Refused { why, journalled: false } => format!("*{why}*"),
    }
}

/// Names the commands after which an action is due.
fn after(rows: &[LifecycleRow], action: &str) -> String {
    let due = |cell: &Cell| matches!(cell, Cell::Goes { actions, .. } if actions.contains(&action));
    let commands: Vec<String> =
        rows.iter().filter(|row| row.cells.iter().any(due)).map(|row| format!("`{}`", row.command)).collect();
    match commands.is_empty() {
        true => String::new(),
        false => format!(" (after {})", commands.join(", ")),
    }
}
