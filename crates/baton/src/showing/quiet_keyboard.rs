//! Keeps what somebody types from the screen while it is drawn: an Enter there would move everything down by a line that
//! nobody clears. What is typed is not lost; only its echo is.

use std::io::{IsTerminal as _, Stdin, stdin};
use std::sync::{Mutex, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// Switches the echo of the terminal off and on again. It is on again when this is gone.
#[derive(Debug, Default)]
pub(super) struct QuietKeyboard {
    /// How the terminal was, while its echo is off.
    before: Mutex<Option<Termios>>,
}

impl QuietKeyboard {
    /// Switches the echo off, if this is a terminal and ours to change.
    pub(super) fn hush(&self) {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let terminal = stdin();
        if before.is_some() || !terminal.is_terminal() || is_in_background(&terminal) {
            return;
        }
        let Ok(modes) = tcgetattr(&terminal) else { return };
        let mut quiet = modes.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        if tcsetattr(&terminal, OptionalActions::Now, &quiet).is_ok() {
            *before = Some(modes);
        }
    }

    /// Makes the terminal as it was.
    pub(super) fn restore(&self) {
        if let Some(modes) = self.before.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
        }
    }
}

impl Drop for QuietKeyboard {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Returns whether somebody else uses the terminal: to change it then would stop us.
fn is_in_background(terminal: &Stdin) -> bool {
    tcgetpgrp(terminal).is_ok_and(|foreground| foreground != getpgrp())
}
