//! JSON as programs in JavaScript write it. They cut texts in the middle of a character, and a parser of Rust refuses the
//! half that is left, with everything around it.

use std::borrow::Cow;

/// Stands for what cannot be read.
const UNREADABLE: &str = "\\ufffd";

/// Returns JSON in which every half of a surrogate pair, and every byte that is not UTF-8, is replaced by U+FFFD.
pub fn whole_json(bytes: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => without_halves(text),
        Cow::Owned(text) => Cow::Owned(without_halves(&text).into_owned()),
    }
}

fn without_halves(text: &str) -> Cow<'_, str> {
    let (mut whole, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let unit = unit(text, at);
        let is_pair = unit.is_some_and(is_high) && self::unit(text, at + 6).is_some_and(is_low);
        match unit {
            Some(_) if is_pair => at += 12,
            Some(unit) if is_high(unit) || is_low(unit) => {
                whole.push_str(&text[copied..at]);
                whole.push_str(UNREADABLE);
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            // The letter after it is escaped, and may be a backslash itself.
            None => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(&text[copied..]);
    Cow::Owned(whole)
}

/// Returns the code unit that is escaped there as `\uXXXX`.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_everything_else_stays() {
        let cases = [
            (r#"{"a":"x \ud83d"}"#, r#"{"a":"x \ufffd"}"#),
            (r#"{"a":"\uDE00y"}"#, r#"{"a":"\ufffdy"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00\u00e4"}"#, r#"{"a":"\ufffd\ud83d\ude00\u00e4"}"#),
            (r#"{"a":"\ud83d\\ude00"}"#, r#"{"a":"\ufffd\\ude00"}"#),
        ];
        for (written, whole) in cases {
            assert_eq!(whole_json(written.as_bytes()), whole);
        }
        for same in [r#"{"a":"\\ud83d \n ü\ü"}"#, r#"{"a":"\ud83d\ude00"}"#, "\\", "\\u", r"\ud8", "\\u+123", ""] {
            assert_eq!(whole_json(same.as_bytes()), same);
        }
        assert_eq!(whole_json(b"\"\xff \\ud800\""), "\"\u{fffd} \\ufffd\"");
    }
}
