//! A run in plain lines: a word, the phase, what happened. No colour and no times, so that lines can be searched.

use std::sync::Arc;

use baton_engine::Clock;
use baton_engine::driver::{Audience, News};
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_protocol::printable;
use baton_views::sentence::{EventSentence, sentences};

use crate::output::Output;
use crate::render;

/// Writes a line for each thing that is worth knowing.
pub(super) struct Plain {
    pub(super) output: Output,
    pub(super) clock: Arc<dyn Clock>,
    /// How the store is found by whoever decides elsewhere, if somebody is to do that while the run waits.
    pub(super) elsewhere: Option<String>,
}

impl Plain {
    /// Prints what must be decided, and the command that decides it.
    fn ask(&self, run: &Run, question: &Question, store: &str) {
        let Some(tracked) = run.find(&question.handoff) else { return };
        let waiting = [(tracked.handoff.clone(), question.clone())];
        let lines = render::inbox::lines(&waiting, store, self.clock.now(), self.output.paint_beside());
        self.output.note(lines.trim_end());
    }
}

impl Audience for Plain {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Event(event) => {
                for told in sentences(run, event) {
                    self.output.note(&line(&told));
                }
            }
            News::Note(text) => self.output.note(&printable(text)),
            News::Asks(question) => self.elsewhere.iter().for_each(|store| self.ask(run, question, store)),
            News::Begins(_) | News::Examines(_) => {}
        }
    }
}

fn line(told: &EventSentence) -> String {
    format!("{:<9} {}: {}", told.sign.word(), told.place, told.text).trim_end_matches([':', ' ']).to_owned()
}
