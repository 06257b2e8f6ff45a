//! Asks at the terminal, in place, one question at a time. A question that was decided elsewhere is taken back.

use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{People, Question, Said};
use tokio::sync::Mutex;

use super::keyboard::Keyboard;
use super::menu::{self, Wish};
use super::talk::{Screen, Talk};
use crate::output::printable;
use crate::render;

/// The door that is recorded with a decision.
pub(crate) const DOOR: &str = "terminal";

/// Asks at the terminal.
pub(crate) struct Terminal {
    screen: Arc<dyn Screen>,
    /// Who sits there.
    by: String,
    /// Whoever holds it asks; the others wait in their order.
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    keyboard: Keyboard,
    /// Whether the last question was taken back: what is typed now may have been meant for that one.
    was_taken_back: bool,
}

impl Terminal {
    /// Asks on this screen, with what is typed on standard input.
    pub(crate) fn new(screen: Arc<dyn Screen>, by: String) -> Terminal {
        Terminal::with_keyboard(screen, by, Keyboard::new())
    }

    fn with_keyboard(screen: Arc<dyn Screen>, by: String, keyboard: Keyboard) -> Terminal {
        Terminal { screen, by, desk: Mutex::new(Desk { keyboard, was_taken_back: false }) }
    }
}

#[async_trait]
impl People for Terminal {
    async fn decide(&self, question: &Question) -> Option<Said> {
        let mut desk = self.desk.lock().await;
        let mut asking = Asking::begin(self.screen.as_ref(), &mut desk, question);
        let said = asking.decide(question).await;
        asking.is_over = true;
        let (decision, note) = said?;
        Some(Said { decision, note, by: self.by.clone(), door: DOOR.to_owned() })
    }
}

/// One question on the screen. Dropped before it is over, it was taken back.
struct Asking<'a> {
    talk: Talk<'a>,
    was_taken_back: &'a mut bool,
    /// Whether what is typed may have been meant for the question before.
    in_doubt: bool,
    is_over: bool,
}

impl<'a> Asking<'a> {
    fn begin(screen: &'a dyn Screen, desk: &'a mut Desk, question: &Question) -> Asking<'a> {
        screen.hold();
        forget_what_was_typed();
        let in_doubt = std::mem::take(&mut desk.was_taken_back);
        let talk = Talk::new(screen, &mut desk.keyboard);
        // Nobody can have meant a question that was not there yet.
        if let Some(line) = talk.keyboard.typed_before().filter(|line| !line.trim().is_empty()) {
            talk.tell(&format!("not used, for nothing was asked: {line}"));
        }
        screen.write(&format!("\n{}", render::question::lines(question, talk.paint())));
        Asking { talk, was_taken_back: &mut desk.was_taken_back, in_doubt, is_over: false }
    }

    async fn decide(&mut self, question: &Question) -> Option<(Decision, Option<String>)> {
        loop {
            self.talk.tell(&menu::line(question));
            let typed = self.talk.line("Your decision:").await?;
            if typed.trim().is_empty() {
                continue;
            }
            let wish = match menu::read(question, &typed) {
                Ok(Wish::Later) => return None,
                Ok(wish) => wish,
                Err(why) => {
                    self.talk.tell(&why);
                    continue;
                }
            };
            if let Some(decided) = self.complete(question, wish).await
                && self.is_meant(question).await
            {
                return Some(decided);
            }
        }
    }

    /// Asks for what is missing; `None` if it is not decided yet.
    async fn complete(&mut self, question: &Question, wish: Wish) -> Option<(Decision, Option<String>)> {
        let talk = &mut self.talk;
        let decision = match wish {
            Wish::Approve(note) => return Some((Decision::Approve, note)),
            Wish::Choose(choice) => Decision::Answer { answers: choice },
            Wish::Reject(Some(feedback)) => Decision::Reject { feedback },
            Wish::Reject(None) => Decision::Reject { feedback: talk.text("What must be done differently?").await? },
            Wish::Ask(Some(question)) => Decision::Ask { question },
            Wish::Ask(None) => Decision::Ask { question: talk.text("What do you want to know?").await? },
            Wish::Answer(Some(answers)) => Decision::Answer { answers },
            Wish::Answer(None) => Decision::Answer { answers: talk.answers(question).await? },
            Wish::Document => {
                let text = question.document.as_ref().map(|document| document.text.trim_end().to_owned());
                talk.tell(&text.unwrap_or_default());
                return None;
            }
            Wish::Later => return None,
        };
        Some((decision, None))
    }

    /// Makes sure that a decision was not typed for the question that has just disappeared.
    async fn is_meant(&mut self, question: &Question) -> bool {
        if !self.in_doubt {
            return true;
        }
        let place = if question.phase.is_empty() { question.handoff.as_str() } else { &question.phase };
        let prompt = format!("The question before was taken back. Is this meant for {place}?");
        self.in_doubt = !self.talk.confirm(&prompt, None).await;
        !self.in_doubt
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            *self.was_taken_back = true;
            self.talk.screen.write("\n");
            self.talk.tell("this was decided elsewhere");
            if !self.talk.unfinished.is_empty() {
                self.talk.tell(&format!("not used: {}", printable(&self.talk.unfinished.join("\n"))));
            }
        }
        self.talk.screen.go_on();
    }
}

/// Forgets what was typed before the question was shown. Only a terminal keeps such a thing, and can forget it.
fn forget_what_was_typed() {
    #[cfg(unix)]
    // Standard input that is no terminal has nothing to forget.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}
