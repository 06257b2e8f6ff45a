//! A run phase by phase: who worked, how often, how long, what was seen of it, how it ended; as data and as JSON.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use baton_engine::evidence::ClaimFinding;
use baton_engine::handoff::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::session::Spending;
use baton_engine::step::Role;
use baton_engine::{EventKind, HandoffId};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::activity::spending_json;
use crate::run_outline::RunOutline;
use crate::step_name::StepName;
use crate::words::{DID_NOT_PASS, counted, span};

/// Verdicts about claims, counted over all attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceTally {
    /// Claims that are true.
    pub verified: u64,
    /// Claims that are false.
    pub refuted: u64,
    /// Claims that cannot be verified.
    pub unverifiable: u64,
}

/// All visits of a phase, or all help of one kind beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSummary {
    /// The phase, and what is beside it.
    pub name: StepName,
    /// Who worked or decided; empty where nobody did.
    pub agent: String,
    /// How often it was visited; 0 if it was left out.
    pub visits: u64,
    /// How often somebody tried.
    pub attempts: u64,
    /// How long all of it took; of agents and commands, without the time in which they waited.
    pub took: Duration,
    /// How many tokens it took: those of the prompts, and those that agents report.
    pub tokens: u64,
    /// What that was in particular, as far as the agents' programs tell.
    pub spending: Spending,
    /// What was seen of the claims.
    pub evidence: EvidenceTally,
    /// How the last visit ended, or where it is.
    pub outcome: String,
}

/// A run, phase by phase.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Its phases in the order of their first visits, each with what is beside it, and groups with what is inside them.
    pub phases: Vec<PhaseSummary>,
    /// All of them together.
    pub total: PhaseSummary,
}

/// How a row of a summary is called below the groups and the phase that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLabel {
    /// How many of them there are.
    pub depth: usize,
    /// What is left of its name.
    pub text: String,
}

impl EvidenceTally {
    fn add(&mut self, other: EvidenceTally) {
        self.verified += other.verified;
        self.refuted += other.refuted;
        self.unverifiable += other.unverifiable;
    }

    /// Returns the counts that are not 0, with a sign each: `5 ✓ 1 ✗`.
    pub fn signs(self) -> String {
        let counts = [(self.verified, "✓"), (self.refuted, "✗"), (self.unverifiable, "?")];
        let told: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, sign)| format!("{count} {sign}")).collect();
        told.join(" ")
    }

    fn json(self) -> Value {
        json!({ "verified": self.verified, "refuted": self.refuted, "unverifiable": self.unverifiable })
    }
}

impl RunSummary {
    /// Sums a run up.
    pub fn of(run: &Run, events: &[Event], now: Timestamp) -> RunSummary {
        let tallies = tallies(events);
        let (mut rows, mut known, mut outline) = (Vec::new(), HashMap::new(), RunOutline::new());
        for tracked in run.handoffs().filter(|tracked| tracked.step.role != Role::Run) {
            let row = row(tracked, tallies.get(&tracked.handoff.id).copied().unwrap_or_default(), now);
            match known.get(&row.name) {
                Some(at) => PhaseSummary::add(&mut rows[*at], row),
                None => {
                    known.insert(row.name.clone(), rows.len());
                    outline.add(rows.len(), &row.name.phase);
                    rows.push(row);
                }
            }
        }
        let mut rows: Vec<PhaseSummary> = outline.rows().into_iter().map(|at| rows[at].clone()).collect();
        let root = row(run.root(), EvidenceTally::default(), now);
        let name = StepName::of_phase("total");
        let mut total = PhaseSummary { name, agent: String::new(), visits: 0, attempts: 0, ..root };
        total.took = span(run.started_at, run.root().handoff.state.finished_at().unwrap_or(now));
        for row in &rows {
            total.visits += row.visits;
            total.attempts += row.attempts;
            total.tokens = total.tokens.saturating_add(row.tokens);
            total.spending += row.spending;
            total.evidence.add(row.evidence);
        }
        rows.extend(left_out(run));
        RunSummary { phases: rows, total }
    }

    /// Returns how each row is called below the phase and the groups that it belongs to.
    pub fn labels(&self) -> impl Iterator<Item = RowLabel> {
        let are_phases = self.phases.iter().filter(|row| row.name.beside.is_none());
        let phases: HashSet<&str> = are_phases.map(|row| row.name.phase.as_str()).collect();
        self.phases.iter().map(move |row| {
            let phase = row.name.phase.as_str();
            let above = phase.match_indices('/').map(|(end, _)| end).filter(|end| phases.contains(&phase[..*end]));
            let (depth, rest) = above.fold((0, phase), |(depth, _), end| (depth + 1, &phase[end + 1..]));
            match &row.name.beside {
                Some(beside) => RowLabel { depth: depth + 1, text: format!("→ {beside}") },
                None => RowLabel { depth, text: rest.to_owned() },
            }
        })
    }

    /// Returns the JSON form of the rows.
    pub fn json(&self) -> Value {
        json!(self.phases.iter().map(PhaseSummary::json).collect::<Vec<_>>())
    }

    /// Returns the JSON form of the totals.
    pub fn totals_json(&self) -> Value {
        self.total.json()
    }
}

impl PhaseSummary {
    fn add(&mut self, later: PhaseSummary) {
        self.visits += later.visits;
        self.attempts += later.attempts;
        self.took += later.took;
        self.tokens = self.tokens.saturating_add(later.tokens);
        self.spending += later.spending;
        self.evidence.add(later.evidence);
        self.agent = later.agent;
        self.outcome = later.outcome;
    }

    fn json(&self) -> Value {
        json!({
            "phase": self.name.to_string(),
            "agent": self.agent,
            "visits": self.visits,
            "attempts": self.attempts,
            "seconds": self.took.as_secs_f64(),
            "tokens": self.tokens,
            "spent": spending_json(&self.spending),
            "evidence": self.evidence.json(),
            "outcome": self.outcome,
        })
    }
}

fn row(tracked: &TrackedHandoff, evidence: EvidenceTally, now: Timestamp) -> PhaseSummary {
    let by = tracked.deciders();
    // What a gate tells was counted with the phases before it.
    let evidence = if tracked.step.role == Role::Gate { EvidenceTally::default() } else { evidence };
    let agent = match tracked.step.role {
        Role::Work => tracked.handoff.terms.to.clone(),
        Role::Check | Role::Group | Role::Delegation | Role::Run => String::new(),
        Role::Gate | Role::Escalation | Role::Failure | Role::Limit => by.unwrap_or_else(|| "a person".to_owned()),
    };
    PhaseSummary {
        name: StepName::of(tracked),
        agent,
        visits: 1,
        attempts: if matches!(tracked.step.role, Role::Run | Role::Group) { 0 } else { u64::from(tracked.attempts) },
        took: tracked.took(now),
        tokens: tracked.tokens(),
        spending: tracked.spending(),
        evidence,
        outcome: outcome(tracked),
    }
}

/// Returns how a visit ended, or where it is.
fn outcome(tracked: &TrackedHandoff) -> String {
    let verdict = tracked.report().and_then(|report| report.verdict.clone());
    match (&tracked.handoff.state, verdict) {
        (State::Completed { .. }, _) if tracked.step.role.is_drivers() && !tracked.passed() => DID_NOT_PASS.to_owned(),
        (State::Completed { .. }, Some(verdict)) => verdict.to_lowercase().replace('_', " "),
        (State::Completed { .. }, None) if !tracked.passed() => DID_NOT_PASS.to_owned(),
        (State::Completed { .. }, None) => match tracked.answer() {
            Some(answer) if tracked.step.role != Role::Work => choice(tracked, answer).to_owned(),
            _ => "done".to_owned(),
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
fn left_out(run: &Run) -> impl Iterator<Item = PhaseSummary> {
    run.left_out().into_iter().map(|phase| PhaseSummary {
        name: StepName::of_phase(phase),
        agent: String::new(),
        visits: 0,
        attempts: 0,
        took: Duration::ZERO,
        tokens: 0,
        spending: Spending::default(),
        evidence: EvidenceTally::default(),
        outcome: "left out".to_owned(),
    })
}

/// Counts the verdicts of all attempts, by handoff.
fn tallies(events: &[Event]) -> HashMap<HandoffId, EvidenceTally> {
    let mut tallies: HashMap<HandoffId, EvidenceTally> = HashMap::new();
    let tells = |event: &&Event| event.is(EventKind::Verified) || event.is(EventKind::Reported);
    for event in events.iter().filter(tells) {
        let examined = match event.fact() {
            Ok(Fact::Happened(Command::Verify(verify))) => verify.examined,
            Ok(Fact::Happened(Command::Report(report))) => report.examined,
            _ => continue,
        };
        let tally = tallies.entry(event.handoff.clone()).or_default();
        for examined in &examined {
            match examined.verdict {
                ClaimFinding::Verified => tally.verified += 1,
                ClaimFinding::Refuted => tally.refuted += 1,
                ClaimFinding::Unverifiable => tally.unverifiable += 1,
            }
        }
    }
    tallies
}

/// Counts the phases of the workflow that have passed, and all of them.
pub fn phases_done(run: &Run) -> (usize, usize) {
    let phases = &run.definition.workflow.phases;
    let done = phases.iter().filter(|phase| run.latest(phase.id()).is_some_and(TrackedHandoff::passed)).count();
    (done, phases.len())
}

/// Returns in a few words what a run has in it: `14 handoffs`.
pub fn size(run: &Run) -> String {
    counted(run.handoffs().count().saturating_sub(1) as u64, "handoff")
}
