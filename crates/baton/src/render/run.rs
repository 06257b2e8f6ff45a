//! How a run is written for people: a table of its phases, with the totals below.

use baton_views::run_summary::{PhaseSummary, RowLabel, RunSummary};
use baton_views::words::{cut, one_line, took};

use super::columns::{aligned, widest};

/// The longest outcome that is shown.
const OUTCOME_MAX: usize = 40;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Phase,
    Agent,
    Visits,
    Tries,
    Time,
    Tokens,
    Cost,
    Evidence,
    Outcome,
}

/// The columns, from left to right.
const COLUMNS: [Column; 9] = [
    Column::Phase,
    Column::Agent,
    Column::Visits,
    Column::Tries,
    Column::Time,
    Column::Tokens,
    Column::Cost,
    Column::Evidence,
    Column::Outcome,
];

/// What a narrow terminal goes without, the least important first.
const DISPENSABLE: [Column; 6] =
    [Column::Tokens, Column::Tries, Column::Visits, Column::Agent, Column::Cost, Column::Evidence];

impl Column {
    fn title(self) -> &'static str {
        match self {
            Column::Phase => "PHASE",
            Column::Agent => "AGENT",
            Column::Visits => "VISITS",
            Column::Tries => "TRIES",
            Column::Time => "TIME",
            Column::Tokens => "TOKENS",
            Column::Cost => "COST",
            Column::Evidence => "EVIDENCE",
            Column::Outcome => "OUTCOME",
        }
    }

    /// Returns whether it holds numbers, which are aligned to the right.
    fn is_number(self) -> bool {
        matches!(self, Column::Visits | Column::Tries | Column::Time | Column::Tokens | Column::Cost)
    }

    fn cell(self, row: &PhaseSummary, label: &RowLabel) -> String {
        let number = |number: u64| if number == 0 { String::new() } else { number.to_string() };
        match self {
            Column::Phase => one_line(&format!("{}{}", "  ".repeat(label.depth), label.text)),
            Column::Agent => one_line(&row.agent),
            Column::Visits => number(row.visits),
            Column::Tries => number(row.attempts),
            Column::Time if row.visits == 0 => String::new(),
            Column::Time => took(row.took),
            Column::Tokens => number(row.tokens),
            Column::Cost => row.spending.to_string(),
            Column::Evidence => row.evidence.signs(),
            Column::Outcome => cut(&one_line(&row.outcome), OUTCOME_MAX),
        }
    }
}

/// Returns the table, under a line of titles. What does not fit into a terminal is left out, column by column.
pub(crate) fn table(summary: &RunSummary, width: Option<usize>) -> String {
    let mut shown = COLUMNS.to_vec();
    if summary.total.spending.to_string().is_empty() {
        shown.retain(|column| *column != Column::Cost);
    }
    for dropped in DISPENSABLE {
        if width.is_none_or(|width| widest(&lines(summary, &shown)) <= width) {
            break;
        }
        shown.retain(|column| *column != dropped);
    }
    let numbers: Vec<usize> = (0..shown.len()).filter(|index| shown[*index].is_number()).collect();
    aligned(&lines(summary, &shown), &numbers)
}

fn lines(summary: &RunSummary, columns: &[Column]) -> Vec<Vec<String>> {
    let line = |row: &PhaseSummary, label: &RowLabel| columns.iter().map(|column| column.cell(row, label)).collect();
    let titles = columns.iter().map(|column| column.title().to_owned()).collect();
    let phases = summary.phases.iter().zip(summary.labels()).map(|(row, label)| line(row, &label));
    let total = line(&summary.total, &RowLabel { depth: 0, text: summary.total.name.to_string() });
    [titles].into_iter().chain(phases).chain([total]).collect()
}
