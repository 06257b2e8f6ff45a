//! What a program reads that uses this server as its store. One address takes all questions: each is a look at the store,
//! and the answer is what is stored, as far as the caller may see it.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use baton_engine::engine::agent_name;
use baton_engine::handoff::{Digest, Handoff, StateName};
use baton_engine::store::Filter;
use baton_engine::stored::exchange::{
    CountRecord, DocumentRecord, EventRecord, HandoffRecord, HeadRecord, LedgerRecord, QueueRecord,
};
use baton_engine::{HandoffId, RunId};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::Principal;
use crate::answer_form::stored;
use crate::incoming::{JsonBody, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many rows or events are read at once; whoever wants more asks again.
const LIMIT_MAX: u32 = 100_001;

/// The longest that a request waits.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A question to the store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "read", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NewQuery {
    /// A handoff, or null.
    Find { id: String },
    /// Ids that begin like this.
    IdsBeginningWith { prefix: String, limit: u32 },
    /// What is asked in a handoff, or null.
    Request { id: String },
    /// Handoffs, the newest first.
    List { agent: Option<String>, states: Vec<String>, after: Option<String>, limit: u32 },
    /// How many handoffs each agent has in each state.
    Census,
    /// The events of a run behind a number.
    History { run: String, after: u64, limit: u32 },
    /// The events about a handoff.
    HistoryOf { id: String },
    /// The handoffs of a run, each with the last event that its row knows of.
    HandoffsOf { run: String },
    /// The settings of a queue.
    Queue { agent: String },
    /// The settings of all queues that somebody has set something for.
    Queues,
    /// When something will be ready for an agent, or due for anybody.
    NextDue { agent: Option<String> },
    /// What the ledger says about a run.
    LedgerOf { run: String },
    /// A file that was kept for a run, as numbers from 0 to 255, or null.
    Content { run: String, digest: String },
    /// The files that were handed over to a handoff.
    HandedOver { id: String },
    /// What a report about a handoff is judged by.
    Yardstick { id: String },
    /// Where the store is and how it does.
    Checkup,
    /// Who asks.
    Caller,
    /// What has changed: the answer comes when it is not `since` any more, or when the time is over.
    Changes { since: Option<String>, wait_ms: i64 },
}

/// Read what is stored, as the command line does
///
/// For a program that uses the server as its store. The forms are those of the store; other programs read the other
/// addresses. An agent sees what it got and what it sent, and the journals of runs in which there is nothing else.
#[utoipa::path(post, path = "/api/v1/queries", tag = "queries", request_body = NewQuery,
    responses((status = 200, description = "What is stored"), (status = 403, description = "Not for the caller")))]
pub(crate) async fn ask(
    State(server): State<Server>,
    principal: Principal,
    JsonBody(query): JsonBody<NewQuery>,
) -> Result<Json<Value>, ProblemJson> {
    let answer = Reading { server: &server, principal: &principal }.answer(query).await?;
    Ok(Json(stored(&server, &answer)))
}

/// Reads for somebody.
struct Reading<'r> {
    server: &'r Server,
    principal: &'r Principal,
}

impl Reading<'_> {
    async fn answer(&self, query: NewQuery) -> Result<Value, ProblemJson> {
        let store = &self.server.engine.store;
        Ok(match query {
            NewQuery::Find { id } => json!(self.find(&id).await?.as_ref().map(HandoffRecord::from)),
            NewQuery::IdsBeginningWith { prefix, limit } => json!(self.ids(&prefix, at_most(limit)?).await?),
            NewQuery::Request { id } => match self.find(&id).await? {
                Some(handoff) => json!(store.request(&handoff.id).await?.as_ref().map(DocumentRecord::from)),
                None => Value::Null,
            },
            NewQuery::List { agent, states, after, limit } => {
                let after = after.map(|id| handoff_id(&id)).transpose()?;
                let states = states.iter().map(|word| state(word)).collect::<Result<_, _>>()?;
                json!(self.list(Filter { agent, states, after, limit: at_most(limit)? }).await?)
            }
            NewQuery::Census => {
                let counts = store.census().await?.into_iter().filter(|count| self.works_for(&count.agent));
                json!(counts.map(CountRecord::from).collect::<Vec<_>>())
            }
            NewQuery::History { run, after, limit } => {
                let run = run_id(&run)?;
                self.reads_journal(&run).await?;
                let events = store.history(&run, after, at_most(limit)?).await?;
                json!(events.into_iter().map(EventRecord::from).collect::<Vec<_>>())
            }
            NewQuery::HistoryOf { id } => match self.find(&id).await? {
                Some(handoff) => {
                    let events = store.history_of(&handoff.id).await?;
                    json!(events.into_iter().map(EventRecord::from).collect::<Vec<_>>())
                }
                None => json!([]),
            },
            NewQuery::HandoffsOf { run } => {
                let inside = store.handoffs_of(&run_id(&run)?).await?;
                let seen = inside.iter().filter(|(handoff, _)| self.principal.sees(handoff));
                json!(
                    seen.map(|(handoff, head)| (HandoffRecord::from(handoff), HeadRecord::from(*head)))
                        .collect::<Vec<_>>()
                )
            }
            NewQuery::Queue { agent } => {
                let agent = value("/agent", agent_name(&agent))?;
                if self.principal.is_restricted() {
                    self.principal.works_for(&agent)?;
                }
                json!(QueueRecord::from(store.queue(&agent).await?))
            }
            NewQuery::Queues => {
                let queues = store.queues().await?.into_iter().filter(|queue| self.works_for(&queue.agent));
                json!(queues.map(QueueRecord::from).collect::<Vec<_>>())
            }
            NewQuery::NextDue { agent } => {
                let agent = agent.or_else(|| self.principal.agent().map(str::to_owned));
                if let Some(agent) = agent.as_deref().filter(|_| self.principal.is_restricted()) {
                    self.principal.works_for(agent)?;
                }
                json!(store.next_due(agent.as_deref()).await?)
            }
            NewQuery::LedgerOf { run } if self.principal.is_restricted() => {
                run_id(&run)?;
                json!([])
            }
            NewQuery::LedgerOf { run } => {
                let entries = store.ledger_of(&run_id(&run)?).await?;
                json!(entries.into_iter().map(LedgerRecord::from).collect::<Vec<_>>())
            }
            NewQuery::Content { run, digest } => {
                let (run, digest) = (run_id(&run)?, Digest(digest.to_lowercase()));
                let is_readable = self.may_read(&run, &digest).await?;
                if is_readable { json!(store.content(&run, &digest).await?) } else { Value::Null }
            }
            NewQuery::HandedOver { id } => match self.find(&id).await? {
                Some(handoff) => {
                    let files = self.server.engine.files_handed_to(&handoff).await?;
                    json!(files.iter().map(|file| (&file.path, &file.sha256)).collect::<Vec<_>>())
                }
                None => json!([]),
            },
            NewQuery::Yardstick { id } => self.yardstick(&id).await?,
            NewQuery::Checkup => {
                self.principal.looks_at_all()?;
                let checkup = store.checkup().await?;
                json!({ "migration": checkup.migration, "migration_known": checkup.migration_known, "faults": checkup.faults })
            }
            NewQuery::Caller => self.principal.json(),
            NewQuery::Changes { since, wait_ms } => {
                // Less than nothing is nothing.
                let wait = Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)).min(WAIT_MAX);
                json!(self.server.change_after(since.as_deref(), wait).await)
            }
        })
    }

    /// Finds a handoff that the caller may see.
    async fn find(&self, id: &str) -> Result<Option<Handoff>, ProblemJson> {
        let found = self.server.engine.store.find(&handoff_id(id)?).await?;
        Ok(found.filter(|handoff| self.principal.sees(handoff)))
    }

    async fn ids(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, ProblemJson> {
        let mut ids = self.server.engine.store.ids_beginning_with(prefix, limit).await?;
        if self.principal.is_restricted() {
            let mut seen = Vec::new();
            for id in ids {
                seen.extend(self.find(id.as_str()).await?.map(|handoff| handoff.id));
            }
            ids = seen;
        }
        Ok(ids)
    }

    async fn list(&self, mut filter: Filter) -> Result<Vec<HandoffRecord>, ProblemJson> {
        match (&filter.agent, self.principal.agent()) {
            (None, Some(own)) => filter.agent = Some(own.to_owned()),
            (Some(agent), Some(_)) => self.principal.works_for(agent)?,
            (_, None) => {}
        }
        let found = self.server.engine.store.list(&filter).await?;
        Ok(found.iter().filter(|handoff| self.principal.sees(handoff)).map(HandoffRecord::from).collect())
    }

    /// Lets everybody pass who sees all of a run.
    async fn reads_journal(&self, run: &RunId) -> Result<(), ProblemJson> {
        if !self.principal.is_restricted() {
            return Ok(());
        }
        let inside = self.server.engine.store.handoffs_of(run).await?;
        if !inside.is_empty() && inside.iter().all(|(handoff, _)| self.principal.sees(handoff)) {
            return Ok(());
        }
        self.principal.looks_at_all()
    }

    /// Returns whether the caller may read a file of a run: an agent reads what its handoffs were given.
    async fn may_read(&self, run: &RunId, digest: &Digest) -> Result<bool, ProblemJson> {
        if !self.principal.is_restricted() {
            return Ok(true);
        }
        for (handoff, _) in self.server.engine.store.handoffs_of(run).await? {
            if self.principal.sees(&handoff) && self.server.was_handed(digest, &handoff).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn yardstick(&self, id: &str) -> Result<Value, ProblemJson> {
        let (engine, found) = (&self.server.engine, self.find(id).await?);
        let handoff = found.ok_or_else(|| ProblemJson::unknown(id))?;
        let definition = engine.definition_of(&handoff).await?;
        Ok(engine.yardstick(&handoff, None, definition.as_ref()).await?.json())
    }

    fn works_for(&self, queue: &str) -> bool {
        !self.principal.is_restricted() || self.principal.works_for(queue).is_ok()
    }
}

impl Server {
    /// Waits until something has changed since a mark. Returns the mark of now.
    async fn change_after(&self, since: Option<&str>, limit: Duration) -> String {
        let store = &self.engine.store;
        let mark = |changes: u64| format!("{}-{changes}", self.instance());
        let changes = store.changes();
        // A mark of another server, or of this one before it was started again, says nothing about what has changed.
        if since != Some(&mark(changes)) {
            return mark(changes);
        }
        tokio::select! {
            () = self.closing() => {}
            () = store.changed(changes, limit) => {}
        }
        mark(store.changes())
    }
}

fn at_most(limit: u32) -> Result<u32, ProblemJson> {
    match limit {
        1..=LIMIT_MAX => Ok(limit),
        _ => Err(ProblemJson::bad_value("/limit", format!("a number from 1 to {LIMIT_MAX}"))),
    }
}

fn handoff_id(id: &str) -> Result<HandoffId, ProblemJson> {
    value("/id", HandoffId::parse(id))
}

fn run_id(run: &str) -> Result<RunId, ProblemJson> {
    value("/run", RunId::parse(run))
}

fn state(word: &str) -> Result<StateName, ProblemJson> {
    StateName::parse(word).ok_or_else(|| ProblemJson::bad_value("/states", format!("unknown state `{word}`")))
}
