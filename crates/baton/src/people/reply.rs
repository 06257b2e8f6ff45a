//! What a person typed, against what was asked: choices by number or name, answers put together.

use baton_engine::people::{Question, numbered};
use baton_protocol::wire::{same_word, suggest};

/// Returns the choice that a word means; the error says what was probably meant.
pub(crate) fn choice(word: &str, choices: &[String]) -> Result<String, String> {
    let word = word.trim();
    let known: Vec<&str> = choices.iter().map(String::as_str).collect();
    let meant = choices.iter().find(|choice| same_word(choice, word));
    meant.cloned().ok_or_else(|| suggest(word, &known))
}

/// Returns the choice that a number or a word means; a choice that is a number itself comes first.
pub(crate) fn choice_or_number(typed: &str, choices: &[String]) -> Result<String, String> {
    let by_number = |typed: &str| choices.get(typed.trim().parse::<usize>().ok()?.checked_sub(1)?).cloned();
    choice(typed, choices).or_else(|why| by_number(typed).ok_or(why))
}

/// Returns what an answer in words means: one of the options that an agent offers, or just these words.
pub(crate) fn answer(text: &str, question: &Question) -> String {
    let options: Vec<String> = question.choices.iter().map(|(word, _)| word.clone()).collect();
    choice_or_number(text, &options).unwrap_or_else(|_| text.to_owned())
}

/// Puts answers together, each with the number of its question; a single one stands alone.
pub(crate) fn together(answers: &[String]) -> String {
    match answers {
        [only] => only.clone(),
        _ => numbered(answers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_named_or_numbered_and_typos_get_an_answer() {
        let choices = ["continue", "revise", "stop"].map(str::to_owned);
        assert_eq!(choice(" Revise ", &choices), Ok("revise".to_owned()));
        assert_eq!(choice_or_number("3", &choices), Ok("stop".to_owned()));
        for none in ["0", "4", "-1", ""] {
            assert!(choice_or_number(none, &choices).is_err(), "{none}");
        }
        let why = choice("2", &choices).expect_err("only a name counts where nobody sees numbers");
        assert_eq!(why, "use one of: continue, revise, stop");
        let why = choice("contineu", &choices).expect_err("a typo");
        assert_eq!(why, "did you mean `continue`? known: continue, revise, stop");
        let numbers = ["10", "1"].map(str::to_owned);
        assert_eq!(choice_or_number("1", &numbers), Ok("1".to_owned()));
    }

    #[test]
    fn several_answers_have_the_numbers_of_their_questions() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(together(&texts(&["SQLite"])), "SQLite");
        assert_eq!(together(&texts(&["SQLite", "Now\nor later"])), "1. SQLite\n2. Now\n   or later");
    }
}
