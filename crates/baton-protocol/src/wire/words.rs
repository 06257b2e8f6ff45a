//! Comparing and suggesting words: typos get an answer, spellings do not matter.

/// Compares words without regard to case, `-`, `_` and spaces.
pub fn same_word(left: &str, right: &str) -> bool {
    left == right || letters(left).eq(letters(right))
}

/// Returns what counts when words are compared.
fn letters(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b' ')).map(|byte| byte.to_ascii_lowercase())
}

/// Compares a word with a pattern in which `*` stands for any letters, such as `frontend-*`; without one they are
/// compared as words. Case does not matter, and `-`, `_` and spaces are the same.
///
/// A pattern in place of the word fits if everything fits that it fits.
pub fn fits(pattern: &str, word: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return same_word(pattern, word) };
    let plain = |text: &str| text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    let (word, start, rest) = (plain(word), plain(start), plain(rest));
    let Some(mut left) = word.strip_prefix(&*start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

/// Returns the known word that was probably meant.
pub fn closest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let word = word.to_ascii_lowercase();
    known
        .iter()
        .filter(|candidate| may_be_near(&word, candidate))
        .map(|candidate| (likeness(&word, &candidate.to_ascii_lowercase()), *candidate))
        .filter(|(score, _)| *score > 0.85)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// Returns how alike two words are, up to 1. The usual measure sees nothing in common between `dve` and `dev`.
fn likeness(word: &str, candidate: &str) -> f64 {
    let is_swapped = strsim::osa_distance(word, candidate) == 1 && strsim::levenshtein(word, candidate) == 2;
    if is_swapped { 0.95 } else { strsim::jaro_winkler(word, candidate) }
}

/// Returns whether two words are worth a comparison: most pairs differ at both ends.
fn may_be_near(word: &str, candidate: &str) -> bool {
    let end = |text: &str| (text.bytes().next(), text.bytes().next_back());
    let (first, last) = end(word);
    let (candidate_first, candidate_last) = end(candidate);
    let same = |left: Option<u8>, right: Option<u8>| left == right.map(|byte| byte.to_ascii_lowercase());
    same(first, candidate_first) || (word.len().abs_diff(candidate.len()) <= 3 && same(last, candidate_last))
}

/// Returns the words that are not blank, each once, in their order.
pub fn distinct<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut found: Vec<&str> = Vec::new();
    for word in words.iter().filter(|word| !word.trim().is_empty()) {
        if !found.contains(word) {
            found.push(word);
        }
    }
    found
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
    fn patterns_stand_for_the_words_that_fit_them() {
        for word in ["frontend-lead", "Frontend_Lead", "frontend developer", "frontend-"] {
            assert!(fits("frontend-*", word), "{word}");
        }
        for (pattern, word) in
            [("*", "anything"), ("security*", "security_hole"), ("*-lead", "tool_lead"), ("a*b*c", "a-b-c")]
        {
            assert!(fits(pattern, word), "{pattern} {word}");
        }
        for (pattern, word) in [("frontend-*", "frontendish"), ("*-lead", "leader"), ("ab*b", "ab"), ("lead", "leads")]
        {
            assert!(!fits(pattern, word), "{pattern} {word}");
        }
        assert!(fits("tool-*", "tool-l*") && fits("*", "tool-*"));
        assert!(!fits("tool-l*", "tool-*"));
    }

    #[test]
    fn typos_are_answered_and_nonsense_is_not() {
        assert_eq!(closest("blocked_reson", &["blocked_reason", "attempted"]), Some("blocked_reason"));
        assert_eq!(closest("PROCED", &["PROCEED", "STOP"]), Some("PROCEED"));
        assert_eq!(closest("banana", &["blocked_reason", "attempted"]), None);
    }
}
