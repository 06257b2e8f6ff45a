//! What `baton hook` files of sessions that Baton does not drive, and that the other commands work with it.

use serde_json::json;

use crate::hook_bench::{HookBench, SESSION, assert_silent, block, reason};

#[test]
fn accepted_handoffs_of_a_session_are_one_run() {
    let bench = HookBench::new();
    bench.good_architect();
    bench.sandbox.write("count.py", "print(1)\n");
    reason(&bench.ends("developer", "Done."));
    bench.ends("developer", &block("developer", json!({})));
    let first = bench.sandbox.baton(&["show", &format!("{SESSION}.architect.1"), "--json"]).json();
    assert_eq!((&first["handoff"]["state"], &first["handoff"]["run"]), (&json!("completed"), &json!(SESSION)));
    for command in ["show", "log"] {
        for id in [SESSION, &SESSION[..8], "last"] {
            let shown = bench.sandbox.baton(&[command, id]);
            assert_eq!(shown.code, Some(0), "{shown}");
            assert!(shown.stdout.contains("architect.1") && shown.stdout.contains("developer.1"), "{shown}");
        }
    }
    let log = bench.sandbox.baton(&["log", SESSION, "--json"]);
    let kinds: Vec<String> = log
        .stdout
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            event["event"].as_str().expect("a word").to_owned()
        })
        .collect();
    let architect = ["accepted", "claimed", "reported", "verified"];
    let developer = ["accepted", "claimed", "failed", "claimed", "reported", "verified"];
    assert_eq!(kinds, [&architect[..], &developer].concat());
    for run in [SESSION, &SESSION[..8], "last", "--all"] {
        let audit = bench.sandbox.baton(&["audit", "verify", run]);
        assert_eq!(audit.code, Some(0), "{audit}");
    }
    let drawn = bench.sandbox.baton(&["graph", &SESSION[..8]]);
    assert_eq!(drawn.code, Some(1), "{drawn}");
    assert!(drawn.stderr.contains("has no workflow, so there is nothing to draw"), "{drawn}");
    assert!(bench.sandbox.baton(&["runs"]).stderr.contains("baton list shows other handoffs"));
}

#[test]
fn evidence_of_a_filed_handoff_is_shown() {
    let bench = HookBench::new();
    bench.good_architect();
    let shown = bench.sandbox.baton(&["show", &format!("{SESSION}.architect.1")]);
    assert!(shown.stdout.contains("mandatory skill `designing`"), "{shown}");
    assert!(shown.stdout.contains("nothing outside `docs/**` was changed"), "{shown}");
}

#[test]
fn blocked_and_reviewed_handoffs_wait_in_the_inbox() {
    let bench = HookBench::new();
    bench.sandbox.write("count.py", "print(1)\n");
    let blocked = json!({
        "status": "blocked", "blocked_reason": "security_concern", "attempted": ["stored the token in a file"],
        "handoff": { "next_agent": null, "context": "May the token be stored in plain text in ~/.config/count?" },
    });
    let run = bench.ends("developer", &block("developer", blocked));
    let message = run.json()["systemMessage"].as_str().expect("a text").to_owned();
    assert!(message.contains("developer waits for a person"), "{message}");
    bench.ends("developer", &block("developer", json!({ "status": "needs_review" })));
    let inbox = bench.sandbox.baton(&["inbox", "--json"]).json();
    let ids: Vec<&str> =
        inbox["waiting"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, [format!("{SESSION}.developer.1"), format!("{SESSION}.developer.2")]);
    let shown = bench.sandbox.baton(&["inbox"]);
    assert!(shown.stdout.contains("May the token be stored"), "{shown}");
}

#[test]
fn handoff_that_was_let_go_is_recorded_with_every_text() {
    let bench = HookBench::new();
    for number in 1..=4 {
        bench.ends("architect", &format!("Attempt {number}, without a block."));
    }
    let id = format!("{SESSION}.architect.1");
    let shown = bench.sandbox.baton(&["show", &id, "--json"]).json();
    assert_eq!(shown["handoff"]["state"], "failed");
    let text = shown.to_string();
    for number in 1..=4 {
        assert!(text.contains(&format!("Attempt {number}, without a block.")), "{number}");
    }
    // The next prompt begins anew.
    bench.good_architect();
    let second = bench.sandbox.baton(&["show", &format!("{SESSION}.architect.2"), "--json"]).json();
    assert_eq!(second["handoff"]["state"], "completed");
}

#[test]
fn long_text_that_is_not_accepted_is_cut_in_the_store_and_says_where_all_of_it_is() {
    let bench = HookBench::new();
    let long = |number: usize| format!("Attempt {number}. {}", "a ".repeat(1_000_000));
    for number in 1..=4 {
        bench.ends("architect", &long(number));
    }
    let shown = bench.sandbox.baton(&["show", &format!("{SESSION}.architect.1"), "--json"]).json().to_string();
    assert!(shown.len() < 700_000, "{}", shown.len());
    let files: Vec<&str> = shown.split("all of it is in ").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    let kept =
        |number: usize| files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text == long(number)));
    assert!((1..=4).all(kept), "{files:?}");
}

#[test]
fn filed_report_can_be_routed_by_a_workflow() {
    let bench = HookBench::new();
    bench.good_architect();
    bench.sandbox.write(
        "workflow.yaml",
        "name: team\nagents:\n  architect: {command: 'true'}\n  developer: {command: 'true'}\nphases:\n  - {id: design, agent: architect, task: Design it.}\n  - {id: build, agent: developer, task: Build it.}\n",
    );
    let shown = bench.sandbox.baton(&["show", &format!("{SESSION}.architect.1"), "--json"]).json();
    bench.sandbox.write("report.md", shown["report"]["text"].as_str().expect("the text"));
    let routed = bench.sandbox.baton(&["route", "report.md", "--workflow", "workflow.yaml"]);
    assert_eq!(routed.code, Some(0), "{routed}");
    assert!(routed.stdout.contains("build"), "{routed}");
}

/// A person decides about a handoff.
fn decides(bench: &HookBench, id: &str, verb: &str, words: &[&str]) {
    let shown = bench.sandbox.baton(&["show", id, "--json"]).json();
    let digest = shown["question"]["digest"].as_str().expect("a digest").to_owned();
    let run = bench.sandbox.baton(&[&[verb, id], words, &["--yes", "--shown", &digest]].concat());
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn session_is_told_once_what_was_decided_about_its_handoffs() {
    for (vendor, event) in
        [("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")]
    {
        let bench = HookBench::with("[hooks.agents.developer]\ndialect = \"metadata-block\"\n");
        let prompt = || bench.hook(vendor, &bench.told(event, json!({ "prompt": "Go on." })));
        let blocked = json!({
            "status": "blocked", "blocked_reason": "security_concern", "attempted": ["stored the token in a file"],
            "handoff": { "next_agent": null, "context": "May the token be stored in plain text in ~/.config/count?" },
        });
        bench.ends("developer", &block("developer", blocked));
        bench.ends("developer", &block("developer", json!({ "status": "needs_review" })));
        assert_silent(&prompt());
        let (first, second) = (format!("{SESSION}.developer.1"), format!("{SESSION}.developer.2"));
        decides(&bench, &second, "reject", &["--feedback", "Split on Unicode white space."]);
        let told = prompt().json();
        let output = &told["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], event, "{told}");
        let text = output["additionalContext"].as_str().expect("a text");
        assert!(text.contains(&second) && text.contains("rejected by "), "{text}");
        assert!(text.contains("Split on Unicode white space.") && !text.contains(&first), "{text}");
        assert_silent(&prompt());
        decides(&bench, &first, "answer", &["--text", "No: ask for it each time."]);
        // Subagents are not told.
        bench.begins("developer");
        let told = prompt().json();
        let text = told["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
        assert!(text.contains(&first) && text.contains("No: ask for it each time."), "{text}");
        assert_silent(&prompt());
    }
}
