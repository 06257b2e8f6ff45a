//! What follows from what in a run: workflows are played with everybody's lines written down before, without agents,
//! files or a store.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "flow/ledger.rs"]
mod ledger;
#[path = "flow/play.rs"]
mod play;
#[path = "flow/telling.rs"]
mod telling;

#[path = "flow/again.rs"]
mod again;
#[path = "flow/back.rs"]
mod back;
#[path = "flow/deciding.rs"]
mod deciding;
#[path = "flow/groups.rs"]
mod groups;
#[path = "flow/handovers.rs"]
mod handovers;
#[path = "flow/help.rs"]
mod help;
#[path = "flow/limits.rs"]
mod limits;
#[path = "flow/nested.rs"]
mod nested;
#[path = "flow/nothing_lost.rs"]
mod nothing_lost;
#[path = "flow/onward.rs"]
mod onward;
#[path = "flow/past_gates.rs"]
mod past_gates;
#[path = "flow/places.rs"]
mod places;
#[path = "flow/random.rs"]
mod random;
#[path = "flow/stops.rs"]
mod stops;
#[path = "flow/too_large.rs"]
mod too_large;
