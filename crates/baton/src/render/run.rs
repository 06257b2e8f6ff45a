//! How a run is written: a table of its phases, the totals, how it ended, and the same as JSON.

use std::collections::HashMap;
use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::evidence::ClaimFinding;
use baton_engine::handoff::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{aligned, cut, widest};
use super::counted;
use super::handoff::one_line;
use crate::moment::briefly;

/// Verdicts about claims, counted over all attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    verified: u64,
    refuted: u64,
    unverifiable: u64,
}

/// One line of the table: all visits of a phase, or all help of one kind in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    place: String,
    agent: String,
    visits: u64,
    attempts: u64,
    took: Duration,
    tokens: u64,
    evidence: Tally,
    outcome: String,
}

/// A run, phase by phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    rows: Vec<Row>,
    total: Row,
}

/// Returns the name of a step for people: its phase, and what it is about where it is not the phase itself.
pub(crate) fn name(tracked: &TrackedHandoff) -> String {
    let phase = &tracked.step.phase;
    match tracked.step.role {
        Role::Run => tracked.handoff.id.to_string(),
        Role::Work | Role::Check | Role::Group | Role::Gate => phase.clone(),
        Role::Delegation => format!("{phase} → {}", tracked.handoff.terms.to),
        Role::Escalation => format!("{phase} → question"),
        Role::Failure => format!("{phase} → failure"),
        Role::Limit => format!("{phase} → limit"),
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.verified += other.verified;
        self.refuted += other.refuted;
        self.unverifiable += other.unverifiable;
    }

    fn signs(self) -> String {
        let counts = [(self.verified, "✓"), (self.refuted, "✗"), (self.unverifiable, "?")];
        let told: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, sign)| format!("{count} {sign}")).collect();
        told.join(" ")
    }

    fn json(self) -> Value {
        json!({ "verified": self.verified, "refuted": self.refuted, "unverifiable": self.unverifiable })
    }
}

impl Summary {
    /// Sums a run up.
    pub(crate) fn of(run: &Run, events: &[Event], now: Timestamp) -> Summary {
        let tallies = tallies(events);
        let mut rows: Vec<Row> = Vec::new();
        for tracked in run.handoffs().filter(|tracked| tracked.step.role != Role::Run) {
            let row = row(tracked, tallies.get(&tracked.handoff.id).copied().unwrap_or_default(), now);
            match rows.iter_mut().find(|known| known.place == row.place) {
                Some(known) => known.add(row),
                None => rows.insert(place_for(&row, &rows), row),
            }
        }
        let root = row(run.root(), Tally::default(), now);
        let mut total = Row { place: "total".to_owned(), agent: String::new(), visits: 0, attempts: 0, ..root };
        total.took = span(run.started_at, run.root().handoff.state.finished_at().unwrap_or(now));
        for row in &rows {
            total.visits += row.visits;
            total.attempts += row.attempts;
            total.tokens = total.tokens.saturating_add(row.tokens);
            total.evidence.add(row.evidence);
        }
        rows.extend(left_out(run));
        Summary { rows, total }
    }

    /// Returns the table, under a line of titles. What does not fit into a terminal is left out, column by column.
    pub(crate) fn table(&self, width: Option<usize>) -> String {
        let titles = ["PHASE", "AGENT", "VISITS", "TRIES", "TIME", "TOKENS", "EVIDENCE", "OUTCOME"];
        let mut lines = vec![titles.map(str::to_owned)];
        lines.extend(self.rows.iter().map(|row| cells(row, self.label(row))));
        lines.push(cells(&self.total, self.total.place.clone()));
        let mut shown: Vec<usize> = (0..titles.len()).collect();
        // The least important first: tokens, tries, visits, the agent, the evidence.
        for dropped in [5, 3, 2, 1, 6] {
            if width.is_none_or(|width| widest(&only(&lines, &shown)) <= width) {
                break;
            }
            shown.retain(|column| *column != dropped);
        }
        let numbers: Vec<usize> = (0..shown.len()).filter(|index| NUMBERS.contains(&shown[*index])).collect();
        aligned(&only(&lines, &shown), &numbers)
    }

    /// Returns how a row is called below the phase and the groups that it belongs to.
    fn label(&self, row: &Row) -> String {
        let phase = row.phase();
        let inside = |other: &&Row| {
            let rest = phase.strip_prefix(other.place.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let groups: Vec<&str> = self.rows.iter().filter(inside).map(|group| group.place.as_str()).collect();
        let longest = groups.iter().map(|group| group.len() + 1).max().unwrap_or_default();
        let indent = "  ".repeat(groups.len());
        match row.place.split_once(" → ") {
            Some((_, help)) => format!("{indent}  → {help}"),
            None => format!("{indent}{}", &phase[longest..]),
        }
    }

    /// Returns the JSON form of the rows.
    pub(crate) fn json(&self) -> Value {
        json!(self.rows.iter().map(Row::json).collect::<Vec<_>>())
    }

    /// Returns the JSON form of the totals.
    pub(crate) fn totals_json(&self) -> Value {
        self.total.json()
    }
}

impl Row {
    /// Returns the path of the phase, without what is beside it.
    fn phase(&self) -> &str {
        self.place.split_once(" → ").map_or(&self.place, |(phase, _)| phase)
    }

    fn add(&mut self, later: Row) {
        self.visits += later.visits;
        self.attempts += later.attempts;
        self.took += later.took;
        self.tokens = self.tokens.saturating_add(later.tokens);
        self.evidence.add(later.evidence);
        self.agent = later.agent;
        self.outcome = later.outcome;
    }

    fn json(&self) -> Value {
        json!({
            "phase": self.place,
            "agent": self.agent,
            "visits": self.visits,
            "attempts": self.attempts,
            "seconds": self.took.as_secs_f64(),
            "tokens": self.tokens,
            "evidence": self.evidence.json(),
            "outcome": self.outcome,
        })
    }
}

/// The columns that hold numbers.
const NUMBERS: [usize; 4] = [2, 3, 4, 5];

/// Returns some columns of each line.
fn only(lines: &[[String; 8]], shown: &[usize]) -> Vec<Vec<String>> {
    lines.iter().map(|cells| shown.iter().map(|column| cells[*column].clone()).collect()).collect()
}

fn cells(row: &Row, label: String) -> [String; 8] {
    let number = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    let took = if row.visits == 0 { String::new() } else { took(row.took) };
    [
        one_line(&label),
        one_line(&row.agent),
        number(row.visits),
        number(row.attempts),
        took,
        number(row.tokens),
        row.evidence.signs(),
        cut(&one_line(&row.outcome), 40),
    ]
}

fn row(tracked: &TrackedHandoff, evidence: Tally, now: Timestamp) -> Row {
    // A group is claimed by nobody before it is done.
    let begun = tracked.begun_at.filter(|_| tracked.step.role != Role::Group).unwrap_or(tracked.handoff.accepted_at);
    let by = tracked.deciders();
    // What a gate tells was counted with the phases before it.
    let evidence = if tracked.step.role == Role::Gate { Tally::default() } else { evidence };
    let agent = match tracked.step.role {
        Role::Work => tracked.handoff.terms.to.clone(),
        Role::Check | Role::Group | Role::Delegation | Role::Run => String::new(),
        Role::Gate | Role::Escalation | Role::Failure | Role::Limit => by.unwrap_or_else(|| "a person".to_owned()),
    };
    Row {
        place: name(tracked),
        agent,
        visits: 1,
        attempts: if matches!(tracked.step.role, Role::Run | Role::Group) { 0 } else { u64::from(tracked.attempts) },
        took: span(begun, tracked.handoff.state.finished_at().unwrap_or(now)),
        tokens: tracked.prompt_tokens.saturating_add(tracked.tokens_used),
        evidence,
        outcome: outcome(tracked),
    }
}

/// Says how a visit ended, or where it is.
pub(crate) fn outcome(tracked: &TrackedHandoff) -> String {
    let verdict = tracked.report().and_then(|report| report.verdict.clone());
    match (&tracked.handoff.state, verdict) {
        (State::Completed { .. }, Some(verdict)) => verdict.to_lowercase().replace('_', " "),
        (State::Completed { .. }, None) if !tracked.passed() => "did not pass".to_owned(),
        (State::Completed { .. }, None) => match tracked.answer().filter(|_| tracked.step.role != Role::Work) {
            Some(answer) => choice(tracked, answer).to_owned(),
            None => "done".to_owned(),
        },
        (State::Pending { .. } | State::Claimed { .. }, _) if tracked.step.role == Role::Run => {
            "not finished".to_owned()
        }
        (State::AwaitingPerson { .. }, _) => "waits for a person".to_owned(),
        (State::Claimed { .. }, _) => "going on".to_owned(),
        (State::Verifying, _) => "examined".to_owned(),
        (State::Blocked { reason }, _) => format!("blocked: {reason}"),
        (state, _) => state.name().to_string(),
    }
}

fn choice<'t>(tracked: &'t TrackedHandoff, answer: &'t str) -> &'t str {
    let is_choice = tracked.handoff.terms.choices.iter().any(|choice| choice == answer);
    if is_choice { answer } else { "answered" }
}

/// Returns the rows of phases that were left out and never visited.
fn left_out(run: &Run) -> impl Iterator<Item = Row> {
    run.left_out().into_iter().map(|place| Row {
        place,
        agent: String::new(),
        visits: 0,
        attempts: 0,
        took: Duration::ZERO,
        tokens: 0,
        evidence: Tally::default(),
        outcome: "left out".to_owned(),
    })
}

/// Returns where a row belongs: behind what is in the same phase, or in the same group.
fn place_for(row: &Row, rows: &[Row]) -> usize {
    let mut above = row.phase();
    loop {
        let is_in = |known: &Row| {
            let rest = known.phase().strip_prefix(above);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(last) = rows.iter().rposition(is_in) {
            return last + 1;
        }
        match above.rsplit_once('/') {
            Some((group, _)) => above = group,
            None => return rows.len(),
        }
    }
}

/// Counts the verdicts of all attempts, by handoff.
fn tallies(events: &[Event]) -> HashMap<HandoffId, Tally> {
    let mut tallies: HashMap<HandoffId, Tally> = HashMap::new();
    for event in events.iter().filter(|event| event.kind == "verified") {
        let Ok(Fact::Happened(Command::Verify(verify))) = event.fact() else { continue };
        let tally = tallies.entry(event.handoff.clone()).or_default();
        for examined in &verify.examined {
            match examined.verdict {
                ClaimFinding::Verified => tally.verified += 1,
                ClaimFinding::Refuted => tally.refuted += 1,
                ClaimFinding::Unverifiable => tally.unverifiable += 1,
            }
        }
    }
    tallies
}

fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

/// Writes how long something took, with tenths of short ones.
pub(crate) fn took(duration: Duration) -> String {
    match duration.as_secs() {
        0 if duration.as_millis() < 100 => format!("{} ms", duration.as_millis()),
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        _ => briefly(duration),
    }
}

/// Says in a few words what a run has in it: `9 phases, 14 handoffs`.
pub(crate) fn size(run: &Run) -> String {
    counted(run.handoffs().count().saturating_sub(1) as u64, "handoff")
}
