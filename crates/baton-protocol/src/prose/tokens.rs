//! Owns how prose is cut into tokens, and the shape of each: word, name, number, code.
//! Refuses to know what a word means; the word lists attach the flags.
//! Invariant: the walk never allocates, never panics, and takes time linear in the text.

use super::words::{SEED, flags_of, mix};

/// What a token looks like before anybody asks what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Plain word, hyphenated words included.
    Word,
    /// Capitalised in the middle of a sentence: a name.
    Name,
    /// Two or more capitals and nothing else.
    Acronym,
    /// Lower case followed by upper case: an identifier or a product name.
    Camel,
    /// Path, call, flag, dotted or underscored identifier, `code`, address.
    Code,
    /// Letters followed by digits: "P0", "EP-001".
    Label,
    /// Bare integer.
    Number,
    /// Number with a unit, a fraction, a range or a percent sign.
    Amount,
    /// Script without spaces; holds the number of characters.
    Wide(u32),
    /// No letters and no digits.
    Mark,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) shape: Shape,
    pub(super) flags: u32,
    /// Single letters carry nothing.
    pub(super) letters: u32,
    /// A quotation mark stands directly before the token.
    pub(super) quoted: bool,
    /// Punctuation ends the clause after the token.
    pub(super) ends: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Space,
    Break,
    Quote,
    Lower,
    Upper,
    Digit,
    Mark,
    /// Part of a two-byte letter, or a continuation.
    Letter,
    /// Opens a two-byte space or sign (unbreakable space, guillemets, paragraph sign).
    Sign,
    /// Opens a three-byte character.
    Three,
    /// Opens a four-byte character, in practice an emoji.
    Four,
}

static BYTES: [Byte; 256] = classify();

const fn classify() -> [Byte; 256] {
    let mut table = [Byte::Letter; 256];
    let mut byte: u8 = 0;
    loop {
        table[byte as usize] = match byte {
            b'a'..=b'z' => Byte::Lower,
            b'A'..=b'Z' => Byte::Upper,
            b'0'..=b'9' => Byte::Digit,
            0..=b' ' => Byte::Space,
            b'"' => Byte::Quote,
            b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b'!' | b'?' => Byte::Break,
            0xC2 => Byte::Sign,
            0x80..=0xDF => Byte::Letter,
            0xE0..=0xEF => Byte::Three,
            0xF0..=0xFF => Byte::Four,
            _ => Byte::Mark,
        };
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

/// Walks a text token by token without allocating.
pub(super) struct Tokens<'text> {
    bytes: &'text [u8],
    at: usize,
    /// The next token opens a sentence, so its capital means nothing.
    fresh: bool,
}

/// What the scan of one token saw.
#[derive(Default)]
struct Facts {
    letters: u32,
    uppers: u32,
    digits: u32,
    wide: u32,
    slashes: u32,
    dots: u32,
    camel: bool,
    code: bool,
    digit_first: bool,
    capital_first: bool,
    unit: bool,
}

pub(super) const fn tokens(text: &str) -> Tokens<'_> {
    Tokens { bytes: text.as_bytes(), at: 0, fresh: true }
}

impl Tokens<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b' ')
    }

    fn is_word_byte(&self, at: usize) -> bool {
        matches!(BYTES[self.byte(at) as usize], Byte::Lower | Byte::Upper | Byte::Digit | Byte::Letter)
    }

    /// Skips to the next token; returns whether a quotation mark stands directly before it.
    fn skip_gap(&mut self) -> Option<bool> {
        let mut quoted = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            match BYTES[byte as usize] {
                Byte::Space => {
                    self.fresh |= byte == b'\n';
                    quoted = false;
                    self.at += 1;
                }
                Byte::Break => {
                    self.fresh |= byte == b'!' || byte == b'?';
                    quoted = false;
                    self.at += 1;
                }
                Byte::Quote => {
                    quoted = true;
                    self.at += 1;
                }
                Byte::Three if self.is_separator() => {
                    quoted = self.bytes[self.at..].starts_with("“".as_bytes());
                    self.at += 3;
                }
                Byte::Sign => self.at += 2,
                Byte::Four => self.at += 4,
                _ => return Some(quoted),
            }
        }
        None
    }

    /// Dashes, arrows, quotation marks and full-width punctuation; letters of other scripts not.
    fn is_separator(&self) -> bool {
        let (first, second) = (self.byte(self.at), self.byte(self.at + 1));
        first == 0xE2 || first == 0xEF || (first == 0xE3 && second == 0x80)
    }

    /// The curly apostrophe and the unbreakable hyphen join words like their plain twins.
    fn is_joint(&self) -> bool {
        matches!(self.bytes.get(self.at..self.at + 3), Some([0xE2, 0x80, 0x99 | 0x91]))
    }

    fn read_mark(&mut self, byte: u8, start: usize, facts: &mut Facts) {
        let opens = self.at == start;
        let inside = !opens && self.is_word_byte(self.at - 1) && self.is_word_byte(self.at + 1);
        match byte {
            b'`' => facts.code = true,
            b'_' | b'=' | b'@' | b'\\' | b'<' => facts.code |= inside && facts.letters > 0,
            b'/' => {
                facts.slashes += 1;
                facts.code |= opens && self.is_word_byte(self.at + 1);
            }
            b'.' => {
                facts.dots += u32::from(inside);
                facts.code |= opens && self.byte(self.at + 1) == b'/';
                facts.code |= opens && self.is_word_byte(self.at + 1);
            }
            b':' => facts.code |= self.byte(self.at + 1) == b':' && !opens,
            b'-' => {
                facts.code |= opens && self.byte(self.at + 1) == b'-' && self.is_word_byte(self.at + 2);
            }
            b'%' => facts.unit = true,
            _ => {}
        }
        if opens && matches!(byte, b'@' | b'$' | b'#') && self.is_word_byte(self.at + 1) {
            // why: `#12` is a reference and `$PATH` a name, but `$5` is a price and `#done` a tag
            let number = BYTES[self.byte(self.at + 1) as usize] == Byte::Digit;
            facts.code |= byte == b'@' || number == (byte == b'#');
            facts.unit |= number && byte == b'$';
        }
        facts.unit |= inside && matches!(byte, b'.' | b'-' | b'/' | b':');
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let quoted = self.skip_gap()?;
        let start = self.at;
        let mut facts = Facts::default();
        let mut hash = SEED;
        let mut before = Byte::Space;
        while let Some(&byte) = self.bytes.get(self.at) {
            let kind = BYTES[byte as usize];
            match kind {
                Byte::Upper => {
                    facts.capital_first |= facts.letters == 0 && facts.digits == 0;
                    facts.camel |= before == Byte::Lower;
                    facts.letters += 1;
                    facts.uppers += 1;
                    hash = mix(hash, byte | 0x20);
                }
                Byte::Digit => {
                    facts.digit_first |= facts.letters == 0;
                    facts.digits += 1;
                    hash = mix(hash, byte);
                }
                Byte::Lower | Byte::Letter => {
                    facts.letters += 1;
                    hash = mix(hash, byte);
                }
                Byte::Mark => self.read_mark(byte, start, &mut facts),
                Byte::Three if self.is_joint() => self.at += 2,
                Byte::Three if !self.is_separator() => {
                    facts.wide += 1;
                    self.at += 2;
                }
                _ => break,
            }
            before = kind;
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        let shape = self.shape(&facts);
        let flags = match shape {
            Shape::Word | Shape::Name | Shape::Acronym | Shape::Camel => flags_of(hash),
            _ => 0,
        };
        let last = self.byte(self.at - 1);
        let stop = matches!(last, b'.' | b':');
        self.fresh = stop || (self.fresh && shape == Shape::Mark);
        let ends = stop || BYTES[self.byte(self.at) as usize] == Byte::Break;
        Some(Token { shape, flags, letters: facts.letters, quoted, ends })
    }
}

impl Tokens<'_> {
    fn shape(&self, facts: &Facts) -> Shape {
        if facts.wide > 0 {
            return Shape::Wide(facts.wide);
        }
        if facts.letters == 0 && facts.digits == 0 {
            return Shape::Mark;
        }
        if facts.letters == 0 {
            return match (facts.code, facts.unit) {
                (true, _) => Shape::Code,
                (false, true) => Shape::Amount,
                (false, false) => Shape::Number,
            };
        }
        let call = self.byte(self.at) == b'(' && self.byte(self.at + 1) == b')';
        let path = facts.slashes > 1 || (facts.slashes == 1 && facts.dots > 0);
        if facts.code || call || path || (facts.dots > 0 && facts.letters > 2 && !facts.digit_first) {
            return Shape::Code;
        }
        if facts.digits > 0 {
            return if facts.digit_first { Shape::Amount } else { Shape::Label };
        }
        if facts.camel {
            Shape::Camel
        } else if facts.letters > 1 && facts.uppers == facts.letters {
            Shape::Acronym
        } else if facts.capital_first && !self.fresh {
            Shape::Name
        } else {
            Shape::Word
        }
    }
}
