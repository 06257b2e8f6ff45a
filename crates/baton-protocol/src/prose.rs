//! Owns the judgement of free text in a handoff: too vague, not measurable, or pasted raw.
//! Refuses to know about fields, documents and severities: text in, reason out.
//! Invariant: every judge is a pure pass over the text, and in doubt it is silent, because a
//! false alarm costs more trust than a miss.

mod dump;
mod measure;
mod sentences;
mod test_output;
mod tokens;
mod vague;
mod words;

pub use dump::raw_dump;
pub use measure::unmeasurable;
pub use sentences::sentences;
pub use test_output::failed_tests;
pub use vague::vague;

#[cfg(test)]
mod tests;
