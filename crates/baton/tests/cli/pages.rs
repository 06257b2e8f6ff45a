//! Lists in pages: each names where the next one begins.

use serde_json::Value;

use crate::documents::REQUEST;
use crate::queue_life::done;
use crate::sandbox::Sandbox;

/// Reads a list page by page; `member` holds what is listed, and `name` identifies it.
pub(crate) fn read_in_pages(sandbox: &Sandbox, command: &str, (member, name): (&str, &str)) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut more: Vec<String> = Vec::new();
    loop {
        let arguments: Vec<&str> =
            [command, "--json", "--limit", "2"].into_iter().chain(more.iter().map(String::as_str)).collect();
        let page = done(sandbox, &arguments).json();
        let names = page[member].as_array().expect("a list").iter().map(|item| item[name].as_str().expect("a name"));
        pages.push(names.map(str::to_owned).collect());
        match &page["next"] {
            Value::String(next) => more = vec!["--after".to_owned(), next.clone()],
            Value::Null => return pages,
            other => panic!("{other}"),
        }
    }
}

#[test]
fn handoffs_are_listed_in_pages() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    for id in ["one", "two", "three", "four"] {
        done(&sandbox, &["send", "--to", "finder", "--id", id, "request.json"]);
    }
    let pages = read_in_pages(&sandbox, "list", ("handoffs", "id"));
    assert_eq!(pages, [["four", "three"], ["two", "one"]], "the last page is full, and none comes behind it");
    let first = done(&sandbox, &["list", "--limit", "2"]);
    assert!(first.stderr.contains("--after three"), "{first}");
    let last = done(&sandbox, &["list", "--limit", "2", "--after", "thr"]);
    assert!(last.stdout.contains("two") && !last.stdout.contains("four") && last.stderr.is_empty(), "{last}");
    assert_eq!(sandbox.baton(&["list", "--after", "five"]).code, Some(2));
}

#[cfg(unix)]
#[test]
fn runs_are_listed_in_pages_however_many_checks_they_have() {
    let sandbox = Sandbox::new();
    let checks: String = (0..4).map(|number| format!("  - {{id: c{number}, check: ['true']}}\n")).collect();
    sandbox.write("flow.yaml", format!("name: checks\nphases:\n{checks}"));
    for id in ["one", "two", "three"] {
        done(&sandbox, &["run", "flow.yaml", "--workspace", "desk", "--id", id, "--no-input"]);
    }
    assert_eq!(read_in_pages(&sandbox, "runs", ("runs", "run")), [vec!["three", "two"], vec!["one"]]);
    let first = done(&sandbox, &["runs", "--limit", "1"]);
    assert!(first.stderr.contains("--after three"), "{first}");
}

#[cfg(unix)]
#[test]
fn inbox_is_read_in_pages_that_stay_where_they_are_when_something_is_decided() {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", "name: gated\nphases: [{id: agree, gate: {items: [It is complete]}}]\n");
    for id in ["one", "two", "three"] {
        let run = sandbox.baton(&["run", "flow.yaml", "--workspace", "desk", "--id", id, "--no-input"]);
        assert_eq!(run.code, Some(3), "{run}");
    }
    let pages = read_in_pages(&sandbox, "inbox", ("waiting", "id"));
    assert_eq!(pages, [vec!["one.agree.1", "two.agree.1"], vec!["three.agree.1"]], "the longest first");
    let first = done(&sandbox, &["inbox", "--limit", "2"]);
    let place = first.stderr.split_whitespace().find(|word| word.ends_with("/two.agree.1"));
    let place = place.unwrap_or_else(|| panic!("{first}")).to_owned();
    done(&sandbox, &["cancel", "two"]);
    let second = done(&sandbox, &["inbox", "--limit", "2", "--after", &place]);
    assert!(second.stdout.contains("three.agree.1") && !second.stdout.contains("one.agree.1"), "{second}");
    assert_eq!(sandbox.baton(&["inbox", "--after", "two.agree.1"]).code, Some(2));
}
