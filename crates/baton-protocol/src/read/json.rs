//! Parses JSON. `serde_json` judges what is valid; this adds the limits and refuses duplicate keys.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::error::Category;

use super::{DEPTH_MAX, Names, TOO_DEEP, TOO_MUCH_HELP, TWICE_HELP, Trouble, VALUES_MAX, twice};
use crate::tree::Node;

/// Parses one JSON document.
pub fn parse(text: &str) -> Result<Node<'_>, Trouble> {
    let watch = Watch::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let node = Strict { watch: &watch, depth: 0 }
        .deserialize(&mut deserializer)
        .map_err(|error| explain(&error, text, &watch))?;
    deserializer.end().map_err(|error| after_end(&error, text))?;
    match watch.huge_number.get().then(|| super::locate::lossy_integer(text)).flatten() {
        Some(span) => Err(Trouble::new(format!("the integer {} does not fit in 64 bits", &text[span.clone()]), span)
            .help("quote it, so that no digit is lost")),
        None => Ok(node),
    }
}

/// What has been seen so far, shared by all levels.
#[derive(Default)]
struct Watch {
    values: Cell<usize>,
    huge_number: Cell<bool>,
    duplicate: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Strict<'w> {
    watch: &'w Watch,
    depth: usize,
}

impl Strict<'_> {
    fn count<E: de::Error>(self) -> Result<(), E> {
        let values = self.watch.values.get() + 1;
        self.watch.values.set(values);
        if values > VALUES_MAX {
            return Err(E::custom(format!("more than {VALUES_MAX} values in one document")));
        }
        Ok(())
    }

    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(TOO_DEEP));
        }
        Ok(Strict { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node<'de>, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node<'de>, E> {
        // An integer too large for 64 bits arrives here already rounded.
        if value.abs() >= 9.0e18 {
            self.watch.huge_number.set(true);
        }
        Number::from_f64(value).map(Node::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node<'de>, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Node<'de>, A::Error> {
        let inner = self.deeper()?;
        let mut members: Vec<(Cow<'de, str>, Node<'de>)> = Vec::new();
        let mut names = Names::default();
        while let Some(Key(key)) = object.next_key()? {
            if names.repeats(&key, &members) {
                self.watch.duplicate.set(true);
                return Err(de::Error::custom(twice(&key)));
            }
            let value = object.next_value_seed(inner)?;
            members.push((key, value));
        }
        Ok(Node::Object(members))
    }
}

/// A member name, borrowed from the text where it has no escapes.
struct Key<'t>(Cow<'t, str>);

impl<'de> de::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Turns serde_json's error into one sentence with a byte range.
fn explain(error: &serde_json::Error, text: &str, watch: &Watch) -> Trouble {
    let at = offset(error, text);
    if error.classify() == Category::Eof {
        return Trouble::new("the JSON ends in the middle: it was cut off", at..at)
            .help("ask the agent for its whole output; a half handoff is not read");
    }
    let message = bare_message(error);
    if error.classify() == Category::Syntax {
        return Trouble::new(format!("this is not valid JSON: {message}"), character_at(text, at))
            .help("ask the agent for valid JSON; nothing is taken from a text that cannot be read");
    }
    if watch.duplicate.get() {
        return Trouble::new(message, key_before(text, at)).help(TWICE_HELP);
    }
    Trouble::new(message, character_at(text, at)).help(TOO_MUCH_HELP)
}

/// Returns the range of the string that ends last before an offset: the key that was just read.
fn key_before(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_open = |quote: &usize| bytes[..*quote].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0;
    let close = memchr::memrchr(b'"', &bytes[..(at + 1).min(bytes.len())]).unwrap_or(0);
    let open = memchr::memrchr_iter(b'"', &bytes[..close]).find(is_open).unwrap_or(close);
    open..close + 1
}

/// Explains what follows a complete document.
fn after_end(error: &serde_json::Error, text: &str) -> Trouble {
    let at = offset(error, text);
    let trouble = Trouble::new("there is more text after the end of the JSON document", character_at(text, at));
    match text.as_bytes().get(at) {
        Some(b'{' | b'[') => Trouble {
            message: "the file has more than one JSON document".to_owned(),
            ..trouble.help("write one handoff per file; none is chosen for you")
        },
        _ => trouble.help("remove everything after the closing bracket"),
    }
}

fn bare_message(error: &serde_json::Error) -> String {
    let full = error.to_string();
    match full.rsplit_once(" at line ") {
        Some((message, _)) => message.to_owned(),
        None => full,
    }
}

/// Returns the byte offset of an error; serde_json counts columns in bytes.
fn offset(error: &serde_json::Error, text: &str) -> usize {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 2).map_or(0, |at| at + 1),
    };
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    text.floor_char_boundary(offset)
}

/// Returns the range of a byte offset's character, for callers that only know where.
pub(super) fn character_at(text: &str, offset: usize) -> Range<usize> {
    let start = text.floor_char_boundary(offset.min(text.len()));
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(text: &str) -> Trouble {
        parse(text).expect_err("the text is bad")
    }

    #[test]
    fn keeps_order_and_borrows_text() {
        let node = parse(r#"{"b": [1, 2.5, null], "a": "x"}"#).expect("valid");
        let Node::Object(members) = node else { panic!("an object") };
        assert_eq!(members[0].0, "b");
        assert!(matches!(members[1].1, Node::Text(Cow::Borrowed("x"))));
    }

    #[test]
    fn duplicate_keys_are_refused_at_the_second_one() {
        let text = "{\n \"a\": 1,\n \"a\": 2}";
        let found = trouble(text);
        assert_eq!(&text[found.span], "\"a\"");
        let text = r#"{"\"é": 1, "\"é"  : 2}"#;
        assert_eq!(&text[trouble(text).span], r#""\"é""#);
        let large: String = (0..60).map(|n| format!("\"k{n}\": 1,\n")).collect();
        let text = format!("{{{large}\"k7\": 2, \"z\": 3}}");
        assert_eq!(trouble(&text).span.start, text.rfind("\"k7\"").expect("there"));
        let many: String = (0..100).map(|n| format!("\"k{}\": 1,", n % 99)).collect();
        assert!(trouble(&format!("{{{}}}", many.trim_end_matches(','))).message.contains("`k0`"));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        assert!(trouble(&nested(DEPTH_MAX + 1)).message.contains("64"));
        assert!(trouble(&nested(10_000)).message.contains("64"));
    }

    #[test]
    fn the_number_of_values_is_limited() {
        let text = format!("[{}0]", "0,".repeat(VALUES_MAX));
        assert!(trouble(&text).message.contains("100000"));
    }

    #[test]
    fn what_is_cut_off_or_doubled_says_so() {
        assert!(trouble(r#"{"status": "comp"#).message.contains("cut off"));
        assert!(trouble("{} {}").message.contains("more than one"));
        assert!(trouble("{} x").message.contains("after the end"));
    }

    #[test]
    fn lone_surrogates_and_lossy_integers_are_refused() {
        assert!(parse(r#"{"a": "\ud800"}"#).is_err());
        assert_eq!(trouble(r#"{"a": 123456789012345678901234567890}"#).span, 6..36);
        assert!(parse(r#"{"a": 1e300, "b": 18446744073709551615}"#).is_ok());
    }
}
