//! Makes text safe to show: nothing in a document can control the reader's terminal.

use serde_json::Value;

/// Replaces control characters, so that a document cannot write to a terminal through us.
///
/// ```
/// assert_eq!(baton_protocol::printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\n");
/// ```
pub fn printable(text: &str) -> String {
    if text.chars().all(is_printable) {
        return text.to_owned();
    }
    let shown = |character: char| {
        if is_printable(character) { character.to_string() } else { character.escape_default().to_string() }
    };
    text.chars().map(shown).collect()
}

/// Writes JSON on one line, in which what [`printable`] would show otherwise is escaped as JSON does it. It reads as the same value.
pub fn printable_json(value: &Value) -> String {
    // In JSON they stand in strings only, and above 0x10000 they are written as two.
    let escaped = |character: char| -> String {
        character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let shown = |character: char| if is_printable(character) { character.to_string() } else { escaped(character) };
    value.to_string().chars().map(shown).collect()
}

/// Returns whether a character shows what it is, and neither controls, turns nor hides text.
pub fn is_printable(character: char) -> bool {
    // What changes the direction of text could make it read otherwise than it is.
    let turns = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Nobody sees these: separators of lines that no terminal knows, marks, and letters that only machines read.
    let hides = matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    (!character.is_control() && !turns && !hides) || character == '\n' || character == '\t'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("a\x1b[31mb\n\u{202e}"), "a\\u{1b}[31mb\n\\u{202e}");
        assert_eq!(printable("a\u{2028}\u{feff}\u{e0041}"), "a\\u{2028}\\u{feff}\\u{e0041}");
    }

    #[test]
    fn printable_json_is_the_same_json() {
        let value = json!({ "a\u{202e}": ["\u{85}\r\n\t\"\\u", "\u{200d}é\u{1f468}\u{e0041}"] });
        let shown = printable_json(&value);
        assert_eq!(shown, r#"{"a\u202e":["\u0085\r\n\t\"\\u","\u200dé👨\udb40\udc41"]}"#);
        assert_eq!((printable(&shown), serde_json::from_str::<Value>(&shown).ok()), (shown, Some(value)));
    }
}
