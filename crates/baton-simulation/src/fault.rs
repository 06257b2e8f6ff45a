//! Faults: what can go wrong with a call of the store, and who decides when it does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::chance::Chance;

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written, and the caller is told that the store cannot be reached.
    Refused,
    /// It is written, and the caller is told that the store cannot be reached.
    AnswerLost,
    /// It takes a while until it is written.
    Slow(Duration),
    /// It is written, and the answer takes a while: what was read is old by then.
    SlowAnswer(Duration),
    /// The caller is killed before it is written.
    KilledBefore,
    /// It is written, and the caller is killed before the answer.
    KilledAfter,
    /// The caller is paused before it is written.
    PausedBefore(Duration),
    /// It is written, and the caller is paused before the answer.
    PausedAfter(Duration),
}

impl Fault {
    /// Returns the name under which it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Refused => "store: refused",
            Fault::AnswerLost => "store: answer lost",
            Fault::Slow(_) => "store: slow",
            Fault::SlowAnswer(_) => "store: slow answer",
            Fault::KilledBefore => "driver killed before a commit",
            Fault::KilledAfter => "driver killed after a commit",
            Fault::PausedBefore(_) => "driver paused before a commit",
            Fault::PausedAfter(_) => "driver paused after a commit",
        }
    }
}

/// What a call of the store does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// It may write.
    Writes,
    /// It only looks.
    Reads,
}

impl Call {
    /// Returns everything that can go wrong with such a call; `pause` is how long a caller is away.
    pub fn faults(self, pause: Duration) -> Vec<Fault> {
        match self {
            Call::Writes => vec![
                Fault::Refused,
                Fault::AnswerLost,
                Fault::KilledBefore,
                Fault::KilledAfter,
                Fault::PausedBefore(pause),
                Fault::PausedAfter(pause),
            ],
            // What changes nothing can be lost, and it can be old when it arrives.
            Call::Reads => vec![Fault::Refused, Fault::KilledBefore, Fault::PausedAfter(pause)],
        }
    }
}

/// Decides what goes wrong.
pub trait Plan: Send + Sync {
    /// Returns what goes wrong with a call, by its number from 1; `None` if all is well.
    fn call(&self, number: u64, call: Call) -> Option<Fault>;

    /// Decides what becomes of waiting for a change.
    fn wait(&self) -> Bell;

    /// Returns whether the store says which events it has written. One that does not is read afterwards.
    fn tells(&self) -> bool {
        true
    }
}

/// What becomes of waiting for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bell {
    /// It rings.
    Rings,
    /// It does not ring: whoever waits looks when the time is over.
    Silent,
    /// It rings although nothing has changed.
    RingsTwice,
    /// The connection is lost for so long.
    Cut(Duration),
}

/// Nothing goes wrong.
pub struct Calm;

impl Plan for Calm {
    fn call(&self, _: u64, _: Call) -> Option<Fault> {
        None
    }

    fn wait(&self) -> Bell {
        Bell::Rings
    }
}

/// Nothing goes wrong, and every call is taken down.
#[derive(Default)]
pub struct Recorder(pub Mutex<Vec<Call>>);

impl Plan for Recorder {
    fn call(&self, _: u64, call: Call) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        None
    }

    fn wait(&self) -> Bell {
        Bell::Rings
    }
}

/// One thing goes wrong, at one call.
pub struct Once {
    /// The number of the call, from 1.
    pub call: u64,
    /// What goes wrong.
    pub fault: Fault,
}

impl Plan for Once {
    fn call(&self, number: u64, _: Call) -> Option<Fault> {
        (number == self.call).then_some(self.fault)
    }

    fn wait(&self) -> Bell {
        Bell::Rings
    }
}

/// Things go wrong at random, until the weather clears up.
pub struct Weather {
    chance: Chance,
    /// How probable it is that something goes wrong with a call.
    rate: f64,
    /// Whether the caller is one that can be killed and paused.
    mortal: bool,
    /// Whether the store says which events it has written.
    tells: bool,
    clear: Arc<AtomicBool>,
}

impl Weather {
    /// Makes weather that clears up when somebody says so.
    pub fn new(chance: Chance, rate: f64, mortal: bool, clear: Arc<AtomicBool>) -> Weather {
        let tells = chance.happens(0.5);
        Weather { chance, rate, mortal, tells, clear }
    }
}

impl Plan for Weather {
    fn call(&self, _: u64, call: Call) -> Option<Fault> {
        if self.clear.load(Ordering::Relaxed) {
            return None;
        }
        let short = |least, most| self.chance.between(Duration::from_millis(least), Duration::from_millis(most));
        if !self.chance.happens(self.rate) {
            // A store elsewhere takes its time, and others end meanwhile.
            let is_elsewhere = !self.tells && call == Call::Writes;
            return is_elsewhere.then(|| Fault::SlowAnswer(short(1, 3_000)));
        }
        Some(match self.chance.below(if self.mortal { 20 } else { 8 }) {
            0 | 1 => Fault::Refused,
            2..=4 => Fault::AnswerLost,
            5 | 6 => Fault::Slow(short(10, 90_000)),
            7 => Fault::SlowAnswer(short(10, 90_000)),
            8..=10 => Fault::KilledBefore,
            11..=13 => Fault::KilledAfter,
            14..=17 => Fault::PausedBefore(short(1_000, 200_000)),
            _ => Fault::PausedAfter(short(1_000, 200_000)),
        })
    }

    fn wait(&self) -> Bell {
        if self.clear.load(Ordering::Relaxed) {
            return Bell::Rings;
        }
        match self.chance.below(20) {
            0 | 1 => Bell::Silent,
            2 => Bell::RingsTwice,
            3 if self.chance.happens(self.rate) => Bell::Cut(self.chance.about(Duration::from_secs(30))),
            _ => Bell::Rings,
        }
    }

    fn tells(&self) -> bool {
        self.tells
    }
}
