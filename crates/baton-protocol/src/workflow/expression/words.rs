//! The words of an expression that its engine learns only when it is worked out: filters, tests and operators.

use minijinja::Environment;

use crate::wire::closest;

/// The filters that a run has beyond those of the template engine.
pub const OWN_FILTERS: [&str; 2] = ["tojson", "slug"];

/// Filters and tests that are suggested; the engine knows more.
const FILTERS: [&str; 26] = [
    "upper",
    "lower",
    "title",
    "capitalize",
    "replace",
    "length",
    "first",
    "last",
    "join",
    "sort",
    "reverse",
    "unique",
    "default",
    "list",
    "trim",
    "round",
    "int",
    "float",
    "map",
    "select",
    "reject",
    "lines",
    "split",
    "dictsort",
    "tojson",
    "slug",
];
const TESTS: [&str; 12] = [
    "defined",
    "undefined",
    "none",
    "string",
    "number",
    "true",
    "false",
    "in",
    "odd",
    "even",
    "startingwith",
    "endingwith",
];

/// Returns what is wrong with a filter or a test that nobody knows, and what was probably meant.
pub fn unknown_word(text: &str, is_template: bool) -> Option<(String, String)> {
    let code = code(text, is_template);
    let words: Vec<(&str, usize)> = words(&code);
    let environment = Environment::new();
    let is_known = |name: &str, what: &str| {
        let asked = environment.compile_expression(match what {
            "filter" => "name is filter",
            _ => "name is test",
        });
        let answer = asked.and_then(|expression| expression.eval(minijinja::context! { name }));
        answer.is_ok_and(|value| value.is_true()) || (what == "filter" && OWN_FILTERS.contains(&name))
    };
    for (index, (word, at)) in words.iter().enumerate() {
        let before = code[..*at].trim_end();
        let previous = |back: usize| index.checked_sub(back).map(|index| words[index].0);
        let is_test = previous(1) == Some("is") && before.ends_with("is")
            || previous(1) == Some("not") && previous(2) == Some("is") && before.ends_with("not");
        let (what, known): (&str, &[&str]) = match () {
            () if before.ends_with('|') && !before.ends_with("||") => ("filter", &FILTERS),
            () if is_test && *word != "not" => ("test", &TESTS),
            () => continue,
        };
        if !is_known(word, what) {
            let help = match closest(word, known) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("use one of: {}", known.join(", ")),
            };
            return Some((format!("unknown {what} `{word}`"), help));
        }
    }
    None
}

/// Returns what to write in the place of an operator of another language, for a text that cannot be read.
pub fn other_operator(text: &str, is_template: bool) -> Option<String> {
    if !is_template && text.contains("{{") {
        let bare: String = text.replace("{{", "").replace("}}", "").split_whitespace().collect::<Vec<_>>().join(" ");
        return Some(format!("write an expression without braces: `{bare}`"));
    }
    let code = code(text, is_template);
    let is_lonely = |(at, _): &(usize, &str)| {
        let (before, after) = (&code[..*at], &code[at + 1..]);
        !before.ends_with(['=', '!', '<', '>']) && !after.starts_with('=')
    };
    match () {
        () if code.contains("===") => Some("use `==`".to_owned()),
        () if code.match_indices('=').any(|found| is_lonely(&found)) => Some("use `==` to compare".to_owned()),
        () if code.contains("&&") => Some("use `and`".to_owned()),
        () if code.contains("||") => Some("use `or`".to_owned()),
        () if code.replace("!=", "").contains('!') => Some("use `not`".to_owned()),
        () => None,
    }
}

/// Returns the text with everything blanked out that is not code: quoted texts, and what stands around the braces of a template.
fn code(text: &str, is_template: bool) -> String {
    let (mut found, mut inside, mut quote) = (String::with_capacity(text.len()), !is_template, None);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if is_template && quote.is_none() {
            let ends = if inside { ["}}", "%}"] } else { ["{{", "{%"] };
            inside = inside != ends.iter().any(|end| rest.starts_with(end));
        }
        let is_quote = inside && matches!(letter, '\'' | '"') && quote.is_none_or(|open| open == letter);
        let is_code = inside && quote.is_none() && !is_quote && !matches!(letter, '{' | '}' | '%');
        (0..letter.len_utf8()).for_each(|_| found.push(' '));
        if is_code && letter.is_ascii() {
            found.pop();
            found.push(letter);
        }
        if is_quote {
            quote = if quote.is_some() { None } else { Some(letter) };
        }
        rest = &rest[letter.len_utf8()..];
    }
    found
}

/// Returns the names in a code, with where they begin.
fn words(code: &str) -> Vec<(&str, usize)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find(is_part).map(|start| start + at) {
        let end = code[start..].find(|letter| !is_part(letter)).map_or(code.len(), |end| end + start);
        found.push((&code[start..end], start));
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_and_tests_are_known_or_nearly_so() {
        let unknown = |text: &str| unknown_word(text, false).map(|(message, help)| format!("{message}: {help}"));
        for good in [
            "a | upper",
            "a | default([]) | join(', ')",
            "a is defined",
            "a is not none",
            "a | slug",
            "'x | y' | tojson",
        ] {
            assert_eq!(unknown(good), None, "{good}");
        }
        assert_eq!(unknown("a | uppper").as_deref(), Some("unknown filter `uppper`: did you mean `upper`?"));
        assert_eq!(unknown("a is not defind").as_deref(), Some("unknown test `defind`: did you mean `defined`?"));
        assert_eq!(unknown_word("a | b is c {{ x | lower }} is it", true), None);
        assert!(unknown_word("{{ x | lowwer }}", true).is_some());
        for name in FILTERS {
            assert_eq!(unknown(&format!("a | {name}")), None, "{name}");
        }
        for name in TESTS {
            assert_eq!(unknown(&format!("a is {name}")), None, "{name}");
        }
    }

    #[test]
    fn operators_of_other_languages_are_told_apart() {
        let help = |text: &str| other_operator(text, false);
        assert_eq!(help("a = 'x'").as_deref(), Some("use `==` to compare"));
        assert_eq!(help("a == 'x = y' && b").as_deref(), Some("use `and`"));
        assert_eq!(help("a != b").as_deref(), None);
        assert_eq!(help("!a").as_deref(), Some("use `not`"));
        assert_eq!(help("{{ a }} == 'x'").as_deref(), Some("write an expression without braces: `a == 'x'`"));
    }
}
