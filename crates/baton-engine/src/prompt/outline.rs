//! Built-in pages without what stands in their blanks. A template is rendered, and its tokens are counted, once for each
//! shape of a page; after that only the blanks are filled in and counted, which costs a small part of it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use baton_protocol::tokens;
use minijinja::value::Serde;
use minijinja::{Environment, Error};

use super::measure;
use super::view::View;

/// How many outlines are remembered. A workflow has a few for each phase; an outline has some kilobytes.
const OUTLINES_MAX: usize = 512;

/// Marks of a blank, around its number. No built-in template has them.
const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

/// The template, and a view of which only the shape counts.
type Shape = (&'static str, View);

static KNOWN: LazyLock<Mutex<HashMap<Shape, Arc<Outline>>>> = LazyLock::new(Mutex::default);

/// A page that was printed.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) text: String,
    /// How many tokens those parts of the text have that were counted before.
    known_tokens: usize,
    /// The parts that must be counted.
    unknown: Vec<Range<usize>>,
}

impl Printed {
    /// Takes a text of which nothing was counted.
    pub(super) fn of(text: String) -> Printed {
        Printed { known_tokens: 0, unknown: std::iter::once(0..text.len()).collect(), text }
    }

    /// Counts the tokens of the page.
    pub(super) fn tokens(&self) -> usize {
        self.known_tokens + self.unknown.iter().map(|part| measure::count(&self.text[part.clone()])).sum::<usize>()
    }
}

/// A page whose blanks are empty.
#[derive(Debug)]
struct Outline {
    /// What stands before each blank, and which one that is.
    parts: Vec<(Fixed, usize)>,
    /// What stands behind the last blank.
    rest: Fixed,
}

/// A text between two blanks, and how many tokens its inner part has. Its ends may share tokens with what fills the blanks.
#[derive(Debug)]
struct Fixed {
    text: String,
    inner: Option<(Range<usize>, usize)>,
}

/// Renders a built-in template.
pub(super) fn render(environment: &Environment<'_>, template: &'static str, view: View) -> Result<Printed, Error> {
    let mut shape = (template, view);
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&shape).cloned();
    let outline = match known {
        Some(outline) => outline,
        None => remember(environment, shape.clone())?,
    };
    Ok(outline.filled(&mut shape.1))
}

/// Renders a page with a mark in each blank, and remembers what stands between the marks.
fn remember(environment: &Environment<'_>, mut shape: Shape) -> Result<Arc<Outline>, Error> {
    let [begin, end] = MARKS;
    for (number, blank) in shape.1.blanks().into_iter().enumerate().filter(|(_, blank)| !blank.is_empty()) {
        blank.0 = format!("{begin}{number}{end}");
    }
    let marked = environment.get_template(shape.0)?.render(Serde(&shape.1))?;
    // Every built-in template ends with words of its own, so that nothing in a blank can be at the end.
    let outline = Arc::new(Outline::of(&ended(marked)));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= OUTLINES_MAX {
        known.clear();
    }
    known.insert(shape, Arc::clone(&outline));
    Ok(outline)
}

/// Ends a page with one line break.
pub(super) fn ended(mut page: String) -> String {
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

impl Outline {
    fn of(marked: &str) -> Outline {
        let [begin, end] = MARKS;
        let (mut parts, mut rest) = (Vec::new(), marked);
        while let Some((before, behind)) = rest.split_once(begin) {
            let (number, behind) = behind.split_once(end).unwrap_or((behind, ""));
            parts.push((Fixed::of(before), number.parse().unwrap_or_default()));
            rest = behind;
        }
        Outline { parts, rest: Fixed::of(rest) }
    }

    fn filled(&self, view: &mut View) -> Printed {
        let blanks = view.blanks();
        let text = |blank: &usize| blanks.get(*blank).map_or("", |blank| blank.0.as_str());
        let bytes: usize = self.parts.iter().map(|(before, blank)| before.text.len() + text(blank).len()).sum();
        let mut page = String::with_capacity(bytes + self.rest.text.len());
        let (mut known_tokens, mut unknown, mut from) = (0, Vec::with_capacity(self.parts.len() + 1), 0);
        let mut add = |page: &mut String, fixed: &Fixed| {
            if let Some((inner, tokens)) = &fixed.inner {
                unknown.push(from..page.len() + inner.start);
                from = page.len() + inner.end;
                known_tokens += tokens;
            }
            page.push_str(&fixed.text);
        };
        for (before, blank) in &self.parts {
            add(&mut page, before);
            page.push_str(text(blank));
        }
        add(&mut page, &self.rest);
        unknown.push(from..page.len());
        Printed { text: page, known_tokens, unknown }
    }
}

impl Fixed {
    fn of(text: &str) -> Fixed {
        // A word takes the space before it along, and nothing else in front of it.
        let bytes = text.as_bytes();
        let splits = |at: &usize| matches!(bytes[*at..], [before, b' ', after, ..] if before.is_ascii_alphabetic() && after.is_ascii_alphabetic());
        let inner = (0..bytes.len()).find(splits).map(|first| {
            let last = (first..bytes.len()).rev().find(splits).unwrap_or(first);
            (first + 1..last + 1, tokens::count(&text[first + 1..last + 1]))
        });
        Fixed { text: text.to_owned(), inner }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn page_counts_what_its_text_counts(parts in prop::collection::vec("[a-zA-Z .,`'/\n1Ä-]{0,40}", 1..6), rest in "[a-z ./\n]{0,40}") {
            let fixed = |text: &String| Fixed::of(text);
            let outline = Outline {
                parts: parts.iter().enumerate().map(|(at, text)| (fixed(text), at % 3)).collect(),
                rest: fixed(&rest),
            };
            let mut view = View::default();
            for (blank, text) in view.blanks().into_iter().zip(&parts) {
                blank.0.clone_from(text);
            }
            let printed = outline.filled(&mut view);
            prop_assert_eq!(printed.tokens(), tokens::count(&printed.text));
        }
    }
}
