//! What a person can do about a question, and what they typed means. Pure: nothing is read or written here.

use baton_engine::handoff::Ask;
use baton_engine::people::Question;
use baton_protocol::wire::closest;

use super::reply;

/// What a person wants; texts that are `None` are still to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Approve it, with a note.
    Approve(Option<String>),
    /// Send it back, with the reason.
    Reject(Option<String>),
    /// Know something first.
    Ask(Option<String>),
    /// Answer.
    Answer(Option<String>),
    /// Choose this.
    Choose(String),
    /// See the whole document.
    Document,
    /// Decide later.
    Later,
}

/// Returns the words that can be typed, the most likely first.
pub(super) fn words(question: &Question) -> Vec<&'static str> {
    let mut words = match (question.ask, question.choices.is_empty()) {
        (Ask::Review, _) => vec!["approve", "reject", "question"],
        (Ask::Clarification, _) => vec!["answer"],
        (Ask::Gate, true) => vec!["approve", "reject", "tell"],
        (Ask::Gate, false) => vec!["reject"],
    };
    if question.document.is_some() {
        words.push("document");
    }
    words.push("later");
    words
}

/// Returns the line that says what can be typed: `[a]pprove  [r]eject …`.
pub(super) fn line(question: &Question) -> String {
    let marked = |word: &str| format!("[{}]{}", &word[..1], &word[1..]);
    let mut parts: Vec<String> = words(question).into_iter().map(marked).collect();
    match question.choices.len() {
        0 => {}
        count => parts.insert(0, format!("[1-{count}] or the name of a choice")),
    }
    parts.join("  ")
}

/// Says what was typed; the error tells what could have been.
pub(super) fn read(question: &Question, typed: &str) -> Result<Wish, String> {
    let typed = typed.trim();
    let choices: Vec<String> = question.choices.iter().map(|(word, _)| word.clone()).collect();
    if !choices.is_empty()
        && let Ok(choice) = reply::choice_or_number(typed, &choices)
    {
        return Ok(Wish::Choose(choice));
    }
    let (first, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    let words = words(question);
    let first = first.to_lowercase();
    let word = words.iter().find(|word| **word == first || (first.len() == 1 && word.starts_with(&first)));
    match word.copied() {
        Some("approve") => Ok(Wish::Approve(rest)),
        Some("reject") => Ok(Wish::Reject(rest)),
        Some("question") => Ok(Wish::Ask(rest)),
        Some("answer" | "tell") => Ok(Wish::Answer(rest)),
        Some("document") if rest.is_none() => Ok(Wish::Document),
        Some("later") if rest.is_none() => Ok(Wish::Later),
        _ => Err(misunderstood(&first, &words, &choices)),
    }
}

fn misunderstood(typed: &str, words: &[&str], choices: &[String]) -> String {
    let known: Vec<&str> = choices.iter().map(String::as_str).chain(words.iter().copied()).collect();
    match closest(typed, &known) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("please type one of: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::sample;

    #[test]
    fn the_line_says_what_can_be_typed() {
        let mut gate = sample::question("limit", Ask::Gate);
        assert_eq!(line(&gate), "[a]pprove  [r]eject  [t]ell  [d]ocument  [l]ater");
        gate.choices = vec![("revise".to_owned(), String::new())];
        gate.document = None;
        assert_eq!(line(&gate), "[1-1] or the name of a choice  [r]eject  [l]ater");
        assert_eq!(line(&sample::question("a", Ask::Clarification)), "[a]nswer  [d]ocument  [l]ater");
    }

    #[test]
    fn no_two_words_begin_alike() {
        for ask in [Ask::Review, Ask::Clarification, Ask::Gate] {
            let mut letters: Vec<_> =
                words(&sample::question("a", ask)).iter().map(|word| word.as_bytes()[0]).collect();
            letters.sort_unstable();
            letters.dedup();
            assert_eq!(letters.len(), words(&sample::question("a", ask)).len(), "{ask:?}");
        }
    }

    #[test]
    fn choices_come_before_words() {
        let mut gate = sample::question("limit", Ask::Gate);
        gate.choices = ["reject", "later"].map(|word| (word.to_owned(), String::new())).into();
        assert_eq!(read(&gate, "reject"), Ok(Wish::Choose("reject".to_owned())));
        assert_eq!(read(&gate, "r too dear"), Ok(Wish::Reject(Some("too dear".to_owned()))));
    }

    #[test]
    fn typos_are_answered() {
        let review = sample::question("a", Ask::Review);
        assert_eq!(read(&review, "aprove"), Err("did you mean `approve`?".to_owned()));
        assert_eq!(
            read(&review, "xyz"),
            Err("please type one of: approve, reject, question, document, later".to_owned())
        );
    }
}
