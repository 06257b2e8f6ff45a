//! Why an agent may not end yet, in a form for models: one line for each finding, what to write, and never more than fits.

use baton_engine::engine::JudgedDocument;
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_protocol::read::is_blockless;
use baton_protocol::{Dialect, Severity, schema, tokens};
use serde_json::Value;

use super::input::NOT_ACCEPTED;

/// How many tokens a model gets at most.
pub(crate) const TOKENS_MAX: usize = 300;

/// How many characters of a finding are shown.
const LINE_CHARACTERS: usize = 280;

/// Why a handoff is not accepted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reasons {
    /// One line for each finding.
    pub lines: Vec<String>,
    /// Which form the report has, if the form is wrong.
    form: Option<Dialect>,
}

impl Reasons {
    /// Returns what is wrong with a text; nothing if it is valid. Whoever ends without any report is told to use a dialect.
    pub(crate) fn of_document(judged: &JudgedDocument, text: &str, dialect: Dialect) -> Reasons {
        if judged.judgement.valid {
            return Reasons::default();
        }
        let form = Some(judged.dialect.unwrap_or(dialect));
        if is_blockless(text) {
            let line = "There is no fenced JSON block at the end of your message.".to_owned();
            return Reasons { lines: vec![line], form };
        }
        let errors = judged.judgement.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let lines = errors.map(|found| {
            let field = found.pointer.trim_start_matches('/').replace('/', ".");
            let place = if field.is_empty() { String::new() } else { format!("`{field}`: ") };
            let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{place}{}{help}", found.message)
        });
        Reasons { lines: lines.collect(), form }
    }

    /// Returns what in a report is not so.
    pub(crate) fn of_evidence(examined: &[ExaminedClaim]) -> Reasons {
        let counts = |one: &&ExaminedClaim| one.verdict == ClaimFinding::Refuted && one.allowed.is_none();
        Reasons { lines: examined.iter().filter(counts).map(ExaminedClaim::sentence).collect(), form: None }
    }

    /// Returns one reason alone.
    pub(crate) fn of_one(line: impl Into<String>) -> Reasons {
        Reasons { lines: vec![line.into()], form: None }
    }

    /// Returns whether there is no reason.
    pub(crate) fn are_none(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns them for the record, in one line.
    pub(crate) fn recorded(&self) -> String {
        self.lines.join("; ")
    }

    /// Returns the text for the model.
    pub(crate) fn told(&self) -> String {
        let tail = match self.form {
            Some(dialect) => format!(
                "End your message with one fenced ```json block in the form {dialect}{}. Nothing may follow it.",
                members(dialect)
            ),
            None => "Correct the work or the claim, then end your message with the whole corrected block.".to_owned(),
        };
        let mut told = NOT_ACCEPTED.to_owned();
        for (index, line) in self.lines.iter().enumerate() {
            let left = self.lines.len() - index - 1;
            let line = format!("\n- {}", one_line(line));
            let more = if left > 0 { format!("\n- and {left} more") } else { String::new() };
            if tokens::count(&format!("{told}{line}{more}\n{tail}")) > TOKENS_MAX {
                told.push_str(&format!("\n- and {} more", left + 1));
                break;
            }
            told.push_str(&line);
        }
        format!("{told}\n{tail}")
    }
}

/// Returns the members that a report must have.
fn members(dialect: Dialect) -> String {
    let schema = schema::find(&format!("{dialect}.report")).unwrap_or_default();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // Baton itself knows when it came, and an agent without a clock would invent a time.
    let required: Vec<&str> = required.filter(|member| *member != "timestamp").collect();
    if required.is_empty() { String::new() } else { format!(" (required: {})", required.join(", ")) }
}

/// Returns a finding in one line; of a long one, its beginning and its end.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LINE_CHARACTERS {
        return text;
    }
    let half = LINE_CHARACTERS / 2;
    let (begin, end) = (&letters[..half], &letters[letters.len() - half..]);
    format!("{} … {}", begin.iter().collect::<String>(), end.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_much_is_wrong_a_model_is_told_at_most_300_tokens() {
        let lines =
            (0..200).map(|number| format!("`files_modified.{number}`: `src/module_{number}.rs` is unchanged\n^^^"));
        for form in [None, Some(Dialect::PhaseBlock)] {
            let reasons = Reasons { lines: lines.clone().collect(), form };
            let told = reasons.told();
            assert!(tokens::count(&told) <= TOKENS_MAX, "{}", tokens::count(&told));
            assert!(told.contains("more"), "{told}");
        }
        let long = Reasons::of_one("x y ".repeat(4000)).told();
        assert!(tokens::count(&long) <= TOKENS_MAX && long.contains('…'), "{long}");
    }
}
