//! Finds the place of a JSON pointer in the source text.
//!
//! Only used when there is something to report: the text is walked over a second time. It is known to be valid by then.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, StrInput};

use super::{Block, Format, yaml};
use crate::diagnostic::Place;

/// Where a value and everything below it stand.
#[derive(Debug, Default)]
pub struct Spans {
    value: Reach,
    children: Children,
}

/// A range in a text of at most 8 MiB.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    start: u32,
    end: u32,
}

impl From<Range<usize>> for Reach {
    fn from(range: Range<usize>) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Reach { start: small(range.start), end: small(range.end) }
    }
}

impl Reach {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Debug, Default)]
enum Children {
    #[default]
    None,
    Items(Vec<Spans>),
    /// Name, place of the name, and the value; sorted by name.
    Members(Vec<(Box<str>, Reach, Spans)>),
}

impl Children {
    fn members(mut members: Vec<(Box<str>, Reach, Spans)>) -> Self {
        members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Children::Members(members)
    }
}

impl Spans {
    /// Indexes the text of a block.
    pub fn of(block: &Block<'_>) -> Spans {
        match block.format {
            Format::Json => of_json(&block.text),
            Format::Yaml | Format::Markdown => of_yaml(&block.text),
        }
    }

    /// Returns whether there is a value under a pointer.
    pub fn has(&self, pointer: &str) -> bool {
        pointer.split('/').skip(1).try_fold(self, |here, token| here.child(token).map(|(_, child)| child)).is_some()
    }

    fn child(&self, token: &str) -> Option<(Option<Reach>, &Spans)> {
        match &self.children {
            Children::None => None,
            Children::Items(items) => items.get(token.parse::<usize>().ok()?).map(|item| (None, item)),
            Children::Members(members) => {
                let token = if token.contains('~') {
                    Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
                } else {
                    Cow::Borrowed(token)
                };
                let index = members.binary_search_by(|(name, ..)| name.as_ref().cmp(token.as_ref())).ok()?;
                let (_, place, child) = members.get(index)?;
                Some((Some(*place), child))
            }
        }
    }

    /// Returns the range of a place in the block; of its nearest parent if it is not there.
    pub fn find(&self, place: &Place) -> Range<usize> {
        let mut here = self;
        let mut name = None;
        for token in place.pointer().split('/').skip(1) {
            match here.child(token) {
                Some((key, child)) => (here, name) = (child, key),
                // Something is missing below: point at what should hold it.
                None => return head(here.value),
            }
        }
        match (place, name) {
            (Place::Name(_), Some(name)) => name.range(),
            _ if matches!(here.children, Children::None) => here.value.range(),
            _ => head(here.value),
        }
    }
}

/// Points at the beginning of something that may span many lines.
fn head(span: Reach) -> Range<usize> {
    let span = span.range();
    span.start..(span.start + 1).min(span.end.max(span.start))
}

fn of_json(text: &str) -> Spans {
    Scanner { text, at: 0 }.value()
}

/// Walks over JSON that is known to be valid, and only looks for where things begin and end.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Spans {
        self.skip(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        let children = match self.peek() {
            Some(b'{') => self.members(),
            Some(b'[') => self.items(),
            Some(b'"') => {
                self.string();
                Children::None
            }
            _ => {
                self.skip(|byte| !matches!(byte, b',' | b']' | b'}') && !byte.is_ascii_whitespace());
                Children::None
            }
        };
        Spans { value: (start..self.at).into(), children }
    }

    fn members(&mut self) -> Children {
        let mut members = Vec::new();
        while self.next_inside() {
            let name_start = self.at;
            self.string();
            let written = name_start..self.at;
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            members.push((self.decode(&written), written.into(), self.value()));
        }
        Children::members(members)
    }

    fn items(&mut self) -> Children {
        let mut items = Vec::new();
        while self.next_inside() {
            items.push(self.value());
        }
        Children::Items(items)
    }

    /// Goes to the next member or item; over the closing bracket if there is none.
    fn next_inside(&mut self) -> bool {
        if matches!(self.peek(), Some(b'{' | b'[' | b',')) {
            self.at += 1;
        }
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
        match self.peek() {
            Some(b'}' | b']') => {
                self.at += 1;
                false
            }
            next => next.is_some(),
        }
    }

    /// Goes behind a string.
    fn string(&mut self) {
        self.at += 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.text.as_bytes()[self.at..]) {
            self.at += found + 1;
            match self.text.as_bytes()[self.at - 1] {
                b'"' => return,
                _ => self.at = (self.at + 1).min(self.text.len()),
            }
        }
        self.at = self.text.len();
    }

    /// Returns a member name without quotes and escapes.
    fn decode(&self, written: &Range<usize>) -> Box<str> {
        let quoted = self.text.get(written.clone()).unwrap_or_default();
        if quoted.contains('\\') {
            serde_json::from_str::<String>(quoted).unwrap_or_default().into()
        } else {
            quoted.trim_matches('"').into()
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !wanted(*byte)).unwrap_or(rest.len());
    }
}

/// Returns the first integer literal that 64 bits cannot hold.
pub(super) fn lossy_integer(text: &str) -> Option<Range<usize>> {
    fn search(text: &str, spans: &Spans) -> Option<Range<usize>> {
        let literal = text.get(spans.value.range()).unwrap_or_default();
        let integer = literal.len() >= 19 && literal.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if integer && literal.parse::<i64>().is_err() && literal.parse::<u64>().is_err() {
            return Some(spans.value.range());
        }
        match &spans.children {
            Children::None => None,
            Children::Items(items) => items.iter().find_map(|item| search(text, item)),
            Children::Members(members) => members.iter().find_map(|(_, _, child)| search(text, child)),
        }
    }
    search(text, &of_json(text))
}

fn of_yaml(text: &str) -> Spans {
    let mut events = yaml::events(text);
    while let Some(Ok((event, span))) = events.next() {
        if !matches!(event, Event::StreamStart | Event::DocumentStart(..)) {
            return yaml_value(&mut events, &event, span.byte_range().unwrap_or(0..0));
        }
    }
    Spans::default()
}

fn yaml_value<'t>(events: &mut Parser<'t, StrInput<'t>>, event: &Event<'t>, value: Range<usize>) -> Spans {
    let children = match event {
        Event::SequenceStart(..) => Children::Items(yaml_items(events)),
        Event::MappingStart(..) => Children::members(yaml_members(events)),
        _ => Children::None,
    };
    Spans { value: value.into(), children }
}

fn yaml_items<'t>(events: &mut Parser<'t, StrInput<'t>>) -> Vec<Spans> {
    let mut items = Vec::new();
    while let Some(Ok((event, span))) = events.next() {
        if event == Event::SequenceEnd {
            break;
        }
        items.push(yaml_value(events, &event, span.byte_range().unwrap_or(0..0)));
    }
    items
}

fn yaml_members<'t>(events: &mut Parser<'t, StrInput<'t>>) -> Vec<(Box<str>, Reach, Spans)> {
    let mut members = Vec::new();
    while let Some(Ok((Event::Scalar(name, ..), name_span))) = events.next() {
        let Some(Ok((event, span))) = events.next() else { break };
        let value = yaml_value(events, &event, span.byte_range().unwrap_or(0..0));
        members.push((name.into(), name_span.byte_range().unwrap_or(0..0).into(), value));
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(format: Format, text: &str, place: Place) -> &str {
        let span = Spans::of(&Block::whole(format, text, 0)).find(&place);
        &text[span]
    }

    #[test]
    fn json_values_and_names() {
        let text = r#"{"a": {"b/c": [10, "x"]}, "d": 1}"#;
        assert_eq!(found(Format::Json, text, Place::Value("/a/b~1c/1".into())), "\"x\"");
        assert_eq!(found(Format::Json, text, Place::Name("/d".into())), "\"d\"");
        assert_eq!(found(Format::Json, text, Place::Value("/a/missing/deeper".into())), "{");
        let text = r#"[ [], {} , [[1 , 2.5e3],{"\"x": null}], true]"#;
        assert_eq!(found(Format::Json, text, Place::Value("/2/0/1".into())), "2.5e3");
        assert_eq!(found(Format::Json, text, Place::Value("/2/1/\"x".into())), "null");
        assert_eq!(found(Format::Json, text, Place::Name("/2/1/\"x".into())), r#""\"x""#);
        assert_eq!(found(Format::Json, text, Place::Value("/3".into())), "true");
    }

    #[test]
    fn yaml_values_and_names() {
        let text = "handoff:\n  to:\n    agent: human\n  list:\n    - one\n    - {k: two}\n";
        assert_eq!(found(Format::Yaml, text, Place::Value("/handoff/to/agent".into())), "human");
        assert_eq!(found(Format::Yaml, text, Place::Value("/handoff/list/1/k".into())), "two");
        assert_eq!(found(Format::Yaml, text, Place::Name("/handoff/to".into())), "to");
    }
}
