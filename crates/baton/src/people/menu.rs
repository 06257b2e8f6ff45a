//! What a person can do about a question, and what the typed text means. Pure: nothing is read or written here.

use baton_engine::people::{ExpectedReply, Question, choice_or_number};
use baton_protocol::wire::closest;

/// What a person wants; texts that are `None` are still to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MenuChoice {
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
    /// See the files that it is about, what has changed in them, and what was handed over before.
    View,
    /// See the whole document.
    Document,
    /// Decide later.
    Later,
}

/// Returns the words that can be typed, the most likely first.
pub(super) fn words(question: &Question) -> Vec<&'static str> {
    let mut words = match question.reply {
        ExpectedReply::Review => vec!["approve", "reject", "question"],
        ExpectedReply::Clarification => vec!["answer"],
        ExpectedReply::Escalation => vec!["answer", "reject", "question"],
        ExpectedReply::Choice => Vec::new(),
        ExpectedReply::GateChoice => vec!["reject"],
        ExpectedReply::Approval => vec!["approve", "reject"],
        ExpectedReply::Request => vec!["approve", "reject", "tell"],
    };
    if question.document.is_some() {
        words.extend(["view", "document"]);
    }
    words.push("later");
    words
}

/// Returns the line that says what can be typed: `[a]pprove  [r]eject …`.
pub(super) fn line(question: &Question) -> String {
    let marked = |word: &str| format!("[{}]{}", &word[..1], &word[1..]);
    let mut parts: Vec<String> = words(question).into_iter().map(marked).collect();
    match (question.choices.len(), question.reply.is_answer()) {
        (0, false) => {}
        (0, true) if question.questions.len() > 1 => parts[0].push_str(" one by one, or type one answer to all, or"),
        (0, true) => parts[0] = "type the answer, or".to_owned(),
        (count, false) => parts.insert(0, format!("[1-{count}] or the name of a choice")),
        (count, true) => parts[0] = format!("type [1-{count}] or an answer of your own, or"),
    }
    parts.join("  ")
}

/// Returns what was typed; the error tells what could have been.
pub(super) fn read(question: &Question, typed: &str) -> Result<MenuChoice, String> {
    let typed = typed.trim();
    if let Ok(choice) = choice_or_number(typed, &question.choices) {
        return Ok(MenuChoice::Choose(choice));
    }
    let (first, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    // Where an agent waits for an answer, a sentence that begins like a word of the menu is still the answer.
    let words = if question.reply.is_answer() && rest.is_some() { Vec::new() } else { words(question) };
    let first = first.to_lowercase();
    if rest.is_none() && (first == "?" || first == "help") {
        return Err(misunderstood("", &self::words(question), question));
    }
    let word = words.iter().find(|word| **word == first || (first.len() == 1 && word.starts_with(&first)));
    match word.copied() {
        Some("approve") => Ok(MenuChoice::Approve(rest)),
        Some("reject") => Ok(MenuChoice::Reject(rest)),
        Some("question") => Ok(MenuChoice::Ask(rest)),
        Some("answer" | "tell") => Ok(MenuChoice::Answer(rest)),
        Some("view") if rest.is_none() => Ok(MenuChoice::View),
        Some("document") if rest.is_none() => Ok(MenuChoice::Document),
        Some("later") if rest.is_none() => Ok(MenuChoice::Later),
        _ if question.reply.is_answer() => Ok(MenuChoice::Answer(Some(typed.to_owned()))),
        _ => Err(misunderstood(&first, &words, question)),
    }
}

fn misunderstood(typed: &str, words: &[&str], question: &Question) -> String {
    let choices = question.choices.iter().map(|(choice, _)| choice.as_str());
    let known: Vec<&str> = choices.chain(words.iter().copied()).collect();
    match closest(typed, &known) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("please type one of: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::sample::{self, EVERY_REPLY};

    #[test]
    fn the_line_says_what_can_be_typed() {
        let of = |reply| line(&sample::question("a", reply));
        assert_eq!(of(ExpectedReply::Approval), "[a]pprove  [r]eject  [v]iew  [d]ocument  [l]ater");
        assert_eq!(of(ExpectedReply::Request), "[a]pprove  [r]eject  [t]ell  [v]iew  [d]ocument  [l]ater");
        assert_eq!(of(ExpectedReply::Clarification), "type the answer, or  [v]iew  [d]ocument  [l]ater");
        assert_eq!(
            of(ExpectedReply::Escalation),
            "type the answer, or  [r]eject  [q]uestion  [v]iew  [d]ocument  [l]ater"
        );
        let mut limit = sample::question("limit", ExpectedReply::Choice);
        limit.choices = vec![("revise".to_owned(), String::new())];
        limit.document = None;
        assert_eq!(line(&limit), "[1-1] or the name of a choice  [l]ater");
        limit.reply = ExpectedReply::GateChoice;
        assert_eq!(line(&limit), "[1-1] or the name of a choice  [r]eject  [l]ater");
        limit.reply = ExpectedReply::Clarification;
        assert_eq!(line(&limit), "type [1-1] or an answer of your own, or  [l]ater");
    }

    #[test]
    fn no_two_words_begin_alike() {
        for reply in EVERY_REPLY {
            let words = words(&sample::question("a", reply));
            let mut letters: Vec<_> = words.iter().map(|word| word.as_bytes()[0]).collect();
            letters.sort_unstable();
            letters.dedup();
            assert_eq!(letters.len(), words.len(), "{reply:?}");
        }
    }

    #[test]
    fn choices_come_before_words() {
        let mut gate = sample::question("limit", ExpectedReply::GateChoice);
        gate.choices = ["reject", "later"].map(|word| (word.to_owned(), String::new())).into();
        assert_eq!(read(&gate, "reject"), Ok(MenuChoice::Choose("reject".to_owned())));
        assert_eq!(read(&gate, "r too dear"), Ok(MenuChoice::Reject(Some("too dear".to_owned()))));
    }

    #[test]
    fn what_is_typed_at_a_question_is_the_answer() {
        let mut question = sample::question("a", ExpectedReply::Escalation);
        let answer = |text: &str| Ok(MenuChoice::Answer(Some(text.to_owned())));
        for text in ["mutual TLS", "reject what is over 1 MB", "approve", "3", "Later this year"] {
            assert_eq!(read(&question, text), answer(text));
        }
        assert_eq!(
            read(&question, "a"),
            Ok(MenuChoice::Answer(None)),
            "`a` is a word of the menu, and asks for the answer"
        );
        assert_eq!(read(&question, "later"), Ok(MenuChoice::Later));
        assert!(read(&question, "?").is_err_and(|told| told.starts_with("please type one of: ")), "a cry for help");
        question.choices = vec![("SQLite".to_owned(), String::new()), ("PostgreSQL".to_owned(), String::new())];
        assert_eq!(read(&question, "2"), Ok(MenuChoice::Choose("PostgreSQL".to_owned())));
        assert_eq!(read(&question, "a file"), answer("a file"), "what is offered does not restrict");
    }

    #[test]
    fn typos_are_answered() {
        let review = sample::question("a", ExpectedReply::Review);
        assert_eq!(read(&review, "aprove"), Err("did you mean `approve`?".to_owned()));
        assert_eq!(
            read(&review, "xyz"),
            Err("please type one of: approve, reject, question, view, document, later".to_owned())
        );
    }
}
