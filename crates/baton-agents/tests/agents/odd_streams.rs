//! Streams of events that no program should print, and what is understood of them all the same.

use baton_engine::agent::{EndedTurn, Update};
use baton_protocol::workflow::{Duration as Length, Profile};

use crate::bench::{answered, failed};
use crate::profiles::Fake;

const BLOCK: &str =
    r#"```json\n{\"agent\": \"reviewer\", \"status\": \"complete\", \"handoff\": {\"context\": \"Read it.\"}}\n```"#;

/// Returns a result of Claude Code in one of its sessions.
fn result(session: &str, text: &str) -> String {
    format!(r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"{session}","result":"{text}"}}"#)
}

/// Prints lines, the last one without an end.
fn prints(lines: &[String]) -> String {
    format!("printf '%s' \"$(cat <<'EOT'\n{}\nEOT\n)\"", lines.join("\n"))
}

fn heard(lines: &[String]) -> (EndedTurn, Vec<Update>) {
    Fake::doing(Profile::Claude, &prints(lines)).heard()
}

fn sessions(updates: &[Update]) -> Vec<&str> {
    updates
        .iter()
        .filter_map(|update| match update {
            Update::Session(id) => Some(id.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn last_event_without_an_end_of_its_line_counts() {
    let (ended, _) = heard(&[result("s-1", BLOCK)]);
    assert!(answered(ended).text.contains("Read it."));
}

#[test]
fn of_two_sessions_in_one_stream_the_first_is_the_agents() {
    let alive = |session: &str| format!(r#"{{"type":"system","session_id":"{session}"}}"#);
    let mut lines: Vec<String> = (0..1000).map(|number| alive(["s-1", "s-2"][number % 2])).collect();
    lines.push(result("s-1", BLOCK));
    let (ended, updates) = heard(&lines);
    assert_eq!(sessions(&updates), ["s-1"], "each name is an event of the journal");
    assert!(answered(ended).text.contains("Read it."));
}

#[test]
fn events_in_any_order_are_understood() {
    let ends = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":false}]}}"#;
    let begins = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Skill","input":{"skill":"x"}}]}}"#;
    let init = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
    let (ended, _) = heard(&[ends, &result("s-1", BLOCK), begins, init, "[]", "null", "7", "{}"].map(str::to_owned));
    assert_eq!(ended.skills, Some(Vec::new()), "a call whose result came before it proves nothing");
    assert!(answered(ended).text.contains("Read it."));
}

#[test]
fn program_that_closes_its_output_is_waited_for() {
    let script = format!("{}\nexec >&- 2>&-\necho late > $BATON_WORKSPACE/late", prints(&[result("s-1", BLOCK)]));
    let fake = Fake::doing(Profile::Claude, &script);
    assert!(answered(fake.attempt()).text.contains("Read it."));
    assert_eq!(fake.bench.scratch.read("workspace/late"), "late\n");
    let mut fake = Fake::doing(Profile::Claude, "exec >&- 2>&-; trap '' TERM; sleep 600");
    fake.agent.timeout = Length::parse("300ms").ok();
    assert_eq!(failed(fake.attempt()).to_string(), "TIMEOUT: reviewer (claude) did not finish within 300 ms");
}

#[test]
fn event_that_is_too_long_is_passed_over_and_told_if_there_is_no_answer() {
    let long = "printf '{\"type\":\"'; head -c 34000000 /dev/zero | tr '\\0' x; echo '\"}'";
    let with_answer = format!("{long}\n{}", prints(&[result("s-1", BLOCK)]));
    assert!(answered(Fake::doing(Profile::Claude, &with_answer).attempt()).text.contains("Read it."));
    let failure = failed(Fake::doing(Profile::Claude, long).attempt()).to_string();
    assert_eq!(failure, "VALIDATION_FAILED: claude gave no final answer (line 1 of stdout.log is too long)");
}
