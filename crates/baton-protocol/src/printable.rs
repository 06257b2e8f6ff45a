//! Makes text safe to show: nothing in a document can control the reader's terminal.

/// Replaces control characters, so that a document cannot write to a terminal through us.
///
/// ```
/// assert_eq!(baton_protocol::printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\n");
/// ```
pub fn printable(text: &str) -> String {
    if text.chars().all(is_harmless) {
        return text.to_owned();
    }
    let shown = |character: char| {
        if is_harmless(character) { character.to_string() } else { character.escape_default().to_string() }
    };
    text.chars().map(shown).collect()
}

fn is_harmless(character: char) -> bool {
    // What changes the direction of text could make it read otherwise than it is.
    let turns = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (!character.is_control() && !turns) || character == '\n' || character == '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("a\x1b[31mb\n\u{202e}"), "a\\u{1b}[31mb\n\\u{202e}");
    }
}
