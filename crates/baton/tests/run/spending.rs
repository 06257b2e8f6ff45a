//! What coding agents say that they spent: it counts once, whatever they tell and however they end.

use baton_testbed::Process;

use crate::profiles::{REPORT, RUN_FLOW, run, site, start};
use crate::site::{LONG, RUN, Site, end, find};

/// Prints each of some texts in one call; the last one also in all calls after it.
fn in_turn(texts: &[String]) -> String {
    let case = |(index, text): (usize, &String)| {
        let pattern = if index + 1 == texts.len() { "*".to_owned() } else { (index + 1).to_string() };
        format!("{pattern}) cat <<'END'\n{text}\nEND\n;;")
    };
    let cases: Vec<String> = texts.iter().enumerate().map(case).collect();
    format!("case $(wc -l < \"${{0%/bin/*}}/calls\") in\n{}\nesac", cases.join("\n"))
}

/// What Claude Code says when a turn has ended, with more members.
fn result(text: &str, members: &str) -> String {
    format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}",{members}}}"#)
}

fn usage(tokens: u32, cost: &str) -> String {
    format!(r#""total_cost_usd":{cost},"usage":{{"input_tokens":{tokens},"output_tokens":0}}"#)
}

fn spent(site: &Site) -> (u64, Option<u64>) {
    let run = site.told();
    let build = find(&run, "build.1");
    (build.tokens(), build.spending().spent.cost_micros)
}

#[test]
fn what_a_turn_told_before_baton_was_killed_counts_after_it() {
    let works = r#"{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","content":[],"usage":{"input_tokens":4000,"output_tokens":500}}}"#;
    let flow = "name: coding\nsandbox: off\nagents: {dev: {profile: claude}}\nlimits: {tokens: 5000}\n\
                phases: [{id: build, agent: dev}, {id: more, agent: dev}]\n";
    let done = result(REPORT, &usage(4500, "0.01"));
    let script =
        format!("{}\ncase \"$*\" in *--resume*) ;; *) exec sleep 600;; esac", in_turn(&[works.to_owned(), done]));
    let site = site(flow, "claude", &script);
    let mut first = start(&site, &[&RUN_FLOW[..], &["--json"]].concat());
    let written = |process: &Process| loop {
        let line = process.stdout.next(LONG).expect("what was spent is journalled");
        if line.contains("\"extended\"") && line.contains("4000") {
            break;
        }
    };
    written(&first);
    first.kill();
    let ended = end(&mut start(&site, &["resume", RUN, "--no-input"]));
    assert_eq!(ended.code, Some(3), "a person is asked: {}", ended.stderr);
    assert!(ended.stderr.contains("9000 tokens were used; the limit is 5000"), "{}", ended.stderr);
    assert_eq!(find(&site.told(), "build.1").tokens(), 9_000);
}

#[test]
fn price_of_a_session_is_counted_once_whatever_the_sums_are_sums_of() {
    let cases = [
        // Claude Code tells the sum of the session.
        (["0.1", "0.25", "0.45"], 450_000),
        (["0.1", "0.1", "0.1"], 100_000),
        // A sum that is less than what was spent before does not include it.
        (["0.9", "0.3", "0.3"], 1_500_000),
    ];
    for (sums, expected) in cases {
        let answers = [("Done.", sums[0]), ("Done.", sums[1]), (REPORT, sums[2])];
        let answers = answers.map(|(text, sum)| result(text, &usage(100, sum)));
        let (site, ended, calls) = run("claude", &in_turn(&answers));
        assert_eq!((ended.code, calls.len()), (Some(0), 3), "{}", ended.stderr);
        assert_eq!(spent(&site), (300, Some(expected)), "{sums:?}");
    }
}

#[test]
fn second_result_of_one_process_does_not_cost_the_same_again() {
    let both = format!("{}\n{}", result("Working.", &usage(100, "0.01")), result(REPORT, &usage(100, "0.01")));
    let (site, ended, _) = run("claude", &both_in_one(&both));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(spent(&site), (200, Some(10_000)));
}

fn both_in_one(text: &str) -> String {
    format!("cat <<'END'\n{text}\nEND")
}

#[test]
fn figures_that_make_no_sense_count_as_not_told_with_one_warning() {
    let senseless = [
        r#""total_cost_usd":-5,"usage":{"input_tokens":-100,"output_tokens":-1}"#,
        r#""total_cost_usd":1e308,"usage":{"input_tokens":18446744073709551615,"output_tokens":1}"#,
        r#""total_cost_usd":"0.5","usage":{"input_tokens":"12"}"#,
        r#""total_cost_usd":-1,"model_usage_since_last_result":{"opus":{"inputTokens":-7,"costUSD":-1}}"#,
    ];
    for members in senseless {
        let answers = [result("Done.", &usage(100, "0.05")), result("Done.", members), result(REPORT, members)];
        let (site, ended, calls) = run("claude", &in_turn(&answers));
        assert_eq!((ended.code, calls.len()), (Some(0), 3), "{}", ended.stderr);
        let (tokens, cost) = spent(&site);
        assert!(tokens > 150 && tokens < 100_000, "{members}: the prompts are estimated: {tokens}");
        assert_eq!(cost, Some(50_000), "{members}");
        assert_eq!(ended.stderr.matches("is implausible").count(), 1, "{members}: {}", ended.stderr);
        let shown = site.baton(&["show", RUN]).stdout;
        assert!(shown.contains("> $0.05"), "{members}: {shown}");
    }
}

#[test]
fn price_without_tokens_leaves_the_length_of_the_prompt() {
    let (site, ended, _) = run("claude", &both_in_one(&result(REPORT, r#""total_cost_usd":0.05"#)));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (tokens, cost) = spent(&site);
    assert!(tokens > 50, "{tokens}");
    assert_eq!(cost, Some(50_000));
}

#[test]
fn report_that_comes_with_the_price_that_uses_up_the_budget_is_not_thrown_away() {
    let flow = "name: coding\nsandbox: off\nagents: {dev: {profile: claude}}\nlimits: {cost: 2}\n\
                phases: [{id: build, agent: dev}, {id: more, agent: dev}]\n";
    let site = site(flow, "claude", &both_in_one(&result(REPORT, &usage(100, "2.5"))));
    let ended = end(&mut start(&site, &RUN_FLOW));
    assert_eq!(ended.code, Some(3), "a person is asked before the next phase: {}", ended.stderr);
    assert!(ended.stderr.contains("$2.50 were spent; the limit is $2.00"), "{}", ended.stderr);
    let run = site.told();
    assert!(matches!(find(&run, "build.1").handoff.state, baton_engine::State::Completed { .. }), "{}", ended.stderr);
    assert!(run.latest("more").is_none());
}

#[test]
fn report_in_the_last_words_of_a_turn_counts_although_they_use_up_the_tokens() {
    let flow = "name: coding\nsandbox: off\nagents: {dev: {profile: claude}}\nlimits: {tokens: 900}\n\
                phases: [{id: build, agent: dev}, {id: more, agent: dev}]\n";
    let words = format!(
        r#"{{"type":"assistant","parent_tool_use_id":null,"message":{{"id":"m","content":[{{"type":"text","text":"{REPORT}"}}],"usage":{{"input_tokens":500,"output_tokens":500}}}}}}"#
    );
    let site = site(flow, "claude", &both_in_one(&format!("{words}\n{}", result(REPORT, &usage(1000, "0.1")))));
    let ended = end(&mut start(&site, &RUN_FLOW));
    assert_eq!(ended.code, Some(3), "a person is asked before the next phase: {}", ended.stderr);
    let run = site.told();
    assert!(matches!(find(&run, "build.1").handoff.state, baton_engine::State::Completed { .. }), "{}", ended.stderr);
    assert!(run.latest("more").is_none());
}
