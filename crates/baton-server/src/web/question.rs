//! One question, and deciding it: with the digest of what was shown, and once. Whoever comes second is told who was first.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use baton_engine::engine::GivenDecision;
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::lifecycle::Decision;
use baton_engine::people::Question;
use baton_page::question::{self, QuestionPage, SentAnswer, field};
use baton_page::{address, live, plain};
use baton_views::graph::of_run;
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::form::{SentForm, see};
use super::handoff::{exhibits, files, run_around};
use super::since::Since;
use super::visitor::Visitor;
use crate::acting;
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Which part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
}

/// Shows a question. One that does not wait any more leads to what came of it.
pub(super) async fn show(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    let handoff = server.visible(visitor.principal()?, &id).await?;
    let viewer = visitor.viewer();
    if let Some(names) = &part.fragment {
        let decided = match handoff.state.name() {
            StateName::AwaitingPerson => None,
            _ => acting::last_decision(&server, &handoff).await,
        };
        let decide = decided.as_ref().map(|(decide, _)| decide);
        return fragments(&viewer, names, |name| {
            (name == live::QUESTION).then(|| question::fragment(&handoff, decide))
        });
    }
    match asked(&server, &handoff).await? {
        Some(question) if visitor.wants_html => page(&server, &visitor, &handoff, &question, None).await,
        Some(question) => Ok(text(as_text(&server, &visitor, &handoff, &question).await?)),
        None => Ok(see(&address::handoff(&handoff.run, &handoff.id))),
    }
}

/// Returns what a person is asked about a handoff, if it waits for one.
pub(super) async fn asked(server: &Server, handoff: &Handoff) -> Result<Option<Question>, ProblemJson> {
    match handoff.state.name() {
        StateName::AwaitingPerson => Ok(server.engine.question(handoff).await?),
        _ => Ok(None),
    }
}

/// Writes all that is decided about.
pub(super) async fn as_text(
    server: &Server,
    visitor: &Visitor,
    handoff: &Handoff,
    question: &Question,
) -> Result<String, ProblemJson> {
    let since = Since::around(server, visitor.principal()?, handoff, question).await?;
    let since = since.as_ref().map(|since| since.page(&[]));
    Ok(plain::question(handoff, question, since, visitor.viewer().now))
}

async fn page(
    server: &Server,
    visitor: &Visitor,
    handoff: &Handoff,
    question: &Question,
    refused: Option<&SentAnswer>,
) -> Result<Response, ProblemJson> {
    let record = run_around(server, visitor.principal()?, handoff).await?;
    let flow = record.as_ref().map(|record| of_run::marked(&record.run, server.engine.now()));
    let since = record.as_ref().and_then(|record| Since::of(record, question));
    let changed = match &since {
        Some(since) => since.first_files(server).await,
        None => Vec::new(),
    };
    let (exhibits, exhibits_left_out) = exhibits(server, handoff, &files(&question.examined)).await?;
    let events = server.engine.store.history_of(&handoff.id).await?;
    let (flow, exhibits, events) = (flow.as_ref(), &exhibits[..], &events[..]);
    let since = since.as_ref().map(|since| since.page(&changed));
    let page = QuestionPage { handoff, question, exhibits, exhibits_left_out, since, flow, events, refused };
    Ok(html(question::page(&visitor.viewer(), &page)))
}

/// Takes a decision.
pub(super) async fn decide(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    acting::is_known(principal)?;
    let handoff = server.visible(principal, &id).await?;
    let mut answer = SentAnswer {
        why: String::new(),
        decision: form.field(field::DECISION).to_owned(),
        words: form.field(field::WORDS).to_owned(),
        choice: form.field(field::CHOICE).to_owned(),
        note: form.field(field::NOTE).to_owned(),
    };
    let shown = form.field(field::SHOWN).to_owned();
    let decision = match decision(&answer) {
        Ok(decision) => decision,
        Err(why) => {
            answer.why = why.to_owned();
            return again(&server, &visitor, &handoff, &answer, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    let given = GivenDecision { decision, shown, note: form.optional(field::NOTE), label: None, signature: None };
    match acting::decide(&server, principal, &handoff, given).await {
        Ok(applied) => Ok(see(&place_after(&applied.handoff))),
        Err(unrecorded) if unrecorded.problem.status().is_server_error() => Err(unrecorded.problem),
        Err(unrecorded) => {
            let status = unrecorded.problem.status();
            let advice = unrecorded.problem.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
            answer.why = format!("{}{advice}", unrecorded.problem.detail());
            if unrecorded.handoff.state.name() == StateName::AwaitingPerson {
                return again(&server, &visitor, &unrecorded.handoff, &answer, status).await;
            }
            let decided = unrecorded.decided.as_ref().map(|(decide, at)| (decide, *at));
            let page = question::already_decided(&visitor.viewer(), &unrecorded.handoff, decided, &answer);
            Ok((status, html(page)).into_response())
        }
    }
}

/// Shows the question once more, with what was typed and why it was not taken.
async fn again(
    server: &Server,
    visitor: &Visitor,
    handoff: &Handoff,
    answer: &SentAnswer,
    status: StatusCode,
) -> Result<Response, ProblemJson> {
    let Some(question) = asked(server, handoff).await? else {
        return Ok(see(&address::handoff(&handoff.run, &handoff.id)));
    };
    Ok((status, page(server, visitor, handoff, &question, Some(answer)).await?).into_response())
}

/// Returns where whoever has decided sees what follows.
fn place_after(handoff: &Handoff) -> String {
    match handoff.terms.step {
        Some(_) => address::run(&handoff.run),
        None => address::handoff(&handoff.run, &handoff.id),
    }
}

/// Reads what was decided. Whether it needs words, and what they mean, is for the engine to say.
fn decision(answer: &SentAnswer) -> Result<Decision, &'static str> {
    let words = answer.words.clone();
    match answer.decision.as_str() {
        "approve" => Ok(Decision::Approve),
        "reject" => Ok(Decision::Reject { feedback: words }),
        "ask" => Ok(Decision::Ask { question: words }),
        "answer" => Ok(Decision::Answer {
            answers: match (answer.choice.is_empty(), words.is_empty()) {
                (false, false) => format!("{}\n\n{words}", answer.choice),
                (false, true) => answer.choice.clone(),
                (true, _) => words,
            },
        }),
        _ => Err("choose what to do: approve, reject, answer or ask"),
    }
}
