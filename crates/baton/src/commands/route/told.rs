//! How a rehearsal is written: a few labelled lines and the prompt for people, or JSON.

use baton_engine::rehearsal::{Following, RehearsedNext, RehearsedOutcome, RehearsedReport};
use baton_engine::step::{HUMAN, Role};
use baton_protocol::printable;
use serde_json::{Value, json};

use crate::render::sheet::{Paint, Sheet, Tint, numbered};

/// Returns what would follow, for people.
pub(super) fn lines(phase: &str, rehearsed: &RehearsedReport, paint: Paint) -> String {
    let mut sheet = Sheet::new(paint);
    sheet.row("phase", phase);
    sheet.row("outcome", &outcome(&rehearsed.outcome));
    next(&mut sheet, phase, &rehearsed.next);
    if let Some(approved) = &rehearsed.approved {
        sheet.row("approved", "if a person approves it:");
        next(&mut sheet, phase, approved);
    }
    let mut text = format!("\n{}", sheet.into_text());
    let steps = rehearsed.next.steps.iter().chain(rehearsed.approved.iter().flat_map(|next| &next.steps));
    for (step, prompt) in steps.filter_map(|step| Some((step, step.prompt.as_ref()?.as_ref().ok()?))) {
        let title = format!("prompt of {} ({}, {} tokens)", step.to, step.step.phase, prompt.tokens);
        text.push_str(&format!("\n{}\n{}\n", paint.tint(Tint::Strong, &title), printable(prompt.text.trim_end())));
    }
    text
}

fn next(sheet: &mut Sheet, phase: &str, next: &RehearsedNext) {
    if let Some(route) = &next.route {
        sheet.row("goes", &format!("{}: {}", place(phase, &route.to), route.why));
        let advice = route.instead_of.as_ref().map(|advice| format!("the agent suggested {advice}"));
        sheet.optional("advice", advice.as_deref());
        sheet.list("skipped", route.skipped.iter().map(|skipped| (String::new(), skipped.to_string())));
    }
    sheet.list("then", next.steps.iter().map(|step| (String::new(), step_words(step))));
    for question in &next.questions {
        sheet.row("asks", &format!("a person: {}", question.title));
        sheet.list("questions", numbered(question.questions.iter().map(|asked| asked.text.clone())));
        let words: Vec<&str> = question.choices.iter().map(|(word, _)| word.as_str()).collect();
        sheet.row("choices", &words.join(", "));
    }
    sheet.optional("unknown", next.unknown.as_ref().map(ToString::to_string).as_deref());
}

fn outcome(outcome: &RehearsedOutcome) -> String {
    match outcome {
        RehearsedOutcome::Complete => "complete, if the evidence says so".to_owned(),
        RehearsedOutcome::Blocked(reason) => format!("blocked: {reason}"),
        RehearsedOutcome::NeedsReview => "needs review".to_owned(),
        RehearsedOutcome::NeedsClarification => "needs clarification".to_owned(),
        RehearsedOutcome::Failed(why) => format!("failed: {why}"),
    }
}

fn place(phase: &str, to: &str) -> String {
    let group = phase.rsplit_once('/').map(|(group, _)| group);
    match (to, group) {
        ("end" | "stop", Some(group)) => format!("to the end of {group}, which looks at all of its phases"),
        (HUMAN, _) => "to a person".to_owned(),
        ("end", None) => "to the end".to_owned(),
        ("stop", None) => "nowhere, the run stops".to_owned(),
        (other, _) => format!("to {other}"),
    }
}

fn step_words(following: &Following) -> String {
    let (to, phase) = (&following.to, &following.step.phase);
    let words = match following.step.role {
        Role::Work => format!("{to} works in {phase}"),
        Role::Check => format!("the check {phase} is run"),
        Role::Group => format!("the phases inside {phase} start"),
        Role::Gate => format!("a person decides at {phase}"),
        Role::Delegation => format!("{to} helps in {phase}, and its answer comes back"),
        Role::Escalation => format!("a person helps in {phase}, and the answer goes back"),
        Role::Failure => "a person decides what follows".to_owned(),
        Role::Limit => "a person decides at a limit".to_owned(),
        Role::Run => "the run continues".to_owned(),
    };
    match &following.prompt {
        Some(Err(why)) => format!("{words} (its prompt cannot be made here: {why})"),
        Some(Ok(_)) | None => words,
    }
}

/// Returns what would follow, for machines.
pub(super) fn json(phase: &str, rehearsed: &RehearsedReport) -> Value {
    let (word, reason) = match &rehearsed.outcome {
        RehearsedOutcome::Complete => ("complete", None),
        RehearsedOutcome::Blocked(reason) => ("blocked", Some(reason)),
        RehearsedOutcome::NeedsReview => ("needs_review", None),
        RehearsedOutcome::NeedsClarification => ("needs_clarification", None),
        RehearsedOutcome::Failed(why) => ("failed", Some(why)),
    };
    json!({
        "phase": phase,
        "outcome": word,
        "reason": reason,
        "next": next_json(&rehearsed.next),
        "approved": rehearsed.approved.as_ref().map(next_json),
    })
}

fn next_json(next: &RehearsedNext) -> Value {
    let steps = next.steps.iter().map(|following| {
        let prompt = following.prompt.as_ref().and_then(|prompt| prompt.as_ref().ok());
        json!({
            "phase": following.step.phase,
            "kind": following.step.role,
            "to": following.to,
            "prompt": prompt.map(|prompt| &prompt.text),
            "prompt_tokens": prompt.map(|prompt| prompt.tokens),
            "prompt_fault": following.prompt.as_ref().and_then(|prompt| prompt.as_ref().err()).map(ToString::to_string),
        })
    });
    let questions = next.questions.iter().map(|question| {
        let choices: Vec<&String> = question.choices.iter().map(|(word, _)| word).collect();
        json!({ "ask": baton_views::handoff::ask_word(question.ask), "title": question.title, "choices": choices })
    });
    json!({
        "to": next.route.as_ref().map(|route| &route.to),
        "why": next.route.as_ref().map(|route| &route.why),
        "instead_of": next.route.as_ref().and_then(|route| route.instead_of.as_ref()),
        "skipped": next.route.as_ref().map(|route| route.skipped.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "steps": steps.collect::<Vec<_>>(),
        "questions": questions.collect::<Vec<_>>(),
        "unknown": next.unknown.as_ref().map(ToString::to_string),
    })
}
