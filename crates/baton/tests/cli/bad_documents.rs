//! Documents that cannot be read: exactly one clear error each, the right exit, nothing half-read.

use insta::assert_snapshot;

use crate::documents::{BLOCK, PACKAGE, REPORT, report_with, with};
use crate::sandbox::{Sandbox, briefly};

/// Checks one bad document: exactly one error, no panic. Returns where and what.
fn one_error(name: &str, content: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    sandbox.write(name, content);
    let result = sandbox.check_json(&[name]);
    let found = result["files"][0]["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(
        (found.len(), &result["errors"], &result["files"][0]["valid"]),
        (1, &1.into(), &false.into()),
        "{result:#}"
    );
    let run = sandbox.baton(&["check", name]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "{run}");
    assert!(run.stdout.ends_with("failed: 0 of 1 file valid, 1 error, 0 warnings\n"), "{run}");
    let found = &found[0];
    let word = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    format!("{}:{} {}: {}", found["line"], found["column"], word("code"), word("message"))
}

#[test]
fn what_is_not_text() {
    let utf16: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16_unmarked: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_snapshot!(one_error("empty.json", ""), @"1:1 unreadable: the file is empty");
    assert_snapshot!(one_error("empty.md", "\n \t\n"), @"1:1 unreadable: the file is empty");
    assert_snapshot!(one_error("program.json", b"\x7fELF\x02\x01\x01\x00\x00"), @"1:8 unreadable: the file is binary: byte 7 is NUL");
    assert_snapshot!(one_error("latin1.json", b"{\n \"task_id\": \"\xE9t\xE9\"\n}"), @"2:14 unreadable: the file is not UTF-8 text: byte 15 is invalid");
    assert_snapshot!(one_error("utf16.json", utf16), @"1:1 unreadable: the file is UTF-16, not UTF-8");
    assert_snapshot!(one_error("utf16-unmarked.json", utf16_unmarked), @"1:2 unreadable: the file is binary: byte 1 is NUL");
}

#[test]
fn keys_that_stand_twice() {
    assert_snapshot!(one_error("a.json", report_with("\"phase\"", "\"task_id\": \"csv-08\",\n  \"phase\"")), @"3:3 unreadable: duplicate key `task_id`");
    assert_snapshot!(one_error("a.yaml", with(PACKAGE, "  from:\n", "  id: HO-2\n  from:\n")), @"4:3 unreadable: duplicate key `id`");
    assert_snapshot!(one_error("a.md", with(BLOCK, "  \"handoff\"", "  \"status\": \"blocked\",\n  \"handoff\"")), @"14:3 unreadable: duplicate key `status`");
}

#[test]
fn two_documents_in_one_file() {
    assert_snapshot!(one_error("a.json", format!("{REPORT}{REPORT}")), @"20:1 unreadable: the file has more than one JSON document");
    assert_snapshot!(one_error("a.jsonl", "{\"task_id\": \"a\"}\n{\"task_id\": \"b\"}\n"), @"2:1 unreadable: the file has more than one JSON document");
    assert_snapshot!(one_error("a.yaml", format!("{PACKAGE}---\n{PACKAGE}")), @"25:1 unreadable: the file has more than one YAML document");
    assert_snapshot!(one_error("b.json", format!("{REPORT}That is all.")), @"20:1 unreadable: there is more text after the end of the JSON document");
}

#[test]
fn merge_conflicts() {
    let conflict = |document: &str| format!("<<<<<<< HEAD\n{document}=======\n{document}>>>>>>> theirs\n");
    assert_snapshot!(one_error("a.json", conflict(REPORT)), @"1:1 unreadable: the file has merge conflict markers");
    assert_snapshot!(one_error("a.yaml", conflict(PACKAGE)), @"1:1 unreadable: the file has merge conflict markers");
    assert_snapshot!(one_error("a.md", conflict(BLOCK)), @"1:1 unreadable: the file has merge conflict markers");
}

#[test]
fn what_is_no_json() {
    assert_snapshot!(one_error("cut.json", &REPORT[..REPORT.len() / 2]), @"12:37 unreadable: the JSON ends in the middle: it was cut off");
    assert_snapshot!(one_error("comma.json", report_with("[]\n}", "[],\n}")), @"19:1 unreadable: this is not valid JSON: trailing comma");
    assert_snapshot!(one_error("surrogate.json", report_with("csv-07", "csv-\\ud800")), @"2:25 unreadable: this is not valid JSON: unexpected end of hex escape");
    assert_snapshot!(one_error("nan.json", report_with("912", "NaN")), @"17:18 unreadable: this is not valid JSON: expected value");
    assert_snapshot!(one_error("digits.json", report_with("912", "91200000000000000000000000")), @"17:18 unreadable: the integer 91200000000000000000000000 does not fit in 64 bits");
    assert_snapshot!(one_error("comment.json", format!("// a report\n{REPORT}")), @"1:1 unreadable: this is not valid JSON: expected value");
    assert_snapshot!(one_error("control.json", report_with("csv-07", "csv\u{1b}[31m")), @r"2:18 unreadable: this is not valid JSON: control character (\u0000-\u001F) found while parsing a string");
}

#[test]
fn what_is_no_yaml_or_too_much_of_it() {
    assert_snapshot!(one_error("tab.yaml", "handoff:\n\tid: x\n"), @"2:1 unreadable: this line is indented with a tab");
    assert_snapshot!(one_error("key.yaml", "1: x\n"), @"1:1 unreadable: a key must be text, this is a number");
    assert_snapshot!(one_error("merge.yaml", "a: &a {b: 1}\nc:\n  <<: *a\n"), @"3:3 unreadable: merge keys (<<) are not read");
    assert_snapshot!(one_error("tag.yaml", "handoff: !!python/object:os.system x\n"), @"1:36 unreadable: unexpected tag tag:yaml.org,2002:python/object:os.system");
    assert_snapshot!(one_error("anchor.yaml", "handoff: *nowhere\n"), @"1:10 unreadable: this alias has no anchor before it");
    assert_snapshot!(one_error("inside.yaml", "handoff: &x [*x]\n"), @"1:14 unreadable: this alias is inside the value it refers to");
    assert_snapshot!(one_error("surrogate.yaml", with(PACKAGE, "HO-2026-031", "\"HO\\uD800\"")), @"2:7 unreadable: this is not valid YAML: while parsing a quoted scalar, found high surrogate without following low surrogate");
}

#[test]
fn what_is_no_handoff() {
    assert_snapshot!(one_error("list.json", "[]"), @"1:1 unknown-dialect: a handoff is an object, but this is a list");
    assert_snapshot!(one_error("text.yaml", "hello\n"), @"1:1 unknown-dialect: a handoff is an object, but this is text");
    assert_snapshot!(one_error("status.json", r#"{"status": "complete"}"#), @"1:1 unknown-dialect: this has the marks of no known dialect");
    assert_snapshot!(one_error("prose.md", "# Report\n\nEverything is done.\n"), @"1:1 unreadable: no fenced JSON or YAML block in this Markdown has the marks of a handoff");
    assert_snapshot!(one_error("status.md", "# Report\n\n```json\n{\"status\": \"complete\"}\n```\n"), @"1:1 unreadable: no fenced JSON or YAML block in this Markdown has the marks of a handoff");
}

#[test]
fn a_block_that_was_cut_off_is_not_replaced_by_an_earlier_one() {
    let block = &BLOCK[BLOCK.find("```").expect("a block")..];
    for kept in [60, 200, block.len() / 2, block.len() - 6] {
        let text = format!("{BLOCK}\n## Corrected\n\n{}", &block[..kept]);
        let said = one_error("report.md", text);
        let line = BLOCK.lines().count() + 4;
        let expected = "unreadable: the text ends inside a code block that never closes: the output was cut off";
        assert_eq!(said, format!("{line}:1 {expected}"), "{kept} bytes");
    }
}

#[test]
fn a_last_block_that_is_damaged_is_not_replaced_by_an_earlier_one() {
    let block = with(&BLOCK[BLOCK.find("```").expect("a block")..], "\"status\":", "\"status\"");
    assert_snapshot!(one_error("report.md", format!("{BLOCK}\n## Corrected\n\n{block}")), @"31:12 unreadable: this is not valid JSON: expected `:`");
}

#[test]
fn a_report_without_a_known_status_is_not_valid_whatever_else_it_says() {
    assert_snapshot!(one_error("gone.json", report_with("  \"status\": \"complete\",\n", "")), @"1:1 missing-field: `status` is missing");
    assert_snapshot!(one_error("null.json", report_with("\"complete\"", "null")), @"4:13 missing-field: `status` is required, but it is null");
    assert_snapshot!(one_error("list.json", report_with("\"complete\"", "[\"complete\"]")), @"4:13 wrong-type: `status` should be text, but it is a list");
}

#[test]
fn a_byte_order_mark_is_a_warning() {
    let sandbox = Sandbox::new();
    for (name, document) in [("a.json", REPORT), ("b.yaml", PACKAGE), ("c.md", BLOCK)] {
        sandbox.write(name, format!("\u{feff}{document}"));
    }
    assert_snapshot!(briefly(&sandbox.check_json(&["."])), @"
    a.json task report valid
      1:1 warning byte-order-mark
    b.yaml package request valid
      1:1 warning byte-order-mark
    c.md metadata-block report valid
      1:1 warning byte-order-mark
    ");
    let run = sandbox.baton(&["check", "a.json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("warning[byte-order-mark]: the file begins with a byte order mark\n"), "{run}");
    assert_eq!(sandbox.baton(&["check", "--strict", "a.json"]).code, Some(1));
}

#[test]
fn carriage_returns_are_only_worth_knowing() {
    let sandbox = Sandbox::new();
    for (name, document) in [("a.json", REPORT), ("b.yaml", PACKAGE), ("c.md", BLOCK)] {
        sandbox.write(name, document.replace('\n', "\r\n"));
    }
    assert_snapshot!(briefly(&sandbox.check_json(&["."])), @"
    a.json task report valid
      1:2 info carriage-return
    b.yaml package request valid
      1:9 info carriage-return
    c.md metadata-block report valid
      1:28 info carriage-return
    ");
    assert_eq!(sandbox.baton(&["check", "--strict", "."]).code, Some(0));
}

#[test]
fn text_after_the_document_may_begin_with_any_character() {
    let sandbox = Sandbox::new();
    sandbox.write("after.json", "{} ä");
    assert_eq!(sandbox.baton(&["check", "after.json"]).code, Some(1));
}

#[test]
fn a_key_that_stands_twice_may_have_escapes() {
    let sandbox = Sandbox::new();
    sandbox.write("twice.json", r#"{"task_id": "t", "é\t\t": 1, "é\t\t": 2}"#);
    let run = sandbox.baton(&["check", "twice.json"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains("twice.json:1:30"), "{run}");
}
