//! Input that breaks the schema it names.

use serde_json::Value;

use super::{Case, RuleFindings};
use crate::schema::{CompiledSchema, Violation};

rule! {
    /// ## What it checks
    /// The data of a request breaks the JSON Schema that the request names for it. Every violation is told, up to
    /// twenty. Applies to requests in the `mailbox` and `native` dialects, and only where the schemas are known.
    ///
    /// ## Why it matters
    /// The receiver would fail with `SCHEMA_VALIDATION_FAILED` after it was started, and retries do not help: the
    /// same input fails again.
    ///
    /// ## Example
    /// ```json
    /// { "input": { "schema": "chart.input.schema.json", "data": { "series": "sales" } } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "input": { "schema": "chart.input.schema.json", "data": { "series": ["sales"] } } }
    /// ```
    "input-violates-schema": Mailbox, Error => check
}

/// More violations of one value than this are counted, not listed.
const TOLD_MAX: usize = 20;

/// A value in a message is cut at this length.
const MESSAGE_CHARACTERS_MAX: usize = 200;

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let (Some(request), Some(schemas)) = (case.request(), case.surroundings.schemas) else {
        return;
    };
    let Some(input) = request.input.as_ref() else { return };
    let Some(schema) = input.schema.as_deref().and_then(|name| schemas.find(name)?.ok()) else {
        return;
    };
    let help = || format!("make the data satisfy `{}`", input.schema.as_deref().unwrap_or_default());
    let data = input.data.as_ref().unwrap_or(&Value::Null);
    tell(&schema, data, |violation| match violation {
        Told::One(violation) => {
            findings.add(&format!("/input/data{}", violation.pointer), one_line(&violation.message), help());
        }
        Told::More(count) => findings.add("/input/data", format!("violations beyond those shown: {count}"), help()),
    });
}

/// The finding about a value that breaks its schema.
pub(super) enum Told<'v> {
    /// One violation.
    One(&'v Violation),
    /// How many more there are.
    More(usize),
}

/// Reports the first violations one by one, and how many more there are.
pub(super) fn tell(schema: &CompiledSchema, value: &Value, mut tell: impl FnMut(Told<'_>)) {
    let violations = schema.violations(value);
    violations.iter().take(TOLD_MAX).for_each(|violation| tell(Told::One(violation)));
    if violations.len() > TOLD_MAX {
        tell(Told::More(violations.len() - TOLD_MAX));
    }
}

/// Shortens a message, which may quote a whole value.
pub(super) fn one_line(message: &str) -> String {
    let mut line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        // The end of the message says what is wrong, its beginning quotes what is.
        let tail = line.char_indices().rev().nth(MESSAGE_CHARACTERS_MAX / 2).map_or(end, |(start, _)| start);
        let head = line.char_indices().nth(MESSAGE_CHARACTERS_MAX / 2).map_or(end, |(end, _)| end);
        line = format!("{} … {}", line[..head].trim_end(), line[tail..].trim_start());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(one_line("7 is not\n of type \"string\""), "7 is not of type \"string\"");
        let long = format!("{{\"ä\":\"{}\"}} is not of type \"array\"", "ü".repeat(500));
        let short = one_line(&long);
        assert!(short.chars().count() <= MESSAGE_CHARACTERS_MAX + 4, "{short}");
        assert!(short.starts_with("{\"ä\"") && short.ends_with("is not of type \"array\""), "{short}");
    }
}
