//! Counts the tokens of prompts. Most lines of a prompt are the same each time, so what a line counts is remembered.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use baton_protocol::tokens;

/// How many lines are remembered; the built-in templates have a few hundred.
const LINES_MAX: usize = 4_096;

/// The longest line that is remembered.
const LINE_BYTES_MAX: usize = 1_024;

static KNOWN: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);

/// Counts the tokens of a text, as [`tokens::count`] does.
pub(super) fn count(text: &str) -> usize {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    lines(text).map(|line| count_line(line, &mut known)).sum()
}

fn count_line(line: &str, known: &mut HashMap<String, usize>) -> usize {
    if let Some(count) = known.get(line) {
        return *count;
    }
    let count = tokens::count(line);
    if line.len() <= LINE_BYTES_MAX {
        if known.len() >= LINES_MAX {
            known.clear();
        }
        known.insert(line.to_owned(), count);
    }
    count
}

/// Splits a text where no token can reach over: behind a line break, unless another one follows behind spaces, or `/`
/// follows at once. Those belong to the token with the line break.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let breaks = rest.match_indices('\n').map(|(at, _)| at + 1);
        let ends = |end: &usize| {
            let behind = &rest[*end..];
            let next = behind.chars().find(|next| matches!(next, '\r' | '\n') || !next.is_whitespace());
            next.is_some_and(|next| !matches!(next, '\r' | '\n')) && !behind.starts_with('/')
        };
        let end = breaks.into_iter().find(ends).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_together_count_what_the_text_counts(text in "([a-z.,:;/'’ \t\r\nÄ日1!-]|\n\n|\n/|\r\n){0,200}") {
            prop_assert_eq!(count(&text), tokens::count(&text));
        }

        #[test]
        fn so_do_arbitrary_texts(text in any::<String>(), behind in any::<String>()) {
            let text = format!("{text}\n{behind}\n{text}");
            prop_assert_eq!(count(&text), tokens::count(&text));
        }
    }
}
