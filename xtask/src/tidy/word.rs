//! Finding a piece of text that does not continue a longer word.

/// Returns whether `piece` occurs in `line` where no letter, digit or underscore stands before it.
pub(crate) fn starts(line: &str, piece: &str) -> bool {
    occurs(line, piece, |before| before.is_alphanumeric() || before == '_')
}

/// Returns whether `piece` occurs in `line` where no character for which `continues` holds precedes it.
pub(crate) fn occurs(line: &str, piece: &str, continues: impl Fn(char) -> bool) -> bool {
    line.match_indices(piece).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        !before.is_some_and(&continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_starts_a_line_or_follows_something_else() {
        assert!(starts("call(x)", "call("));
        assert!(starts("self.call(x)", "call("));
        assert!(starts("é.call(x)", "call("));
    }

    #[test]
    fn word_does_not_start_inside_another() {
        assert!(!starts("recall(x)", "call("));
        assert!(!starts("do_call(x)", "call("));
    }

    #[test]
    fn later_occurrence_counts() {
        assert!(starts("recall(call(x))", "call("));
    }
}
