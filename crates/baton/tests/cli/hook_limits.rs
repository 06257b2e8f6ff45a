//! `baton hook`: how often an agent is kept from ending. Three times for a prompt, whatever its program tells.

use serde_json::{Value, json};

use crate::hook_bench::{HookBench, SESSION, assert_silent, block, id_of, reason};
use crate::sandbox::Run;

fn is_block(run: &Run) -> bool {
    assert_eq!(run.code, Some(0), "{run}");
    !run.stdout.is_empty() && run.json()["decision"] == "block"
}

/// Asserts that an agent is kept three times, then let go with a message, and never kept again.
fn assert_three_times(mut ends: impl FnMut(usize) -> Run) {
    for number in 1..=3 {
        reason(&ends(number));
    }
    let let_go = ends(4);
    let message = let_go.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(!is_block(&let_go) && message.contains("ends after 3 tries"), "{let_go}");
    for number in 5..=8 {
        let run = ends(number);
        assert!(!is_block(&run), "{run}");
    }
}

#[test]
fn agent_is_kept_three_times_for_a_prompt_and_then_let_go() {
    let bench = HookBench::new();
    for number in 1..=3 {
        reason(&bench.ends("architect", &format!("Attempt {number}.")));
    }
    let let_go = bench.ends("architect", "Attempt 4.");
    assert_eq!((let_go.code, &let_go.json()["decision"]), (Some(0), &Value::Null), "{let_go}");
    let message = let_go.json()["systemMessage"].as_str().expect("a text").to_owned();
    assert!(
        message.contains(&format!(
            "ends after 3 tries without a handoff that is accepted: baton show {SESSION}.architect.1"
        )),
        "{message}"
    );
}

#[test]
fn three_times_are_three_whatever_the_program_says_about_earlier_ones() {
    for active in [json!({}), json!({ "stop_hook_active": false }), json!({ "stop_hook_active": true })] {
        for (vendor, event) in
            [("claude-code", "SubagentStop"), ("claude-code", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent")]
        {
            let bench = HookBench::with("[hooks.main]\n[hooks.agents.developer]\n");
            assert_three_times(|number| {
                let mut told = bench.told(event, active.clone());
                // A program may call every turn something else.
                told["prompt_id"] = json!(format!("p{number}"));
                told["turn_id"] = json!(format!("t{number}"));
                told["last_assistant_message"] = json!(format!("Attempt {number}."));
                if event == "SubagentStop" {
                    told["agent_id"] = json!("A");
                    told["agent_type"] = json!("developer");
                }
                bench.hook(vendor, &told)
            });
        }
    }
}

#[test]
fn count_of_a_subagent_does_not_begin_anew_when_it_is_started_again() {
    let bench = HookBench::new();
    assert_three_times(|number| {
        bench.begins("architect");
        bench.ends("architect", &format!("Attempt {number}."))
    });
    // What it hands in is judged all the same, and may be accepted.
    assert_silent(&bench.good_architect());
}

#[test]
fn each_prompt_and_each_agent_has_its_own_three_times() {
    for (vendor, begins, ends) in [("claude-code", "UserPromptSubmit", "Stop"), ("gemini", "BeforeAgent", "AfterAgent")]
    {
        let bench = HookBench::with("[hooks.main]\n");
        for _ in 0..2 {
            bench.hook(vendor, &bench.told(begins, json!({ "prompt": "Count the words." })));
            assert_three_times(|number| {
                // What a hook has said comes back as a prompt in some programs; a task that ended wakes a session.
                for prompt in ["Your handoff was not accepted:\n- …", "<task-notification>\n<task-id>a1</task-id>"] {
                    assert_silent(&bench.hook(vendor, &bench.told(begins, json!({ "prompt": prompt }))));
                }
                let text = format!("Attempt {number}.");
                bench.hook(vendor, &bench.told(ends, json!({ "last_assistant_message": text })))
            });
        }
    }
    let bench = HookBench::new();
    for id in ["a1", "a2"] {
        assert_three_times(|number| {
            let members = json!({ "agent_id": id, "agent_type": "architect",
                "last_assistant_message": format!("Attempt {number}.") });
            bench.hook("claude-code", &bench.told("SubagentStop", members))
        });
    }
}

#[test]
fn handoff_that_is_accepted_begins_the_count_anew() {
    let bench = HookBench::with("[hooks.main]\ndialect = \"metadata-block\"\n");
    let stop = |text: &str| bench.hook("claude-code", &bench.told("Stop", json!({ "last_assistant_message": text })));
    for _ in 0..2 {
        reason(&stop("Done."));
        reason(&stop("Done."));
        assert_silent(&stop(&block("main", json!({}))));
    }
    assert_three_times(|number| stop(&format!("Attempt {number}.")));
}

#[test]
fn hooks_of_one_agent_at_the_same_time_keep_it_three_times_in_all() {
    let bench = HookBench::new();
    let at_once = || -> Vec<Run> {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| bench.ends("developer", "Done."))).collect();
            calls.into_iter().map(|call| call.join().expect("it ends")).collect()
        })
    };
    assert_eq!(at_once().iter().filter(|run| is_block(run)).count(), 3);
    assert_eq!(at_once().iter().filter(|run| is_block(run)).count(), 0);
    // The same text is filed once.
    let listed = bench.sandbox.baton(&["show", SESSION]);
    assert!(listed.stdout.contains("developer.1") && !listed.stdout.contains("developer.2"), "{listed}");
    let folder = bench.sandbox.store().parent().expect("a folder").join("hooks").join(SESSION);
    let texts = std::fs::read_dir(folder).expect("the session").filter_map(Result::ok);
    let is_text = |name: &str| name.starts_with(&id_of("developer")) && name.ends_with(".md");
    let count = texts.filter(|entry| is_text(&entry.file_name().to_string_lossy())).count();
    assert_eq!(count, 4, "three that were refused, and the one with which it was let go");
}
