//! Whether a phase judges the work of others, so that its agent must be told how to say yes or no. What follows from a
//! report that says neither is not decided here.

use baton_protocol::wire::same_word;

use super::turn::is_review;
use crate::answer::is_called_reviewer;
use crate::definition::LocatedPhase;

/// Returns whether an agent is asked for its opinion: the phase is a review or is called so, or it belongs to a group that
/// decides by what its members say, and is not there to write.
pub(crate) fn judges(located: &LocatedPhase<'_>, agent: &str) -> bool {
    let phase = located.phase();
    if let Some(kind) = phase.kind.as_deref() {
        return is_review(phase) || same_word(kind, "validate");
    }
    let decides = |group: &baton_protocol::workflow::Phase| group.pass_when.is_some() || group.on_failure.is_some();
    let writes = phase.writes.as_ref().is_some_and(|writes| !writes.0.is_empty());
    let is_asked_in_group = located.is_branch() && !writes && located.group.is_some_and(decides);
    is_asked_in_group || is_called_reviewer(phase.id()) || is_called_reviewer(agent)
}
