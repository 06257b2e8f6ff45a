//! Minds of chance: agents that answer, hang, fail and lie, and people who say anything, late or never.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_engine::agent::Job;
use baton_engine::evidence::CheckCommand;
use baton_engine::failure::{Code, Failure};
use baton_engine::lifecycle::Decision;
use baton_engine::people::{ExpectedReply, Question};
use baton_engine::session::SessionKind;

use crate::chance::{Chance, Tally};
use crate::flows::agreeable;
use crate::mind::{Act, Mind, Person};
use crate::random::AGENTS;
use crate::saying::Saying;

/// A mind of chance, until the weather is clear: then everybody does what is asked.
pub struct Mood {
    /// Where its whims come from.
    pub chance: Chance,
    /// Counts them.
    pub tally: Tally,
    /// Whether faults are over.
    pub clear: Arc<AtomicBool>,
    /// Whether nobody ever answers at the desk.
    pub silent: bool,
    /// How long agents usually work.
    pub usual: Duration,
    /// Whether programs of agents keep sessions.
    pub sessions: bool,
}

impl Mood {
    fn is_clear(&self) -> bool {
        self.clear.load(Ordering::Relaxed)
    }

    fn count(&self, what: &'static str) {
        self.tally.count(what);
    }

    /// What an agent says, wherever it works.
    pub fn saying(&self) -> Saying {
        if self.is_clear() {
            return Saying::Complete;
        }
        match self.chance.below(24) {
            0..=11 => Saying::Complete,
            12 => Saying::Verdict("CHANGES_REQUESTED"),
            13 => Saying::Verdict("restart"),
            14 | 15 => Saying::Blocked("lost"),
            16 => Saying::Blocked("security_concern"),
            17 => Saying::Blocked("unheard_of"),
            18 => Saying::Delegate((*self.chance.pick(&AGENTS)).to_owned()),
            19 => Saying::NeedsReview,
            20 => Saying::Asks,
            21 => Saying::Stops,
            22 => {
                self.count("agent lies");
                Saying::Lie
            }
            _ => {
                self.count("agent says nothing that can be read");
                Saying::Garbage
            }
        }
    }

    /// What a person says, wherever they are asked.
    pub fn decision(&self, question: &Question) -> Decision {
        if self.is_clear() {
            return agreeable(question);
        }
        let answer = || Decision::Answer { answers: "The year 2025 comes first.".to_owned() };
        let reject = || Decision::Reject { feedback: "12 invoices are missing".to_owned() };
        let ask = || Decision::Ask { question: "Where are the other 12?".to_owned() };
        match question.reply {
            ExpectedReply::Review => match self.chance.below(5) {
                0 | 1 => Decision::Approve,
                2 | 3 => reject(),
                _ => ask(),
            },
            ExpectedReply::Clarification => answer(),
            ExpectedReply::Escalation => match self.chance.below(4) {
                0 | 1 => answer(),
                2 => reject(),
                _ => ask(),
            },
            reply @ (ExpectedReply::Choice | ExpectedReply::GateChoice) => {
                let words: Vec<&str> = question.choices.iter().map(|(word, _)| word.as_str()).collect();
                match self.chance.happens(0.1) && reply == ExpectedReply::GateChoice {
                    true => reject(),
                    false => Decision::Answer { answers: (*self.chance.pick(&words)).to_owned() },
                }
            }
            ExpectedReply::Approval | ExpectedReply::Request => match self.chance.below(4) {
                0..=2 => Decision::Approve,
                _ => reject(),
            },
        }
    }

    /// How long somebody works.
    pub fn time(&self) -> Duration {
        match self.chance.below(20) {
            _ if self.is_clear() => self.chance.about(Duration::from_secs(20)),
            0 => Duration::ZERO,
            1 => self.chance.about(self.usual * 20),
            _ => self.chance.about(self.usual),
        }
    }
}

impl Mind for Mood {
    fn sessions(&self, agent: &str) -> SessionKind {
        let kinds = [SessionKind::Chosen, SessionKind::Told];
        let known = AGENTS.iter().position(|name| *name == agent).filter(|_| self.sessions);
        known.map_or(SessionKind::OneTurn, |index| kinds[index % kinds.len()])
    }

    fn work(&self, job: &Job) -> (Duration, Act) {
        let time = self.time();
        if !self.is_clear() {
            match self.chance.below(40) {
                0 if job.timeout.is_some() => {
                    self.count("agent hangs");
                    return (time, Act::Hangs);
                }
                5 | 6 if job.timeout.is_some() => {
                    self.count("agent answers when time limit reached");
                    return (time, Act::SaysLate(self.saying()));
                }
                1..=3 => {
                    self.count("agent fails");
                    return (time, Act::Fails(Failure::new(Code::processing_error(), "exit 3")));
                }
                4 => {
                    self.count("agent fails for good");
                    return (time, Act::Fails(Failure::new(Code::schema_validation_failed(), "no such field")));
                }
                _ => {}
            }
        }
        (time, Act::Says(self.saying()))
    }

    fn check(&self, _: &CheckCommand) -> (Duration, bool) {
        (self.chance.about(Duration::from_secs(5)), self.is_clear() || !self.chance.happens(0.25))
    }

    fn examine(&self) -> Duration {
        self.chance.about(Duration::from_secs(3))
    }

    fn changes_approved_files(&self) -> bool {
        let changes = !self.is_clear() && self.chance.happens(0.2);
        if changes {
            self.count("approved files changed");
        }
        changes
    }

    fn decide(&self, question: &Question) -> Person {
        if self.silent && self.is_clear() {
            return Person::Nobody;
        }
        match self.chance.below(8) {
            _ if self.is_clear() => Person::Says(Duration::from_secs(5), agreeable(question)),
            0 | 1 => Person::Nobody,
            2 => {
                self.count("person never answers");
                Person::Silent
            }
            3 => {
                self.count("person answers late");
                Person::Says(self.chance.about(Duration::from_secs(7_200)), self.decision(question))
            }
            _ => Person::Says(self.chance.about(Duration::from_secs(60)), self.decision(question)),
        }
    }
}
