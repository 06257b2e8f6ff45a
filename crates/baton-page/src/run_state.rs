//! The honest state of a run, in one word, and why it waits, in one sentence.

use baton_engine::Handoff;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::readable_claimant;
use baton_views::details::ListedRun;
use baton_views::standing::{RunStanding, RunWait};
use baton_views::words::{ago, cut, one_line};
use jiff::Timestamp;

/// The longest reason in a list.
pub(crate) const REASON_MAX: usize = 180;

/// Where a run is, as people sort runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Somebody works.
    Running,
    /// Its work waits for somebody to take it.
    Queued,
    /// It goes on by itself later: at a time, or when somebody has helped.
    Parked,
    /// A person must decide before it goes on.
    Waiting,
    /// No process drives it, and it could continue.
    Interrupted,
    /// It is done.
    Completed,
    /// It was given up.
    Failed,
    /// It was called off.
    Cancelled,
}

impl RunState {
    /// All of them, the most urgent first.
    pub const ALL: [RunState; 8] = [
        RunState::Waiting,
        RunState::Running,
        RunState::Queued,
        RunState::Parked,
        RunState::Interrupted,
        RunState::Failed,
        RunState::Completed,
        RunState::Cancelled,
    ];

    /// Returns the state of a run that stands here, with so many open questions; `waits` is what it waits for while nobody works.
    pub fn of(standing: &RunStanding, questions: usize, waits: Option<&RunWait>) -> RunState {
        match standing {
            RunStanding::Ended(StateName::Failed) => RunState::Failed,
            RunStanding::Ended(StateName::Cancelled) => RunState::Cancelled,
            RunStanding::Ended(_) => RunState::Completed,
            RunStanding::Waiting(_) => RunState::Waiting,
            _ if questions > 0 => RunState::Waiting,
            RunStanding::Driven(_) => match waits {
                None => RunState::Running,
                Some(waits) if waits.is_queued => RunState::Queued,
                Some(_) => RunState::Parked,
            },
            RunStanding::Silent { .. } | RunStanding::Left => RunState::Interrupted,
        }
    }

    /// Returns its word in addresses and classes.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Queued => "queued",
            RunState::Parked => "parked",
            RunState::Waiting => "waiting",
            RunState::Interrupted => "interrupted",
            RunState::Completed => "completed",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
        }
    }

    /// Finds a state by its word.
    pub fn parse(word: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns what people read.
    pub fn words(self) -> &'static str {
        match self {
            RunState::Waiting => "waiting for a person",
            other => other.as_str(),
        }
    }

    /// Returns whether nothing more happens by itself.
    pub fn is_ended(self) -> bool {
        matches!(self, RunState::Completed | RunState::Failed | RunState::Cancelled)
    }
}

/// Returns the state of a run in a list.
pub fn listed_state(listed: &ListedRun) -> RunState {
    RunState::of(&listed.standing, listed.waiting.len(), listed.waits_for.as_ref())
}

/// Writes in one sentence what a run in a list waits for, or why it ended. `asked` is what a person is asked first, or who called
/// it off.
pub fn why(listed: &ListedRun, asked: &str, now: Timestamp) -> String {
    if let Some(first) = listed.waiting.first() {
        let more = match listed.waiting.len() - 1 {
            0 => String::new(),
            1 => " and 1 more question".to_owned(),
            more => format!(" and {more} more questions"),
        };
        if !asked.is_empty() {
            return format!("{asked}{more}");
        }
        return format!("{} must decide {}{more}", capital(&first.person), step(listed, first.handoff.as_str()));
    }
    let is_driven = matches!(listed.standing, RunStanding::Driven(_));
    let is_called_off = matches!(listed.standing, RunStanding::Ended(StateName::Cancelled)) && !asked.is_empty();
    if is_called_off {
        return asked.to_owned();
    }
    let waits = listed.waits_for.as_ref().filter(|_| is_driven).map(|waits| waits.words.clone());
    waits.unwrap_or_else(|| standing(&listed.standing, &listed.root, &listed.phases, now))
}

/// Writes in one sentence how a run stands that waits for nobody.
pub fn standing(standing: &RunStanding, root: &Handoff, phases: &[String], now: Timestamp) -> String {
    let reason = || root.last_failure.as_ref().map(|failure| cut(&one_line(&failure.text()), REASON_MAX));
    match standing {
        RunStanding::Driven(_) if phases.is_empty() => "Deciding what comes next".to_owned(),
        RunStanding::Driven(_) => format!("Working on {}", listed_phases(phases)),
        RunStanding::Silent { by, since } => {
            format!("{} was last heard of {}; resume to go on", one_line(readable_claimant(by)), ago(*since, now))
        }
        RunStanding::Left => "No process drives it; resume it to continue".to_owned(),
        RunStanding::Waiting(_) => "A person must decide".to_owned(),
        RunStanding::Ended(StateName::Failed) => reason().unwrap_or_else(|| "It failed".to_owned()),
        RunStanding::Ended(StateName::Cancelled) => "Called off".to_owned(),
        RunStanding::Ended(_) => "All phases are done".to_owned(),
    }
}

fn step<'n>(listed: &ListedRun, name: &'n str) -> &'n str {
    let name = name.strip_prefix(listed.root.id.as_str()).map_or(name, |rest| rest.trim_start_matches('.'));
    // Most phases are visited once.
    name.strip_suffix(".1").unwrap_or(name)
}

fn listed_phases(phases: &[String]) -> String {
    let shown: Vec<&str> = phases.iter().take(3).map(String::as_str).collect();
    let more = phases.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
