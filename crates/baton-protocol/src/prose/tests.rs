//! Owns the proof that the judges agree with the sentence collections.
//! Refuses to know how the judges weigh words.
//! Invariant: a failure lists every misjudged sentence, not just the first.

use std::fmt::Write as _;

use super::{raw_dump, unmeasurable, vague};

type Judge = fn(&str) -> Option<&'static str>;

const VAGUE: &str = include_str!("../../sentences/vague.txt");
const CONCRETE: &str = include_str!("../../sentences/concrete.txt");
const UNMEASURABLE: &str = include_str!("../../sentences/unmeasurable.txt");
const MEASURABLE: &str = include_str!("../../sentences/measurable.txt");

fn sentences(collection: &str) -> impl Iterator<Item = &str> {
    collection.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[track_caller]
fn expect_all(collection: &str, judge: Judge, flagged: bool) {
    let count = sentences(collection).count();
    assert!(count >= 60, "only {count} sentences");
    let mut misjudged = String::new();
    for sentence in sentences(collection) {
        let reason = judge(sentence);
        if reason.is_some() != flagged {
            let _ = writeln!(misjudged, "  {sentence:?} -> {reason:?}");
        }
    }
    assert!(misjudged.is_empty(), "misjudged:\n{misjudged}");
}

#[test]
fn vague_sentences_are_flagged() {
    expect_all(VAGUE, vague, true);
}

#[test]
fn concrete_sentences_are_not_flagged() {
    expect_all(CONCRETE, vague, false);
}

#[test]
fn unmeasurable_sentences_are_flagged() {
    expect_all(UNMEASURABLE, unmeasurable, true);
}

#[test]
fn measurable_sentences_are_not_flagged() {
    expect_all(MEASURABLE, unmeasurable, false);
}

#[test]
fn collected_sentences_are_never_raw_dumps() {
    for collection in [VAGUE, CONCRETE, UNMEASURABLE, MEASURABLE] {
        expect_all(collection, raw_dump, false);
    }
}

#[test]
fn no_sentence_is_collected_twice() {
    let mut all: Vec<&str> = [VAGUE, CONCRETE, UNMEASURABLE, MEASURABLE].into_iter().flat_map(sentences).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn blank_text_is_empty() {
    for blank in ["", "  \n\t ", "\u{a0}"] {
        assert_eq!(vague(blank), Some("is empty"), "{blank:?}");
        assert_eq!(unmeasurable(blank), Some("is empty"), "{blank:?}");
        assert_eq!(raw_dump(blank), None, "{blank:?}");
    }
}

#[test]
fn reasons_name_the_kind_of_vagueness() {
    assert_eq!(vague("Fixed it"), Some("says that something was done, but not what"));
    assert_eq!(vague("As discussed"), Some("points at something outside the text instead of saying it"));
    assert_eq!(vague("WIP"), Some("says that work goes on, but not on what"));
    assert_eq!(vague("Hmm"), Some("is too short to start work from"));
}

#[test]
fn reasons_name_the_kind_of_immeasurability() {
    assert_eq!(unmeasurable("Be fast"), Some("asks for speed without a number"));
    assert_eq!(unmeasurable("Be careful"), Some("asks for effort, which cannot be observed"));
    assert_eq!(unmeasurable("Be robust"), Some("asks for a quality without saying how to check it"));
    assert_eq!(unmeasurable("Reduce complexity"), Some("asks for a change without a target"));
    assert_eq!(unmeasurable("Make it work"), Some("names nothing that can be checked"));
}

#[test]
fn odd_text_never_panics() {
    let odd = [
        "'",
        "\u{2019}",
        "a\u{2019}",
        "\u{e9}",
        "\u{1f680}",
        "日",
        "-",
        "--",
        ".",
        "a.",
        "\"",
        "```",
        "@@ -",
        "1",
        "at ",
        "[",
        "\u{feff}x",
    ];
    for left in odd {
        for right in odd {
            for text in [left.to_owned(), format!("{left}{right}"), format!("{left} {right}\n{left}")] {
                let _ = (vague(&text), unmeasurable(&text), raw_dump(&text));
            }
        }
    }
}

#[test]
fn pasted_material_is_flagged() {
    let code = "let total = 0;\nfor item in cart {\n    total += item.price;\n}\nif total > limit {\n    reject();\n}\nreturn total;\n";
    let python = "def load(path):\n    pass\nimport os\nimport sys\nx = {\ny = {\nz = {\n}\nconst limit = 3\n";
    let diff = "Changed the limit:\n@@ -1,3 +1,3 @@\n-limit = 3\n+limit = 5\n";
    let java = "It failed:\nIllegalStateException: closed\n  at shop.Cart.add(Cart.java:41)\n  at shop.Main.main(Main.java:9)\n";
    let python_trace = "Traceback (most recent call last):\n  File \"cart.py\", line 3, in add\nValueError: closed";
    let log = "2025-03-01 10:00:01 INFO start\n2025-03-01T10:00:02Z WARN slow\n[10:00:03] ERROR gone\n";
    let json = format!("{{{}}}", (0..12).map(|key| format!("\"field{key}\": {key}")).collect::<Vec<_>>().join(", "));
    let hexadecimal = format!("The digest is {}", "9f86d081884c7d65".repeat(13));
    for text in [
        "Changed this:\n```rust\nfn main() {}\n```\n",
        code,
        python,
        diff,
        java,
        python_trace,
        log,
        &json,
        &hexadecimal,
        "The config contains the following code: limit equals three and so on",
        "Here is the full file as it stands now",
        "I opened the router, then I looked at the store, after that I searched the tests.",
    ] {
        assert!(raw_dump(text).is_some(), "{text}");
    }
}

#[test]
fn summaries_with_structure_are_not_raw_dumps() {
    let bullets = "Changes so far:\n- login form;\n- logout link;\n- password reset;\n- lockout;\n- audit log;\n- rate limit;\n- captcha;\n- metrics;\n* docs\n1. next: review\n2. then: deploy;\n";
    let path = "src/very/long/path/to/some/module/".repeat(8);
    let ruler = "=".repeat(240);
    for text in [
        bullets,
        &path,
        &ruler,
        "Result is {id, title, state}; call `load(id)` and expect Result<Item, Error>.",
        "At 10:15:00 the import stopped; at 10:20:00 it was restarted.",
        "thread 'main' panicked at src/cart.rs:41, cause not yet known",
        "I looked at the cart module: totals are rounded twice. Fix in cart.rs.",
        "The table contains the following columns: id, name, price.",
        "Returns {\"id\": 1, \"name\": \"x\"} for a known item.",
        "From the start we wanted one router.\nImport of users works.\nClass names follow the old scheme.",
    ] {
        assert_eq!(raw_dump(text), None, "{text}");
    }
}
