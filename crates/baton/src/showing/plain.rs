//! A run in plain lines: a word, the phase, what happened. No colour and no times, so that lines can be searched.

use baton_engine::driver::{Audience, News};
use baton_engine::run::Run;
use baton_protocol::printable;
use baton_views::sentence::{EventSentence, sentences};

use crate::output::Output;

/// Writes a line for each thing that is worth knowing.
pub(super) struct Plain {
    pub(super) output: Output,
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
            // What is asked follows from an event that was told before.
            News::Begins(_) | News::Examines(_) | News::Asks(_) => {}
        }
    }
}

fn line(told: &EventSentence) -> String {
    format!("{:<9} {}: {}", told.sign.word(), told.place, told.text).trim_end_matches([':', ' ']).to_owned()
}
