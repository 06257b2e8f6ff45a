//! Splitting: a text is cut into pieces before tokens are merged, and no token crosses a cut. The
//! functions follow the alternatives of this pattern in its order, the first match wins:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(contraction)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(contraction)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! It is written by hand because building the regex takes longer than counting a usual text.

/// The characters of the upper-case part of a word: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
const UPPER: u8 = 1 << 0;
/// The characters of the lower-case part of a word: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
const LOWER: u8 = 1 << 1;
/// The characters that may lead a word: `[^\r\n\p{L}\p{N}]`.
const LEAD: u8 = 1 << 2;
/// The digits and other numbers: `\p{N}`.
const NUMBER: u8 = 1 << 3;
/// White space: `\s`.
const SPACE: u8 = 1 << 4;
/// Everything else: `[^\s\p{L}\p{N}]`.
const SYMBOL: u8 = 1 << 5;

/// Which block of `CHARACTER_SETS` describes 128 neighbouring characters.
static CHARACTER_BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/character_blocks.bin"));

/// The sets above that each character of a block belongs to.
static CHARACTER_SETS: &[[u8; 128]] = include_bytes!(concat!(env!("OUT_DIR"), "/character_sets.bin")).as_chunks().0;

fn is_in(set: u8) -> impl Fn(char) -> bool {
    move |character| {
        let code = character as usize;
        let block = usize::from(CHARACTER_BLOCKS[code / 128]);
        CHARACTER_SETS[block][code % 128] & set != 0
    }
}

/// Returns the length in bytes of the longest start of `text` that `is_member` holds for.
fn run_length(text: &str, is_member: impl Fn(char) -> bool) -> usize {
    text.find(|character| !is_member(character)).unwrap_or(text.len())
}

/// Returns the length in bytes of the first character of `text` if `is_member` holds for it.
fn first_length(text: &str, is_member: impl Fn(char) -> bool) -> Option<usize> {
    let first = text.chars().next()?;
    is_member(first).then_some(first.len_utf8())
}

/// Returns the length in bytes of the first piece of `text`, which must not be empty.
pub(super) fn piece_length(text: &str) -> usize {
    plain_word_length(text)
        .or_else(|| word_length(text))
        .or_else(|| number_length(text))
        .or_else(|| symbols_length(text))
        .unwrap_or_else(|| space_length(text))
}

/// Finds what [`word_length`] finds, for the most frequent pieces: small ASCII letters with at most one ASCII character
/// before them, up to another ASCII character that cannot belong to the word.
fn plain_word_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let may_lead = first.is_ascii() && !first.is_ascii_alphanumeric() && !matches!(first, b'\r' | b'\n');
    let start = usize::from(may_lead);
    let letters = bytes[start..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let ends = bytes.get(start + letters).is_none_or(|next| next.is_ascii() && *next != b'\'');
    // A capital after small letters begins the next piece; one before them is for the general rule.
    (letters > 0 && ends).then_some(start + letters)
}

/// A word may start with one character that is not a letter. Marks are both letter-like and a possible lead, so a word
/// that fails after its lead is tried again without one.
fn word_length(text: &str) -> Option<usize> {
    let lead = first_length(text, is_in(LEAD));
    let (start, body) = lead.map_or((0, text), |length| (length, &text[length..]));
    let length = lower_case_end(body)
        .map(|end| start + end)
        .or_else(|| lead.and_then(|_| lower_case_end(text)))
        .or_else(|| upper_case_end(body).map(|end| start + end))?;
    Some(length + contraction_length(&text[length..]))
}

/// Matches `UPPER*LOWER+`. If nothing is left for the lower-case part, the upper-case part gives
/// back characters until one of them (a letter without case or a mark) can be that part.
fn lower_case_end(text: &str) -> Option<usize> {
    let upper = run_length(text, is_in(UPPER));
    let lower = run_length(&text[upper..], is_in(LOWER));
    if lower > 0 {
        return Some(upper + lower);
    }
    let last = text[..upper].rfind(is_in(LOWER))?;
    first_length(&text[last..], is_in(LOWER)).map(|length| last + length)
}

/// Matches `UPPER+`. The `LOWER*` that follows in the pattern is always empty here, since
/// `lower_case_end` would have matched otherwise.
fn upper_case_end(text: &str) -> Option<usize> {
    Some(run_length(text, is_in(UPPER))).filter(|length| *length > 0)
}

/// Matches `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`. The long s is an s when case is ignored.
fn contraction_length(text: &str) -> usize {
    let Some(suffix) = text.strip_prefix('\'') else {
        return 0;
    };
    let mut letters = suffix.chars().map(|letter| letter.to_ascii_lowercase());
    match (letters.next(), letters.next()) {
        (Some('s' | 't' | 'm' | 'd'), _) => 2,
        (Some('ſ'), _) | (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l')) => 3,
        _ => 0,
    }
}

/// Matches `NUMBER{1,3}`.
fn number_length(text: &str) -> Option<usize> {
    let digits = text.chars().take(3).take_while(|digit| is_in(NUMBER)(*digit));
    Some(digits.map(char::len_utf8).sum()).filter(|length| *length > 0)
}

/// Matches ` ?SYMBOL+[\r\n/]*`.
fn symbols_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix(' ').unwrap_or(text);
    let symbols = run_length(body, is_in(SYMBOL));
    if symbols == 0 {
        return None;
    }
    let tail = run_length(&body[symbols..], |end| matches!(end, '\r' | '\n' | '/'));
    Some(text.len() - body.len() + symbols + tail)
}

/// Matches `SPACE*[\r\n]+`, then `SPACE+(?!\S)`, then `SPACE+`: white space up to its last line
/// end, else up to the end of the text, else all but the last character, which may lead a word.
fn space_length(text: &str) -> usize {
    let run = &text[..run_length(text, is_in(SPACE))];
    if let Some(line_end) = run.rfind(['\r', '\n']) {
        return line_end + 1;
    }
    if run.len() == text.len() {
        return run.len();
    }
    match run.char_indices().next_back() {
        Some((last, _)) if last > 0 => last,
        _ => run.len(),
    }
}
