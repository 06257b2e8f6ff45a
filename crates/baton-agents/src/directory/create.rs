//! Asks: writes a request into `pending`.

use std::io;
use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::retry::Policy;
use baton_protocol::model::terms::Priority;
use baton_protocol::wire::{Label, Wire as _};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::{NoContext, Uuid};

use super::handoff::{self, FolderHandoff, TIMEOUT_DEFAULT};
use super::{Directory, DirectoryError, Folder, NotedResult};

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFolderHandoff {
    /// The identifier; one is made if there is none.
    pub id: Option<HandoffId>,
    /// Who asks.
    pub from: String,
    /// The phase in which that one works.
    pub from_phase: Option<Label>,
    /// Who is asked.
    pub to: String,
    /// The phase that is asked for.
    pub to_phase: Option<Label>,
    /// What to work on.
    pub input: Value,
    /// The schema of the input; `AGENT.input.schema.json` if there is one.
    pub input_schema: Option<String>,
    /// What is known about the project.
    pub context: Map<String, Value>,
    /// What kind of artifact is wanted.
    pub output_type: Option<String>,
    /// The schema of the artifact; `AGENT.output.schema.json` if there is one.
    pub output_schema: Option<String>,
    /// Where the artifact belongs; `{timestamp}` stands for the time.
    pub destination: Option<String>,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// How urgent it is.
    pub priority: Priority,
    /// How often and when to try again.
    pub policy: Policy,
}

impl NewFolderHandoff {
    /// Asks for something with the usual terms.
    pub fn new(from: impl Into<String>, to: impl Into<String>, input: Value) -> NewFolderHandoff {
        NewFolderHandoff {
            id: None,
            from: from.into(),
            from_phase: None,
            to: to.into(),
            to_phase: None,
            input,
            input_schema: None,
            context: Map::new(),
            output_type: None,
            output_schema: None,
            destination: None,
            timeout: TIMEOUT_DEFAULT,
            priority: Priority::Normal,
            policy: Policy::default(),
        }
    }

    /// Writes the document. What a claimant sorts by comes first, what can be long comes last.
    fn write(&self, id: &HandoffId, now: Timestamp) -> FolderHandoff {
        let mut handoff = FolderHandoff { members: Map::new() };
        handoff.set("handoff_id", id.as_str());
        handoff.set("timestamp", handoff::written(now));
        handoff.set("status", Folder::Pending.status());
        handoff.set("priority", self.priority.as_str());
        handoff.set("source", party(&self.from, self.from_phase.as_ref(), "orchestrator"));
        handoff.set("target", party(&self.to, self.to_phase.as_ref(), "specialist"));
        handoff.set("timeout_seconds", number(self.timeout.as_secs_f64()));
        let policy = json!({
            "max_retries": self.policy.max_retries,
            "retry_delay_seconds": number(self.policy.delay_ms as f64 / 1000.0),
            "backoff_multiplier": self.policy.multiplier,
        });
        handoff.set("retry_policy", policy);
        let wanted =
            [("artifact_type", &self.output_type), ("schema", &self.output_schema), ("destination", &self.destination)];
        let wanted: Map<String, Value> =
            wanted.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into()))).collect();
        if !wanted.is_empty() {
            handoff.set("expected_output", wanted);
        }
        if !self.context.is_empty() {
            handoff.set("context", self.context.clone());
        }
        let mut input = Map::new();
        input.extend(self.input_schema.iter().map(|name| ("schema".to_owned(), name.clone().into())));
        input.insert("data".to_owned(), self.input.clone());
        handoff.set("input", input);
        handoff
    }
}

fn party(agent: &str, phase: Option<&Label>, kind: &str) -> Map<String, Value> {
    let mut party = Map::new();
    party.insert("agent_id".to_owned(), agent.into());
    party.extend(phase.map(|phase| ("phase".to_owned(), phase.write())));
    party.insert("agent_type".to_owned(), kind.into());
    party
}

/// Writes whole numbers without a fraction, as the other side does.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value < 1e15 { json!(value as u64) } else { json!(value) }
}

impl Directory {
    /// Writes a request into `pending`. Nothing is written if its input breaks its schema or its id is in use.
    pub fn create(&self, new: &NewFolderHandoff, now: Timestamp) -> Result<NotedResult<FolderHandoff>, DirectoryError> {
        let mut new = new.clone();
        let agent = new.to.trim_start_matches('@').to_owned();
        let usual = |kind: &str| Some(format!("{agent}.{kind}.schema.json")).filter(|name| self.schemas.has(name));
        new.input_schema = new.input_schema.or_else(|| usual("input"));
        new.output_schema = new.output_schema.or_else(|| usual("output"));
        let mut warnings = Vec::new();
        if let Some(schema) = &new.input_schema {
            let violations = self.check_schema(schema, &new.input, &mut warnings)?.unwrap_or_default();
            if !violations.is_empty() {
                return Err(DirectoryError::Violations { what: "the input", schema: schema.clone(), violations });
            }
        }
        if let Some(id) = &new.id {
            // Usually this tells, and nothing is written.
            drop(self.refuse_known(id)?);
        }
        let id = new.id.clone().unwrap_or_else(|| made_id(now));
        let handoff = new.write(&id, now);
        if let Some(missing) = self.missing_dependency(&handoff)? {
            // It may be made before the request is claimed.
            warnings.push(format!("the artifact `{}` is not there yet ({} names it)", missing.name, missing.member));
        }
        let place = self.path(Folder::Pending, &id);
        let written = self.files.write_beside(&place, &handoff.to_bytes())?;
        // An id that was made just now is new. Any other is looked for again before the rename: afterwards somebody may
        // have claimed or finished this very handoff, and nobody could tell it from another of its name.
        let alone = new.id.as_ref().map(|id| self.refuse_known(id)).transpose()?;
        written.place_new(&place).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => DirectoryError::Exists { id: id.clone(), folder: Folder::Pending },
            _ => DirectoryError::io("write", &place, error),
        })?;
        // It is created, whatever happens from here on.
        drop(alone);
        self.note_waiting(&id, &handoff);
        self.files.sync_folder(&self.folder(Folder::Pending))?;
        Ok(NotedResult { result: handoff, warnings })
    }
}

/// Makes an identifier; those of later milliseconds sort after earlier ones.
fn made_id(now: Timestamp) -> HandoffId {
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
    HandoffId::from_unique(Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds)))
}
