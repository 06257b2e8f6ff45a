//! The cases, by what they show.

pub(crate) mod budget;
pub(crate) mod evidence;
pub(crate) mod failures;
pub(crate) mod homes;
pub(crate) mod hooks;
pub(crate) mod killing;
pub(crate) mod passing;
pub(crate) mod repair;
pub(crate) mod teams;
