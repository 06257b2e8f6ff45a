//! Input that wants too much: refused at once, in bounded time and memory.

use std::fs::File;

use insta::assert_snapshot;

use crate::documents::{BLOCK, REPORT, report_with};
use crate::sandbox::Sandbox;

/// The largest document that is read.
const BYTES_MAX: usize = 8 * 1024 * 1024;

#[test]
fn a_file_of_a_hundred_megabytes_is_not_read() {
    let sandbox = Sandbox::new();
    File::create(sandbox.path("large.json")).unwrap().set_len(100_000_000).unwrap();
    assert_snapshot!(sandbox.baton(&["check", "large.json"]), @"
    error[unreadable]: the document has at least 100000000 bytes; a handoff has at most 8388608 (8 MiB)
    --> large.json:1:1
     = help: hand over large material as an artifact and refer to its path

    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    ");
    assert_snapshot!(sandbox.baton(&["convert", "--to", "native", "large.json"]), @"
    --- stderr
    error: large.json: the document has at least 100000000 bytes; a handoff has at most 8388608 (8 MiB)
    --- exit 1
    ");
}

#[test]
fn nine_megabytes_on_standard_input_are_not_read() {
    let summary = "Rows are written through RowWriter in src/export/mod.rs. ".repeat(9 * 1024 * 1024 / 57);
    let report = report_with("Rows are written", &format!("{summary} Rows are written"));
    let run = Sandbox::new().baton_with_input(&["check", "-"], report.as_bytes());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.starts_with("error[unreadable]: the document has "), "{run}");
    assert!(run.stdout.ends_with("failed: 0 of 1 file valid, 1 error, 0 warnings\n"), "{run}");
}

#[test]
fn ten_thousand_nested_lists_are_refused() {
    let sandbox = Sandbox::new();
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    sandbox.write("a.json", &nested).write("b.yaml", &nested).write("c.yaml", "- ".repeat(10_000));
    sandbox.write("d.json", format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)));
    sandbox.write("e.md", format!("# Report\n\n```json\n{{\"agent\": {nested}}}\n```\n"));
    for name in ["a.json", "b.yaml", "c.yaml", "d.json", "e.md"] {
        let run = sandbox.baton(&["check", name]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "{run}");
        assert!(run.stdout.starts_with("error[unreadable]: "), "{run}");
        assert!(run.stdout.ends_with("failed: 0 of 1 file valid, 1 error, 0 warnings\n"), "{run}");
    }
    let run = sandbox.baton(&["check", "a.json"]);
    assert!(run.stdout.contains("nested more than 64 deep"), "{run}");
}

#[test]
fn an_alias_bomb_is_refused_where_it_goes_off() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let sandbox = Sandbox::new();
    sandbox.write("bomb.yaml", bomb);
    assert_snapshot!(sandbox.baton(&["check", "bomb.yaml"]), @"
    error[unreadable]: more than 100000 values in one document, anchors and aliases included
     --> bomb.yaml:5:35
      |
    5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
      |                                   ^^^
      |
      = help: write fewer aliases of large values

    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    ");
}

#[test]
fn many_findings_are_counted_not_listed() {
    let sandbox = Sandbox::new();
    let fields: String = (0..3000).map(|number| format!("  \"field{number}\": {number},\n")).collect();
    sandbox.write("report.json", report_with("{\n", &format!("{{\n{fields}")));
    let result = sandbox.check_json(&["report.json"]);
    let found = result["files"][0]["diagnostics"].as_array().unwrap();
    assert!(found.len() <= 501, "{}", found.len());
    assert!(found.iter().any(|found| found["message"] == "2500 more findings of this rule are not listed"));
}

#[test]
fn a_very_long_line_is_not_printed_in_full() {
    let sandbox = Sandbox::new();
    let long = report_with("\"complete\"", "\"done\"").replace('\n', " ").replace("csv-07", &"x".repeat(100_000));
    sandbox.write("report.json", long);
    let run = sandbox.baton(&["check", "report.json"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.len() < 4000, "{} bytes", run.stdout.len());
}

/// Documents just below the limit, of each form, that hold as many values or as much text as they can.
#[cfg(target_os = "linux")]
#[test]
fn the_largest_documents_are_judged_in_four_hundred_megabytes() {
    let sandbox = Sandbox::new();
    let room = BYTES_MAX - REPORT.len() - BLOCK.len();
    let value = format!("\"{}\"", "0123456789".repeat(8));
    let list = vec![value; (room / 83).min(95_000)].join(",");
    sandbox.write("values.json", report_with("\"issues\": []", &format!("\"issues\": [{list}]")));
    sandbox.write("values.yaml", report_with("\"issues\": []", &format!("\"issues\": [{list}]")));
    sandbox.write("prose.md", format!("{}\n\n{BLOCK}", "Words of a long report. ".repeat(room / 24)));
    for (name, exit) in [("values.json", 0), ("values.yaml", 0), ("prose.md", 0)] {
        assert!(sandbox.path(name).metadata().unwrap().len() > 7_000_000, "{name}");
        let run = sandbox.baton_within(400_000, &["check", name]);
        assert_eq!(run.code, Some(exit), "{name}\n{}", &run.to_string().chars().take(2000).collect::<String>());
        assert_eq!(run.stderr, "");
    }
}
