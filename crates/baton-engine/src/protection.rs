//! What kept an attempt away from what judges it: its record, and how people learn of it.

use std::fmt;

use crate::run::Run;

/// How many phases are named for one kind of protection.
const PHASES_MAX: usize = 5;

/// What kept the processes of an attempt away from everything that is not theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// Namespaces of its own, made by bubblewrap.
    Bubblewrap,
    /// Rules of the kernel about files; its processes were not apart from others.
    Landlock {
        /// Why there was no more protection than that.
        why: String,
    },
    /// Nothing.
    Nothing {
        /// Why.
        why: String,
    },
}

impl Protection {
    /// Returns whether everything that a cage keeps apart was kept apart.
    pub fn is_full(&self) -> bool {
        matches!(self, Protection::Bubblewrap)
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protection::Bubblewrap => formatter.write_str("caged by bubblewrap"),
            Protection::Landlock { why } => write!(formatter, "partly caged by Landlock ({why})"),
            Protection::Nothing { why } => write!(formatter, "not caged ({why})"),
        }
    }
}

/// Lists the phases of a run that were not fully protected, one line for each kind of protection.
pub fn gaps(run: &Run) -> Vec<String> {
    let mut found: Vec<(&Protection, Vec<&str>)> = Vec::new();
    for tracked in run.handoffs() {
        let Some(protection) = tracked.protection.as_ref().filter(|protection| !protection.is_full()) else { continue };
        let phase = tracked.step.phase.as_str();
        match found.iter_mut().find(|(known, _)| *known == protection) {
            Some((_, phases)) if phases.contains(&phase) => {}
            Some((_, phases)) => phases.push(phase),
            None => found.push((protection, vec![phase])),
        }
    }
    let line = |(protection, phases): (&Protection, Vec<&str>)| {
        let more = match phases.len().saturating_sub(PHASES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}: {protection}", phases[..phases.len().min(PHASES_MAX)].join(", "))
    };
    found.into_iter().map(line).collect()
}
