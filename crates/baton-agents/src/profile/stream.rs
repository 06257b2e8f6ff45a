//! The events of a program as they come, one a line. Nothing is held but the line that is being read; lines for people,
//! which are between events, are passed over; of events that cannot be read it is remembered where they stand.

use std::fmt;

use baton_engine::agent::Updates;
use baton_host::whole_json;
use serde_json::Value;

use super::{EventReader, Heard, ProgramExit, Recipe, TurnStart};

/// Longer lines are passed over.
const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What a program tells while it works.
pub(crate) struct EventStream {
    line: Vec<u8>,
    /// The number of the line, from 1.
    number: u64,
    /// Whether the line is too long.
    is_skipped: bool,
    reader: Box<dyn EventReader>,
    heard: Heard,
}

impl EventStream {
    /// Begins to listen to a turn.
    pub(crate) fn new(recipe: &Recipe, start: &TurnStart<'_>, updates: Updates) -> EventStream {
        let (reader, heard) = ((recipe.reader)(start), Heard::telling(updates));
        EventStream { line: Vec::new(), number: 0, is_skipped: false, reader, heard }
    }

    /// Takes some output.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.add(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.add(bytes);
    }

    /// Returns what was understood; `None` says that the program was killed.
    pub(crate) fn finish(&mut self, exit: Option<&ProgramExit<'_>>) -> Heard {
        self.end_line();
        if let Some(exit) = exit {
            self.reader.end(exit, &mut self.heard);
        }
        std::mem::take(&mut self.heard)
    }

    fn add(&mut self, bytes: &[u8]) {
        self.is_skipped |= self.line.len() + bytes.len() > LINE_BYTES_MAX;
        if self.is_skipped {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.number += 1;
        if std::mem::take(&mut self.is_skipped) {
            self.heard.alive("an event that is too long to be read");
            self.heard.unreadable(format!("line {} of stdout.log is too long", self.number));
            return;
        }
        // One letter that is broken must not cost the whole answer.
        let line = whole_json(&line);
        match serde_json::from_str::<Value>(&line) {
            Ok(event) if event.is_object() => {
                self.heard.events += 1;
                self.reader.take(&event, &mut self.heard);
            }
            Err(_) if line.trim_start().starts_with('{') => {
                self.heard.unreadable(format!("line {} of stdout.log is not JSON", self.number));
            }
            Ok(_) | Err(_) => {}
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventStream").field("heard", &self.heard).finish_non_exhaustive()
    }
}
