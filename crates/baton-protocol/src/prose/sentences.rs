//! Owns the count of sentences in a summary.
//! Refuses to know how many there may be.
//! Invariant: in doubt a full stop ends no sentence, so that names, versions and abbreviations are never counted.

/// Words that a full stop belongs to, lower case and without it.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "vs", "cf", "approx", "ca", "fig", "sec", "ref", "dr", "mr", "mrs", "ms", "st", "al",
    "incl", "excl", "resp", "max", "min", "est", "dept", "inc", "ltd", "jr", "sr", "no", "nr", "pp", "p", "ch", "ver",
    "z.b", "d.h", "u.a",
];

/// Counts the sentences of a text. Items of a list are not counted.
#[must_use]
pub fn sentences(text: &str) -> usize {
    let mut count = 0;
    // What has been read of a sentence that has not ended yet.
    let mut open = false;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() {
            count += usize::from(open);
            open = false;
        } else if !is_item(line) {
            count += ends(line, &mut open);
        }
    }
    count + usize::from(open)
}

/// Counts the sentences that end in a line; `open` is true if one continues after it.
fn ends(line: &str, open: &mut bool) -> usize {
    let mut count = 0;
    for (at, mark) in line.char_indices() {
        if mark.is_alphanumeric() {
            *open = true;
        }
        let (before, behind) = (&line[..at], &line[at + mark.len_utf8()..]);
        let is_end = match mark {
            '。' | '！' | '？' => true,
            '!' | '?' | '…' => begins_anew(behind),
            '.' => begins_anew(behind) && !is_abbreviated(before),
            _ => false,
        };
        if is_end && *open {
            count += 1;
            *open = false;
        }
    }
    count
}

/// Returns whether the text after a full stop can begin a new sentence.
fn begins_anew(behind: &str) -> bool {
    let behind = behind.trim_start_matches(['"', '\'', ')', ']', '`', '”', '’', '*']);
    let next = behind.trim_start();
    let first = next.trim_start_matches(['"', '\'', '(', '[', '“', '‘', '*']).chars().next();
    next.is_empty() || (behind.len() != next.len() && first.is_none_or(|first| !first.is_lowercase()))
}

/// Returns whether the full stop behind a text belongs to its last word.
fn is_abbreviated(before: &str) -> bool {
    let mut words = before.rsplit(|character: char| character.is_whitespace() || "(\"'[".contains(character));
    let word = words.next().unwrap_or_default();
    let is_number = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let known = |known: &&str| known.eq_ignore_ascii_case(word);
    // "Options: 1. Redis" counts; "Upgraded from 3 to 5." ends.
    let stands_apart = || {
        let left = before[..before.len() - word.len()].trim_end();
        !left.ends_with(|character: char| character.is_alphanumeric())
    };
    word.is_empty() || is_letter || ABBREVIATIONS.iter().any(known) || (is_number && stands_apart())
}

/// Returns whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|character: char| character.is_ascii_digit());
    ["- ", "* ", "• ", "+ "].iter().any(|bullet| line.starts_with(bullet))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn one_sentence_is_one_whatever_stops_it_has() {
        for text in [
            "Implemented get-issue wrapper with Zod validation, achieved 89% test coverage",
            "Upgraded to v1.2.3 of serde, e.g. for src/wire.rs and Cargo.toml.",
            "The API (cf. docs/api.md, sec. 4) answers in 1.5 s, i.e. within the limit.",
            "Chose option B. (see ADR-4)",
            "Bumped Node.js to 22.4 in package.json; 3.5 MB smaller.",
            "Moved from 3.11 to 3.12. all wheels build",
            "Asked Dr. Meyer, who agrees.",
            "Wrote the parser\nand its tests\nin one file.",
            "Added sanitize.validateAlphanumeric() and z.string().refine(…) to the schema.",
            "\"It works.\" is what the customer said.",
        ] {
            assert_eq!(sentences(text), 1, "{text}");
        }
    }

    #[test]
    fn sentences_are_counted() {
        for (text, count) in [
            ("", 0),
            ("...", 0),
            ("One. Two.", 2),
            ("Upgraded from 3 to 5. All tests pass.", 2),
            ("Read the spec. Wrote src/quota.rs. Ran 14 tests. All pass.", 4),
            ("Is it ready? Yes! Ship it", 3),
            ("First line.\n\nSecond paragraph", 2),
            ("Three options:\n1. Redis. Fast.\n2. Postgres.\n- SQLite.\n", 1),
            ("(Wrote the parser.) (Ran the tests.)", 2),
            ("修复了登录页面。补充了测试。", 2),
            ("Done. `quota.rs` counts calls. \"Fine,\" says the lead.", 3),
        ] {
            assert_eq!(sentences(text), count, "{text}");
        }
    }
}
