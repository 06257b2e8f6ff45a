//! Teams that hand over with metadata and phase blocks: what reaches the next agent, the helper, the agent that goes on
//! and the people who look on.

use baton_engine::Fence;

use crate::site::{RUN, Site, find};

/// Python that hands in a metadata block with prose before it.
const BLOCK: &str = r##"
def block(status="complete", context="Three layers, described in two pages with one diagram.", **members):
    document = {"agent": os.environ["BATON_AGENT"], "output_type": "result", "feature_directory": "out",
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1)),
                "skills_invoked": [], "status": status, "handoff": {"next_agent": None, "context": context}}
    document.update(members)
    text = "# Result\n\nProse that only this file has.\n\n```json\n" + json.dumps(document) + "\n```\n"
    write(os.environ["BATON_REPORT_FILE"], text)
first = os.environ["BATON_FENCE"] == "1"
"##;

/// Agents by their names, all of them with metadata blocks, and what they do.
fn team(agents: &[(&str, &str)], rest: &str) -> Site {
    let mut flow = "name: blocks\noutput_directory: out\nagents:\n".to_owned();
    for (name, _) in agents {
        flow += &format!("  {name}: {{command: [./{name}.py], dialect: metadata-block, retry: {{max_retries: 0}}}}\n");
    }
    let site = Site::new().workflow(&format!("{flow}{rest}"));
    agents.iter().fold(site, |site, (name, body)| site.agent(name, &format!("{BLOCK}{body}")))
}

impl Site {
    fn prompt(&self, handoff: &str, fence: Fence) -> String {
        self.read(self.attempt(handoff, fence).join("prompt.md"))
    }
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is not in\n{text}");
    }
}

const BLOCKED: &str = "if first:\n    block('blocked', 'Is AES enough?', blocked_reason='license', attempted=['read it'])\n\
                       else:\n    block()";

#[test]
fn fields_beyond_the_protocol_reach_the_next_agent() {
    let lead = "write('diagram.svg', 'x')\nblock(artifacts=[{'path': 'diagram.svg', 'description': 'the layers'}], team='payments')";
    let site =
        team(&[("lead", lead), ("dev", "block()")], "phases: [{id: design, agent: lead}, {id: build, agent: dev}]\n");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_says(&site.prompt("build.1", Fence(1)), &["also said:", "diagram.svg", "the layers", "team: payments"]);
}

#[test]
fn helper_and_blocked_agent_are_told_where_the_whole_report_is() {
    let site = team(
        &[("dev", BLOCKED), ("lawyer", "block(context='AES is enough for this.')")],
        "phases: [{id: build, agent: dev}]\nroutes: [{agent: dev, reason: license, to: lawyer}]\n",
    );
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let file = format!(".baton/runs/{RUN}/handed/build.1.1.md");
    let named = format!("whole report: {file} (with the text around the block)");
    let helper = find(&site.told(), "build.lawyer.1").handoff.id.to_string();
    let helper = helper.strip_prefix(&format!("{RUN}.")).expect("of this run").to_owned();
    for prompt in [site.prompt(&helper, Fence(1)), site.prompt("build.1", Fence(2))] {
        assert_says(&prompt, &["Is AES enough?", &named]);
    }
    let whole = site.read(site.scratch.path(format!("workspace/{file}")));
    assert_says(&whole, &["Prose that only this file has."]);
}

#[test]
fn agent_is_told_the_reasons_that_lead_somewhere() {
    let rest = "phases: [{id: plan, agent: backend-tester}, {id: build, agent: dev}]\nreasons: [budget]\n\
                routes:\n\
                \x20 - {agent: dev, reason: license, to: human}\n\
                \x20 - {agent: dev, reason: 'legal*', to: human}\n\
                \x20 - {agent: dev, status: complete, verdict: NO, phase: plan}\n";
    let site = team(&[("backend-tester", "block()"), ("dev", "block()")], rest);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (tester, dev) = (site.prompt("plan.1", Fence(1)), site.prompt("build.1", Fence(1)));
    assert_says(&tester, &["`unknown`, `budget`, `missing_test_plan`)"]);
    assert_says(&dev, &["`unknown`, `budget`, `license`)"]);
}

#[test]
fn schema_discovery_that_fails_is_a_reason_of_the_phases() {
    let flow = "name: blocks\nagents: {dev: {command: [./dev.py], dialect: phase-block, retry: {max_retries: 0}}}\n\
                phases: [{id: schema_discovery, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "pass");
    site.run(&[]);
    assert_says(&site.prompt("schema_discovery.1", Fence(1)), &["`unknown`, `schema_discovery_failed`)"]);
}

#[test]
fn warnings_about_a_report_that_counts_are_told_and_kept() {
    let dev = "block(feature_directory='elsewhere')";
    let site = team(&[("dev", dev)], "phases: [{id: build, agent: dev}]\n");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_says(&ended.stderr, &["warned    build: other-output-directory: "]);
    assert_eq!(find(&site.told(), "build.1").told.as_ref().expect("it reported").written.warnings.len(), 1);
    assert_says(&site.baton(&["show", &format!("{RUN}.build.1")]).stdout, &["warnings  1. other-output-directory: "]);
}

#[test]
fn person_who_reviews_sees_what_rules_warn_of() {
    let rest = "phases: [{id: build, agent: dev, review: blocking}]\n";
    let site = team(&[("dev", "block(feature_directory='elsewhere')")], rest);
    assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
    assert_says(&site.baton(&["show", &format!("{RUN}.build.1")]).stdout, &["warnings  1. other-output-directory: "]);
}

#[test]
fn advice_to_end_is_followed_where_the_run_ends() {
    let said = "block(handoff={'next_agent': 'end', 'context': 'Three layers, described in two pages.'})";
    let site = team(&[("dev", said)], "phases: [{id: build, agent: dev}]\n");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("advised"), "{}", ended.stderr);
}

#[test]
fn gate_that_was_only_approved_says_nothing_to_the_next_agent() {
    let rest = "phases: [{id: design, agent: lead}, {id: ok, gate: {items: [look]}}, {id: build, agent: dev}]\n";
    for (answer, words) in [("- {approve: true}\n", false), ("- {approve: true, note: keep it small}\n", true)] {
        let site = team(&[("lead", "block()"), ("dev", "block()")], rest);
        site.scratch.write("answers.yaml", answer);
        let ended = site.run(&["--answers", "answers.yaml"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let prompt = site.prompt("build.1", Fence(1));
        assert_eq!(prompt.contains("keep it small"), words, "{prompt}");
        assert!(!prompt.contains("facts, from"), "{prompt}");
    }
}

/// A workflow of one agent with this dialect, whose block has what the template of phase blocks has: neither `phase`
/// nor `summary`.
fn template(dialect: &str) -> Site {
    let flow = format!(
        "name: blocks\noutput_directory: out\nagents: {{dev: {{command: [./dev.py]{dialect}, retry: {{max_retries: 0}}}}}}\n\
         phases: [{{id: architecture, agent: dev}}]\n"
    );
    Site::new().workflow(&flow).agent("dev", &format!("{BLOCK}block(library_skills_read=[], attempted=[])"))
}

#[test]
fn block_without_phase_and_summary_is_a_phase_block_only_where_the_workflow_says_so() {
    let ended = template("").run(&[]);
    assert_eq!(ended.code, Some(0), "a metadata block: {}", ended.stderr);
    let site = template(", dialect: phase-block");
    assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
    let failure = find(&site.told(), "architecture.1").handoff.last_failure.as_ref().expect("it failed").to_string();
    assert_says(&failure, &["missing-field: `phase` is missing", "missing-field: `summary` is missing"]);
}

#[test]
fn schema_discovery_and_architecture_are_asked_for_their_evidence_and_held_to_it() {
    for (phase, owed) in [("schema_discovery", "tool_called"), ("architecture", "patterns_referenced")] {
        let flow = format!(
            "name: blocks\noutput_directory: out\n\
             agents: {{dev: {{command: [./dev.py], dialect: phase-block, retry: {{max_retries: 0}}}}}}\n\
             phases: [{{id: {phase}, agent: dev}}]\n"
        );
        let said = format!(
            "{BLOCK}block(phase='{phase}', summary='Wrote out/plan.md with 3 sections.', verification={{'{owed}': False}})"
        );
        let site = Site::new().workflow(&flow).agent("dev", &said);
        assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
        let run = site.told();
        let failure = find(&run, &format!("{phase}.1")).handoff.last_failure.as_ref().expect("it failed").to_string();
        assert_says(&failure, &["proceed-with-failed-check", owed]);
        assert_says(
            &site.prompt(&format!("{phase}.1"), Fence(1)),
            &[&format!("say true or false for each of: `{owed}`")],
        );
    }
}

#[test]
fn output_directory_that_cannot_be_evaluated_is_an_error_and_nobody_is_sent_off() {
    let flow = "name: blocks\ninputs: {feature: {default: login}}\noutput_directory: 'out/{{ inputs.feature.name }}'\n\
                agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "write('began', '')");
    assert_eq!(site.run(&[]).code, Some(3), "a person is asked");
    let failure = find(&site.told(), "build.1").handoff.last_failure.as_ref().expect("it failed").to_string();
    assert_says(&failure, &["output_directory", "`inputs.feature.name` is undefined"]);
    assert!(!site.scratch.path("workspace/began").exists(), "nobody began");
}

#[test]
fn summary_of_more_than_two_sentences_is_warned_of() {
    let flow = "name: blocks\noutput_directory: out\nagents: {dev: {command: [./dev.py], dialect: phase-block}}\n\
                phases: [{id: implementation, agent: dev}]\n";
    let said = "block(phase='implementation', summary=' '.join(f'Step {n} added src/f{n}.rs.' for n in range(10)))";
    let site = Site::new().workflow(flow).agent("dev", &format!("{BLOCK}{said}"));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_says(&ended.stderr, &["warned    implementation: long-summary: the summary has 10 sentences"]);
}

#[test]
fn person_at_a_failed_check_reads_what_it_found() {
    let rest =
        "phases: [{id: build, agent: dev}, {id: 4.5, check: \"echo 'REQ-7 is violated'; exit 1\", on_failure: gate}]\n";
    let site = team(&[("dev", "block()")], rest);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert_says(&ended.stderr, &["a person must decide: the check 4.5 failed", "exit code 1: REQ-7 is violated"]);
}
