//! Adds to a JSON text and takes away from it without touching the rest: not a space of what somebody wrote changes.
//!
//! Only for texts that were read as JSON before.

use std::ops::Range;

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// An object or a list in a text.
struct Container {
    /// Just behind the bracket that opens it.
    begin: usize,
    /// At the bracket that closes it.
    end: usize,
    /// Each member with its name, or each element.
    items: Vec<Item>,
}

struct Item {
    name: Option<String>,
    /// From the name, if there is one, to the end of the value.
    whole: Range<usize>,
    value: usize,
}

/// Adds a member to the object at a path.
pub(crate) fn add_member(text: &str, path: &[&str], name: &str, value: &Value) -> String {
    let unit = unit_of(text);
    let item = format!("{}: {}", Value::from(name), written(value, &unit, path.len() + 1));
    add(text, path, &item)
}

/// Adds an element to the list at a path.
pub(crate) fn add_element(text: &str, path: &[&str], value: &Value) -> String {
    let unit = unit_of(text);
    add(text, path, &written(value, &unit, path.len() + 1))
}

/// Removes the member of this name from the object at a path.
pub(crate) fn remove_member(text: &str, path: &[&str], name: &str) -> String {
    remove(text, path, |_, item| item.name.as_deref() == Some(name))
}

/// Removes an element from the list at a path.
pub(crate) fn remove_element(text: &str, path: &[&str], index: usize) -> String {
    remove(text, path, |number, _| number == index)
}

/// Returns a name that the object at a path has more than once.
pub(crate) fn repeated_name(text: &str, path: &[&str]) -> Option<String> {
    let names: Vec<String> = at(text, path)?.items.into_iter().filter_map(|item| item.name).collect();
    (1..names.len()).find(|index| names[..*index].contains(&names[*index])).map(|index| names[index].clone())
}

fn add(text: &str, path: &[&str], item: &str) -> String {
    let Some(container) = at(text, path) else { return text.to_owned() };
    let unit = unit_of(text);
    let (inner, outer) = (unit.repeat(path.len() + 1), unit.repeat(path.len()));
    match container.items.last() {
        Some(last) => format!("{},\n{inner}{item}{}", &text[..last.whole.end], &text[last.whole.end..]),
        None => format!("{}\n{inner}{item}\n{outer}{}", &text[..container.begin], &text[container.end..]),
    }
}

fn remove(text: &str, path: &[&str], is_meant: impl Fn(usize, &Item) -> bool) -> String {
    let Some(Container { begin, end, items }) = at(text, path) else { return text.to_owned() };
    let Some(index) = items.iter().enumerate().position(|(number, item)| is_meant(number, item)) else {
        return text.to_owned();
    };
    let gone = match (index, items.get(index + 1)) {
        (0, None) => begin..end,
        (0, Some(next)) => items[0].whole.start..next.whole.start,
        (index, _) => items[index - 1].whole.end..items[index].whole.end,
    };
    format!("{}{}", &text[..gone.start], &text[gone.end..])
}

/// Finds the object or list at a path; a number means an element.
fn at(text: &str, path: &[&str]) -> Option<Container> {
    let mut found = container(text, skip_space(text.as_bytes(), 0))?;
    for step in path {
        let index = step.parse::<usize>().ok();
        let mut items = found.items.iter().enumerate();
        let (_, item) = items.find(|(number, item)| match &item.name {
            Some(name) => name == step,
            None => Some(*number) == index,
        })?;
        found = container(text, item.value)?;
    }
    Some(found)
}

fn container(text: &str, open: usize) -> Option<Container> {
    let bytes = text.as_bytes();
    let is_object = match bytes.get(open)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let (mut place, mut items) = (skip_space(bytes, open + 1), Vec::new());
    while !matches!(bytes.get(place)?, b'}' | b']') {
        let start = place;
        let mut name = None;
        if is_object {
            let end = skip_value(bytes, place)?;
            name = serde_json::from_str(&text[place..end]).ok();
            place = skip_space(bytes, skip_space(bytes, end) + 1);
        }
        let end = skip_value(bytes, place)?;
        items.push(Item { name, whole: start..end, value: place });
        place = skip_space(bytes, end);
        if bytes.get(place)? == &b',' {
            place = skip_space(bytes, place + 1);
        }
    }
    Some(Container { begin: open + 1, end: place, items })
}

fn skip_space(bytes: &[u8], mut place: usize) -> usize {
    while bytes.get(place).is_some_and(u8::is_ascii_whitespace) {
        place += 1;
    }
    place
}

/// Returns where a value ends.
fn skip_value(bytes: &[u8], mut place: usize) -> Option<usize> {
    let (mut depth, mut in_text) = (0_usize, false);
    loop {
        let byte = *bytes.get(place)?;
        place += 1;
        match byte {
            b'\\' if in_text => place += 1,
            b'"' => {
                in_text = !in_text;
                if !in_text && depth == 0 {
                    return Some(place);
                }
            }
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ if depth > 0 => {}
            // A number or a word ends before what cannot be part of it.
            _ if bytes.get(place).is_none_or(|next| b",]} \t\r\n".contains(next)) => return Some(place),
            _ => {}
        }
    }
}

/// Returns what one level is indented with.
fn unit_of(text: &str) -> String {
    let space = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    text.lines().map(space).find(|space| !space.is_empty()).unwrap_or_else(|| "  ".to_owned())
}

/// Writes a value as it looks at a depth.
fn written(value: &Value, unit: &str, depth: usize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(unit.as_bytes()));
    value.serialize(&mut serializer).expect("a value is JSON");
    String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{}", unit.repeat(depth)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_added_and_removed_again_leaves_every_byte_as_it_was() {
        let texts = [
            "{\n\t\"a\": [1,2 ],\n\t\"hooks\": {\"Stop\":[ {\"x\":\"]}\\\"\"} ]}\n}\n",
            "{ \"hooks\": { \"Stop\": [ true ] } }",
            "{\"n\": -1.5e3, \"hooks\": {\"Other\": {}, \"Stop\": [null, {}]}}\n\n",
        ];
        for text in texts {
            let element = add_element(text, &["hooks", "Stop"], &json!({ "k": [1] }));
            let before: Value = serde_json::from_str(text).expect("JSON");
            let count = before["hooks"]["Stop"].as_array().expect("a list").len();
            let after: Value = serde_json::from_str(&element).expect("still JSON");
            assert_eq!(after["hooks"]["Stop"][count], json!({ "k": [1] }), "{element}");
            assert_eq!(remove_element(&element, &["hooks", "Stop"], count), text);
            let member = add_member(&element, &["hooks"], "New", &json!([]));
            assert_eq!(remove_member(&member, &["hooks"], "New"), element);
        }
        assert_eq!(add_member("{}", &[], "a", &json!(1)), "{\n  \"a\": 1\n}");
        assert_eq!(remove_member("{\n  \"a\": 1,\n  \"b\": 2\n}", &[], "a"), "{\n  \"b\": 2\n}");
    }
}
