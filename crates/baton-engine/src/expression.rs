//! Expressions and templates of a workflow file, over what the run knows.
//!
//! A name that is not there is an error, not an empty text: a typing error must not skip a phase. Nothing here can
//! read a file, and an endless template runs out of fuel. What the values say is never read as a template.

use std::sync::LazyLock;

use baton_protocol::workflow::expression::whole_expression;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value;

/// How many instructions one evaluation may take. The largest prompt takes a few thousand.
const FUEL: u64 = 1_000_000;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// Why an expression or a template cannot be worked out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionFault {
    /// What it names is not there.
    #[error("`{0}` does not exist")]
    NotThere(String),
    /// It goes on for ever.
    #[error("{}the loop is too long", in_line(*line))]
    Endless {
        /// The line of the template.
        line: Option<usize>,
    },
    /// It is not written as it must be, or does not fit what the run knows.
    #[error("{}{why}", in_line(*line))]
    Wrong {
        /// The line of the template.
        line: Option<usize>,
        /// What is wrong.
        why: String,
    },
}

impl ExpressionFault {
    /// Describes what went wrong, without the name of the template: every caller knows which one it is.
    pub(crate) fn new(line: Option<usize>, error: &Error) -> ExpressionFault {
        let why = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => return ExpressionFault::Endless { line },
            (kind, Some(detail)) => format!("{kind}: {detail}"),
            (kind, None) => kind.to_string(),
        };
        ExpressionFault::Wrong { line, why }
    }
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

/// Evaluates an expression such as `phases.review.verdict == 'approved'`; the error says what is wrong with it.
pub fn evaluate(text: &str, names: &Value) -> Result<Value, ExpressionFault> {
    let environment: &Environment<'_> = &ENVIRONMENT;
    let evaluated = whole_expression(environment, text).and_then(|expression| expression.eval(Serde(names)));
    let value = evaluated.map_err(|error| ExpressionFault::new(None, &error))?;
    if value.is_undefined() {
        return Err(ExpressionFault::NotThere(text.trim().to_owned()));
    }
    serde_json::to_value(&value).map_err(|error| ExpressionFault::Wrong { line: None, why: error.to_string() })
}

/// Renders a template such as `Review {{ phases.implement.artifacts | join(', ') }}`; the error names its line.
pub fn render(template: &str, names: &Value) -> Result<String, ExpressionFault> {
    ENVIRONMENT.render_str(template, Serde(names)).map_err(|error| ExpressionFault::new(error.line(), &error))
}

/// Makes an environment that is strict, has no files, and ends.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("tojson", to_json);
    environment.add_filter("slug", slug);
    environment
}

/// Writes a value as JSON, on several lines if asked. The usual filter escapes for HTML, which nobody here reads.
fn to_json(value: &minijinja::Value, pretty: Option<bool>) -> Result<String, Error> {
    let written = match pretty {
        Some(true) => serde_json::to_string_pretty(value),
        _ => serde_json::to_string(value),
    };
    written.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// Makes a text fit for a folder: small letters and digits, with one `-` between words.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        match letter.is_alphanumeric() {
            true => slug.extend(letter.to_lowercase()),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    slug.trim_end_matches('-').chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn names() -> Value {
        json!({
            "inputs": { "tools": [{ "name": "get-issue" }, { "name": "list-issues" }], "strict": true },
            "phases": { "review": { "verdict": "changes", "said": "{{ inputs.strict }}" } },
        })
    }

    #[test]
    fn slugs_are_fit_for_folders() {
        assert_eq!(slug("  Fix: the OAuth2 flow (again)! "), "fix-the-oauth2-flow-again");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(render("{{ inputs.tools[0].name | slug }}", &names()), Ok("get-issue".to_owned()));
    }

    #[test]
    fn conditions_lists_and_members_are_evaluated() {
        let evaluated = |text: &str| evaluate(text, &names()).expect("an expression");
        assert_eq!(evaluated("phases.review.verdict == 'changes' and inputs.strict"), json!(true));
        assert_eq!(evaluated("inputs.tools"), names()["inputs"]["tools"]);
        assert_eq!(evaluated("inputs.tools | map(attribute='name') | list"), json!(["get-issue", "list-issues"]));
        assert_eq!(evaluated("inputs.tools | length + 1"), json!(3));
        assert_eq!(evaluated("phases.test is defined"), json!(false));
        assert_eq!(evaluated("phases.review.notes | default([])"), json!([]));
        assert_eq!(evaluated("none"), Value::Null);
        assert_eq!(evaluated("'a text'"), json!("a text"));
    }

    #[test]
    fn members_keep_their_order() {
        let names = json!({ "given": { "z": 1, "a": 2.5, "m": [null, true] } });
        let text = evaluate("given", &names).expect("an expression").to_string();
        assert_eq!(text, r#"{"z":1,"a":2.5,"m":[null,true]}"#);
    }

    #[test]
    fn templates_are_rendered() {
        let rendered = render("Review {{ inputs.tools | map(attribute='name') | join(', ') }}.\n", &names());
        assert_eq!(rendered.as_deref(), Ok("Review get-issue, list-issues."));
        let json = render("{{ inputs.tools[0] | tojson }}", &names());
        assert_eq!(json.as_deref(), Ok(r#"{"name":"get-issue"}"#));
        assert_eq!(render("<{{ phases.review.verdict }} & \"'>", &names()).as_deref(), Ok("<changes & \"'>"));
    }

    #[test]
    fn what_a_value_says_is_no_template() {
        assert_eq!(render("{{ phases.review.said }}", &names()).as_deref(), Ok("{{ inputs.strict }}"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| evaluate(text, &names()).expect_err("no value");
        assert_snapshot!(wrong("phases.reveiw"), @"`phases.reveiw` does not exist");
        assert_snapshot!(wrong("phases.reveiw.verdict == 'ok'"), @"undefined value: `phases.reveiw` is undefined");
        assert_snapshot!(wrong("missing and true"), @"undefined value: `missing` is undefined");
        assert_snapshot!(wrong("phases ="), @"syntax error: unexpected input after expression");
        assert_snapshot!(wrong("phases.review.verdict == 'changes' && false"), @"syntax error: unexpected input after expression");
        assert_snapshot!(wrong("inputs.strict | shout"), @"unknown filter: filter shout is unknown");
        let wrong = |text: &str| render(text, &names()).expect_err("no text");
        assert_snapshot!(wrong("a\n{{ inputs.nothing }}"), @"line 2: undefined value: `inputs.nothing` is undefined");
        assert_snapshot!(wrong("a\n\n{% if %}"), @"line 3: syntax error: unexpected end of block");
        assert_snapshot!(wrong("{% include '/etc/passwd' %}"), @"line 1: template not found: tried to include non-existing template '/etc/passwd'");
        assert_snapshot!(wrong("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"), @"line 1: the loop is too long");
    }
}
