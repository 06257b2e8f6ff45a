//! Owns the verdict on criteria and constraints: could somebody check them?
//! Refuses to know whether they are met, or whether they are wise.
//! Invariant: only known words of quality, speed, effort or change, or a text without any
//! content, are flagged; whatever carries evidence is not.

use super::tokens::{Shape, Token, tokens};
use super::words;

const NEUTRAL: u32 = words::GLUE | words::CLAIM | words::ACT | words::GENERIC | words::ABSTRACT;
const JUDGED: u32 = words::QUALITY | words::SOFT | words::SPEED | words::CARE | words::CHANGE;

/// A text that says this much besides a quality word describes something concrete.
const MUCH_CONTENT: u32 = 5;
/// The same for verbs of change and for qualities that can also be facts.
const SOME_CONTENT: u32 = 2;

/// Returns why a criterion or constraint cannot be checked, or `None` if it can.
///
/// Measurable, whatever else is said: a number, a threshold or a percentage, spelled-out numbers
/// included; a count of none ("no open findings", "without warnings"), unless what is denied is
/// itself a matter of taste ("no messy code"); an event anyone can see (passes, merged,
/// approved, deployed, exists, compiles, rejects, matches); a comparison ("than"); a named
/// standard (OWASP, WCAG, GDPR, RFC); a file, an endpoint, a flag or a piece of code, that is a
/// word with a dot, slashes, an underscore or backticks.
///
/// Unmeasurable, without any of these: a quality in the eye of the beholder (good, clean,
/// robust, scalable, friendly, properly, best); speed without a number (quickly, fast, soon); an
/// appeal to effort (careful); a verb of change without a target (improve, optimize, reduce); or
/// nothing but filler ("make it work"). Words such as "secure", "clean" or "stable" do not count
/// directly before a specific noun ("secure cookies"), and a quality word inside a text with
/// several specific words is let pass: in doubt, measurable.
#[must_use]
pub fn unmeasurable(text: &str) -> Option<&'static str> {
    let mut tally = Tally::default();
    for token in tokens(text) {
        if tally.take(&token) {
            return None;
        }
    }
    tally.verdict()
}

#[derive(Default)]
struct Tally {
    tokens: u32,
    content: u32,
    judged: u32,
    /// A soft quality waits for the next word to decide whether it is a fact.
    soft: bool,
    /// A "no" waits for the word it denies.
    denial: bool,
}

impl Tally {
    /// Adds one token; true means that the text is measurable, whatever follows.
    fn take(&mut self, token: &Token) -> bool {
        self.tokens += 1;
        let flags = token.flags;
        let counted = match token.shape {
            Shape::Number | Shape::Amount | Shape::Label | Shape::Code => true,
            Shape::Mark => return false,
            _ => flags & (words::EVIDENCE | words::COUNT) != 0,
        };
        if counted || self.denies(token) {
            return true;
        }
        self.settle_soft(token);
        if flags & JUDGED != 0 {
            self.judge(token);
        } else if flags & NEUTRAL == 0 && token.letters > 1 {
            self.content += 1;
        } else if let Shape::Wide(characters) = token.shape {
            self.content += characters / 2;
        }
        false
    }

    fn denies(&mut self, token: &Token) -> bool {
        if token.flags & words::NONE != 0 {
            self.denial = true;
            return false;
        }
        if !self.denial || token.flags == words::GLUE {
            return false;
        }
        self.denial = false;
        token.flags & (words::QUALITY | words::SPEED | words::SOFT) == 0
    }

    /// "secure cookies" and "as well as" are facts, "secure" and "secure code" are wishes.
    fn settle_soft(&mut self, token: &Token) {
        let wish = JUDGED | words::GLUE | words::GENERIC | words::ABSTRACT;
        let fact = token.flags & wish == 0 || token.flags & words::AS != 0;
        if self.soft && !fact {
            self.judged |= words::SOFT;
        }
        self.soft = false;
    }

    fn judge(&mut self, token: &Token) {
        if token.flags & JUDGED != words::SOFT {
            self.judged |= token.flags & (JUDGED & !words::SOFT);
        } else if token.ends {
            self.judged |= words::SOFT;
        } else {
            self.soft = true;
        }
    }

    const fn verdict(mut self) -> Option<&'static str> {
        if self.tokens == 0 {
            return Some("is empty");
        }
        if self.denial {
            return None;
        }
        if self.soft {
            self.judged |= words::SOFT;
        }
        if self.judged & words::SPEED != 0 && self.content < MUCH_CONTENT {
            return Some("asks for speed without a number");
        }
        if self.judged & words::CARE != 0 && self.content < MUCH_CONTENT {
            return Some("asks for effort, which cannot be observed");
        }
        if self.judged & words::QUALITY != 0 && self.content < MUCH_CONTENT
            || self.judged & words::SOFT != 0 && self.content < SOME_CONTENT
        {
            return Some("asks for a quality without saying how to check it");
        }
        if self.judged & words::CHANGE != 0 && self.content < SOME_CONTENT {
            return Some("asks for a change without a target");
        }
        if self.content == 0 && self.judged == 0 {
            return Some("names nothing that can be checked");
        }
        None
    }
}
