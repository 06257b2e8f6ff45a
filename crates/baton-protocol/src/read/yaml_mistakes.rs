//! Explains what is wrong with a text that is not YAML, in the words of somebody who writes it and not of its parser.

use granit_parser::ErrorKind;

use super::json::character_at;
use super::{TOO_DEEP, TOO_MUCH_HELP, Trouble};
use crate::diagnostic::excerpt;

/// Explains why the parser stopped at a place.
pub(super) fn explain(text: &str, at: usize, kind: &ErrorKind, info: &str) -> Trouble {
    let here = Spot::new(text, at);
    let known = here.slip().or_else(|| match kind {
        ErrorKind::RecursionLimitExceeded => Some(Trouble::new(TOO_DEEP, character_at(text, at)).help(TOO_MUCH_HELP)),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => here.tab(),
        ErrorKind::UnexpectedCharacter { character } => Some(
            Trouble::new(format!("a text cannot begin with `{character}`"), character_at(text, at))
                .help(format!("quote it: {}", here.quoted_rest())),
        ),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => Some(
            Trouble::new(format!("`{open}` is closed by `{close}`"), character_at(text, at))
                .help(format!("close it with `{}`", closing(*open))),
        ),
        ErrorKind::UnclosedFlowCollection { open } => Some(
            Trouble::new(format!("`{open}` is never closed"), character_at(text, at))
                .help(format!("close it with `{}`", closing(*open))),
        ),
        ErrorKind::UnclosedQuotedScalar => {
            let quote = text[at..].chars().next().unwrap_or('"');
            Some(
                Trouble::new("this quote is never closed", character_at(text, at))
                    .help(format!("write `{quote}` where the text ends")),
            )
        }
        // What follows an open quote is taken for its text until a line is not indented enough.
        ErrorKind::InvalidQuotedScalarIndent => open_quote(text, at),
        ErrorKind::MappingValueNotAllowed => here.colon_in_text().or_else(|| here.indentation()),
        ErrorKind::SimpleKeyExpected => here.tab().or_else(|| here.no_space()).or_else(|| here.no_colon()),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            here.inner_quote()
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::BlockSequenceEntryNotAllowed => here.indentation().or_else(|| here.half_a_list()),
        _ => None,
    });
    known.or_else(|| here.braces()).unwrap_or_else(|| {
        Trouble::new(format!("this is not valid YAML: {info}"), character_at(text, at))
            .help("quote text that contains `: `, ` #`, braces or brackets, or write it as JSON")
    })
}

/// Explains a value that begins with the braces of a template: YAML takes them for an object whose key is an object.
pub(super) fn braces_as_key(text: &str, at: usize) -> Option<Trouble> {
    let begin = text[..at].strip_suffix('{').map(str::len).or_else(|| text[at..].starts_with("{{").then_some(at))?;
    text[begin..].starts_with("{{").then(|| {
        let spot = Spot::new(text, begin);
        Trouble::new("a value that begins with `{{` must be quoted", begin..begin + 2)
            .help(format!("write {}", spot.quoted_rest()))
    })
}

/// Explains a quote that was opened before a place and not closed.
fn open_quote(text: &str, at: usize) -> Option<Trouble> {
    let begins = |(quote, _): &(usize, &str)| text[..*quote].ends_with([' ', '[', '{', ',', '\n']);
    let (begin, quote) = text[..at].rmatch_indices(['"', '\'']).find(begins)?;
    Some(
        Trouble::new("this quote is never closed", character_at(text, begin))
            .help(format!("write `{quote}` where the text ends; indent the lines that it continues in")),
    )
}

/// Returns how to write a text that begins with a `!`, which YAML takes for a tag.
pub(super) fn not_a_tag(text: &str, at: usize) -> Option<String> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let begin = start + text[start..at].rfind('!')?;
    let is_local = !text[..begin].ends_with('!') && !text[begin + 1..].starts_with(['<', '!']);
    is_local.then(|| format!("a text that begins with `!` is quoted: {}", Spot::new(text, begin).quoted_rest()))
}

/// A place in a text, with the line that it is in.
struct Spot<'t> {
    text: &'t str,
    at: usize,
    /// Where the line begins.
    start: usize,
    /// The line, without its end.
    line: &'t str,
}

impl<'t> Spot<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        Spot { text, at, start, line }
    }

    /// Returns the rest of the line as a quoted text.
    fn quoted_rest(&self) -> String {
        let rest = self.line[self.at - self.start..].trim();
        // Inside of braces and brackets the text ends before what follows it.
        let rest = rest.split(" #").next().unwrap_or(rest).trim_end();
        let before = &self.line[..self.at - self.start];
        let is_inside = before.matches(['{', '[']).count() > before.matches(['}', ']']).count();
        let rest = if is_inside { until_brace(rest) } else { rest };
        if rest.contains('"') { format!("`'{}'`", rest.replace('\'', "''")) } else { format!("`\"{rest}\"`") }
    }

    /// Explains a slip of the pen in this line or in the one before it, which the parser often takes for a text.
    fn slip(&self) -> Option<Trouble> {
        let before = self.text[..self.start].trim_end();
        let above = (!before.is_empty()).then(|| Spot::new(self.text, before.len()));
        self.own_slip().or_else(|| above?.own_slip())
    }

    fn own_slip(&self) -> Option<Trouble> {
        if self.is_in_block_text() {
            return None;
        }
        let written = self.line.trim();
        let begin = self.start + indentation(self.line);
        let first = written.chars().next()?;
        let span = begin..begin + first.len_utf8();
        let (key, value) = written.split_at(written.find([' ', '=', ':']).unwrap_or(written.len()));
        if written.starts_with("```") {
            return Some(
                Trouble::new("this line begins a block of Markdown", begin..begin + 3)
                    .help("remove the lines that begin with three backticks"),
            );
        }
        if matches!(first, '–' | '—') {
            return Some(
                Trouble::new(format!("`{first}` is a dash, not a hyphen"), span).help("begin an item with `- `"),
            );
        }
        if let Some(name) = key.strip_prefix('-')
            && is_name(name)
            && value.starts_with(':')
        {
            return Some(
                Trouble::new("a space is missing after the hyphen", span).help(format!("write `- {}`", &written[1..])),
            );
        }
        let item = written.trim_start_matches("- ");
        let (name, value) = item.split_once('=')?;
        let equals = self.start + self.line.find('=')?;
        (is_name(name.trim()) && !value.starts_with('=')).then(|| {
            Trouble::new("a name is followed by `:`, not by `=`", equals..equals + 1).help(format!(
                "write `{}: {}`",
                name.trim(),
                value.trim()
            ))
        })
    }

    /// Returns whether the line belongs to a text that a `|` or `>` has begun.
    fn is_in_block_text(&self) -> bool {
        let own = indentation(self.line);
        let is_around = |line: &&str| !line.trim().is_empty() && indentation(line) < own;
        let around = self.text[..self.start].lines().rev().find(is_around).unwrap_or_default();
        around.trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>'])
    }

    /// Explains a quote inside of a text in the same quotes.
    fn inner_quote(&self) -> Option<Trouble> {
        let quote = self.text[..self.at].chars().next_back().filter(|quote| matches!(quote, '\'' | '"'))?;
        let (before, _) = self.line.split_at(self.at - self.start);
        let begin = before.find(quote)?;
        let whole = self.line[begin..].trim_end();
        let inner = whole.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.is_empty());
        let help = match (inner, quote) {
            (Some(inner), '\'') if !inner.contains(['"', '\\']) => format!("write `\"{inner}\"`"),
            (Some(inner), '"') if !inner.contains('\'') => format!("write `'{inner}'`"),
            (_, '\'') => "write `''` for one quote inside of the text".to_owned(),
            (_, _) => "write `\\\"` for a quote inside of the text".to_owned(),
        };
        let message = format!("the text ends at the second `{quote}`, and more follows");
        Some(Trouble::new(message, self.at - 1..self.at).help(help))
    }

    /// Explains a line that begins with a hyphen beside lines that do not, or the other way round.
    fn half_a_list(&self) -> Option<Trouble> {
        let own = indentation(self.line);
        let is_item = |line: &str| line.trim_start().starts_with("- ");
        let above = self.text[..self.start].lines().rev();
        let mut above = above.filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).peekable();
        let last = *above.peek()?;
        let beside = above.take_while(|line| indentation(line) >= own).find(|line| indentation(line) == own)?;
        let begin = self.start + own;
        let first = begin..begin + self.text[begin..].chars().next().map_or(0, char::len_utf8);
        match (is_item(self.line), is_item(beside)) {
            (false, true) => {
                let inner = spaces(indentation(last) + if is_item(last) { 2 } else { 0 });
                let message = "the lines above it at this indentation begin with `- `, and this one does not";
                let help = format!("begin it with `- `; or indent it by {inner}, if it belongs to the item above");
                Some(Trouble::new(message, first).help(help))
            }
            (true, false) => {
                let message = "this line begins with `- `, and the lines above it at this indentation do not";
                Some(Trouble::new(message, first).help("begin all of them with `- `, or none"))
            }
            _ => None,
        }
    }

    /// Explains a tab in the indentation of this line or the next one with something in it.
    fn tab(&self) -> Option<Trouble> {
        let mut start = self.start;
        for line in self.text[self.start..].split_inclusive('\n').take(2) {
            let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line[..indentation].find('\t') {
                let span = start + tab..start + tab + 1;
                return Some(
                    Trouble::new("this line is indented with a tab", span)
                        .help("indent with spaces; YAML takes no tabs"),
                );
            }
            start += line.len();
        }
        None
    }

    /// Explains a colon in the middle of a text that is not quoted.
    fn colon_in_text(&self) -> Option<Trouble> {
        let before = &self.line[..self.at - self.start];
        let (key, value) = before.split_once(": ")?;
        let written = format!("{}{}", value.trim_start(), &self.line[self.at - self.start..]);
        let written = written.trim_end();
        let quoted =
            if written.contains('"') { format!("'{}'", written.replace('\'', "''")) } else { format!("\"{written}\"") };
        let key = key.trim_start_matches([' ', '-']);
        Some(
            Trouble::new("a text with `: ` in it must be quoted", character_at(self.text, self.at))
                .help(format!("write `{key}: {quoted}`")),
        )
    }

    /// Explains a key whose colon has no space behind it.
    fn no_space(&self) -> Option<Trouble> {
        let line = self.line.trim_start_matches([' ', '-']);
        let (key, value) = line.split_once(':')?;
        (is_name(key) && !value.is_empty() && !value.starts_with(' ')).then(|| {
            let colon = self.start + (self.line.len() - line.len()) + key.len();
            Trouble::new("a space is missing after the colon", colon..colon + 1)
                .help(format!("write `{key}: {}`", value.trim()))
        })
    }

    /// Explains a line that is neither a key nor an item.
    fn no_colon(&self) -> Option<Trouble> {
        let word = self.line.trim();
        (!word.is_empty() && !word.contains(':')).then(|| {
            let begin = self.start + self.line.len() - self.line.trim_start().len();
            Trouble::new(format!("`{}` has no colon after it", excerpt(word)), begin..begin + word.len())
                .help("write a name, a colon and a value: `name: value`; or indent it, if it belongs to the text above")
        })
    }

    /// Explains a line that is indented differently from its neighbours.
    fn indentation(&self) -> Option<Trouble> {
        let own = indentation(self.line);
        let is_item = self.line.trim_start().starts_with("- ");
        let above =
            self.text[..self.start].lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
        // The keys of an item stand behind its dash.
        let level = |line: &str| match (is_item, line.trim_start().starts_with("- ")) {
            (true, false) => None,
            (false, true) => Some(indentation(line) + 2),
            _ => Some(indentation(line)),
        };
        let levels: Vec<usize> = above.filter_map(level).collect();
        let near = levels.into_iter().rev().min_by_key(|level| level.abs_diff(own))?;
        let begin = self.start + own;
        let first = self.text[begin..].chars().next().map_or(0, char::len_utf8);
        (near != own).then(|| {
            let message = format!("this line is indented by {}, its neighbours by {near}", spaces(own));
            Trouble::new(message, begin..begin + first).help(format!("indent it by {}", spaces(near)))
        })
    }

    /// Explains the braces of a template in a text that is not quoted.
    fn braces(&self) -> Option<Trouble> {
        let begin = self.line.find("{{").or_else(|| self.line.find("{%"))?;
        let is_quoted = self.line[..begin].matches(['"', '\'']).count() % 2 == 1;
        (!is_quoted).then(|| {
            let begin = self.start + begin;
            Trouble::new("a text with braces in it must be quoted", begin..begin + 2)
                .help("write the text in quotes, such as `\"Write {{ inputs.feature }}\"`")
        })
    }
}

/// Returns what stands before the brace, bracket or comma that ends a value inside of braces.
fn until_brace(text: &str) -> &str {
    let mut depth = 0_usize;
    let ends = |(_, letter): &(usize, char)| match letter {
        '{' | '[' => {
            depth += 1;
            false
        }
        '}' | ']' if depth > 0 => {
            depth -= 1;
            false
        }
        '}' | ']' | ',' => depth == 0,
        _ => false,
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(end, _)| end);
    text[..end].trim_end()
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn spaces(count: usize) -> String {
    if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") }
}

fn closing(open: char) -> char {
    if open == '[' { ']' } else { '}' }
}
