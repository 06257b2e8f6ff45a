//! How results are written: a check in each of its formats, and handoffs.

pub(crate) mod github;
#[expect(dead_code, reason = "the commands of the queue come next")]
pub(crate) mod handoff;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod sarif;
