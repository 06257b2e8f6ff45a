//! A request as it comes in: a document, and the terms that the sender sets.

use baton_engine::engine::{
    NewHandoff, ValidDocument, WantedTerms, Yardstick, agent_name, parse_duration, parse_moment, parse_priority,
    plain_key, plain_name,
};
use baton_engine::{HandoffId, RunId};
use baton_protocol::Kind;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::incoming::{GivenDocument, optional, value};
use crate::problem_json::ProblemJson;

/// A request to an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "to": "finder", "document": { "baton": 1, "document": "request", "instructions": "Find the writer of rows." } }))]
pub(crate) struct NewRequest {
    /// The request in any dialect: a JSON object, or text as it was written.
    #[schema(schema_with = super::openapi::document)]
    pub(crate) document: Value,
    /// The dialect of the document; default: it is recognised.
    dialect: Option<String>,
    /// The id of the handoff; default: the document's, or a new one.
    id: Option<String>,
    /// The run whose journal it goes into; default: one of its own.
    pub(crate) run: Option<String>,
    /// The blocked handoff that continues with the result.
    pub(crate) returns_to: Option<String>,
    /// A key: sending it again gives the same handoff. The header `Idempotency-Key` goes before it.
    key: Option<String>,
    /// Which agent is to receive it; default: what the document says.
    to: Option<String>,
    /// Who hands over; default: what the document says, or the owner of the token.
    from: Option<String>,
    /// `low`, `normal`, `high` or `critical`.
    priority: Option<String>,
    /// Not to be claimed before this time, or this long from now.
    not_before: Option<String>,
    /// Of no use after this time, or this long from now.
    deadline: Option<String>,
    /// How long one attempt may take.
    timeout: Option<String>,
    /// How long it may wait until somebody claims it.
    pick_up_within: Option<String>,
    /// How soon after its claim it must be acknowledged.
    acknowledge_within: Option<String>,
    /// How many attempts may follow the first.
    max_retries: Option<u32>,
    /// How long to wait before the first retry.
    retry_delay: Option<String>,
    /// How the wait grows from one retry to the next.
    backoff: Option<f64>,
    /// Which part of the wait is random, from 0 to 1.
    jitter: Option<f64>,
}

impl NewRequest {
    /// Reads and judges the document, which must be a request.
    pub(crate) fn judge(&self, yardstick: &Yardstick) -> Result<ValidDocument, ProblemJson> {
        let valid = GivenDocument::of(&self.document, self.dialect.as_deref())?.valid(yardstick)?;
        Ok(valid.of_kind(Kind::Request)?)
    }

    /// Reads where the handoff belongs, and its terms.
    pub(crate) fn new_handoff(&self, sender: &str, key: Option<&str>) -> Result<NewHandoff, ProblemJson> {
        Ok(NewHandoff {
            id: optional("/id", self.id.as_deref(), |id| HandoffId::parse(id))?,
            run: optional("/run", self.run.as_deref(), |run| RunId::parse(run))?,
            returns_to: None,
            from: sender.to_owned(),
            terms: self.terms(key)?,
        })
    }

    fn terms(&self, key: Option<&str>) -> Result<WantedTerms, ProblemJson> {
        Ok(WantedTerms {
            to: optional("/to", self.to.as_deref(), agent_name)?,
            from: optional("/from", self.from.as_deref(), plain_name)?,
            priority: optional("/priority", self.priority.as_deref(), parse_priority)?,
            key: match key {
                Some(key) => Some(value("/key", plain_key(key))?),
                None => optional("/key", self.key.as_deref(), plain_key)?,
            },
            not_before: optional("/not_before", self.not_before.as_deref(), parse_moment)?,
            deadline: optional("/deadline", self.deadline.as_deref(), parse_moment)?,
            timeout: optional("/timeout", self.timeout.as_deref(), parse_duration)?,
            pick_up_within: optional("/pick_up_within", self.pick_up_within.as_deref(), parse_duration)?,
            acknowledge_within: optional("/acknowledge_within", self.acknowledge_within.as_deref(), parse_duration)?,
            max_retries: self.max_retries,
            retry_delay: optional("/retry_delay", self.retry_delay.as_deref(), parse_duration)?,
            backoff: self.backoff,
            jitter: self.jitter,
        })
    }
}
