//! Which parts of a page change when something happens: the stream of events names them, and the script fetches them.
//!
//! A fragment is an element with this id. The address of its page with `?fragment=ID` gives it alone, and with several ids,
//! separated by spaces, all of them.

use baton_engine::EventKind;
use baton_engine::journal::Event;

/// The rows of the list of runs.
pub const RUNS: &str = "runs-list";
/// The state of a run, beside its name.
pub const RUN_STATE: &str = "run-state";
/// Reasons, figures and actions of a run.
pub const RUN_HEAD: &str = "run-head";
/// The timeline of a run with its phases.
pub const RUN_TIMELINE: &str = "run-timeline";
/// The flow of a run as a picture.
pub const RUN_FLOW: &str = "run-flow";
/// The handoffs of a run.
pub const RUN_HANDOFFS: &str = "run-handoffs";
/// The newest events of a run.
pub const RUN_JOURNAL: &str = "run-journal";
/// One handoff.
pub const HANDOFF: &str = "handoff";
/// Whether a question still waits.
pub const QUESTION: &str = "question-state";
/// The questions of the inbox.
pub const INBOX: &str = "inbox-list";
/// How many questions there are, in the navigation of every page.
pub const BADGE: &str = "inbox-badge";
/// The agents and their queues.
pub const AGENTS: &str = "agents-list";

/// All of them.
pub const ALL: &[&str] = &[
    RUNS,
    RUN_STATE,
    RUN_HEAD,
    RUN_TIMELINE,
    RUN_FLOW,
    RUN_HANDOFFS,
    RUN_JOURNAL,
    HANDOFF,
    QUESTION,
    INBOX,
    BADGE,
    AGENTS,
];

/// Returns the fragments that may have changed after an event. A sign of life changes no page: nobody reads those.
pub fn changed_by(event: &Event) -> &'static [&'static str] {
    if event.is(EventKind::Extended) { &[] } else { ALL }
}
