//! Sample runs, and all pages made of them.

mod agents;
mod since;
pub(crate) mod stage;
mod starting;

use baton_engine::approval::{Approval, Approver, Vote};
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::lifecycle::Decision;
use baton_engine::people::Question;
use baton_engine::queue::QueueHolds;
use baton_engine::{HandoffId, flow};
use baton_page::check::CheckedText;
use baton_page::comparison::ComparedRun;
use baton_page::exhibit::{Exhibit, ExhibitContent};
use baton_page::handoff::HandoffPage;
use baton_page::inbox::{InboxList, asked};
use baton_page::journal::{EVENTS_PER_PAGE, JournalPage};
use baton_page::layout::{Theme, Viewer};
use baton_page::live;
use baton_page::question::{QuestionPage, SentAnswer};
use baton_page::run::RunPage;
use baton_page::run_state::RunState;
use baton_page::runs::{RunFilter, RunList, RunRow};
use baton_page::since::ChangesSince;
use baton_views::details::ListedRun;
use baton_views::run_summary::{RunSummary, phases_done};
use baton_views::standing::RunStanding;
use jiff::Timestamp;
use maud::{Markup, PreEscaped};
use serde_json::json;

use stage::Stage;

const WORKFLOW: &str = include_str!("feature.yaml");

/// The time at which the pages are looked at.
pub(crate) fn now() -> Timestamp {
    "2026-05-04T15:42:00Z".parse().expect("a time")
}

/// Somebody who may do everything.
pub(crate) fn viewer(waiting: usize, theme: Theme) -> Viewer<'static> {
    let csrf = "c5rf-t0ken";
    let (name, runs) = (Some("ana"), "/runs?state=waiting");
    Viewer { name, may_decide: true, may_start: true, may_control: true, csrf, runs, waiting, theme, now: now() }
}

fn claim(rule: &str, verdict: ClaimFinding, claim: &str, seen: &str, poison: &str) -> ExaminedClaim {
    let mut examined = ExaminedClaim::new(rule, verdict, format!("{claim}{poison}"), format!("{seen}{poison}"));
    if claim.contains(".rs") || claim.contains(".md") {
        examined.path = Some(format!("{claim}{poison}"));
        examined.sha256 = Some("3f1c9a7d5e2b40886c1d7f9e0a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b".to_owned());
    }
    examined
}

fn research(stage: &mut Stage) {
    let poison = stage.poison.clone();
    stage.shown_at_gate =
        vec![claim("artifact-missing", ClaimFinding::Verified, "docs/research.md", "as research reported it", &poison)];
    stage.claim("research", None).report(
        "research",
        312,
        json!({
            "outcome": "complete",
            "summary": "Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV writer fits beside it without touching callers.",
            "decisions": [{"id": "D1", "decision": "A new file src/export/csv.rs beside xlsx.rs", "rationale": "RowWriter is a trait already; callers stay as they are."}],
            "open_questions": [{"question": "Which separator do German spreadsheets expect?", "priority": "high"}],
            "artifacts": [{"path": "docs/research.md"}],
            "next": {"context": "Implement RowWriter for a CsvWriter; quote fields with separators."},
        }),
        vec![
            claim("artifact-missing", ClaimFinding::Verified, "docs/research.md", "4.1 kB", &poison),
            claim("source-unproven", ClaimFinding::Unverifiable, "read RFC 4180", "the transcript does not show it", &poison),
        ],
    );
}

/// A run that waits for the approval of its plan.
pub(crate) fn waiting(id: &str, poison: &str) -> Stage {
    let mut stage = Stage::begin(id, WORKFLOW, "2026-05-04T14:20:10Z", poison);
    research(&mut stage);
    stage
}

/// A run in which somebody writes, after a weekend at the gate, a failure and a lie.
pub(crate) fn running(id: &str, poison: &str) -> Stage {
    let mut stage = Stage::begin(id, WORKFLOW, "2026-05-01T15:10:00Z", poison);
    research(&mut stage);
    stage.decide("approve-plan", 3 * 86_400 - 3_000, "ana", Decision::Approve, Some("Semicolon, please."));
    stage.claim("write", None).fail("write", 95, "the command ended with 1\nerror[E0432]: unresolved import `csv`\n  --> src/export/csv.rs:1:5\nerror: could not compile `ledger`");
    stage.after(1).claim("write", None).report(
        "write",
        420,
        json!({"outcome": "complete", "summary": "CsvWriter is implemented, all tests pass.", "artifacts": [{"path": "src/export/csv.rs"}], "files_modified": ["src/export/mod.rs"]}),
        vec![
            claim("artifact-missing", ClaimFinding::Verified, "src/export/csv.rs", "there, 3.2 kB", poison),
            claim("check-failed", ClaimFinding::Refuted, "all tests pass", "`cargo test` ended with 101: test export::csv::quotes_fields failed", poison),
        ],
    );
    stage.after(2).claim("write", None);
    if !id.starts_with("left") {
        stage.alive();
    }
    stage
}

/// A run that was done well.
pub(crate) fn completed(id: &str, poison: &str) -> Stage {
    let mut stage = running(id, poison);
    stage.report(
        "write",
        380,
        json!({"outcome": "complete", "summary": "CsvWriter is implemented; fields with separators and quotes are quoted.", "artifacts": [{"path": "src/export/csv.rs"}]}),
        vec![
            claim("artifact-missing", ClaimFinding::Verified, "src/export/csv.rs", "there, 3.4 kB", poison),
            claim("check-failed", ClaimFinding::Verified, "all tests pass", "`cargo test` ended with 0", poison),
        ],
    );
    stage.claim("validate", None).report(
        "validate",
        31,
        json!({"outcome": "complete", "summary": "The check passed."}),
        Vec::new(),
    );
    stage
}

/// A run with about so many events: its writer fails again and again, and gives many signs of life.
pub(crate) fn long(id: &str, events: usize) -> Stage {
    let mut stage = Stage::begin(id, WORKFLOW, "2026-05-01T15:10:00Z", "");
    research(&mut stage);
    stage.decide("approve-plan", 600, "ana", Decision::Approve, None);
    for attempt in 0..events / 2 {
        stage.claim("write", None).fail("write", 5, &format!("attempt {attempt} ended with 1\nerror[E0432]"));
        stage.after(1);
        if stage.run.waiting().next().is_some() {
            // Retries have an end of their own.
            stage.decide("write", 30, "ana", Decision::Answer { answers: "retry".to_owned() }, None);
        }
    }
    stage.claim("write", None);
    stage
}

/// A run that was given up.
pub(crate) fn failed(id: &str, poison: &str) -> Stage {
    let mut stage = failing(id, poison);
    stage.decide("write", 640, "ben", Decision::Answer { answers: "stop".to_owned() }, Some("We do it by hand."));
    stage
}

/// A run that asks what to do about an agent that failed for good, after a check had sent it back.
pub(crate) fn failing(id: &str, poison: &str) -> Stage {
    let mut stage = running(id, poison);
    stage.report("write", 200, json!({"outcome": "complete", "summary": "CsvWriter is implemented."}), Vec::new());
    stage.claim("validate", None).report(
        "validate",
        48,
        json!({
            "outcome": "complete", "verdict": "failed", "summary": "The check failed: exit 101.",
            "verification": {"ended": "exit 101", "output": "running 14 tests\ntest export::csv::writes_header ... ok\ntest export::csv::quotes_fields ... FAILED\n\nfailures:\n---- export::csv::quotes_fields stdout ----\nthread panicked at tests/export.rs:31:\nassertion `left == right` failed\n  left: \"a;b\"\n right: \"\\\"a;b\\\"\"\n\ntest result: FAILED. 13 passed; 1 failed"},
        }),
        Vec::new(),
    );
    stage.claim("write", None).give_up("write", 260, "the command ended with 3\nReading tests/export.rs\nquota exceeded: the account has no credit left (429)\ngiving up after 5 tries");
    stage
}

/// A run whose agent has questions.
pub(crate) fn asking(id: &str, poison: &str) -> Stage {
    let mut stage = Stage::begin(id, WORKFLOW, "2026-05-04T15:01:00Z", poison);
    stage.claim("research", None).report(
        "research",
        140,
        json!({"outcome": "needs_clarification", "summary": "Two separators are possible, and the specification names none.",
               "questions": [{"question": "Which separator?", "options": ["semicolon", "comma"], "impact": "Every test of the export", "default_assumption": "comma"}]}),
        Vec::new(),
    );
    stage
}

fn row(stage: &Stage) -> RunRow {
    let handoffs: Vec<_> = stage.run.handoffs().map(|tracked| tracked.handoff.clone()).collect();
    let summary = RunSummary::of(&stage.run, &stage.events(), now());
    let root = stage.run.root().handoff.clone();
    let workflow = format!("{}{}", stage.run.definition.name(), stage.poison);
    let (phases_done, phases) = phases_done(&stage.run);
    let first = stage.run.waiting().find_map(|tracked| flow::question(&stage.run, tracked));
    let asked = first.as_ref().map(asked).unwrap_or_default();
    let listed = ListedRun::of(root, &handoffs, workflow, now(), &QueueHolds::new(), |_| {
        stage.run.id.as_str().starts_with("left")
    });
    let (spending, tokens) = (summary.total.spending, summary.total.tokens);
    RunRow { listed, asked, phases_done, phases, spending, tokens }
}

/// A page with its name.
pub(crate) type Named = (&'static str, Markup);

/// Makes all pages.
pub(crate) fn pages(theme: Theme, poison: &str) -> Vec<Named> {
    let viewer = viewer(3, theme);
    let mut pages = Vec::new();
    let stages = [
        waiting("csv-export-9", poison),
        running("csv-export-8", poison),
        asking("invoices-3", poison),
        failing("csv-export-7", poison),
        running("left-1", poison),
        failed("csv-export-6", poison),
        completed("csv-export-5", poison),
    ];
    let rows: Vec<RunRow> = stages.iter().map(row).collect();
    let filter = RunFilter::default();
    let counts: Vec<(RunState, usize)> = RunState::ALL.into_iter().zip([3, 1, 2, 1, 1, 12, 230, 4]).collect();
    let workflows = ["feature".to_owned(), format!("invoices{poison}")];
    let list = RunList {
        rows: &rows,
        filter: &filter,
        counts: Some(&counts),
        is_all_counted: true,
        workflows: &workflows,
        next: Some("2026-04-30"),
        is_later: false,
    };
    pages.push(("runs", baton_page::runs::page(&viewer, &list)));
    let none = RunList {
        rows: &[],
        filter: &filter,
        counts: None,
        is_all_counted: true,
        workflows: &[],
        next: None,
        is_later: false,
    };
    pages.push(("runs-empty", baton_page::runs::page(&Viewer { name: None, waiting: 0, ..viewer }, &none)));
    let [waiting, running, asking, failing, _, failed, completed] = &stages;
    pages.push(("run-waiting", with_run(waiting, Some(2), |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-running", with_run(running, None, |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-asking", with_run(asking, None, |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-failing", with_run(failing, Some(14), |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-failed", with_run(failed, None, |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-completed", with_run(completed, None, |page| baton_page::run::page(&viewer, page))));
    pages.push(("run-flow", with_run(failing, None, |page| baton_page::run::flow_page(&viewer, page))));
    pages.push(("run-handoffs", with_run(failing, None, |page| baton_page::run::handoffs_page(&viewer, page, 0))));
    pages.push(("run-journal", journal(&viewer, failing)));
    pages.push(("handoff", handoff(&viewer, failing, "write.1")));
    pages.push(("handoff-research", handoff(&viewer, waiting, "research.1")));
    let all: Vec<_> = [waiting, asking, failing]
        .iter()
        .flat_map(|stage| {
            let handoff =
                |question: Question| (stage.run.find(&question.handoff).expect("it waits").handoff.clone(), question);
            questions(stage).into_iter().map(handoff).collect::<Vec<_>>()
        })
        .collect();
    let inbox = InboxList { waiting: &all, next: Some("2026-05-04T15:00:00Z/a"), more: 4 };
    pages.extend(starting::pages(&viewer, poison));
    pages.push(("inbox", baton_page::inbox::page(&viewer, &inbox)));
    let none = InboxList { waiting: &[], next: None, more: 0 };
    pages.push(("inbox-empty", baton_page::inbox::page(&Viewer { waiting: 0, ..viewer }, &none)));
    pages.push(("question-gate", question(&viewer, waiting, "approve-plan", |_| {})));
    let again = since::asked_again("csv-export-10", poison);
    pages.push(("question-since", question(&viewer, &again, "approve-plan", |_| {})));
    pages.push(("question-clarification", question(&viewer, asking, "research", stage::asked_before(poison))));
    pages.push(("question-failure", question(&viewer, failing, "write", |_| {})));
    pages.push((
        "question-signed",
        question(&viewer, waiting, "approve-plan", |question| {
            let approver = |name: &str| Approver { name: format!("{name}{poison}"), keys: Vec::new() };
            question.approval =
                Some(Approval { at_least: 2, signed: true, approvers: vec![approver("ana"), approver("ben")] });
            question.approvals =
                vec![Vote { by: format!("ben{poison}"), label: None, key: None, choice: None, withdrawn: false }];
        }),
    ));
    pages.push(("question-viewer", question(&Viewer { may_decide: false, ..viewer }, waiting, "approve-plan", |_| {})));
    let decided =
        running.run.handoffs().find_map(|tracked| tracked.decided.as_ref().map(|decide| (&tracked.handoff, decide)));
    let (gate, decide) = decided.expect("somebody has decided");
    pages.push(("fragments", fragments(&viewer, running, waiting)));
    let handoffs: Vec<_> = failing.run.handoffs().map(|tracked| tracked.handoff.clone()).collect();
    pages.extend(agents::pages(&viewer, poison, &handoffs));
    pages.extend(checks(&viewer, poison));
    pages.push(("compare", compared(failed, completed, |a, b| baton_page::comparison::page(&viewer, a, b))));
    let nobody = Viewer { name: None, ..viewer };
    let (back, why) = (format!("/runs{poison}"), format!("Unknown token{poison}"));
    pages.push(("log-in", baton_page::entrance::log_in(&nobody, &back, Some(&why))));
    pages.push(("not-found", baton_page::entrance::not_found(&viewer, &format!("There is no run nine{poison}."))));
    pages.push((
        "already-decided",
        baton_page::question::already_decided(
            &viewer,
            gate,
            Some((decide, gate.changed_at)),
            &SentAnswer { words: format!("Not yet.{poison}"), ..SentAnswer::default() },
        ),
    ));
    pages
}

fn checks(viewer: &Viewer<'_>, poison: &str) -> Vec<Named> {
    let escaped = serde_json::to_string(poison).expect("JSON");
    let text = format!(
        "{{\n  \"baton\": 1, \"document\": \"report\",\n  \"outcome\": \"finished{}\",\n  \"summary\": \"It's done.\",\n  \"bogus\": 1\n}}\n",
        escaped.trim_matches('"')
    );
    let reading = baton_protocol::read(text.as_bytes(), baton_protocol::Hints::default());
    let judgement = baton_protocol::judge(
        text.as_bytes(),
        &reading,
        &baton_protocol::Surroundings::default(),
        &baton_protocol::Settings::default(),
    );
    let checked = CheckedText { judgement: &judgement, dialect: reading.dialect, kind: Some("report") };
    let rule = baton_protocol::rules::Rule::find("vague-summary").expect("it is one of the rules");
    vec![
        ("check", baton_page::check::page(viewer, "", None)),
        ("check-findings", baton_page::check::page(viewer, &format!("{text}{poison}"), Some(&checked))),
        ("rules", baton_page::check::rules_page(viewer)),
        ("rule", baton_page::check::rule_page(viewer, rule)),
    ]
}

fn compared<T>(one: &Stage, other: &Stage, made: impl FnOnce(&ComparedRun<'_>, &ComparedRun<'_>) -> T) -> T {
    let (first, second) =
        (RunSummary::of(&one.run, &one.events(), now()), RunSummary::of(&other.run, &other.events(), now()));
    let a = ComparedRun { run: &one.run, summary: &first, state: RunState::Failed };
    let b = ComparedRun { run: &other.run, summary: &second, state: RunState::Completed };
    made(&a, &b)
}

/// Makes what the script fetches, put together as one page.
fn fragments(viewer: &Viewer<'_>, running: &Stage, waiting: &Stage) -> Markup {
    let gate = running.run.handoffs().find(|tracked| tracked.decided.is_some()).expect("somebody has decided");
    let names = [live::RUN_STATE, live::RUN_HEAD, live::RUN_TIMELINE, live::RUN_FLOW, live::RUN_HANDOFFS];
    let parts = with_run(waiting, None, |page| {
        assert!(baton_page::run::fragment(viewer, page, "unknown", 0).is_none());
        names.map(|name| baton_page::run::fragment(viewer, page, name, 0).expect("it is a part"))
    });
    let decided = baton_page::question::fragment(&gate.handoff, gate.decided.as_ref());
    let badge = baton_page::layout::badge(viewer);
    let all = parts.into_iter().chain([decided, badge]).map(Markup::into_string).collect::<String>();
    PreEscaped(format!("<!DOCTYPE html><html lang=\"en\"><title>Fragments</title><h1>Fragments</h1>{all}</html>"))
}

/// Makes all pages that are plain text.
pub(crate) fn texts(poison: &str) -> Vec<(&'static str, String)> {
    let viewer = viewer(3, Theme::System);
    let stages = [waiting("csv-export-9", poison), failing("csv-export-7", poison), completed("csv-export-5", poison)];
    let rows: Vec<RunRow> = stages.iter().map(row).collect();
    let list = RunList {
        rows: &rows,
        filter: &RunFilter::default(),
        counts: None,
        is_all_counted: true,
        workflows: &[],
        next: Some("x"),
        is_later: false,
    };
    let waiting: Vec<_> = stages
        .iter()
        .flat_map(|stage| {
            questions(stage)
                .into_iter()
                .map(|question| (stage.run.find(&question.handoff).expect("it waits").handoff.clone(), question))
        })
        .collect();
    vec![
        ("runs", baton_page::plain::runs(&list, now())),
        ("run", with_run(&stages[1], None, |page| baton_page::plain::run(&viewer, page))),
        ("compare", compared(&stages[1], &stages[2], baton_page::plain::comparison)),
        ("inbox", baton_page::plain::inbox(&InboxList { waiting: &waiting, next: None, more: 2 }, now())),
    ]
}

fn question(viewer: &Viewer<'_>, stage: &Stage, phase: &str, change: impl FnOnce(&mut Question)) -> Markup {
    let mut question = stage.question(phase);
    change(&mut question);
    let handoff = &stage.run.find(&question.handoff).expect("it waits").handoff;
    let events: Vec<_> = stage.events().into_iter().filter(|event| event.handoff == handoff.id).collect();
    let exhibits = if phase == "approve-plan" { exhibits(&stage.poison) } else { Vec::new() };
    let earlier = since::earlier(stage, &handoff.id);
    let changed = since::exhibits(&stage.poison);
    let since = earlier.as_ref().map(|earlier| ChangesSince { earlier, changed: &changed, left_out: 2, unchanged: 0 });
    let flow = baton_views::graph::of_run::marked(&stage.run, now());
    let refused = SentAnswer {
        why: format!("say what must change{}", stage.poison),
        decision: "reject".to_owned(),
        words: stage.poison.clone(),
        ..SentAnswer::default()
    };
    let refused = (!stage.poison.is_empty()).then_some(&refused);
    let page = QuestionPage {
        handoff,
        question: &question,
        exhibits: &exhibits,
        exhibits_left_out: 0,
        since,
        flow: Some(&flow),
        events: &events,
        refused,
    };
    baton_page::question::page(viewer, &page)
}

fn questions(stage: &Stage) -> Vec<Question> {
    stage.run.waiting().filter_map(|tracked| flow::question(&stage.run, tracked)).collect()
}

/// Makes a page of a run.
pub(crate) fn with_run<T>(stage: &Stage, last_seen: Option<u64>, make: impl FnOnce(&RunPage<'_>) -> T) -> T {
    let (run, events) = (&stage.run, stage.events());
    let summary = RunSummary::of(run, &events, now());
    let inside: Vec<_> = run.handoffs().map(|tracked| tracked.handoff.clone()).collect();
    let standing = RunStanding::of(&run.root().handoff, inside.iter(), now(), |_| false);
    let questions = questions(stage);
    let (summary, standing, questions, holds) = (&summary, &standing, &questions, &stage.holds);
    make(&RunPage { run, events: &events, summary, standing, questions, holds, last_seen })
}

pub(crate) fn journal(viewer: &Viewer<'_>, stage: &Stage) -> Markup {
    let events = stage.events();
    let from = events.len().saturating_sub(EVENTS_PER_PAGE);
    let journal = JournalPage { run: &stage.run, state: RunState::Waiting, events: &events[from..] };
    baton_page::journal::page(viewer, &journal)
}

fn exhibits(poison: &str) -> Vec<Exhibit> {
    let sha256 = Some("3f1c9a7d5e2b40886c1d7f9e0a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b".to_owned());
    let difference = "--- last commit\n+++ now\n@@ -1,4 +1,7 @@\n pub mod xlsx;\n+pub mod csv;\n \n-pub trait RowWriter {\n+/// Writes rows, one after the other.\n+pub trait RowWriter: Send {\n     fn row(&mut self, cells: &[Cell]) -> Result<()>;\n";
    vec![
        Exhibit {
            path: format!("src/export/mod.rs{poison}"),
            sha256: sha256.clone(),
            content: ExhibitContent::Difference(format!("{difference}{poison}")),
        },
        Exhibit {
            path: "docs/research.md".to_owned(),
            sha256,
            content: ExhibitContent::Text(format!("# Research\n\nRows are written through RowWriter.{poison}\n")),
        },
        Exhibit {
            path: "data/rows.bin".to_owned(),
            sha256: None,
            content: ExhibitContent::NotShown(format!("It is not text.{poison}")),
        },
    ]
}

fn handoff(viewer: &Viewer<'_>, stage: &Stage, step: &str) -> Markup {
    let id = HandoffId::parse(format!("{}.{step}", stage.run.id)).expect("safe");
    let tracked = stage.run.find(&id).expect("it is in the run");
    let events: Vec<_> = stage.events().into_iter().filter(|event| event.handoff == id).collect();
    let given = baton_engine::driver::handed_to(&stage.run, tracked);
    let exhibits = exhibits(&stage.poison);
    let prompt = format!("# Your task\n\nImplement the CSV export, tests first.{}", stage.poison);
    let output = format!("Reading src/export/mod.rs\nWriting src/export/csv.rs\ncargo test … ok{}", stage.poison);
    let page = HandoffPage {
        handoff: &tracked.handoff,
        run: Some(&stage.run),
        request: &tracked.request,
        report: tracked.told.as_ref().map(|told| &told.written),
        given: &given,
        examined: &tracked.examined,
        exhibits: &exhibits,
        exhibits_left_out: 0,
        prompt: Some(&prompt),
        output: Some(&output),
        attempt: tracked.handoff.fence,
        spending: tracked.spending(),
        tokens: tracked.tokens(),
        events: &events,
    };
    baton_page::handoff::page(viewer, &page)
}
