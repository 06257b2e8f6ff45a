//! A Baton server as a store: what is read comes in the forms of the store, what changes something goes out as a verb.
//!
//! No rule is decided here. The server judges documents, knows by the token who asks, and keeps ledger and leases; what this
//! program works out before is what it would work out for a store of its own, and the server does not rely on it.

mod address;
mod changes;
mod claims;
mod connection;
mod talk;
mod verbs;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::evidence::{Content, SeenFile};
use baton_engine::handoff::{Digest, WrittenDocument};
use baton_engine::journal::{Event, Hash, Head};
use baton_engine::ledger::LedgerEntry;
use baton_engine::lifecycle::{Accept, Command, Refusal};
use baton_engine::queue::Queue;
use baton_engine::store::{
    AcceptedHandoff, AnchoredEntry, Checkup, ClaimRequest, ClaimedHandoff, Count, Filter, KeptContents, Order,
    PositionedEvent, Store, StoreError, TransactionStep,
};
use baton_engine::stored::exchange::{
    CountRecord, DocumentRecord, EventRecord, HandoffRecord, HeadRecord, LedgerRecord, QueueRecord,
};
use baton_engine::token::{AccessRole, AccessToken, TokenSecret};
use baton_engine::{Handoff, HandoffId, RunId};
use hyper::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

pub use address::{AddressFault, ServerAddress};
use changes::SeenChanges;
use claims::HeldClaims;
use connection::NoReply;
use talk::Talk;
use verbs::{Verb, not_through_a_server};

/// How a server is reached, and as whom.
pub struct ServerAccess {
    /// Where it is.
    pub address: ServerAddress,
    /// Who asks; without a token, whoever may ask without one.
    pub token: Option<TokenSecret>,
    /// A file with certificate authorities that count beside those of the machine.
    pub authorities: Option<PathBuf>,
}

/// Who asks, as the server knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCaller {
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: AccessRole,
    /// The only agent that they work for.
    pub agent: Option<String>,
    /// The id of their token; `None` if they have none.
    pub token: Option<String>,
}

/// A server, used as a store.
pub struct RemoteStore {
    talk: Talk,
    address: ServerAddress,
    caller: ServerCaller,
    changes: SeenChanges,
    claims: HeldClaims,
}

#[derive(Deserialize)]
struct AppliedAnswer {
    handoff: HandoffRecord,
    repeated: bool,
}

#[derive(Deserialize)]
struct AcceptedAnswer {
    handoff: HandoffRecord,
    existing: bool,
}

#[derive(Deserialize)]
struct CallerAnswer {
    name: String,
    role: String,
    agent: Option<String>,
    token: Option<String>,
}

#[derive(Deserialize)]
struct CheckupAnswer {
    migration: u32,
    migration_known: u32,
    faults: Vec<String>,
}

impl RemoteStore {
    /// Reaches a server, and learns who asks.
    pub async fn reach(access: ServerAccess) -> Result<RemoteStore, StoreError> {
        let address = access.address.clone();
        let talk = Talk::with(access)?;
        let CallerAnswer { name, role, agent, token } = talk.read(&json!({ "read": "caller" })).await?;
        let unknown = || StoreError::Newer(format!("{address} knows a role that this program does not: `{role}`"));
        let caller = ServerCaller { name, role: AccessRole::parse(&role).ok_or_else(unknown)?, agent, token };
        Ok(RemoteStore { talk, address, caller, changes: SeenChanges::default(), claims: HeldClaims::default() })
    }

    /// Returns who asks, as the server knows them.
    pub fn caller(&self) -> &ServerCaller {
        &self.caller
    }

    /// Asks for something that is not a verb of a store, in words of the API.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, StoreError> {
        self.talk.plainly(Method::POST, path, body).await
    }

    /// Returns what a report about a handoff is judged by, as the server writes it.
    pub async fn yardstick(&self, id: &HandoffId) -> Result<Value, StoreError> {
        self.talk.read(&json!({ "read": "yardstick", "id": id })).await
    }

    /// Returns the files that were handed over to a handoff.
    pub async fn handed_over(&self, id: &HandoffId) -> Result<Vec<SeenFile>, StoreError> {
        let files: Vec<(String, Option<String>)> = self.talk.read(&json!({ "read": "handed_over", "id": id })).await?;
        Ok(files.into_iter().map(|(path, sha256)| SeenFile { path, sha256 }).collect())
    }

    async fn applied(&self, id: &HandoffId, verb: Verb) -> Result<Handoff, StoreError> {
        let Verb { path, body, is_repeatable } = verb;
        let answer: Result<AppliedAnswer, NoReply> = if is_repeatable {
            self.talk.ask_again_if_lost(&path, &body).await.map(|(answer, _)| answer)
        } else {
            self.talk.ask(&path, &body).await
        };
        let answer = answer.map_err(|no_reply| about(id, no_reply))?;
        // The engine tells what was said before from what has an effect now.
        if answer.repeated { Err(Refusal::Repeated.into()) } else { answer.handoff.handoff() }
    }
}

/// What may not be seen does not exist.
fn about(id: &HandoffId, no_reply: NoReply) -> StoreError {
    match StoreError::from(no_reply) {
        StoreError::Declined { code, .. } if code == "unknown" => StoreError::NotFound(id.clone()),
        error => error,
    }
}

fn handoffs(records: Vec<HandoffRecord>) -> Result<Vec<Handoff>, StoreError> {
    records.into_iter().map(HandoffRecord::handoff).collect()
}

fn events(records: Vec<EventRecord>) -> Vec<Event> {
    records.into_iter().map(Event::from).collect()
}

#[async_trait]
impl Store for RemoteStore {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        let body = json!({ "requests": requests.iter().map(verbs::sent).collect::<Vec<_>>() });
        // Each request has an id by now, so that the server knows it again.
        let (accepted, was_lost): (Vec<AcceptedAnswer>, bool) =
            self.talk.ask_again_if_lost("/api/v1/batches", &body).await?;
        let read = |AcceptedAnswer { handoff, existing }| {
            let handoff = handoff.handoff()?;
            // What is there since we asked is what we have sent.
            let is_ours = was_lost && handoff.accepted_at >= claims::a_little_before(at);
            Ok(AcceptedHandoff { handoff, existing: existing && !is_ours })
        };
        accepted.into_iter().map(read).collect()
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        self.claim_heard(wish, at).await
    }

    async fn apply(&self, order: Order, _: Timestamp) -> Result<Handoff, StoreError> {
        let Order { id, command } = order;
        let ends = matches!(command, Command::Report(_) | Command::Fail(_));
        let applied = self.applied(&id, verbs::of_command(&id, &command)?).await;
        if ends && !matches!(applied, Err(StoreError::Unreachable(_))) {
            self.claims.ended(&id);
        }
        applied
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>, _: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        let (id, verb) = verbs::of_steps(&steps)?;
        Ok(vec![self.applied(&id, verb).await?])
    }

    /// The server does that.
    async fn rescue(&self, _: u32, _: f64, _: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        Ok(Vec::new())
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        let found: Option<HandoffRecord> = self.talk.read(&json!({ "read": "find", "id": id })).await?;
        found.map(HandoffRecord::handoff).transpose()
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        self.talk.read(&json!({ "read": "ids_beginning_with", "prefix": prefix, "limit": limit })).await
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        let found: Option<DocumentRecord> = self.talk.read(&json!({ "read": "request", "id": id })).await?;
        Ok(found.map(WrittenDocument::from))
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        let Filter { agent, states, after, limit } = filter;
        let states: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let query = json!({ "read": "list", "agent": agent, "states": states, "after": after, "limit": limit });
        handoffs(self.talk.read(&query).await?)
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        let counts: Vec<CountRecord> = self.talk.read(&json!({ "read": "census" })).await?;
        counts.into_iter().map(CountRecord::count).collect()
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        let query = json!({ "read": "history", "run": run, "after": after, "limit": limit });
        Ok(events(self.talk.read(&query).await?))
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        Ok(events(self.talk.read(&json!({ "read": "history_of", "id": id })).await?))
    }

    async fn events_after(&self, _: u64, _: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        Err(not_through_a_server("reading everything that happens in a store"))
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        Err(not_through_a_server("reading everything that happens in a store"))
    }

    async fn runs(&self, _: Option<&RunId>, _: u32) -> Result<Vec<RunId>, StoreError> {
        Err(not_through_a_server("reading all journals"))
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        let inside: Vec<(HandoffRecord, HeadRecord)> =
            self.talk.read(&json!({ "read": "handoffs_of", "run": run })).await?;
        inside.into_iter().map(|(handoff, head)| Ok((handoff.handoff()?, head.into()))).collect()
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        let queue: QueueRecord = self.talk.read(&json!({ "read": "queue", "agent": agent })).await?;
        Ok(queue.into())
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        let queues: Vec<QueueRecord> = self.talk.read(&json!({ "read": "queues" })).await?;
        Ok(queues.into_iter().map(Queue::from).collect())
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        let Queue { agent, paused, concurrency } = queue;
        let path = format!("/api/v1/agents/{}", in_path(agent));
        let body = json!({ "paused": paused, "limit": concurrency.unwrap_or(0) });
        self.talk.plainly(Method::PATCH, &path, &body).await.map(drop)
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        self.talk.read(&json!({ "read": "next_due", "agent": agent })).await
    }

    async fn finished_runs(&self, _: Timestamp, _: u32) -> Result<Vec<RunId>, StoreError> {
        Err(not_through_a_server("pruning"))
    }

    async fn remove_run(&self, _: &RunId, _: Timestamp, _: Timestamp) -> Result<u64, StoreError> {
        Err(not_through_a_server("pruning"))
    }

    /// The server keeps the ledger.
    async fn enter(&self, _: &[RunId], _: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        Ok(Vec::new())
    }

    async fn ledger(&self, _: u64, _: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        Err(not_through_a_server("reading the ledger"))
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        let entries: Vec<LedgerRecord> = self.talk.read(&json!({ "read": "ledger_of", "run": run })).await?;
        entries.into_iter().map(LedgerRecord::entry).collect()
    }

    async fn anchored(&self, _: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        Err(not_through_a_server("anchoring the ledger"))
    }

    async fn set_anchored(&self, _: &str, _: AnchoredEntry) -> Result<(), StoreError> {
        Err(not_through_a_server("anchoring the ledger"))
    }

    async fn keep_contents(&self, _: &RunId, _: Vec<Content>, _: u64) -> Result<KeptContents, StoreError> {
        Err(not_through_a_server("keeping files of a run"))
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.talk.read(&json!({ "read": "content", "run": run, "digest": digest })).await
    }

    async fn add_token(&self, _: &AccessToken) -> Result<(), StoreError> {
        Err(not_through_a_server("tokens"))
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        Err(not_through_a_server("tokens"))
    }

    async fn token_with(&self, _: &Hash) -> Result<Option<AccessToken>, StoreError> {
        Err(not_through_a_server("tokens"))
    }

    async fn token(&self, _: &str) -> Result<Option<AccessToken>, StoreError> {
        Err(not_through_a_server("tokens"))
    }

    async fn revoke_token(&self, _: &str, _: Timestamp) -> Result<bool, StoreError> {
        Err(not_through_a_server("tokens"))
    }

    async fn remove_ended_sessions(&self, _: Timestamp) -> Result<u64, StoreError> {
        Err(not_through_a_server("tokens"))
    }

    fn changes(&self) -> u64 {
        self.changes.number()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        self.changes.wait(&self.talk, since, limit).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.server_time())
    }

    fn server_time(&self) -> Option<Timestamp> {
        self.talk.clock.now()
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        let CheckupAnswer { migration, migration_known, faults } =
            self.talk.read(&json!({ "read": "checkup" })).await?;
        Ok(Checkup { place: format!("server {}", self.address), migration, migration_known, faults })
    }
}

/// Writes a name so that it is one part of a path.
fn in_path(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let written = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::in_path;

    #[test]
    fn names_are_one_part_of_a_path() {
        assert_eq!(in_path("flow/dev ü"), "flow%2Fdev%20%C3%BC");
    }
}
