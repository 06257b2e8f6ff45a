//! Owns the verdict on summaries: is there enough in the text to start work from?
//! Refuses to know where the text came from, and whether what it says is true.
//! Invariant: unknown words count as content, so only known filler can make a text vague.

use super::tokens::{Shape, Token, tokens};
use super::words;

/// Enough substance for any text.
const ENOUGH: u32 = 3;
/// Enough for a text that does not claim to have done something.
const ENOUGH_WITHOUT_CLAIM: u32 = 2;

const FILLER: u32 =
    words::GLUE | words::CLAIM | words::ACT | words::GENERIC | words::ARTIFACT | words::POINTER | words::ONGOING;

/// Why a summary or a context is too vague to start work from, or `None` when it will do.
///
/// The text is weighed word by word; three points are enough, and two are enough when the text
/// does not claim that something was done ("done", "added", "works", "ready").
///
/// * Three points: a path, a call, a flag, `code`, a dotted, underscored or camelCase
///   identifier, a label such as EP-001.
/// * Two points: a name (a capital inside a sentence), an acronym, a number with a unit, a
///   percentage, a version or a range, a short label such as P0, a question with "or".
/// * One point: a bare number, a quoted value, and every word that is not filler. Words of
///   other languages are never filler; scripts without spaces earn a point per two characters.
/// * One point more: a number before a kind of work product ("12 tests") and how those ended
///   ("pass"), a word after "no", and the second thing if it says where ("typo in footer").
/// * No points, filler: pronouns, articles and prepositions; verbs and states of doing (done,
///   add, fixed, works, ready); objects that fit any project (task, code, changes, tests,
///   module, issue); pointers out of the text (see above, as discussed); talk of going on (in
///   progress, continue).
#[must_use]
pub fn vague(text: &str) -> Option<&'static str> {
    let mut weight = 0;
    let mut seen = 0;
    let mut count = 0;
    let mut together = Together::default();
    for token in tokens(text) {
        count += 1;
        seen |= token.flags;
        weight += points(&token) + together.extra(&token, weight > 0);
        if weight >= ENOUGH {
            return None;
        }
    }
    if count == 0 {
        return Some("is empty");
    }
    if seen & words::CHOICE != 0 && text.contains('?') {
        weight += 2;
    }
    let enough = if seen & words::CLAIM == 0 { ENOUGH_WITHOUT_CLAIM } else { ENOUGH };
    if weight >= enough { None } else { Some(reason(seen)) }
}

fn points(token: &Token) -> u32 {
    if token.flags & FILLER != 0 {
        return 0;
    }
    let shape = match token.shape {
        Shape::Code | Shape::Camel => 3,
        Shape::Label if token.letters > 2 => 3,
        Shape::Label | Shape::Acronym | Shape::Name | Shape::Amount => 2,
        Shape::Number => 1,
        Shape::Wide(characters) => characters / 2,
        Shape::Mark => 0,
        Shape::Word => u32::from(token.letters > 1),
    };
    shape + u32::from(token.quoted)
}

/// Words that say more together than alone: "12 tests" and "no conflicts" are results, "in footer" is a place.
#[derive(Default)]
struct Together {
    before: Option<Token>,
    /// A preposition stands before, with nothing but glue behind it.
    placed: bool,
    /// Something was counted.
    counted: bool,
}

impl Together {
    /// Returns what a token is worth beyond its own points; `more` is true if there was content before it.
    fn extra(&mut self, token: &Token, more: bool) -> u32 {
        let joined = self.before.replace(*token).filter(|before| !before.ends);
        let follows = |flag: u32| joined.is_some_and(|before| before.flags & flag != 0);
        let is_content = token.shape == Shape::Word && points(token) > 0;
        let number = joined.is_some_and(|before| matches!(before.shape, Shape::Number | Shape::Amount));
        let counted = number && token.flags & words::ARTIFACT != 0;
        let outcome = self.counted && token.flags & words::EVIDENCE != 0;
        let none = is_content && follows(words::NONE);
        let placed = is_content && more && self.placed;
        self.counted = (self.counted || counted) && !outcome;
        self.placed =
            !token.ends && (token.flags & words::PLACE != 0 || (self.placed && token.flags & words::GLUE != 0));
        u32::from(counted) + u32::from(outcome) + u32::from(none) + u32::from(placed)
    }
}

const fn reason(seen: u32) -> &'static str {
    if seen & words::POINTER != 0 {
        "points at something outside the text instead of saying it"
    } else if seen & words::ONGOING != 0 {
        "says that work goes on, but not on what"
    } else if seen & words::CLAIM != 0 {
        "says that something was done, but not what"
    } else {
        "is too short to start work from"
    }
}
