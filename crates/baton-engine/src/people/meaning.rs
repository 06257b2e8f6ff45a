//! What a person's words mean, against what was asked: one of the choices, or just these words. Every
//! door asks here, so that one answer means the same wherever it comes in.

use std::fmt;

use baton_protocol::wire::{same_word, suggest};

use super::Question;
use crate::lifecycle::Decision;

/// Why a decision is not among those that are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOffered {
    /// What was decided.
    pub given: Decision,
    /// What can be chosen.
    pub choices: Vec<String>,
}

impl NotOffered {
    /// What is not offered by a question.
    pub(crate) fn of(given: Decision, question: &Question) -> NotOffered {
        NotOffered { given, choices: question.choices.iter().map(|(choice, _)| choice.clone()).collect() }
    }

    /// Returns what can be done instead; of words, what was probably meant.
    pub fn suggestion(&self) -> String {
        let known: Vec<&str> = self.choices.iter().map(String::as_str).collect();
        suggest(self.given.words().unwrap_or_default(), &known)
    }
}

impl fmt::Display for NotOffered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.given {
            Decision::Approve => formatter.write_str("approval is not one of the choices"),
            Decision::Reject { .. } => formatter.write_str("nothing to reject: choose how the run continues"),
            Decision::Answer { answers: words } | Decision::Ask { question: words } => {
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                write!(formatter, "`{words}` is not one of the choices")
            }
        }
    }
}

/// Finds what words name among choices: letter by letter first, then without regard to case. Of two that differ in nothing else
/// neither is meant.
pub(crate) fn named<'c>(words: &str, choices: impl Iterator<Item = &'c str> + Clone) -> Option<&'c str> {
    let exact = |wanted: &str| choices.clone().find(|choice| *choice == wanted);
    let mut alike = choices.clone().filter(|choice| same_word(choice, words.trim()));
    let mut only = || alike.next().filter(|_| alike.next().is_none());
    exact(words).or_else(|| exact(words.trim())).or_else(&mut only)
}

/// Returns the choice that words name.
pub fn choice(words: &str, choices: &[(String, String)]) -> Result<String, NotOffered> {
    let meant = named(words, choices.iter().map(|(choice, _)| choice.as_str()));
    meant.map(str::to_owned).ok_or_else(|| NotOffered {
        given: Decision::Answer { answers: words.trim().to_owned() },
        choices: choices.iter().map(|(choice, _)| choice.clone()).collect(),
    })
}

/// Returns the choice that words name, or whose number they are; a choice that is a number itself comes first.
pub fn choice_or_number(words: &str, choices: &[(String, String)]) -> Result<String, NotOffered> {
    let numbered = || choices.get(words.trim().parse::<usize>().ok()?.checked_sub(1)?);
    choice(words, choices).or_else(|none| numbered().map(|(choice, _)| choice.clone()).ok_or(none))
}

impl Question {
    /// Returns what a decision means. How a run goes on is chosen by name: a number is too easily another one. Where an agent
    /// offers answers they have numbers, too, and other words are an answer as well.
    pub fn meaning(&self, decision: Decision) -> Result<Decision, NotOffered> {
        let is_choice = self.reply.is_choice();
        match decision.trimmed() {
            Decision::Answer { answers } if is_choice => {
                Ok(Decision::Answer { answers: choice(&answers, &self.choices)? })
            }
            Decision::Answer { answers } if self.reply.is_answer() => {
                Ok(Decision::Answer { answers: choice_or_number(&answers, &self.choices).unwrap_or(answers) })
            }
            given @ (Decision::Approve | Decision::Reject { .. }) if is_choice && !self.reply.takes(&given) => {
                Err(NotOffered::of(given, self))
            }
            other => Ok(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_named_or_numbered_and_typos_get_an_answer() {
        let choices = ["continue", "revise", "stop"].map(|word| (word.to_owned(), String::new()));
        assert_eq!(choice(" Revise ", &choices), Ok("revise".to_owned()));
        assert_eq!(choice_or_number("3", &choices), Ok("stop".to_owned()));
        for none in ["0", "4", "-1", ""] {
            assert!(choice_or_number(none, &choices).is_err(), "{none}");
        }
        let why = choice("2", &choices).expect_err("only a name counts where nobody sees numbers");
        assert_eq!(why.suggestion(), "use one of: continue, revise, stop");
        let typo = choice("contineu", &choices).expect_err("a typo");
        assert_eq!(typo.to_string(), "`contineu` is not one of the choices");
        assert_eq!(typo.suggestion(), "did you mean `continue`? known: continue, revise, stop");
        let twins = ["no", "yes", "NO", "Yes"].map(|word| (word.to_owned(), String::new()));
        for exact in ["no", "NO", "Yes"] {
            assert_eq!(choice(exact, &twins), Ok(exact.to_owned()));
        }
        assert_eq!(choice_or_number("3", &twins), Ok("NO".to_owned()));
        assert!(choice("YES", &twins).is_err(), "one of two");
        let numbers = ["10", "1"].map(|word| (word.to_owned(), String::new()));
        assert_eq!(choice_or_number("1", &numbers), Ok("1".to_owned()));
    }
}
