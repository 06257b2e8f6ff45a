//! Expressions and templates of a workflow file: whether they can be read, and which names they use.

mod braces;
mod words;

pub use braces::single_braces;
pub use words::{OWN_FILTERS, other_operator, unknown_word};

use std::fmt;

use minijinja::{Environment, Error, ErrorKind, Expression};

/// A name in an expression, with the names behind its dots: `phases.review.verdict`.
pub type Reference = Vec<String>;

/// Why a text is not an expression or a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for SyntaxFault {}

impl From<minijinja::Error> for SyntaxFault {
    fn from(error: minijinja::Error) -> Self {
        SyntaxFault { reason: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned) }
    }
}

/// Compiles an expression, all of it. Every place that compiles one goes through here.
pub fn whole_expression<'e>(environment: &'e Environment<'e>, text: &'e str) -> Result<Expression<'e, 'e>, Error> {
    let expression = environment.compile_expression(text)?;
    // The template engine takes a character that it cannot read for the end if a text in quotes is before it:
    // `inputs.x == 'y' && false` would be `inputs.x == 'y'`. Inside of brackets it misses the closing one.
    match environment.compile_expression(&format!("({text}\n)")) {
        Ok(_) => Ok(expression),
        Err(_) => Err(Error::new(ErrorKind::SyntaxError, "unexpected input after expression")),
    }
}

/// Finds the names that an expression uses; the error says why it is not valid.
pub fn of_expression(text: &str) -> Result<Vec<Reference>, SyntaxFault> {
    let environment = Environment::new();
    let expression = whole_expression(&environment, text)?;
    Ok(references(expression.undeclared_variables(true), text))
}

/// Finds the names that a template uses; the error says why it is not valid.
pub fn of_template(text: &str) -> Result<Vec<Reference>, SyntaxFault> {
    let environment = Environment::new();
    let template = environment.template_from_str(text)?;
    Ok(references(template.undeclared_variables(true), text))
}

fn references(names: std::collections::HashSet<String>, text: &str) -> Vec<Reference> {
    let mut found: Vec<Reference> =
        names.into_iter().map(|name| name.split('.').map(str::to_owned).collect()).collect();
    for root in ["phases", "inputs"] {
        found.extend(quoted(text, root).into_iter().map(|names| [vec![root.to_owned()], names].concat()));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the names in `root['name']` and `root['name'].member`, which the template engine does not list.
fn quoted(text: &str, root: &str) -> Vec<Vec<String>> {
    let behind = |(at, _): (usize, &str)| text[at + root.len()..].trim_start().strip_prefix('[');
    let name = |rest: &str| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        let (name, rest) = rest[1..].split_once(quote)?;
        let member = rest.trim_start().strip_prefix(']')?.strip_prefix('.').map(|rest| {
            rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect::<String>()
        });
        Some(std::iter::once(name.to_owned()).chain(member.filter(|member| !member.is_empty())).collect())
    };
    text.match_indices(root).filter_map(behind).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        of_expression(text).expect("an expression").iter().map(|reference| reference.join(".")).collect()
    }

    #[test]
    fn names_are_found_with_what_is_behind_their_dots() {
        assert_eq!(names("phases.review.verdict == 'ok' and item"), ["item", "phases.review.verdict"]);
        assert_eq!(names("phases['p0-check'].passed"), ["phases", "phases.p0-check.passed"]);
        assert_eq!(names("phases['p0-check'] is defined"), ["phases", "phases.p0-check"]);
        let template = of_template("{% for x in inputs.list %}{{ x }}{{ run.id }}{% endfor %}").expect("a template");
        assert_eq!(template, [vec!["inputs", "list"], vec!["run", "id"]]);
    }

    #[test]
    fn nothing_behind_an_unreadable_character_is_dropped() {
        for left in [
            "'y'",
            "x == 'y'",
            "x == \"y\"",
            "x == 1",
            "x",
            "f('y')",
            "['y']",
            "x is defined",
            "x | default('y')",
            "('y')",
        ] {
            assert_eq!(of_expression(left).err(), None, "{left}");
            for mark in ["&", "&&", "$", "?", "@", "#", "\\", "`", ";", "^", "§", "’", "\u{a0}", "!", "= ="] {
                for right in ["", " false", " 'z'", ") or ('z'", " and false"] {
                    let text = format!("{left} {mark}{right}");
                    assert!(of_expression(&text).is_err(), "{text}");
                    for template in [format!("{{{{ {text} }}}}"), format!("{{% if {text} %}}{{% endif %}}")] {
                        assert!(of_template(&template).is_err(), "{template}");
                    }
                }
            }
        }
        assert!(of_expression("'a' ~ 'b'  \n").is_ok());
        assert!(of_expression("'& $ ?' == inputs.x").is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_explained() {
        assert!(of_expression("phases.").is_err());
        assert!(of_expression("a ==").is_err());
        assert!(of_template("{{ a").is_err());
        assert!(of_template("{% if a %}").is_err());
        assert!(of_template("plain text, {even with} braces").is_ok());
    }
}
