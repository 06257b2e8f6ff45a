//! A case: a script for the model, what Baton is asked to do, and what must come of it.

use std::fmt::Debug;

use anyhow::{Result, bail};

use super::script::Script;
use super::stage::Stage;
use super::{cases, vendor::Vendor};

/// Something that must work with the real programs.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) script: Script,
    pub(crate) play: Play,
}

/// Plays a case; an error says what was expected.
pub(crate) type Play = Box<dyn Fn(&Stage) -> Result<()> + Send + Sync>;

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        script: Script,
        play: impl Fn(&Stage) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), script, play: Box::new(play) }
    }
}

/// Returns every case, quick ones first.
pub(crate) fn all() -> Vec<Case> {
    let of_vendor = |vendor: Vendor| {
        let mut all = cases::teams::of(vendor);
        all.extend(cases::repair::of(vendor));
        all.extend(cases::evidence::of(vendor));
        all.extend(cases::killing::of(vendor));
        all.extend(cases::budget::of(vendor));
        all.extend(cases::homes::of(vendor));
        all.extend(cases::hooks::of(vendor));
        all.extend(cases::passing::of(vendor));
        all.extend(cases::failures::of(vendor));
        all
    };
    let mut all: Vec<Case> = Vendor::ALL.into_iter().flat_map(of_vendor).collect();
    all.push(cases::teams::mixed());
    all
}

/// Fails unless both are the same.
pub(crate) fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Result<()> {
    if got != expected {
        bail!("{what}: expected {expected:?}, got {got:?}");
    }
    Ok(())
}

/// Fails unless one of the words is in the text.
pub(crate) fn says(text: &str, words: &[&str]) -> Result<()> {
    let lower = text.to_lowercase();
    if !words.iter().any(|word| lower.contains(&word.to_lowercase())) {
        bail!("expected one of {words:?} in:\n{}", text.trim());
    }
    Ok(())
}
