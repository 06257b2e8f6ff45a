//! Libraries hand out errors that a program can tell apart, not sentences: `Result<_, String>` stays within a crate.
//!
//! Text is looked at, not types: what is behind `pub` (a function, a field), in a `pub` trait or enum, and every
//! alias, because nobody sees through one.

use super::Violation;
use crate::text_file::TextFile;

/// The crates that nobody builds upon.
const PROGRAMS: &[&str] = &["baton", "baton-testbed"];

/// How a sentence is written as the last type of a `Result`.
const SENTENCES: &[&str] = &["String", "std::string::String", "&'static str", "&str"];

/// Reports every sentence that a library hands out as an error.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    if !is_library(file) {
        return Vec::new();
    }
    let code = without_comments_and_tests(&file.text);
    let results = code.match_indices("Result<").filter_map(|(at, word)| {
        let sentence = sentence_in(&code[at + word.len()..])?;
        is_handed_out(&code[..at]).then_some((at, format!("Result<_, {sentence}>")))
    });
    let conversions = ["type Error = String;", "type Err = String;"];
    let converted = conversions.iter().flat_map(|written| code.match_indices(written));
    let converted = converted.map(|(at, written)| (at, written.trim_end_matches(';').to_owned()));
    let found = results.chain(converted).map(|(at, written)| {
        let line = 1 + code[..at].matches('\n').count();
        Violation::new(file, line, format!("`{written}` crosses a crate boundary; return an enum that tells why"))
    });
    found.collect()
}

/// Returns whether the file lies in `crates/*/src` of a crate that others build upon, and is not a test.
fn is_library(file: &TextFile) -> bool {
    let mut parts = file.path.split('/');
    let is_source = parts.next() == Some("crates")
        && parts.next().is_some_and(|name| !PROGRAMS.contains(&name))
        && parts.next() == Some("src");
    is_source && file.is_rust() && !parts.any(|part| part == "tests" || part == "tests.rs")
}

/// Empties lines of comments and modules of tests, so that every other line keeps its number.
fn without_comments_and_tests(text: &str) -> String {
    let mut code = String::new();
    let (mut before, mut in_tests) = ("", false);
    for line in text.lines() {
        in_tests |= before == "#[cfg(test)]" && line.starts_with("mod ") && line.ends_with('{');
        if !in_tests && !line.trim_start().starts_with("//") {
            code.push_str(line);
        }
        in_tests &= line != "}";
        code.push('\n');
        before = line;
    }
    code
}

/// Returns the error type of a `Result` if it is a sentence; `rest` begins behind its `<`.
fn sentence_in(rest: &str) -> Option<&'static str> {
    let (mut depth, mut second, mut before) = (0_usize, None, ' ');
    for (at, letter) in rest.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function closes nothing.
            '>' if before == '-' => {}
            '>' if depth == 0 => {
                // What has one type only brings its own error, as `io::Result` does.
                let error = rest[second?..at].trim().trim_end_matches(',').trim_end();
                return SENTENCES.iter().copied().find(|sentence| *sentence == error);
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            // A comma behind the last type stands before the end.
            ',' if depth == 0 && !rest[at + 1..].trim_start().starts_with('>') => second = Some(at + 1),
            _ => {}
        }
        before = letter;
    }
    None
}

/// Returns whether what begins with this text can be seen from another crate.
fn is_handed_out(before: &str) -> bool {
    let head = before.rsplit([';', '{', '}']).next().unwrap_or_default();
    let is_function = head.split_whitespace().any(|word| word == "fn");
    // Of several fields only the last one is meant.
    let own = if is_function { head } else { after_last_comma(head) };
    let mut words = own.split_whitespace();
    let is_alias = !is_function && own.split_whitespace().any(|word| word == "type");
    is_alias
        || words.any(|word| word == "pub")
        || is_inside(before, "pub enum ")
        || is_function && is_inside(before, "pub trait ")
}

/// Returns whether the text ends inside an item of this kind.
fn is_inside(before: &str, kind: &str) -> bool {
    let outer = before.lines().rev().find(|line| line.starts_with(kind) || line.starts_with('}'));
    outer.is_some_and(|line| line.starts_with(kind))
}

fn after_last_comma(fields: &str) -> &str {
    let (mut depth, mut last) = (0_usize, 0);
    for (at, letter) in fields.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => last = at + 1,
            _ => {}
        }
    }
    &fields[last..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_in(path: &str, text: &str) -> Vec<String> {
        check(&TextFile::new(path, text)).iter().map(Violation::to_string).collect()
    }

    fn found(text: &str) -> usize {
        lines_in("crates/baton-engine/src/id.rs", text).len()
    }

    #[test]
    fn public_function_that_returns_a_sentence_is_reported_where_it_does() {
        let text = "//! Ids.\n\n/// Reads.\npub fn parse(text: &str) -> Result<Id, String> {\n";
        let expected = "crates/baton-engine/src/id.rs:4: \
                        `Result<_, String>` crosses a crate boundary; return an enum that tells why";
        assert_eq!(lines_in("crates/baton-engine/src/id.rs", text), [expected]);
        let several = "impl Id {\n    pub async fn parse(\n        text: &str,\n    ) -> Result<\n        Map<String, Id>,\n        String,\n    > {\n";
        assert_eq!(found(several), 1);
        assert_eq!(found("pub fn find(&self) -> Option<Result<Arc<Id>, String>>;\n"), 1);
        assert_eq!(found("pub const fn find() -> Result<(), &'static str> {\n"), 1);
        assert_eq!(found("pub fn with(read: impl Fn(&str) -> Result<(), String>) {\n"), 1);
    }

    #[test]
    fn methods_of_public_traits_fields_variants_aliases_and_conversions_are_reported() {
        assert_eq!(found("pub trait Team {\n    fn folder(&self) -> Result<(), String>;\n}\n"), 1);
        assert_eq!(
            found("pub struct Next {\n    route: Route,\n    pub prompt: Option<Result<Prompt, String>>,\n}\n"),
            1
        );
        assert_eq!(found("pub enum Heard {\n    Checks(Result<Map<String, u8>, String>),\n}\n"), 1);
        assert_eq!(found("type Outcome<T> = Result<T, String>;\n"), 1);
        assert_eq!(found("impl TryFrom<String> for Id {\n    type Error = String;\n"), 1);
    }

    #[test]
    fn what_stays_within_the_crate_may_be_a_sentence() {
        assert_eq!(found("pub(crate) fn parse(text: &str) -> Result<Id, String> {\n"), 0);
        assert_eq!(found("fn parse(text: &str) -> Result<Id, String> {\n"), 0);
        assert_eq!(found("pub struct Heard {\n    pub id: Id,\n    said: Result<Id, String>,\n}\n"), 0);
        assert_eq!(found("enum Heard {\n    Checks(Result<String, String>),\n}\n"), 0);
        assert_eq!(found("pub fn go() {\n    let found: Result<Id, String> = find();\n"), 0);
        assert_eq!(found("pub trait Team {\n    fn go();\n}\n\nfn go() -> Result<(), String> {\n"), 0);
    }

    #[test]
    fn other_errors_and_texts_that_succeed_pass() {
        assert_eq!(found("pub fn render(text: &str) -> Result<String, TextFault> {\n"), 0);
        assert_eq!(found("pub fn render(text: &str) -> Result<Map<String, String>, TextFault> {\n"), 0);
        assert_eq!(found("pub fn send(&self) -> io::Result<String> {\n"), 0);
        assert_eq!(found("pub fn reads() -> Result<fn(&str) -> String, TextFault> {\n"), 0);
    }

    #[test]
    fn comments_tests_and_programs_are_left_alone() {
        let function = "pub fn parse(text: &str) -> Result<Id, String> {\n";
        assert_eq!(found(&format!("// {function}")), 0);
        assert_eq!(found(&format!("#[cfg(test)]\nmod tests {{\n    {function}    }}\n}}\n")), 0);
        assert_eq!(found(&format!("#[cfg(test)]\nmod tests {{\n}}\n{function}")), 1);
        assert!(lines_in("crates/baton-engine/src/ssh/tests.rs", function).is_empty());
        assert!(lines_in("crates/baton-engine/tests/flow.rs", function).is_empty());
        assert!(lines_in("crates/baton/src/moment.rs", function).is_empty());
        assert!(lines_in("xtask/src/process.rs", function).is_empty());
    }
}
