//! How results are written for people at a terminal, and a check in each of its formats. What is shown comes from `baton-views`.

pub(crate) mod columns;
pub(crate) mod document;
pub(crate) mod github;
pub(crate) mod handoff;
pub(crate) mod human;
pub(crate) mod inbox;
pub(crate) mod json;
pub(crate) mod question;
pub(crate) mod rule;
pub(crate) mod run;
pub(crate) mod sarif;
pub(crate) mod sheet;
pub(crate) mod timeline;
