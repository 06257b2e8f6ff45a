//! `baton hook`: which handoffs are accepted, and what agents are told about the others.

use std::fs;

use baton_protocol::tokens;
use serde_json::{Value, json};

use crate::hook_bench::{HookBench, SESSION, assert_silent, block, id_of, reason};

#[test]
fn agent_with_a_sound_handoff_ends_without_a_word() {
    assert_silent(&HookBench::new().good_architect());
}

#[test]
fn agent_without_a_block_is_told_which_block_to_write() {
    let told = reason(&HookBench::new().ends("architect", "I have designed it. Shall I go on?"));
    assert!(told.contains("no fenced JSON block at the end of your message"), "{told}");
    assert!(told.contains("metadata-block (required: agent, output_type, feature_directory"), "{told}");
    assert!(!told.contains("timestamp"), "an agent without a clock would invent one: {told}");
    assert!(tokens::count(&told) <= 300 && !told.contains('^'), "{told}");
}

#[test]
fn every_mistake_is_one_line_with_the_field_and_what_to_write() {
    let text = block("architect", json!({ "status": "done", "skills_invoked": 7, "timestamp": "yesterday" }));
    let told = reason(&HookBench::new().ends("architect", &text));
    assert!(
        told.lines().any(|line| line.starts_with("- `status`: unknown status `done` (use one of: complete")),
        "{told}"
    );
    assert!(told.lines().any(|line| line.starts_with("- `skills_invoked`: ")), "{told}");
    assert!(!told.contains("timestamp"), "Baton knows itself when it came: {told}");
    assert!(tokens::count(&told) <= 300 && !told.contains('^'), "{told}");
}

#[test]
fn skill_that_was_claimed_and_never_used_holds_the_agent() {
    let bench = HookBench::new();
    bench.begins("architect");
    let told = reason(&bench.ends("architect", &block("architect", json!({ "skills_invoked": ["designing"] }))));
    assert!(told.contains("designing") && told.contains("the transcript shows no such call"), "{told}");
}

#[test]
fn skill_whose_call_failed_counts_as_never_used() {
    let bench = HookBench::new();
    bench.begins("architect");
    let failure = bench.told(
        "PostToolUseFailure",
        json!({ "agent_id": id_of("architect"), "agent_type": "architect", "tool_name": "Skill",
            "tool_input": { "skill": "designing" }, "tool_use_id": "toolu_01", "error": "Unknown skill: designing" }),
    );
    assert_silent(&bench.hook("claude-code", &failure));
    bench.uses("architect", "Skill", json!({ "skill": "designing" }), json!({ "success": false }));
    let told = reason(&bench.ends("architect", &block("architect", json!({ "skills_invoked": ["designing"] }))));
    assert!(told.contains("the transcript shows no such call"), "{told}");
}

#[test]
fn file_that_the_agent_may_not_write_holds_it() {
    let bench = HookBench::new();
    bench.begins("architect");
    bench.uses("architect", "Skill", json!({ "skill": "designing" }), json!({ "success": true }));
    bench.sandbox.write("count.py", "print(1)\n");
    let told = reason(&bench.ends("architect", &block("architect", json!({ "skills_invoked": ["designing"] }))));
    assert!(told.contains("`count.py` was created") && told.contains("only `docs/**` may be written"), "{told}");
}

#[test]
fn what_a_neighbour_may_write_is_not_laid_at_the_door_of_another() {
    let bench = HookBench::with(
        "[hooks.agents.architect]\nwrites = [\"docs/**\"]\n[hooks.agents.developer]\nwrites = [\"*.py\"]\n",
    );
    bench.begins("architect");
    bench.begins("developer");
    bench.sandbox.write("count.py", "print(1)\n");
    assert_silent(&bench.ends("architect", &block("architect", json!({}))));
}

#[test]
fn command_that_must_pass_is_run_and_its_failure_holds_the_agent() {
    let bench = HookBench::new();
    let text = block("developer", json!({}));
    let told = reason(&bench.ends("developer", &text));
    assert!(told.contains("the check `tests` failed, exit code 1"), "{told}");
    bench.sandbox.write("count.py", "print(1)\n");
    assert_silent(&bench.ends("developer", &text));
}

#[test]
fn report_of_somebody_else_is_not_the_agents_own() {
    let told = reason(&HookBench::new().ends("developer", &block("tester", json!({}))));
    assert!(told.contains("`agent`") && told.contains("developer"), "{told}");
}

#[test]
fn report_that_stands_at_the_end_of_a_file_which_the_agent_wrote_counts() {
    let bench = HookBench::new();
    bench.begins("architect");
    bench.uses("architect", "Skill", json!({ "skill": "designing" }), json!({ "success": true }));
    let text = block("architect", json!({ "skills_invoked": ["designing"] }));
    bench.sandbox.write("docs/design.md", text);
    let path = bench.sandbox.path("docs/design.md");
    bench.uses("architect", "Write", json!({ "file_path": path }), json!({ "type": "create" }));
    assert_silent(&bench.ends("architect", "The design is in docs/design.md."));
}

#[test]
fn answer_to_a_task_is_compared_with_the_task_in_the_prompt() {
    let bench = HookBench::with("[hooks.agents.researcher]\ndialect = \"task\"\n");
    let request = json!({
        "task_id": "auth-001", "phase": "research", "context": { "feature": "jwt-authentication" },
        "instructions": "Find existing auth code and patterns for the new JWT feature",
        "expected_output": "structured_findings",
    });
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": request.to_string() } });
    bench.sandbox.write("agent.jsonl", format!("{prompt}\n"));
    let report = |task: &str| {
        json!({
            "task_id": task, "phase": "research", "status": "complete", "decision": "PROCEED",
            "findings": { "existing_implementations": [], "conflicts": [], "patterns_found": [], "recommendations": [] },
            "context_summary": "Sessions live in src/lib/auth.ts; routers follow src/server/routers/user.ts.",
            "issues": [],
        })
        .to_string()
    };
    let ends = |task: &str| {
        let told = bench.told(
            "SubagentStop",
            json!({ "agent_id": "a1", "agent_type": "researcher", "stop_hook_active": false,
                "agent_transcript_path": bench.sandbox.path("agent.jsonl"), "last_assistant_message": report(task) }),
        );
        bench.hook("claude-code", &told)
    };
    let told = reason(&ends("auth-002"));
    assert!(told.contains("auth-001"), "{told}");
    assert_silent(&ends("auth-001"));
}

#[test]
fn nothing_is_said_where_nothing_is_configured() {
    for (configuration, agent) in [("", "architect"), ("[hooks.agents.tester]\n", "architect")] {
        let bench = HookBench::with(configuration);
        assert_silent(&bench.ends(agent, "Done."));
        let stop = bench.told("Stop", json!({ "stop_hook_active": false, "last_assistant_message": "Done." }));
        assert_silent(&bench.hook("claude-code", &stop));
        assert_silent(&bench.hook("claude-code", &bench.told("PreCompact", json!({}))));
    }
}

#[test]
fn main_session_is_held_to_its_own_contract() {
    let bench = HookBench::with("[hooks.main]\ndialect = \"native\"\n");
    let stop = bench.told("Stop", json!({ "stop_hook_active": false, "last_assistant_message": "Done." }));
    assert!(reason(&bench.hook("claude-code", &stop)).contains("in the form native"));
}

#[test]
fn session_that_waits_for_background_tasks_is_not_judged_yet() {
    let bench = HookBench::with("[hooks.main]\n");
    let stop = |status: &str| {
        let tasks = json!([{ "id": "b1", "type": "subagent", "status": status, "description": "explores" }]);
        bench.told(
            "Stop",
            json!({ "stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": tasks }),
        )
    };
    assert_silent(&bench.hook("claude-code", &stop("running")));
    assert_silent(&bench.hook("claude-code", &stop("pending")));
    reason(&bench.hook("claude-code", &stop("completed")));
}

#[test]
fn first_text_is_stored_before_the_agent_is_kept() {
    let bench = HookBench::new();
    reason(&bench.ends("architect", "The whole design, which took an hour."));
    let store = bench.sandbox.store();
    let folder = store.parent().expect("a folder").join("hooks").join(SESSION);
    let stored = fs::read_to_string(folder.join(format!("{}-1.md", id_of("architect")))).expect("stored");
    assert_eq!(stored, "The whole design, which took an hour.");
}

#[test]
fn trouble_of_our_own_holds_no_agent() {
    let cases = ["[hooks.agents.architect]\ndialect = \"nonsense\"\n", "this is no TOML"];
    for configuration in cases {
        let run = HookBench::with(configuration).ends("architect", "Done.");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
        assert!(run.stderr.contains("baton.toml:") && run.stderr.contains("the agent is not held"), "{run}");
    }
    let bench = HookBench::new();
    for (input, told) in
        [("", "EOF"), ("no JSON", "expected"), ("[]", "expected an object"), ("{}", "`session_id` is missing")]
    {
        let run = bench.sandbox.baton_with_input(&["hook", "claude-code"], input.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
        assert!(
            run.stderr.contains("unexpected input for a hook of claude-code") && run.stderr.contains(told),
            "{run}"
        );
    }
    // To a coding agent an exit with 2 means that it must not end.
    for arguments in [&["hook"][..], &["hook", "cursor"], &["hook", "codex", "--strict"]] {
        assert_eq!(bench.sandbox.baton(arguments).code, Some(1), "{arguments:?}");
    }
}

#[test]
fn store_that_cannot_be_opened_holds_no_agent() {
    let bench = HookBench::new();
    bench.sandbox.write("broken.db", "this is no database, and never was");
    for store in [bench.sandbox.path("broken.db"), "postgres://nobody@127.0.0.1:1/none".into()] {
        let variables = [("BATON_STORE", store)];
        // Neither one who would be accepted, nor one who would be refused.
        for text in [block("developer", json!({})), "Done.".to_owned()] {
            let told = bench.told(
                "SubagentStop",
                json!({ "agent_id": "a1", "agent_type": "developer", "stop_hook_active": false,
                    "last_assistant_message": text }),
            );
            let run = bench.hook_with("claude-code", &variables, &told);
            assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
            assert!(run.stderr.contains("the agent is not held"), "{run}");
        }
    }
}

#[test]
fn subagent_whose_kind_is_not_told_is_left_alone() {
    let bench = HookBench::with("[hooks.main]\n[hooks.agents.subagent]\n[hooks.agents.developer]\n");
    for members in [json!({}), json!({ "agent_id": "a1" }), json!({ "agent_id": "a1", "agent_type": "" })] {
        assert_silent(&bench.hook("claude-code", &bench.told("SubagentStart", members.clone())));
        assert_silent(&bench.hook("claude-code", &bench.told("SubagentStop", members)));
    }
    // Older versions tell the kind and no id.
    reason(&bench.hook(
        "claude-code",
        &bench.told("SubagentStop", json!({ "agent_type": "developer", "last_assistant_message": "Done." })),
    ));
}

#[test]
fn transcript_that_is_not_a_file_is_not_read() {
    let bench = HookBench::with("[hooks.main]\nmandatory_skills = [\"designing\"]\n");
    let made = bench.sandbox.program_with_input("mkfifo", &["pipe"], b"").expect("mkfifo is everywhere");
    assert_eq!(made.code, Some(0), "{made}");
    bench.sandbox.folder("folder");
    for place in ["pipe", "folder", "nowhere"] {
        let ends = |text: Value| {
            let mut told = bench.told("Stop", json!({ "transcript_path": bench.sandbox.path(place) }));
            told.as_object_mut().expect("an object").extend(text.as_object().expect("an object").clone());
            bench.hook("claude-code", &told)
        };
        // What an agent has said is judged, even if it is nothing.
        for text in [json!(block("claude-code", json!({}))), json!(""), Value::Null] {
            reason(&ends(json!({ "last_assistant_message": text })));
        }
        bench.hook("claude-code", &bench.told("UserPromptSubmit", json!({ "prompt": "Go on." })));
        // What nobody knows holds no agent.
        let run = ends(json!({}));
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
        assert!(run.stderr.contains("what the agent said is unknown") && run.stderr.contains("not held"), "{run}");
    }
}

#[test]
fn half_a_character_does_not_let_an_agent_go() {
    let bench = HookBench::new();
    // Programs in JavaScript cut texts in the middle of a character, and write the half that is left.
    let told = bench.told(
        "SubagentStop",
        json!({ "agent_id": "a1", "agent_type": "developer", "last_assistant_message": "Done HALF BYTE" }),
    );
    let told = told.to_string().replace("HALF", "\\ud83d").into_bytes();
    let place = told.windows(4).position(|window| window == b"BYTE").expect("it is there");
    let told = [&told[..place], b"\xff", &told[place + 4..]].concat();
    reason(&bench.sandbox.baton_with_input(&["hook", "claude-code"], &told));
}
