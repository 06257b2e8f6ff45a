//! A talk with the person at the terminal: what is written, and what they type. It decides nothing.

use baton_engine::HandoffId;
use baton_engine::people::{Question, choice_or_number, numbered};
use baton_protocol::printable;

use super::keyboard::Keyboard;
use super::pager;
use crate::exhibits::Exhibits;
use crate::output::Output;
use crate::render::sheet::{Paint, Tint};

/// The terminal, on which somebody else may be drawing progress.
///
/// Whoever draws stops between `hold` and `go_on`, so that nothing is written over what a person reads and types.
pub(crate) trait Screen: Send + Sync {
    /// Writes a text as it is. It must be printable.
    fn write(&self, text: &str);

    /// Stops drawing, because somebody is asked about this handoff.
    fn hold(&self, _handoff: &HandoffId) {}

    /// Returns whether somebody is still asked; a screen may take a question back itself.
    fn is_held(&self) -> bool {
        true
    }

    /// Goes on drawing.
    fn go_on(&self) {}

    /// Returns how things are written there.
    fn paint(&self) -> Paint {
        Paint::new(false, None)
    }

    /// Returns how many lines it shows at once, if that is known.
    fn rows(&self) -> Option<usize> {
        None
    }
}

impl Screen for Output {
    fn write(&self, text: &str) {
        self.pass_on(text.as_bytes());
    }

    fn paint(&self) -> Paint {
        self.paint_beside()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.size_beside().rows)
    }
}

/// A talk with a person.
pub(crate) struct Talk<'t> {
    /// Where they read.
    pub(crate) screen: &'t dyn Screen,
    /// Where they type.
    pub(crate) keyboard: &'t mut Keyboard,
    /// What they can look at.
    exhibits: Option<&'t Exhibits>,
    /// What they have typed of a text that is not finished yet.
    pub(crate) unfinished: Vec<String>,
}

impl<'t> Talk<'t> {
    /// Begins a talk.
    pub(crate) fn new(screen: &'t dyn Screen, keyboard: &'t mut Keyboard, exhibits: Option<&'t Exhibits>) -> Talk<'t> {
        Talk { screen, keyboard, exhibits, unfinished: Vec::new() }
    }

    /// Returns how things are coloured.
    pub(crate) fn paint(&self) -> Paint {
        self.screen.paint()
    }

    /// Prints something on a line of its own.
    pub(crate) fn tell(&self, text: &str) {
        self.screen.write(&format!("{}\n", self.paint().fitted(&printable(text))));
    }

    /// Asks for a line; `None` if there is nobody any more.
    pub(crate) async fn line(&mut self, prompt: &str) -> Option<String> {
        let prompt = self.paint().tint(Tint::Cyan, &printable(prompt));
        self.screen.write(&format!("{prompt} "));
        let line = self.keyboard.line().await;
        if line.is_none() {
            self.screen.write("\n");
        }
        line
    }

    /// Shows the files that a question is about, what has changed in them, and what was handed over before.
    pub(crate) async fn view(&self, question: &Question) {
        let text = match self.exhibits {
            Some(exhibits) => exhibits.of(question).await,
            None => baton_views::question::whole(question),
        };
        if let Err(why) = pager::page(&text).await {
            self.tell(&text);
            self.tell(&format!("{why}; set PAGER to another one"));
        }
    }

    /// Asks a question that only a clear yes answers. What it is about can be looked at before.
    pub(crate) async fn confirm(&mut self, prompt: &str, question: Option<&Question>) -> bool {
        let document = question.filter(|question| question.document.is_some()).map(baton_views::question::whole);
        let keys = if document.is_some() { "y/N, v to view, d for the document" } else { "y/N" };
        loop {
            let Some(typed) = self.line(&format!("{prompt} [{keys}]")).await else { return false };
            match (typed.trim().to_lowercase().as_str(), &document) {
                ("y" | "yes", _) => return true,
                ("d" | "document", Some(document)) => self.tell(document),
                ("v" | "view", Some(_)) => {
                    if let Some(question) = question {
                        self.view(question).await;
                    }
                }
                _ => return false,
            }
        }
    }

    /// Asks for a text of one or more lines; `None` if nothing was written.
    pub(crate) async fn text(&mut self, prompt: &str) -> Option<String> {
        self.tell(&format!("{prompt} (end it with an empty line)"));
        self.lines_until(Vec::new(), |_| None).await
    }

    /// Goes on with a text whose first line is there.
    pub(crate) async fn rest_of(&mut self, first: String) -> Option<String> {
        self.tell("Anything else? (end with an empty line)");
        self.lines_until(vec![first], |_| None).await
    }

    /// Asks for a note that nobody needs to write; `None` if there is nobody any more.
    pub(crate) async fn note(&mut self) -> Option<Option<String>> {
        self.tell("A note for the record and the next agent (an empty line for none)");
        let line = self.line(">").await?;
        Some(Some(line.trim().to_owned()).filter(|note| !note.is_empty()))
    }

    /// Reads lines up to an empty one, or up to a first line that says everything.
    async fn lines_until(&mut self, begun: Vec<String>, says_all: impl Fn(&str) -> Option<String>) -> Option<String> {
        self.unfinished = begun;
        loop {
            // Who goes away in the middle of a text has not finished it.
            let line = self.line(">").await?;
            if line.trim().is_empty() {
                let text = std::mem::take(&mut self.unfinished).join("\n");
                return Some(text).filter(|text| !text.trim().is_empty());
            }
            if let Some(all) = says_all(&line).filter(|_| self.unfinished.is_empty()) {
                return Some(all);
            }
            self.unfinished.push(line);
        }
    }

    /// Asks for one of the choices, by number or name, until it is one; `None` if nothing was chosen.
    pub(crate) async fn choose(&mut self, prompt: &str, choices: &[(String, String)]) -> Option<String> {
        loop {
            let typed = self.line(&format!("{prompt} [1-{}]", choices.len())).await?;
            if typed.trim().is_empty() {
                return None;
            }
            match choice_or_number(&typed, choices) {
                Ok(choice) => return Some(choice),
                Err(none) => self.tell(&none.suggestion()),
            }
        }
    }

    /// Asks every question, and those that get no answer once more; `None` if one was not answered even then. What was typed before
    /// is shown then, so that nobody has to think of it again.
    pub(crate) async fn answers(&mut self, question: &Question) -> Option<String> {
        let [_, _, ..] = &question.questions[..] else {
            return self.answer("Your answer:", &question.choices).await;
        };
        let mut answers = Vec::new();
        for (index, asked) in question.questions.iter().enumerate() {
            let prompt = format!("{}. {}", index + 1, asked.text);
            let mut answer = self.answer(&prompt, &asked.options).await;
            if answer.is_none() {
                self.tell("All questions are answered together, or none. Another empty line answers none.");
                answer = self.answer(&prompt, &asked.options).await;
            }
            let Some(answer) = answer else {
                if !answers.is_empty() {
                    self.tell(&format!("Not handed in:\n{}", numbered(&answers)));
                }
                return None;
            };
            answers.push(answer);
        }
        Some(numbered(&answers))
    }

    /// Asks one question. One of its options is picked by number or name; every other text is an answer, too.
    async fn answer(&mut self, prompt: &str, options: &[(String, String)]) -> Option<String> {
        if options.is_empty() {
            return self.text(prompt).await;
        }
        self.tell(&format!("{prompt} (one of these, or your own words and an empty line)"));
        for (index, (option, meaning)) in options.iter().enumerate() {
            self.tell(format!("  {}. {option}  {meaning}", index + 1).trim_end());
        }
        self.lines_until(Vec::new(), |line| choice_or_number(line, options).ok()).await
    }
}
