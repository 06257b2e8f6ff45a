//! The words with which agents and tools say that something is so, or that it is not.

use super::same_word;

/// Words that mean yes.
const YES: [&str; 16] = [
    "approved",
    "approve",
    "pass",
    "passed",
    "ok",
    "lgtm",
    "accepted",
    "accept",
    "success",
    "verified",
    "compliant",
    "valid",
    "good",
    "true",
    "yes",
    "succeeded",
];

/// Words that mean no.
const NO: [&str; 18] = [
    "changes_requested",
    "request_changes",
    "changes_required",
    "needs_changes",
    "needs_work",
    "rejected",
    "reject",
    "failed",
    "fail",
    "failure",
    "error",
    "not_approved",
    "disapproved",
    "blocked",
    "non_compliant",
    "invalid",
    "false",
    "no",
];

/// Reads a word that says yes or no; `None` is any other, which is never taken for a yes.
pub fn yes_or_no(word: &str) -> Option<bool> {
    let word = word.trim();
    let is_one_of = |known: &[&str]| known.iter().any(|known| same_word(known, word));
    if is_one_of(&NO) { Some(false) } else { is_one_of(&YES).then_some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_have_many_spellings_and_other_words_are_neither() {
        for yes in ["APPROVED", "Pass", "ok", "LGTM", " yes ", "true", "valid"] {
            assert_eq!(yes_or_no(yes), Some(true), "{yes}");
        }
        for no in ["CHANGES_REQUESTED", "changes requested", "non-compliant", "FAILED", "error", "No", "false"] {
            assert_eq!(yes_or_no(no), Some(false), "{no}");
        }
        for other in ["", "maybe", "approved with changes", "not ok", "okay?", "18 passed", "yes and no"] {
            assert_eq!(yes_or_no(other), None, "{other}");
        }
    }
}
