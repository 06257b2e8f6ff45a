//! The same pages as plain text, for `curl` and for agents.

use baton_engine::engine::EarlierQuestion;
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::failure::FailureOutput;
use baton_engine::handover::open_question;
use baton_engine::journal::Event;
use baton_engine::people::{AgentQuestion, FailedCommand, Question};
use baton_engine::step::Role;
use baton_engine::{Handoff, HandoffId};
use baton_protocol::model::request::{DecisionMade, OpenQuestion};
use baton_protocol::printable;
use baton_protocol::rules::{self, Rule};
use baton_views::handoff::state as state_words;
use baton_views::question::{QuestionKind, choice_words, whole};
use baton_views::run_summary::size;
use baton_views::timeline::in_words;
use baton_views::words::{ago, counted, inputs, one_line, took};
use jiff::Timestamp;

use crate::address;
use crate::agents::{AgentList, AgentRow, AgentWork};
use crate::check::first_sentence;
use crate::comparison::{self, ComparedRun};
use crate::handoff::HandoffPage;
use crate::inbox::{InboxList, headline, purpose};
use crate::journal::{JournalPage, is_told, step_of};
use crate::layout::Viewer;
use crate::pieces::{spent, step_word};
use crate::root_cause::RootCause;
use crate::run::{RunPage, name, own_words};
use crate::run_state::{listed_state, why};
use crate::runs::{RunList, RunRow};
use crate::since::ChangesSince;
use crate::starting::StartableWorkflow;

/// How many handoffs stand in the text of a run.
const HANDOFFS_MAX: usize = 200;

/// How many lines of an output are repeated.
const LINES_MAX: usize = 14;

/// The list of runs.
pub fn runs(list: &RunList<'_>, now: Timestamp) -> String {
    let mut text = String::new();
    if list.rows.is_empty() {
        text.push_str("no runs\n");
    }
    let width = list.rows.iter().map(|row| row.listed.root.id.as_str().chars().count()).max().unwrap_or_default();
    for row in list.rows {
        let listed = &row.listed;
        let state = listed_state(listed);
        let id = listed.root.id.as_str();
        let gap = " ".repeat(width - id.chars().count());
        text.push_str(&format!("{id}{gap}  {:<20}  {}\n", state.words(), facts(row, now)));
    }
    if let Some(next) = list.next {
        text.push_str(&format!("more: {}\n", list.filter.address(next)));
    }
    printable(&text)
}

fn facts(row: &RunRow, now: Timestamp) -> String {
    let (listed, cost) = (&row.listed, row.spending.to_string());
    let mut facts = vec![why(listed, &row.asked, now), listed.workflow.clone(), took(listed.took)];
    if !cost.is_empty() {
        facts.push(cost);
    }
    facts.push(ago(listed.root.accepted_at, now));
    facts.join(" · ").replace('\n', " ")
}

/// A run: why it waits, what went wrong, what happened.
pub fn run(viewer: &Viewer<'_>, page: &RunPage<'_>) -> String {
    let total = &page.summary.total;
    let mut text = format!("run       {}\n", page.run.id);
    let mut line = |label: &str, words: &str| {
        if !words.is_empty() {
            text.push_str(&format!("{label:<9} {}\n", words.replace('\n', "\n          ")));
        }
    };
    line("workflow", page.run.definition.name());
    line("state", page.state(viewer).words());
    line("why", &page.why(viewer));
    if let Some(asking) = page.questions.first().and_then(|question| page.run.find(&question.handoff)) {
        line("asked", &ago(asking.handoff.changed_at, viewer.now));
    }
    line(
        "started",
        &format!("{} ({})", page.run.started_at.strftime("%F %H:%M:%S UTC"), ago(page.run.started_at, viewer.now)),
    );
    line("inputs", &inputs(&page.run.definition.inputs).join("\n"));
    line("took", &took(total.took));
    line("spent", &spent(&total.spending, total.tokens));
    line("handoffs", &format!("{}, {}", size(page.run), counted(total.attempts, "attempt")));
    line("claims", &total.evidence.signs());
    if let Some(cause) = RootCause::of(page.run, page.questions) {
        line("failed", &cause.failed.what);
        line("command", cause.failed.command.as_deref().unwrap_or_default());
        if let Some(output) = &cause.failed.output {
            line(output.label(), &last_lines(output.text()));
        }
        cause.failed.help.iter().for_each(|help| line("hint", help));
        line(
            "log",
            &cause.failed.log.map(|_| address::last_log(&page.run.id, &cause.step.handoff.id)).unwrap_or_default(),
        );
    }
    for question in page.questions {
        line("waits", &format!("{} ({})", headline(question), question.handoff));
    }
    text.push('\n');
    let steps: Vec<_> = page.run.handoffs().filter(|tracked| tracked.step.role != Role::Run).collect();
    let left_out = steps.len().saturating_sub(HANDOFFS_MAX);
    if left_out > 0 {
        text.push_str(&format!("… {left_out} handoffs before\n"));
    }
    for tracked in &steps[left_out..] {
        let state = step_word(tracked.handoff.state.name(), tracked.passed());
        let attempts = if tracked.attempts > 1 { format!(", {} attempts", tracked.attempts) } else { String::new() };
        let who = format!("{}{attempts}", tracked.handoff.terms.to);
        let line = format!("{:<24} {state:<20} {who:<24} {}", name(tracked), own_words(tracked));
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    let agenda = page.run.agenda();
    let decided = |(by, made): (&HandoffId, &DecisionMade)| {
        let because = made.rationale.as_ref().map(|why| format!(" (because: {why})")).unwrap_or_default();
        format!("{}{because} ({})", made.decision.as_deref().unwrap_or_default(), step_of(page.run, by))
    };
    text.push_str(&lines("decided", &agenda.decisions().map(decided).collect::<Vec<_>>()));
    let open = |(by, open): (&HandoffId, &OpenQuestion)| format!("{} ({})", open_question(open), step_of(page.run, by));
    text.push_str(&lines("open questions", &agenda.questions().map(open).collect::<Vec<_>>()));
    printable(&text)
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}

/// What waits for people, each with the command that answers it.
pub fn inbox(list: &InboxList<'_>, now: Timestamp) -> String {
    if list.waiting.is_empty() {
        return "nothing waits for a person\n".to_owned();
    }
    let mut text = String::new();
    for (handoff, question) in list.waiting {
        let kind = QuestionKind::of(handoff, question.ask).as_str();
        text.push_str(&format!(
            "{kind:<13} {} · run {} · {}\n",
            question.handoff,
            question.run,
            ago(handoff.changed_at, now)
        ));
        text.push_str(&format!("  {}\n", headline(question)));
        let purpose = purpose(question);
        if !purpose.is_empty() {
            text.push_str(&format!("  {purpose}\n"));
        }
        if !question.choices.is_empty() {
            text.push_str(&format!("  choices: {}\n", choice_words(&question.choices).join(", ")));
        }
        text.push_str(&format!("  baton show {}\n", question.handoff.in_shell()));
    }
    if list.more > 0 {
        text.push_str(&format!("and {} more\n", list.more));
    }
    printable(&text)
}

/// One question: all that is decided about, and the commands that answer it.
pub fn question(handoff: &Handoff, question: &Question, since: Option<ChangesSince<'_>>, now: Timestamp) -> String {
    let kind = QuestionKind::of(handoff, question.ask).as_str();
    let mut text = format!("{kind}  {}\n", headline(question));
    text.push_str(&format!("run {} · from {} · {}\n", question.run, question.agent, ago(handoff.changed_at, now)));
    if let Some(ChangesSince { earlier: EarlierQuestion { decide, .. }, changed, left_out, unchanged }) = since {
        let (files, here) = (counted(changed.len() + left_out, "file"), address::question(&question.handoff));
        let (who, what) = (one_line(&decide.who()), decide.decision.participle());
        text.push_str(&format!("since {who} {what} it: {files} changed, {unchanged} as before; see {here}/since\n"));
    }
    if let Some(FailedCommand { command, what, output, help, log, .. }) = &question.trouble {
        let log = log.as_ref().map(|log| format!("log: {}\n", log.to_string_lossy())).unwrap_or_default();
        let command = command.as_ref().map(|command| format!("command: {command}\n")).unwrap_or_default();
        let said = |output: &FailureOutput| format!("{}:\n{}\n", output.label(), output.text().trim_end());
        let output = output.as_ref().map(said).unwrap_or_default();
        let help = help.as_ref().map(|help| format!("hint: {help}\n")).unwrap_or_default();
        text.push_str(&format!("\n{what}\n{command}{output}{help}{log}"));
    }
    text.push_str(&paragraph("so far", &question.text));
    text.push_str(&lines("look at", &question.items));
    let asked = |asked: &AgentQuestion| match choice_words(&asked.options).join(" | ") {
        options if options.is_empty() => asked.text.clone(),
        options => format!("{} (options: {options})", asked.text),
    };
    text.push_str(&lines("asked", &question.questions.iter().map(asked).collect::<Vec<_>>()));
    text.push_str(&format!("\n{}\n", whole(question).trim_end()));
    text.push_str(&lines("inputs", &inputs(&question.inputs)));
    for said in &question.decided_before {
        text.push_str(&format!("before: {said}\n"));
    }
    text.push_str(&claims(&question.examined, &address::question(&question.handoff)));
    text.push_str(&lines("not fully caged", &question.gaps));
    if !question.choices.is_empty() {
        text.push_str(&format!("\nchoices: {}\n", choice_words(&question.choices).join(", ")));
    }
    text.push_str(&format!("\ndigest  {}\nbaton show {}\n", question.shown.0, question.handoff.in_shell()));
    printable(&text)
}

/// One handoff: where it is, what was asked, given and reported, and what happened to it. All of it.
pub fn handoff(viewer: &Viewer<'_>, page: &HandoffPage<'_>) -> String {
    let handoff = page.handoff;
    let mut text = format!("handoff   {}\n", handoff.id);
    text.push_str(&format!("state     {}\n", state_words(handoff, viewer.now)));
    text.push_str(&format!("way       {} → {}\n", handoff.terms.from, handoff.terms.to));
    if let Some(failure) = &handoff.last_failure {
        text.push_str(&format!("failure   {}\n", failure.text().trim_end().replace('\n', "\n          ")));
    }
    if page.prompt.is_some() {
        text.push_str(&format!("prompt    {}\n", address::prompt(&handoff.run, &handoff.id, page.attempt)));
    }
    if page.output.is_some() {
        text.push_str(&format!("log       {}\n", address::log(&handoff.run, &handoff.id, page.attempt)));
    }
    let documents = [("asked", Some(page.request)), ("reported", page.report)];
    for (label, written) in documents.into_iter().filter_map(|(label, written)| Some((label, written?))) {
        text.push_str(&paragraph(label, &written.text));
    }
    for note in &handoff.notes {
        let question = note.question.as_ref().map(|question| format!("{question}\n")).unwrap_or_default();
        text.push_str(&paragraph(
            &format!("{} by {}", note.about.as_str(), note.from),
            &format!("{question}{}", note.text),
        ));
    }
    page.given.iter().for_each(|given| text.push_str(&paragraph(&format!("given by {}", given.label), &given.text)));
    text.push_str(&claims(page.examined, &address::handoff(&handoff.run, &handoff.id)));
    text.push('\n');
    page.events.iter().filter(is_told).for_each(|event| text.push_str(&event_line(event, "")));
    printable(&text)
}

fn paragraph(label: &str, text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("\n{label}:\n{}\n", text.trim_end()) }
}

fn lines(label: &str, texts: &[String]) -> String {
    let line = |text: &String| format!("- {}\n", text.trim().replace('\n', "\n  "));
    paragraph(label, &texts.iter().map(line).collect::<String>())
}

/// A page of the journal of a run, the oldest event first.
pub fn journal(page: &JournalPage<'_>) -> String {
    let lines = page.events.iter().filter(is_told).map(|event| event_line(event, &step_of(page.run, &event.handoff)));
    printable(&lines.collect::<String>())
}

/// Two runs side by side.
pub fn comparison(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> String {
    printable(&comparison::plain(a, b))
}

/// The workflows that runs can be started from.
pub fn workflows(workflows: &[StartableWorkflow]) -> String {
    let mut text = if workflows.is_empty() { "no workflows\n".to_owned() } else { String::new() };
    for workflow in workflows {
        let description = workflow.description.as_deref().map(one_line).unwrap_or_default();
        let inputs: Vec<&str> = workflow.inputs.iter().map(|input| input.name.as_str()).collect();
        text.push_str(&format!("{}  {description}\n  phases: {}\n", workflow.name, workflow.phases.join(" → ")));
        if !inputs.is_empty() {
            text.push_str(&format!("  inputs: {}\n", inputs.join(", ")));
        }
    }
    printable(&text)
}

/// The rules that documents are judged by.
pub fn rules() -> String {
    let line = |rule: &Rule| format!("{:<8} {:<28} {}\n", rule.severity.as_str(), rule.name, first_sentence(rule));
    rules::ALL.iter().map(|rule| line(rule)).collect()
}

/// The agents with their queues.
pub fn agents(list: &AgentList<'_>, now: Timestamp) -> String {
    let text: String = list.rows.iter().map(|row| agent_lines(row, now)).collect();
    if text.is_empty() { "no agents\n".to_owned() } else { printable(&text) }
}

/// One agent with its handoffs.
pub fn agent(work: &AgentWork<'_>, now: Timestamp) -> String {
    let mut text = format!("{}\n", agent_lines(work.row, now));
    for handoff in work.handoffs {
        let (state, sent) = (step_word(handoff.state.name(), true), ago(handoff.accepted_at, now));
        text.push_str(&format!("{:<24} {state:<20} from {} · sent {sent}\n", handoff.id.as_str(), handoff.terms.from));
    }
    if let Some(next) = work.next {
        let address = address::with_query(&address::agent(&work.row.name), &[("after", next.as_str())]);
        text.push_str(&format!("more: {address}\n"));
    }
    printable(&text)
}

fn agent_lines(row: &AgentRow, now: Timestamp) -> String {
    let paused = if row.is_paused { " · paused" } else { "" };
    let oldest = row.oldest.map(|at| format!(", the oldest sent {}", ago(at, now))).unwrap_or_default();
    let held_up = if row.held_up > 0 { format!(" · {} held up", row.held_up) } else { String::new() };
    let figures = &row.figures;
    format!(
        "{}  {} working · {} queued{oldest}{held_up}{paused}\n  {} of {} ended were completed, {} the first time; {} of {} claims refuted\n",
        row.name,
        row.working,
        row.waiting,
        figures.completed,
        figures.ended,
        figures.first_pass,
        figures.refuted,
        figures.claims
    )
}

/// Lists what was examined; `page` is where the files are found.
fn claims(examined: &[ExaminedClaim], page: &str) -> String {
    let line = |claim: &ExaminedClaim| {
        let word = match claim.verdict {
            ClaimFinding::Verified => "verified",
            ClaimFinding::Refuted => "refuted",
            ClaimFinding::Unverifiable => "not verifiable",
        };
        let sha256 = claim.sha256.as_ref().map(|sha256| format!("  sha256 {sha256}")).unwrap_or_default();
        format!("{word:<14}  {}  {}{sha256}\n", one_line(&claim.claim), one_line(&claim.seen))
    };
    let lines: String = examined.iter().map(line).collect();
    let has_file = examined.iter().any(|claim| claim.path.is_some());
    let files = if has_file { format!("files: {page}/file?path=PATH\n") } else { String::new() };
    if lines.is_empty() { lines } else { format!("\nevidence:\n{lines}{files}") }
}

fn event_line(event: &Event, step: &str) -> String {
    let at = event.at.strftime("%F %H:%M:%S");
    let step = if step.is_empty() { String::new() } else { format!("{step}  ") };
    let (kind, words) = (event.kind.as_str(), one_line(&in_words(event)));
    let words = if words == kind { String::new() } else { format!("  {words}") };
    format!("{:>5}  {at}  {step}{kind}{words}\n", event.seq)
}
