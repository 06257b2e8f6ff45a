//! The list of runs: what is looked for stands in the address.

use axum::extract::State;
use axum::response::Response;
use baton_engine::handoff::Handoff;
use baton_engine::queue::QueueHolds;
use baton_page::live;
use baton_page::plain;
use baton_page::run_state::{RunState, listed_state};
use baton_page::runs::{self, RunFilter, RunList, RunRow};
use baton_views::details::ListedRun;
use serde::Deserialize;

use super::answering::{fragments, html, keep, text};
use super::cookies::LIST;
use super::memory::RowFigures;
use super::visitor::Visitor;
use crate::incoming::Search;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many runs stand on a page.
const PER_PAGE: usize = 30;

/// How many runs are looked at for one page; a filter that fits few of them goes on with the next page.
const LOOKED_AT_MAX: usize = 500;

/// What is looked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    state: String,
    workflow: String,
    text: String,
    after: String,
    fragment: Option<String>,
}

/// A page of runs that fit.
#[derive(Default)]
struct FoundRuns {
    rows: Vec<RunRow>,
    /// Every state of those runs that were looked at and fit the rest of the filter; `None` if nobody counts.
    states: Option<Vec<RunState>>,
    /// Whether there are runs that were not looked at.
    has_more: bool,
    workflows: Vec<String>,
    next: Option<String>,
}

/// Shows the list.
pub(super) async fn list(
    State(server): State<Server>,
    visitor: Visitor,
    Search(wanted): Search<Wanted>,
) -> Result<Response, ProblemJson> {
    visitor.principal()?.looks_at_all()?;
    let filter = RunFilter {
        state: RunState::parse(&wanted.state),
        workflow: wanted.workflow,
        text: wanted.text.trim().to_owned(),
    };
    let is_counted = wanted.after.is_empty() && wanted.fragment.is_none();
    let mut found = find(&server, &filter, &wanted.after, is_counted).await?;
    if wanted.fragment.is_none() {
        found.workflows.extend(server.host.workflows().into_iter().map(|workflow| workflow.name));
    }
    found.workflows.sort();
    found.workflows.dedup();
    let counts: Option<Vec<(RunState, usize)>> = found.states.map(|states| {
        let count = |state| states.iter().filter(|found| **found == state).count();
        RunState::ALL.into_iter().map(|state| (state, count(state))).collect()
    });
    let list = RunList {
        rows: &found.rows,
        filter: &filter,
        counts: counts.as_deref(),
        workflows: &found.workflows,
        is_all_counted: !found.has_more,
        next: found.next.as_deref(),
        is_later: !wanted.after.is_empty(),
    };
    let viewer = visitor.viewer();
    match &wanted.fragment {
        Some(names) => fragments(&viewer, names, |name| (name == live::RUNS).then(|| runs::fragment(&viewer, &list))),
        None if visitor.wants_html => {
            let mut response = html(runs::page(&viewer, &list));
            keep(response.headers_mut(), &visitor.jar.keep(LIST, &filter.address(""), None));
            Ok(response)
        }
        None => Ok(text(plain::runs(&list, viewer.now))),
    }
}

async fn find(server: &Server, filter: &RunFilter, after: &str, is_counted: bool) -> Result<FoundRuns, ProblemJson> {
    let cursor = match after {
        "" => None,
        id => Some(server.engine.resolve_run(id).await?.id),
    };
    let mut roots = server.engine.run_roots(cursor, LOOKED_AT_MAX as u32 + 1).await?;
    let has_more = roots.len() > LOOKED_AT_MAX;
    roots.truncate(LOOKED_AT_MAX);
    let holds = server.engine.queue_holds().await?;
    let mut found = FoundRuns::default();
    let (mut states, mut last_shown, mut last_looked_at) = (Vec::new(), None, None);
    for root in roots {
        let id = root.id.to_string();
        let row = look(server, root, &holds).await?;
        found.workflows.push(row.listed.workflow.clone());
        let state = listed_state(&row.listed);
        last_looked_at = Some(id.clone());
        if !fits(&row, filter) {
            continue;
        }
        states.push(state);
        if filter.state.is_some_and(|wanted| wanted != state) {
            continue;
        }
        if found.rows.len() < PER_PAGE {
            found.rows.push(row.into_row());
            last_shown = Some(id);
            continue;
        }
        // Another one fits: it begins the next page.
        found.next.clone_from(&last_shown);
        if !is_counted {
            break;
        }
    }
    if has_more && found.next.is_none() {
        found.next = last_looked_at;
    }
    found.states = is_counted.then_some(states);
    found.has_more = has_more;
    Ok(found)
}

/// A run that was looked at.
struct SeenRun {
    listed: ListedRun,
    inside: Vec<Handoff>,
    figures: RowFigures,
}

async fn look(server: &Server, root: Handoff, holds: &QueueHolds) -> Result<SeenRun, ProblemJson> {
    let inside = server.engine.store.handoffs_of(&root.run).await?;
    let seq = inside.iter().map(|(_, head)| head.seq).max().unwrap_or_default();
    let figures = server.row_figures(&root, seq).await?;
    let inside: Vec<Handoff> = inside.into_iter().map(|(handoff, _)| handoff).collect();
    let is_dead = |claimant: &str| server.host.is_dead(claimant);
    let listed = ListedRun::of(root, &inside, figures.workflow.clone(), server.engine.now(), holds, is_dead);
    Ok(SeenRun { listed, inside, figures })
}

impl SeenRun {
    fn into_row(self) -> RunRow {
        let RowFigures { asked, phases: (phases_done, phases), spending, tokens, .. } = self.figures;
        RunRow { listed: self.listed, asked, phases_done, phases, spending, tokens }
    }
}

fn fits(seen: &SeenRun, filter: &RunFilter) -> bool {
    let is_workflow = filter.workflow.is_empty() || seen.listed.workflow == filter.workflow;
    let sought = filter.text.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&sought);
    let is_named = |handoff: &Handoff| {
        let phase = handoff.terms.step.as_ref().map(|step| step.phase.as_str()).unwrap_or_default();
        has(handoff.id.as_str()) || has(&handoff.terms.to) || has(phase)
    };
    is_workflow && (sought.is_empty() || seen.inside.iter().any(is_named) || seen.figures.words.contains(&sought))
}
