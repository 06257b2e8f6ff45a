//! How results are written: a check in each of its formats, and handoffs.

pub(crate) mod github;
pub(crate) mod handoff;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod sarif;
pub(crate) mod timeline;
