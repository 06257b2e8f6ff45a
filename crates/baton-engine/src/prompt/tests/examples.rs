//! The example in a prompt is a valid document, whatever the dialect, the phase and the ids are.

use baton_protocol::model::Document;
use baton_protocol::model::terms::{ExpectedOutput, TaskPhase};
use baton_protocol::rules::{copied_example, placeholder};
use baton_protocol::wire::Label;
use baton_protocol::{Dialect, Hints, Kind, Settings, Surroundings};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Judges a text as the engine does, and returns what it says about it.
fn judged(text: &str, dialect: Dialect, request: &Request, settings: &Settings) -> (Option<Document>, Vec<String>) {
    let hints = Hints { dialect: Some(dialect), ..Hints::default() };
    let reading = baton_protocol::read(text.as_bytes(), hints);
    let surroundings = Surroundings { request: Some(request), times_are_kept: true, ..Surroundings::default() };
    let judgement = baton_protocol::judge(text.as_bytes(), &reading, &surroundings, settings);
    let is_blank = |code: &str| [placeholder::RULE.name, copied_example::RULE.name].contains(&code);
    let said = judgement.diagnostics.iter().filter(|found| !is_blank(found.code));
    let said = said.map(|found| format!("{} at {}: {}", found.code, found.pointer, found.message));
    (reading.document, said.collect())
}

/// Takes the code blocks out of a prompt: the example comes last, the acknowledgment before it.
fn blocks(prompt: &str) -> Vec<&str> {
    prompt.split("\n```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1)).collect()
}

fn assert_valid(briefing: &Briefing<'_>, settings: &Settings) {
    let prompt = render(briefing).expect("a prompt").text;
    let blocks = blocks(&prompt);
    let report = blocks.last().expect("an example");
    let (document, said) = judged(report, briefing.dialect, briefing.request, settings);
    assert_eq!(said, Vec::<String>::new(), "{report}");
    let kind = if briefing.dialect == Dialect::Package { Kind::Request } else { Kind::Report };
    assert_eq!(document.map(|document| document.kind()), Some(kind));
    if briefing.acknowledge {
        let (document, said) = judged(blocks[blocks.len() - 2], Dialect::Package, briefing.request, settings);
        assert_eq!(said, Vec::<String>::new());
        assert_eq!(document.map(|document| document.kind()), Some(Kind::Acknowledgment));
    }
}

#[test]
fn every_dialect_has_a_valid_example() {
    for dialect in Dialect::ALL {
        let case = Case::usual();
        assert_valid(&Briefing { acknowledge: true, ..case.briefing(dialect) }, &Settings::default());
    }
}

#[test]
fn an_example_at_the_end_of_an_answer_is_recognised_and_refused_as_a_copy() {
    for dialect in Dialect::ALL {
        let case = Case::usual();
        let briefing = Briefing { acknowledge: false, report_to: ReportTo::Stdout, ..case.briefing(dialect) };
        let prompt = render(&briefing).expect("a prompt").text;
        let tag = if dialect == Dialect::Package { "yaml" } else { "json" };
        let answer =
            format!("# Done\n\nAll of it.\n\n```{tag}\n{}\n```\n", blocks(&prompt).last().expect("an example"));
        let reading = baton_protocol::read(answer.as_bytes(), Hints::default());
        let surroundings = Surroundings { request: Some(&case.request), ..Surroundings::default() };
        let judgement = baton_protocol::judge(answer.as_bytes(), &reading, &surroundings, &Settings::default());
        assert_eq!(reading.dialect, Some(dialect));
        assert!(!judgement.valid, "{dialect}: a copy of the example is not a report");
        let codes: Vec<&str> = judgement.diagnostics.iter().map(|found| found.code).collect();
        assert!(codes.contains(&copied_example::RULE.name), "{dialect}: {codes:?}");
    }
}

#[test]
fn each_phase_of_a_task_has_its_findings() {
    let outputs = ExpectedOutput::ALL.iter().map(|output| (output.phase(), Some(output.as_str().to_owned())));
    let phases = TaskPhase::ALL.iter().map(|phase| (*phase, None));
    for (phase, output) in outputs.chain(phases) {
        let mut case = Case::usual();
        case.request.phase = output.is_none().then(|| Label::Name(phase.as_str().to_owned()));
        case.request.expectations.get_or_insert_default().output = output;
        let briefing = case.briefing(Dialect::Task);
        assert_valid(&briefing, &Settings::default());
        let prompt = render(&briefing).expect("a prompt").text;
        let text = blocks(&prompt).last().copied().unwrap_or_default();
        let (document, _) = judged(text, Dialect::Task, &case.request, &Settings::default());
        let Some(Document::Report(report)) = document else { panic!("a report") };
        assert_eq!(report.findings.map(|findings| findings.phase()), Some(phase));
    }
}

#[test]
fn a_bare_request_is_enough() {
    let request = Request::default();
    for dialect in Dialect::ALL {
        let case = Case { request: request.clone(), checks: Vec::new(), skills: Vec::new(), ..Case::usual() };
        let id = Some("t-1".to_owned());
        // Three dialects cannot do without an id.
        let request = match dialect {
            Dialect::Task | Dialect::Mailbox => Request { id, ..request.clone() },
            _ => request.clone(),
        };
        let briefing = Briefing { request: &request, output_directory: "", role: None, ..case.briefing(dialect) };
        assert_valid(&briefing, &Settings::default());
    }
}

#[test]
fn an_example_names_only_places_that_the_phase_may_write() {
    let named = |writes: Option<&[&str]>, deliverable: Option<&str>| {
        let mut case = Case::usual();
        case.writes = writes.map(|patterns| patterns.iter().map(|pattern| (*pattern).to_owned()).collect());
        case.request.expectations.get_or_insert_default().deliverable = deliverable.map(str::to_owned);
        let prompt = case.prompt(Dialect::Native).text;
        let example: Value = serde_json::from_str(blocks(&prompt).last().expect("an example")).expect("JSON");
        let place = example["feature_directory"].as_str().unwrap_or_default().to_owned();
        (place, example["files_modified"].as_array().map(|files| files.clone().into_iter().collect::<Value>()))
    };
    let output = "out/mcp-wrapper/get-issue";
    let cases = [
        (None, None, output, json!([format!("{output}/implementation.md")])),
        (None, Some("The design, in DESIGN.md."), output, json!(["DESIGN.md"])),
        (Some(["src/**"]), None, ".", json!(["src/<file>"])),
        (Some(["DESIGN.md"]), None, ".", json!(["DESIGN.md"])),
        (Some(["DESIGN.md"]), Some("The code, in count.py"), ".", json!(["DESIGN.md"])),
        (Some(["out/**"]), Some("The code, in count.py"), output, json!([format!("{output}/implementation.md")])),
        (Some(["out/**/*.json"]), None, output, json!(["out/<file>.json"])),
    ];
    for (writes, deliverable, place, files) in cases {
        let told = named(writes.as_ref().map(<[&str; 1]>::as_slice), deliverable);
        assert_eq!(told, (place.to_owned(), Some(files)), "{writes:?} {deliverable:?}");
    }
    assert_eq!(named(Some(&[]), Some("The code, in count.py")), (".".to_owned(), None));
}

/// Changes an example as the contract says, and judges it again.
fn assert_other_end(dialect: Dialect, change: impl Fn(&mut Value)) {
    let mut case = Case::usual();
    case.request.phase = (dialect == Dialect::Task).then(|| Label::Name("write".to_owned()));
    let prompt = case.prompt(dialect).text;
    let (document, _) =
        judged(blocks(&prompt).last().expect("an example"), dialect, &case.request, &Settings::default());
    let mut value = dialect.write(&document.expect("a document")).expect("it can be written");
    change(&mut value);
    let (_, said) = judged(&value.to_string(), dialect, &case.request, &Settings::default());
    assert_eq!(said, Vec::<String>::new(), "{value:#}");
}

#[test]
fn the_other_ends_of_blocks_are_valid() {
    let words = json!(["Asked the server for its tools: no answer within 30 s"]);
    for (dialect, status) in
        [(Dialect::MetadataBlock, "status"), (Dialect::PhaseBlock, "status"), (Dialect::Native, "outcome")]
    {
        for reason in baton_protocol::workflow::COMMON_REASONS {
            assert_other_end(dialect, |value| {
                value[status] = "blocked".into();
                value["blocked_reason"] = (*reason).into();
                value["attempted"] = words.clone();
                if dialect == Dialect::PhaseBlock {
                    let blocker =
                        json!({ "type": reason, "description": "The server is down", "resolution": "Start it" });
                    value["handoff"]["blockers"] = json!([blocker]);
                }
            });
        }
        assert_other_end(dialect, |value| value[status] = "needs_review".into());
        assert_other_end(dialect, |value| {
            value[status] = "needs_clarification".into();
            value["questions"] = json!(["Is the history wanted?"]);
        });
    }
    assert_other_end(Dialect::MetadataBlock, |value| value["verdict"] = "CHANGES_REQUESTED".into());
    assert_other_end(Dialect::Native, |value| {
        value["outcome"] = "failed".into();
        value["error"] = json!({ "code": "TIMEOUT", "message": "The index did not load within 60 s" });
    });
}

#[test]
fn the_other_ends_of_packages_tasks_and_mailboxes_are_valid() {
    assert_other_end(Dialect::Package, |value| {
        let handoff = &mut value["handoff"];
        handoff["kind"] = "delegation".into();
        handoff["to"] = json!({ "agent": "security-check", "reason": "The tokens need a place" });
        handoff["expectations"] = json!({ "deliverable": "Where the tokens are kept, and why there" });
    });
    assert_other_end(Dialect::Package, |value| {
        let handoff = &mut value["handoff"];
        handoff["kind"] = "escalation".into();
        handoff["to"]["agent"] = "human".into();
        handoff["context"]["open_questions"] = json!([{ "question": "Is the history wanted?", "priority": "high" }]);
    });
    assert_other_end(Dialect::Package, |value| {
        let handoff = &mut value["handoff"];
        handoff["kind"] = "gate".into();
        handoff["to"]["agent"] = "human".into();
        handoff["gate"] = json!({ "type": "blocking", "name": "mapping" });
        handoff["validation_request"] = json!({ "items": ["The 12 fields of section 2"] });
    });
    for (status, decision) in [
        ("blocked", "STOP"),
        ("partial", "STOP"),
        ("partial", "CLARIFY"),
        ("complete", "CLARIFY"),
        ("complete", "STOP"),
    ] {
        assert_other_end(Dialect::Task, |value| {
            value["status"] = status.into();
            value["decision"] = decision.into();
            value["issues"] = json!(["Is the history wanted?"]);
        });
    }
    assert_other_end(Dialect::Mailbox, |value| {
        let answer = value.as_object_mut().expect("an object");
        answer.retain(|name, _| {
            !["timestamp_completed", "completed_at", "output", "validation"].contains(&name.as_str())
        });
        answer["status"] = "failed".into();
        answer.insert("timestamp_failed".to_owned(), "2026-05-04T08:22:41Z".into());
        let error = json!({ "code": "DEPENDENCY_MISSING", "message": "The schema is not there", "severity": "error" });
        answer.insert("error".to_owned(), error);
        answer.insert("recovery_actions".to_owned(), json!(["Put the schema beside the others"]));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn names_do_not_spoil_an_example(
        phase in "[a-z][a-z0-9_-]{0,12}(/[a-z][a-z0-9_-]{0,12}){0,2}",
        agent in "@?[a-z][a-z0-9-]{0,20}",
        id in "[A-Za-z0-9][A-Za-z0-9_-]{0,30}",
        folder in "(\\./|/)?[a-z0-9_-]{1,10}(/[a-z0-9.-]{1,10}){0,3}/?",
        skill in "[a-z:-]{3,20}",
        check in "[a-z_]{3,20}",
    ) {
        // A name that means something else is another matter.
        prop_assume!(!["human", "user", "person"].contains(&agent.as_str()));
        let mut case = Case::usual();
        case.request.id = Some(id);
        case.skills = vec![Skill::named(skill)];
        case.checks[0].name = check;
        let settings = Settings {
            phases: vec![phase.rsplit('/').next().unwrap_or_default().to_owned()],
            ..Settings::default()
        };
        for dialect in Dialect::ALL {
            let briefing = case.briefing(dialect);
            let briefing = Briefing { phase: &phase, agent: &agent, output_directory: &folder, ..briefing };
            assert_valid(&briefing, &settings);
        }
    }
}
