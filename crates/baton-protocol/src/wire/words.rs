//! Comparing and suggesting words: typos get an answer, spellings do not matter.

/// Compares words without regard to case, `-`, `_` and spaces.
pub fn same_word(left: &str, right: &str) -> bool {
    let letters = |text: &'_ str| -> Vec<u8> {
        text.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b' ')).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    left == right || letters(left) == letters(right)
}

/// Returns the known word that was probably meant.
pub fn closest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let word = word.to_ascii_lowercase();
    known
        .iter()
        .filter(|candidate| may_be_near(&word, candidate))
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_ascii_lowercase()), *candidate))
        .filter(|(score, _)| *score > 0.85)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// Says whether two words are worth a comparison: most pairs differ at both ends.
fn may_be_near(word: &str, candidate: &str) -> bool {
    let end = |text: &str| (text.bytes().next(), text.bytes().next_back());
    let (first, last) = end(word);
    let (candidate_first, candidate_last) = end(candidate);
    let same = |left: Option<u8>, right: Option<u8>| left == right.map(|byte| byte.to_ascii_lowercase());
    same(first, candidate_first) || (word.len().abs_diff(candidate.len()) <= 3 && same(last, candidate_last))
}

/// Suggests a known word, or lists them all.
pub fn suggest(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(close) => format!("did you mean `{close}`? known: {}", known.join(", ")),
        None => format!("use one of: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_do_not_matter_but_words_do() {
        assert!(same_word("needs_review", "Needs-Review"));
        assert!(same_word("IN_PROGRESS", "in progress"));
        assert!(!same_word("complete", "completed"));
    }

    #[test]
    fn typos_are_answered_and_nonsense_is_not() {
        assert_eq!(closest("blocked_reson", &["blocked_reason", "attempted"]), Some("blocked_reason"));
        assert_eq!(closest("PROCED", &["PROCEED", "STOP"]), Some("PROCEED"));
        assert_eq!(closest("banana", &["blocked_reason", "attempted"]), None);
    }
}
