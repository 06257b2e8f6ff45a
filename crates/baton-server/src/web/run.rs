//! One run: its overview, flow, handoffs and journal, and the forms that stop it or let it go on.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use baton_engine::definition::Definition;
use baton_engine::engine::RunRecord;
use baton_engine::flow::Restart;
use baton_engine::handoff::Handoff;
use baton_engine::people::Question;
use baton_engine::queue::QueueHolds;
use baton_engine::{RunId, flow as run_flow};
use baton_page::journal::{EVENTS_PER_PAGE, JournalPage};
use baton_page::run::{self, RunPage, Tab};
use baton_page::run_actions::RefusedAction;
use baton_page::{address, journal as journal_page, live, plain};
use baton_protocol::printable;
use baton_views::graph::{mermaid, of_run};
use baton_views::run_summary::RunSummary;
use baton_views::standing::RunStanding;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answering::{fragments, html, keep, text};
use super::cookies::{CookieJar, SEEN};
use super::form::{SentForm, see};
use super::starting;
use super::visitor::Visitor;
use crate::access::Principal;
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;
use crate::{acting, looking};

/// How many runs a browser remembers the last look at.
const SEEN_MAX: usize = 30;

/// How long it keeps that, in seconds: a month.
const SEEN_SECONDS: u64 = 30 * 86_400;

/// Which part of a run is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
    /// The first handoff of a page of handoffs.
    from: usize,
    /// The events before this one.
    before: Option<u64>,
}

/// A run with what its pages show.
pub(super) struct SeenRecord {
    pub(super) record: Arc<RunRecord>,
    pub(super) summary: RunSummary,
    pub(super) standing: RunStanding,
    questions: Vec<Question>,
    holds: QueueHolds,
}

impl SeenRecord {
    /// Looks at a run.
    pub(super) async fn of(server: &Server, root: &Handoff) -> Result<SeenRecord, ProblemJson> {
        let record = server.run_record(root).await?;
        let RunRecord { run, events } = &*record;
        let summary = RunSummary::of(run, events, server.engine.now());
        let standing = looking::standing(server, run);
        let questions = run.waiting().filter_map(|tracked| run_flow::question(run, tracked)).collect();
        let holds = server.engine.queue_holds().await?;
        Ok(SeenRecord { record, summary, standing, questions, holds })
    }

    /// Returns what its pages show.
    pub(super) fn page(&self, last_seen: Option<u64>) -> RunPage<'_> {
        RunPage {
            run: &self.record.run,
            events: &self.record.events,
            summary: &self.summary,
            standing: &self.standing,
            questions: &self.questions,
            holds: &self.holds,
            last_seen,
        }
    }
}

/// Finds a run that somebody may see; its own address, if it was asked for by another name.
async fn find(
    server: &Server,
    principal: &Principal,
    visitor: &Visitor,
    id: &str,
) -> Result<Result<SeenRecord, Response>, ProblemJson> {
    let root = match server.visible_run(principal, id).await {
        Ok(root) => root,
        Err(problem) => return lone(server, principal, id).await.map(Err).ok_or(problem),
    };
    if visitor.wants_html && root.run.as_str() != id {
        return Ok(Err(see(&visitor.here.replacen(&address::encoded(id), &address::encoded(root.run.as_str()), 1))));
    }
    SeenRecord::of(server, &root).await.map(Ok)
}

/// Leads to a handoff that belongs to no workflow.
async fn lone(server: &Server, principal: &Principal, id: &str) -> Option<Response> {
    let first = server.engine.plain_run(id).await.ok().flatten().and_then(|handoffs| handoffs.into_iter().next());
    let handoff = match first.filter(|handoff| principal.sees(handoff)) {
        Some(handoff) => handoff,
        None => server.visible(principal, id).await.ok().filter(|handoff| !handoff.is_run())?,
    };
    Some(see(&address::handoff(&handoff.run, &handoff.id)))
}

/// Shows a part of a run at its address.
pub(super) fn tab(tab: Tab) -> MethodRouter<Server> {
    get(
        move |State(server): State<Server>,
              visitor: Visitor,
              InPath(id): InPath<String>,
              Search(part): Search<Part>| { show(tab, server, visitor, id, part) },
    )
}

async fn show(tab: Tab, server: Server, visitor: Visitor, id: String, part: Part) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    if matches!(tab, Tab::Flow | Tab::Journal) {
        principal.looks_at_all()?;
    }
    let seen = match find(&server, principal, &visitor, &id).await? {
        Ok(seen) => seen,
        Err(elsewhere) => return Ok(elsewhere),
    };
    let RunRecord { run, events } = &*seen.record;
    let (viewer, before) = (visitor.viewer(), last_seen(&visitor.jar, &run.id));
    let page = seen.page(before.filter(|_| tab == Tab::Overview));
    let to = part.before.map_or(events.len(), |before| events.partition_point(|event| event.seq < before));
    let events = &events[to.saturating_sub(EVENTS_PER_PAGE)..to];
    let journal = JournalPage { run, state: page.state(&viewer), events };
    if let Some(names) = &part.fragment {
        return fragments(&viewer, names, |name| match name {
            live::RUN_JOURNAL if tab == Tab::Journal => Some(journal_page::fragment(&journal)),
            name => run::fragment(&viewer, &page, name, part.from),
        });
    }
    if !visitor.wants_html {
        return Ok(text(match tab {
            Tab::Overview | Tab::Handoffs => plain::run(&viewer, &page),
            Tab::Flow => printable(&mermaid::render(&of_run::marked(run, viewer.now))),
            Tab::Journal => plain::journal(&journal),
        }));
    }
    let mut response = html(match tab {
        Tab::Overview => run::page(&viewer, &page),
        Tab::Flow => run::flow_page(&viewer, &page),
        Tab::Handoffs => run::handoffs_page(&viewer, &page, part.from),
        Tab::Journal => journal_page::page(&viewer, &journal),
    });
    if tab == Tab::Overview {
        keep(response.headers_mut(), &now_seen(&visitor.jar, &run.id, run.seq));
    }
    Ok(response)
}

/// Calls a run off.
pub(super) async fn cancel(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    match acting::cancel_run(&server, principal, &id, form.optional("reason")).await {
        Ok(applied) => Ok(see(&address::run(&applied.handoff.run))),
        Err(problem) => {
            let words = form.field("reason").to_owned();
            again(&server, &visitor, &id, problem, RefusedAction { form: "cancel", words, ..RefusedAction::default() })
                .await
        }
    }
}

/// Lets a run go on.
pub(super) async fn resume(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    _: SentForm,
) -> Result<Response, ProblemJson> {
    let root = acting::resume_run(&server, visitor.principal()?, &id).await?;
    Ok(see(&address::run(&root.run)))
}

/// Does a phase of a run again.
pub(super) async fn retry(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let root = server.visible_run(principal, &id).await?;
    let record = server.run_record(&root).await?;
    let definition = &record.run.definition;
    let typed = starting::typed(&form, definition.workflow.inputs.names());
    let (from, note) = (form.optional("from"), form.optional("note"));
    let retried = match edited(definition, &typed) {
        Ok(inputs) => {
            let restart = Restart { from: from.clone(), note: note.clone(), inputs };
            acting::retry_run(&server, principal, &id, &restart).await
        }
        Err(problem) => Err(problem),
    };
    match retried {
        Ok(root) => Ok(see(&address::run(&root.run))),
        Err(problem) => {
            let (from, words) = (from.unwrap_or_default(), note.unwrap_or_default());
            let refused = RefusedAction { form: "retry", from, words, inputs: typed, ..RefusedAction::default() };
            again(&server, &visitor, &id, problem, refused).await
        }
    }
}

/// Returns the inputs that somebody has changed. What was emptied is as if it had not been given.
fn edited(definition: &Definition, typed: &[(String, String)]) -> Result<Map<String, Value>, ProblemJson> {
    let is_kept =
        |(name, text): &&(String, String)| !definition.inputs.contains_key(name) || definition.typed(name) == *text;
    let changed: Vec<(String, String)> = typed.iter().filter(|input| !is_kept(input)).cloned().collect();
    let mut inputs = definition.inputs.clone();
    inputs.retain(|name, _| changed.iter().all(|(other, _)| other != name));
    inputs.extend(starting::given(&changed)?);
    let mut inputs = Definition::inputs(&definition.workflow, inputs)?;
    inputs.retain(|name, _| changed.iter().any(|(other, _)| other == name));
    Ok(inputs)
}

/// Shows the run once more, with what was typed and why nothing was done.
async fn again(
    server: &Server,
    visitor: &Visitor,
    id: &str,
    problem: ProblemJson,
    refused: RefusedAction,
) -> Result<Response, ProblemJson> {
    let status = problem.status();
    let is_told_in_form = status == StatusCode::CONFLICT || status == StatusCode::UNPROCESSABLE_ENTITY;
    if !is_told_in_form || !visitor.wants_html {
        return Err(problem);
    }
    let root = server.visible_run(visitor.principal()?, id).await?;
    let seen = SeenRecord::of(server, &root).await?;
    let advice = problem.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    let refused = RefusedAction { why: format!("{}{advice}", problem.detail()), ..refused };
    Ok((status, html(run::page_again(&visitor.viewer(), &seen.page(None), &refused))).into_response())
}

/// Returns the last event of a run that somebody has seen with this browser.
fn last_seen(jar: &CookieJar, run: &RunId) -> Option<u64> {
    let id = address::encoded(run.as_str());
    entries(jar).find(|(seen, _)| *seen == id).and_then(|(_, seq)| seq.parse().ok())
}

/// Returns the cookie that remembers what was seen of a run just now.
fn now_seen(jar: &CookieJar, run: &RunId, seq: u64) -> String {
    let id = address::encoded(run.as_str());
    let others = entries(jar).filter(|(seen, _)| *seen != id).map(|(seen, seq)| format!("{seen}:{seq}"));
    let all: Vec<String> = std::iter::once(format!("{id}:{seq}")).chain(others).take(SEEN_MAX).collect();
    jar.keep(SEEN, &all.join("|"), Some(SEEN_SECONDS))
}

fn entries(jar: &CookieJar) -> impl Iterator<Item = (&str, &str)> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    let pairs = jar.get(SEEN).unwrap_or_default().split('|').filter_map(|entry| entry.split_once(':'));
    pairs.filter(move |(id, seq)| is_plain(id) && is_plain(seq))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::*;
    use crate::access::Transport;

    fn jar(cookie: &'static str) -> CookieJar {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        CookieJar::of(&headers, Transport::Plain)
    }

    #[test]
    fn browser_keeps_what_was_seen_last_of_each_run() {
        let (a, b) = (RunId::parse("a").expect("safe"), RunId::parse("b-2").expect("safe"));
        let jar = jar("baton_seen=a:7|b-2:9|bad,entry:1");
        assert_eq!((last_seen(&jar, &a), last_seen(&jar, &b)), (Some(7), Some(9)));
        let kept = now_seen(&jar, &b, 12);
        assert!(kept.starts_with("baton_seen=b-2:12|a:7; "), "{kept}");
    }
}
