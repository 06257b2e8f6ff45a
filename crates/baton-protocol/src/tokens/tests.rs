//! The counts, against the crate that they must agree with.

use proptest::prelude::*;

use super::merge::{count_by_heap, count_by_scan};
use super::pieces::piece_length;
use super::vocabulary::rank_of;
use super::{count, over_budget};

/// Texts that each exercise one rule of the pattern, and several at their borders.
const SAMPLES: [&str; 32] = [
    "",
    " ",
    "a",
    "\n",
    "Hello, world! This is ordinary English text.",
    "fn main() {\r\n    write!(out, \"{}\", 1 + 22 * 333);\r\n}\r\n",
    "one\r\n\r\n  two\n \n\tthree \r four\u{85}five\u{2028}six",
    "    indented\n        deeper\n\n\n    back   \n",
    "trailing   ",
    "   ",
    "  5  !  x  \n  ",
    "\t\tif x:\n\t\t\treturn\t\t5",
    "I'll we've they're it's don't I'm he'd IT'S WE'LL I'Ve",
    "it'\u{17f} 's 'S 'x l'l l'lx r'e r're ''s",
    "1 12 123 1234 12345 1234567890 3.14159 \u{0661}\u{0662}\u{0663}\u{0664} \u{2167} \u{00bd}",
    "camelCase PascalCase SCREAMING_CASE HTTPServer parseHTML2JSON x1y2 \u{01c5}abc",
    "// path/to/file.rs:12 https://example.com/a?b=c&d=e#f !!!///\n\n/",
    "\u{1f600}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} \u{2764}\u{fe0f} ok\u{1f44d}\u{1f3fd}",
    "\u{4f60}\u{597d}\u{4e16}\u{754c}\u{3002}\u{6771}\u{4eac}\u{30bf}\u{30ef}\u{30fc} \u{d55c}\u{ad6d}\u{c5b4} \u{3000}\u{3000}\u{3042}",
    "e\u{301}a\u{308} \u{301}\u{301}A \u{301} \u{301}a \u{301}1 !\u{301} \u{301}'s A\u{301}B",
    "\u{2b0}ABC A\u{2b0}BC \u{5d0}ABC ABC\u{5d0}D ABC\u{5d0}d \u{2b0}",
    "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}! \u{39a}\u{3b1}\u{3bb}\u{3b7}\u{3bc}\u{3ad}\u{3c1}\u{3b1}",
    "\u{645}\u{631}\u{62d}\u{628}\u{627} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35}",
    "\u{a0}\u{a0}non-breaking\u{a0}spaces \u{200b}\u{200b} zero width \u{feff}",
    "\0\u{1}\u{7f}\u{fffd}\u{e000}\u{10ffff}\u{378}",
    "<|endoftext|> and <|endofprompt|>",
    "{\"key\": [1, -2.5e10, null, true], \"other\": \"va\\\"lue\\n\"}",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet x = 1;\n```\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ================================",
    "Donaudampfschifffahrtsgesellschaftskapit\u{e4}n Rindfleischetikettierungs\u{fc}berwachung",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "QmFzZTY0IGlzIG5vdCBhIGdvb2QgZml0IGZvciB0b2tlbnMsIGJ1dCBpdCBoYXBwZW5z==",
];

/// Counts with the crate that this module must agree with.
fn reference(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// Splits with this module, to be compared with the pieces of the reference.
fn pieces(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_length(rest));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn assert_same(text: &str) {
    let expected: Vec<&str> = bpe_openai::o200k_base().split(text).collect();
    assert_eq!(pieces(text), expected, "pieces of {text:?}");
    assert_eq!(count(text), reference(text), "count of {text:?}");
}

#[test]
fn samples_and_their_pairs_match_the_reference() {
    for first in SAMPLES {
        assert_same(first);
        for second in SAMPLES {
            assert_same(&format!("{first}{second}"));
        }
    }
}

#[test]
fn every_token_has_its_rank_and_matches_the_reference() {
    let vocabulary = &bpe_openai::o200k_base().bpe;
    for rank in 0..u32::try_from(vocabulary.num_tokens()).unwrap() {
        let token = vocabulary.token_bytes(rank);
        assert_eq!(rank_of(token), rank);
        assert_eq!(vocabulary.count(token), 1);
    }
}

#[test]
fn every_character_is_split_like_the_reference() {
    // Each character meets letters, a number, white space and a symbol. The planes between
    // these ranges and after them are unassigned or for private use.
    let text: String = ('\0'..='\u{33fff}')
        .chain('\u{e0000}'..='\u{e0fff}')
        .flat_map(|character| ['A', character, 'a', character, '1', character, ' ', '!'])
        .collect();
    let ours = pieces(&text);
    let expected = bpe_openai::o200k_base().split(&text);
    assert!(expected.eq(ours.iter().copied()));
}

#[test]
fn runs_of_one_character_match_the_reference() {
    for unit in ["a", "A", "=", " ", "\n", "\r\n", "\t", "0", "\u{e9}", "\u{4f60}", "\u{1f600}"] {
        for length in [2, 3, 63, 64, 65, 127, 128, 129, 130, 1000, 4099] {
            let run = unit.repeat(length);
            assert_same(&run);
            assert_same(&format!("x {run}"));
            assert_same(&format!("{run}x"));
        }
    }
}

#[test]
fn long_runs_of_one_character_finish() {
    for unit in ["a", "=", " "] {
        let text = unit.repeat(200_000);
        assert!(count(&text) > 1000, "count of a run of {unit:?}");
    }
}

#[test]
fn a_count_is_over_budget_only_above_it() {
    let text = "Hello, world! This is ordinary English text.";
    let tokens = count(text);
    assert_eq!(over_budget(text, tokens - 1), Some(tokens));
    assert_eq!(over_budget(text, tokens), None);
    assert_eq!(over_budget(text, text.len()), None);
    assert_eq!(over_budget(text, 0), Some(tokens));
    assert_eq!(over_budget("", 0), None);
}

/// Fragments whose mixtures reach most borders between the alternatives of the pattern.
const FRAGMENTS: &str = "(?s)(\
    [ \t]{1,5}|\r\n|\n|\r|\u{a0}|\u{2003}|[a-z]{1,9}|[A-Z]{1,4}|[A-Z][a-z]{1,7}|[0-9]{1,5}|\
    '[a-zA-Z\u{17f}]{1,2}|[!-/:-@\\[-`{-~]{1,4}|[\u{300}-\u{304}]|[\u{2b0}-\u{2b4}]|\
    [\u{4e00}-\u{4fff}]{1,4}|[\u{1f600}-\u{1f64f}]|[\u{410}-\u{44f}]{1,6}|\
    [\u{5d0}-\u{5ea}]{1,4}|\u{1c5}|\u{200d}|\u{fe0f}|[\u{660}-\u{669}]{1,4}|.){0,60}";

proptest! {
    #[test]
    fn random_fragments_match_the_reference(text in FRAGMENTS) {
        assert_same(&text);
    }

    #[test]
    fn random_unicode_matches_the_reference(text in "(?s).{0,80}") {
        assert_same(&text);
    }

    #[test]
    fn random_white_space_matches_the_reference(text in r"([\s]{1,6}[a!1]?){0,20}") {
        assert_same(&text);
    }

    #[test]
    fn random_code_matches_the_reference(
        text in "([a-z_]{1,12}(::|\\.|\\(\\)|;\n| = |, | \\{\n    |\\}\n\n|/|\"|->| // )){0,60}",
    ) {
        assert_same(&text);
    }

    #[test]
    fn scan_and_heap_agree_with_the_reference(
        piece in prop::collection::vec(prop_oneof![any::<u8>(), b'a'..b'f', Just(b' ')], 1..600),
    ) {
        let expected = bpe_openai::o200k_base().bpe.count(&piece);
        prop_assert_eq!(count_by_scan(&piece, &mut Vec::new()), expected);
        prop_assert_eq!(count_by_heap(&piece), expected);
    }
}
