//! Parses YAML from `granit-parser`'s events, in the way that JSON can carry.
//!
//! Scalars follow YAML 1.2's core schema, but only what JSON would also call a number is one. Duplicate and
//! non-text keys, merge keys, custom tags and several documents are refused; aliases are followed within a budget.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput, Tag};

use super::json::character_at;
use super::{
    BYTES_MAX, DEPTH_MAX, Names, TOO_DEEP, TOO_MUCH_HELP, TWICE_HELP, Trouble, VALUES_MAX, twice, yaml_mistakes,
};
use crate::diagnostic::excerpt;
use crate::tree::{Node, plain_number};

/// Parses one YAML document.
pub fn parse(text: &str) -> Result<Node<'_>, Trouble> {
    let mut builder = Builder { events: events(text), text, anchors: HashMap::new(), spent: Cost::default() };
    builder.document()
}

/// Returns where the comments of a text are; quoted text is not a comment.
pub(super) fn comment_spans(text: &str) -> Vec<Range<usize>> {
    Parser::new_from_str(text)
        .map_while(Result::ok)
        .filter(|(event, _)| matches!(event, Event::Comment(..)))
        .filter_map(|(_, span)| span.byte_range())
        .collect()
}

/// Starts the event parser with the settings used everywhere.
pub(super) fn events(text: &str) -> Parser<'_, StrInput<'_>> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = DEPTH_MAX + 2;
    options.block_nesting_limit = DEPTH_MAX + 2;
    Parser::new_from_str_with_options(text, options)
}

struct Builder<'t> {
    events: Parser<'t, StrInput<'t>>,
    text: &'t str,
    /// Each anchored value and what a copy of it costs.
    anchors: HashMap<usize, (Node<'t>, Cost)>,
    spent: Cost,
}

/// What a value takes: values and bytes of text.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    values: usize,
    bytes: usize,
}

impl<'t> Builder<'t> {
    fn document(&mut self) -> Result<Node<'t>, Trouble> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(document.unwrap_or(Node::Null)),
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => {
                    let at = start(&span);
                    let node = self.node(event, &span, 0)?;
                    match &document {
                        None => document = Some(node),
                        // A file may end in `---` with nothing behind it.
                        Some(_) if node == Node::Null => {}
                        Some(_) => {
                            return Err(Trouble::new(
                                "the file has more than one YAML document",
                                character_at(self.text, at),
                            )
                            .help("write one document per file; none is chosen for you"));
                        }
                    }
                }
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Trouble> {
        match self.events.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let at = error.marker().byte_offset().unwrap_or(0).min(self.text.len());
                Err(yaml_mistakes::explain(self.text, at, error.kind(), &error.info()))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Node<'t>, Trouble> {
        let before = self.spent;
        let bytes = if let Event::Scalar(text, ..) = &event { text.len() } else { 0 };
        self.spend(Cost { values: 1, bytes }, span)?;
        let (node, anchor) = match event {
            Event::Scalar(value, style, anchor, tag) => (self.scalar(value, style, tag.as_deref(), span)?, anchor),
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq", span)?;
                (self.list(span, depth)?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), "map", span)?;
                (self.object(span, depth)?, anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            _ => {
                let written = span.byte_range().map(|range| &self.text[range]).unwrap_or_default();
                let trouble = self.trouble("this alias has no anchor before it", span);
                return Err(trouble.help(format!("a text that begins with `*` is quoted: `\"{written}\"`")));
            }
        };
        if anchor != 0 {
            let cost = Cost { values: self.spent.values - before.values, bytes: self.spent.bytes - before.bytes };
            // Keeping it for aliases is a copy like any other.
            self.spend(cost, span)?;
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        Ok(node)
    }

    /// Gives a scalar its type: by its tag, or else by its text.
    fn scalar(
        &self,
        value: Cow<'t, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<Node<'t>, Trouble> {
        let core = tag.map(|tag| tag.core_suffix().ok_or_else(|| self.unknown_tag(tag, span))).transpose()?;
        let plain = style == ScalarStyle::Plain || core.is_some();
        if core != Some("str") && plain && is_lossy(&value) {
            let message = format!("the integer {} does not fit in 64 bits", excerpt(&value));
            return Err(self.trouble(&message, span).help("quote it, so that no digit is lost"));
        }
        let node = match core {
            None => return Ok(resolve(value, style)),
            Some("str") => return Ok(Node::Text(value)),
            Some(_) => resolve(value, ScalarStyle::Plain),
        };
        let fits = match node {
            Node::Null => core == Some("null"),
            Node::Bool(_) => core == Some("bool"),
            Node::Plain(_) => matches!(core, Some("int" | "float")),
            _ => false,
        };
        match (fits, tag) {
            (false, Some(tag)) => Err(self.unknown_tag(tag, span)),
            _ => Ok(node),
        }
    }

    /// Refuses tags of collections other than their own.
    fn check_tag(&self, tag: Option<&Tag>, own: &str, span: &Span) -> Result<(), Trouble> {
        match tag.filter(|tag| !tag.is_yaml_core_schema_tag(own)) {
            Some(tag) => Err(self.unknown_tag(tag, span)),
            None => Ok(()),
        }
    }

    fn list(&mut self, span: &Span, depth: usize) -> Result<Node<'t>, Trouble> {
        self.check_depth(depth, span)?;
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Node::List(items));
            }
            items.push(self.node(event, &span, depth + 1)?);
        }
    }

    fn object(&mut self, span: &Span, depth: usize) -> Result<Node<'t>, Trouble> {
        self.check_depth(depth, span)?;
        let mut members: Vec<(Cow<'t, str>, Node<'t>)> = Vec::new();
        let mut names = Names::default();
        loop {
            let (event, key_span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.key(event, &key_span)?;
            if names.repeats(&key, &members) {
                return Err(self.trouble(&twice(&key), &key_span).help(TWICE_HELP));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, &span, depth + 1)?;
            members.push((key, value));
        }
        Ok(Node::Object(members))
    }

    fn key(&self, event: Event<'t>, span: &Span) -> Result<Cow<'t, str>, Trouble> {
        let Event::Scalar(value, style, _, tag) = event else {
            let braces = yaml_mistakes::braces_as_key(self.text, start(span));
            return Err(braces.unwrap_or_else(|| self.trouble("a key must be text", span).help("quote the key")));
        };
        self.check_tag(tag.as_deref(), "str", span)?;
        if style == ScalarStyle::Plain && value == "<<" {
            return Err(self.trouble("merge keys (<<) are not read", span).help("write the merged fields out"));
        }
        match resolve(value, style) {
            Node::Text(key) => Ok(key),
            other => {
                Err(self.trouble(&format!("a key must be text, this is {}", other.kind()), span).help("quote the key"))
            }
        }
    }

    fn alias(&mut self, anchor: usize, span: &Span, depth: usize) -> Result<Node<'t>, Trouble> {
        let Some((node, cost)) = self.anchors.get(&anchor) else {
            let trouble = self.trouble("this alias is inside the value it refers to", span);
            return Err(trouble.help("write the value out"));
        };
        if depth + height(node) > DEPTH_MAX {
            return Err(self.trouble(TOO_DEEP, span).help(TOO_MUCH_HELP));
        }
        self.spend(*cost, span)?;
        Ok(self.anchors.get(&anchor).map_or(Node::Null, |(node, _)| node.clone()))
    }

    fn spend(&mut self, cost: Cost, span: &Span) -> Result<(), Trouble> {
        self.spent.values += cost.values;
        self.spent.bytes += cost.bytes;
        let message = match self.spent {
            Cost { values, .. } if values > VALUES_MAX => format!("more than {VALUES_MAX} values in one document"),
            Cost { bytes, .. } if bytes > 2 * BYTES_MAX => format!("more than {} bytes of text", 2 * BYTES_MAX),
            Cost { .. } => return Ok(()),
        };
        let trouble = self.trouble(&format!("{message}, anchors and aliases included"), span);
        Err(trouble.help("write fewer aliases of large values"))
    }

    fn check_depth(&self, depth: usize, span: &Span) -> Result<(), Trouble> {
        if depth < DEPTH_MAX { Ok(()) } else { Err(self.trouble(TOO_DEEP, span).help(TOO_MUCH_HELP)) }
    }

    fn unknown_tag(&self, tag: &Tag, span: &Span) -> Trouble {
        let message = format!("unexpected tag {}", excerpt(&tag.to_string()));
        let quoted = yaml_mistakes::not_a_tag(self.text, start(span));
        self.trouble(&message, span).help(quoted.unwrap_or_else(|| "remove the tag".to_owned()))
    }

    fn trouble(&self, message: &str, span: &Span) -> Trouble {
        let range = span.byte_range().unwrap_or(0..0);
        if range.is_empty() {
            Trouble::new(message, character_at(self.text, range.start))
        } else {
            Trouble::new(message, range)
        }
    }
}

fn start(span: &Span) -> usize {
    span.byte_range().map_or(0, |range| range.start)
}

/// Returns how deep the lists and objects of a value are nested.
fn height(node: &Node<'_>) -> usize {
    match node {
        Node::List(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Node::Object(members) => 1 + members.iter().map(|(_, node)| height(node)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns whether a scalar is an integer that would be rounded.
fn is_lossy(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let integer = digits.len() >= 19 && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    integer && value.parse::<i64>().is_err() && value.parse::<u64>().is_err()
}

/// Gives an untagged scalar its type.
fn resolve(value: Cow<'_, str>, style: ScalarStyle) -> Node<'_> {
    if style != ScalarStyle::Plain {
        return Node::Text(value);
    }
    match value.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" => Node::Bool(true),
        "false" | "False" | "FALSE" => Node::Bool(false),
        text if text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
            && plain_number(text).is_some() =>
        {
            Node::Plain(value)
        }
        _ => Node::Text(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        parse(text).expect("valid").into_json().to_string()
    }

    fn trouble(text: &str) -> Trouble {
        parse(text).expect_err("the text is bad")
    }

    #[test]
    fn scalars_are_what_json_would_call_them() {
        assert_eq!(
            json("{a: 1, b: 010, c: 1_000, d: no, e: ~, f: True, g: 1.50}"),
            r#"{"a":1,"b":"010","c":"1_000","d":"no","e":null,"f":true,"g":1.5}"#
        );
        assert_eq!(json("a: '1'\nb: !!str 2\n"), r#"{"a":"1","b":"2"}"#);
    }

    #[test]
    fn integers_are_never_rounded() {
        assert!(trouble("a: 123456789012345678901234567890\n").message.contains("64 bits"));
        assert_eq!(
            json("a: 18446744073709551615\nb: '123456789012345678901234567890'\n"),
            r#"{"a":18446744073709551615,"b":"123456789012345678901234567890"}"#
        );
    }

    #[test]
    fn keys_must_be_text_and_unique() {
        let text = "a: 1\nb: 2\na: 3\n";
        assert_eq!(trouble(text).span.start, 10);
        assert!(trouble("1: x\n").message.contains("must be text"));
        assert!(trouble("? [a]\n: x\n").message.contains("must be text"));
        assert!(trouble("x: &x {a: 1}\ny:\n  <<: *x\n").message.contains("merge"));
    }

    #[test]
    fn several_documents_are_refused_but_an_empty_last_one_is_not() {
        assert!(trouble("a: 1\n---\nb: 2\n").message.contains("more than one"));
        assert!(parse("---\na: 1\n---\n").is_ok());
    }

    #[test]
    fn aliases_are_followed_within_the_budget() {
        assert_eq!(json("a: &x [1]\nb: *x\n"), r#"{"a":[1],"b":[1]}"#);
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(trouble(&bomb).message.contains("aliases included"));
        assert!(trouble("a: *nowhere\n").message.contains("no anchor"));
        assert!(trouble("a: &x [*x]\n").message.contains("inside"));
    }

    #[test]
    fn nesting_and_tags_are_limited() {
        assert!(parse(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX))).is_ok());
        assert!(parse(&format!("{}{}", "[".repeat(DEPTH_MAX + 1), "]".repeat(DEPTH_MAX + 1))).is_err());
        for text in [
            "a: !secret x\n",
            "a: !secret [1]\n",
            "a: !secret {b: 1}\n",
            "!secret a: 1\n",
            "a: !!int x\n",
            "a: !!bool 1\n",
        ] {
            assert!(trouble(text).message.contains("tag"), "{text}");
        }
        assert_eq!(json("a: !!seq [!!int 1, !!float 1.5, !!null ~]\n"), r#"{"a":[1,1.5,null]}"#);
        let mut deep = format!("a0: &a0 {}1{}\n", "[".repeat(40), "]".repeat(40));
        deep.push_str(&format!("b: {}*a0{}\n", "[".repeat(40), "]".repeat(40)));
        assert!(trouble(&deep).message.contains("nested"));
    }
}
