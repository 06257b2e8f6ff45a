//! Coding agents in a run: programs of their names that print events as the real ones do.

use std::os::unix::fs::PermissionsExt as _;

use baton_engine::State;
use baton_engine::handoff::WrittenDocument;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::session::Spent;
use baton_testbed::Process;

use crate::site::{Ended, RUN, Site, end, find};

pub(crate) const REPORT: &str = r#"{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\", \"summary\": \"Designed the module with its three parts.\"}"#;

/// Makes a site with a coding agent whose program takes down each call and then does as told.
pub(crate) fn site(flow: &str, profile: &str, script: &str) -> Site {
    let site = Site::new().workflow(flow);
    let program = format!("bin/{profile}");
    let calls = site.scratch.path("calls").display().to_string();
    site.scratch.write(&program, format!("#!/bin/sh\ncat > /dev/null\necho \"$*\" >> {calls}\n{script}\n"));
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(site.scratch.path(&program), permissions).expect("our own file");
    site
}

/// Starts Baton where it finds that program.
pub(crate) fn start(site: &Site, arguments: &[&str]) -> Process {
    let path = format!("{}:{}", site.scratch.path("bin").display(), std::env::var("PATH").expect("a path"));
    let mut command = site.command(arguments);
    command.env("PATH", path).env("HOME", site.scratch.path("home"));
    let mut process = Process::spawn(&mut command);
    process.close_input();
    process
}

pub(crate) const RUN_FLOW: [&str; 7] = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"];

/// Runs one phase of a coding agent whose program takes down each call and then does as told.
pub(crate) fn run(profile: &str, script: &str) -> (Site, Ended, Vec<String>) {
    let flow = format!(
        "name: coding\nsandbox: off\nagents: {{dev: {{profile: {profile}, retry: {{max_retries: 2, delay: 1ms}}}}}}\n\
         phases: [{{id: build, agent: dev}}]\n"
    );
    let site = site(&flow, profile, script);
    let ended = end(&mut start(&site, &RUN_FLOW));
    let calls = site.scratch.read("calls").lines().map(str::to_owned).collect();
    (site, ended, calls)
}

/// Prints one text at first, and another when the session goes on.
fn says(first: &str, then: &str) -> String {
    format!("case \"$*\" in *resume*) cat <<'END'\n{then}\nEND\n;; *) cat <<'END'\n{first}\nEND\n;; esac")
}

#[test]
fn report_without_a_block_is_repaired_in_the_same_session() {
    let claude = |text: &str| {
        let used = r#"{"opus":{"inputTokens":1000,"outputTokens":50,"cacheReadInputTokens":200,"costUSD":0.005}}"#;
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","model_usage_since_last_result":{used}}}"#
        )
    };
    let (site, ended, calls) = run("claude", &says(&claude("It is designed."), &claude(REPORT)));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let id = |call: &String, flag: &str| {
        let (_, behind) = call.split_once(flag).unwrap_or_else(|| panic!("{call}"));
        behind.trim().to_owned()
    };
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(id(&calls[0], "--session-id"), id(&calls[1], "--resume"));
    let told = site.told();
    let build = find(&told, "build.1");
    assert_eq!(build.attempts, 1, "a repair is part of the attempt");
    let both = Spent { input: 2000, cached: 400, output: 100, cost_micros: Some(10_000) };
    assert_eq!(build.spending().spent, both, "what was not accepted was spent too");
}

#[test]
fn session_whose_name_the_program_tells_is_resumed() {
    let codex = |text: &str, sum: u32| {
        format!(
            r#"{{"type":"thread.started","thread_id":"th-7"}}
{{"type":"item.completed","item":{{"id":"i","type":"agent_message","text":"{text}"}}}}
{{"type":"turn.completed","usage":{{"input_tokens":{sum},"cached_input_tokens":0,"output_tokens":{sum}}}}}"#
        )
    };
    let (site, ended, calls) = run("codex", &says(&codex("It is designed.", 100), &codex(REPORT, 130)));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(calls.len() == 2 && calls[1].ends_with(" resume th-7 -"), "{calls:?}");
    let spent = find(&site.told(), "build.1").spending().spent;
    assert_eq!((spent.input, spent.output), (130, 130), "the program tells sums of the session");
}

#[test]
fn failure_that_does_not_pass_is_not_tried_again_and_says_what_to_do() {
    let script = "echo \"error: unknown option '--fast'\" >&2; exit 1";
    let (site, ended, calls) = run("claude", script);
    assert_eq!((ended.code, calls.len()), (Some(3), 1), "a person is asked: {}", ended.stderr);
    let shown = site.baton(&["show", &format!("{RUN}.build.1")]).stdout;
    assert!(shown.contains("unknown option '--fast'") && shown.contains("help: change `arguments`"), "{shown}");
    assert!(matches!(find(&site.told(), "build.1").handoff.state, State::Failed { .. }));
}

#[test]
fn advice_is_shown_in_full_wherever_a_person_decides() {
    let denied = r#"[{"tool_name":"Write","tool_input":{"file_path":"DESIGN.md"}},{"tool_name":"Bash","tool_input":{"command":"make"}}]"#;
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"I may not.","permission_denials":{denied}}}"#
    );
    let (site, ended, _) = run("claude", &format!("cat <<'END'\n{result}\nEND"));
    let hint = "hint: allow it with `arguments: [--permission-mode, acceptEdits]`";
    let what = "DEPENDENCY_MISSING: claude gave no report; it was not allowed to use";
    let failed = ended.stderr.lines().find(|line| line.starts_with("failed")).unwrap_or_default();
    assert!(failed.contains(what) && failed.contains(hint) && !failed.contains("more)"), "{}", ended.stderr);
    let waits = ended.stderr.lines().filter(|line| line.starts_with("waits")).collect::<String>();
    assert!(waits.contains(what) && !waits.contains("more)"), "{waits}");
    let inbox = site.baton(&["inbox"]).stdout;
    assert!(inbox.contains(hint), "{inbox}");
    let asked = format!("{RUN}.build.failure.1");
    let shown = site.baton(&["show", &asked]).stdout;
    assert!(shown.contains("hint ") && shown.contains(&hint[6..]) && !shown.contains("\noutput "), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&site.baton(&["inbox", "--json"]).stdout).expect("JSON");
    let question = &json["waiting"][0];
    assert!(question["trouble"]["help"].as_str().is_some_and(|help| help.starts_with("allow it with")), "{json}");
    assert!(!question["title"].to_string().contains("allow it"), "{json}");
}

#[test]
fn what_is_wrong_with_a_program_beside_how_it_ended_is_on_record() {
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{REPORT}"}}"#);
    let later = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500"}"#;
    let after = format!("cat <<'END'\n{answer}\n{later}\nEND\nexit 1");
    // Nothing was handed in that could keep it.
    let failed = format!("cat <<'END'\n{}\nEND\nexit 1", later.replace('}', r#","total_cost_usd":-5}"#));
    for (script, code, warning) in [
        (after, 0, "its program failed after its report, which counts: API Error: 500"),
        (failed, 3, "that is implausible and ignored: tokens are estimated, and the price is unknown"),
    ] {
        let (site, ended, _) = run("claude", &script);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        let warned = |line: &str| line.starts_with("warned    build: ") && line.ends_with(warning);
        assert!(ended.stderr.lines().any(warned), "{}", ended.stderr);
        let build = format!("{RUN}.build.1");
        for look in [&["log", RUN][..], &["log", RUN, "--json"], &["show", &build], &["show", &build, "--json"]] {
            let told = site.baton(look).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(warning), "{look:?}: {told}");
        }
    }
}

#[test]
fn words_of_an_agent_are_not_taken_for_those_of_baton() {
    let said = "bad tool use; it said last week that IMPORTANT DETAIL";
    let result = format!(r#"{{"type":"result","subtype":"success","is_error":true,"result":"{said}"}}"#);
    let (site, _, _) = run("claude", &format!("cat <<'END'\n{result}\nEND\nexit 1"));
    let shown = site.baton(&["show", &format!("{RUN}.build.failure.1")]).stdout;
    assert!(shown.contains("IMPORTANT DETAIL"), "{shown}");
}

#[test]
fn session_that_is_lost_makes_room_for_a_fresh_one() {
    let good = format!(
        r#"{{"type":"text","sessionID":"ses_2","part":{{"messageID":"m","text":"{REPORT}"}}}}
{{"type":"step_finish","sessionID":"ses_2","part":{{"reason":"stop","tokens":{{"input":1,"output":1}}}}}}"#
    );
    let script = format!(
        "case \"$*\" in *--session*) echo 'Error: Session not found' >&2; exit 1;; esac\n\
         [ $(wc -l < {{CALLS}}) -gt 1 ] && {{ cat <<'END'\n{good}\nEND\nexit; }}\n\
         echo '{{\"type\":\"text\",\"sessionID\":\"ses_1\",\"part\":{{\"messageID\":\"m\",\"text\":\"Done.\"}}}}'"
    );
    let script = script.replace("{CALLS}", "\"${0%/bin/*}/calls\"");
    let (_, ended, calls) = run("opencode", &script);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let sessions: Vec<bool> = calls.iter().map(|call| call.contains("--session ses_1")).collect();
    assert_eq!(sessions, [false, true, false], "{calls:?}");
}

#[test]
fn one_letter_that_is_no_text_does_not_take_the_answer_with_it() {
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{REPORT}"}}"#);
    // A byte that is not UTF-8, and half of a character: programs in JavaScript cut texts like this.
    for broken in ["\\xfc", "\\\\ud83d"] {
        let script = format!("LC_ALL=C sed 's/three/{broken}/' <<'END'\n{answer}\nEND");
        let (_, ended, calls) = run("claude", &script);
        assert_eq!((ended.code, calls.len()), (Some(0), 1), "{broken}: {}", ended.stderr);
    }
}

#[test]
fn answer_that_cannot_be_read_is_named_with_its_line() {
    let script = "echo '{\"type\":\"system\",\"subtype\":\"init\"}'\n\
                  echo '{\"type\":\"result\",\"total_cost_usd\":NaN,\"result\":\"Done.\"}'";
    let (site, ended, _) = run("claude", script);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let shown = site.baton(&["show", &format!("{RUN}.build.1")]).stdout;
    assert!(shown.contains("line 2 of stdout.log is not JSON"), "{shown}");
}

#[test]
fn long_text_without_a_report_is_cut_in_the_journal_and_says_where_all_of_it_is() {
    let text =
        r#"{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"text","text":"'"#;
    let script = format!("printf '%s' '{text}; head -c 3000000 /dev/zero | tr '\\0' x; echo '\"}}]}}}}'");
    let (site, ended, _) = run("claude", &script);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let kept: Vec<WrittenDocument> = site.journal().iter().filter_map(refused).collect();
    assert!(!kept.is_empty() && kept.iter().all(|document| document.text.len() < 70_000), "the journal has all of it");
    let path = kept[0].path.as_deref().expect("it is in a file");
    assert!(kept[0].text.contains(&format!("all of it is in {path}")), "it says where the rest is");
    assert_eq!(site.read(site.scratch.path("workspace").join(path)).len(), 3_000_000);
}

fn refused(event: &Event) -> Option<WrittenDocument> {
    match event.fact().ok()? {
        Fact::Happened(Command::Fail(fail)) => fail.document,
        _ => None,
    }
}

#[test]
fn agent_in_a_cage_cannot_change_what_it_was_seen_to_do() {
    let says = r#"{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"text","text":"WORD"}]}}"#;
    let result = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{REPORT}"}}"#);
    // It says something, and then rewrites whatever it finds of that beside its prompt and in the state folder.
    let script = format!(
        "echo '{}'\nfor file in $(find \"${{BATON_PROMPT_FILE%/*}}\" \"$XDG_STATE_HOME\" -name activity.jsonl 2> /dev/null); do\n\
         sed -i s/honest/forged/ $file; done\necho forged > \"${{BATON_PROMPT_FILE%/*}}/activity.jsonl\"\ncat <<'END'\n{result}\nEND",
        says.replace("WORD", "honest")
    );
    let flow = "name: coding\nagents: {dev: {profile: claude}}\nphases: [{id: build, agent: dev}]\n";
    let site = site(flow, "claude", &script);
    let ended = end(&mut start(&site, &RUN_FLOW));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told = site.baton(&["log", RUN, "--agents"]).stdout;
    assert!(told.contains("says: honest") && !told.contains("forged"), "{told}");
}
