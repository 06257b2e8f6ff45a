//! What whoever works on a handoff is told, and what its report is judged by: worked out here over a store of our own, or
//! asked of the server that has the store. An agent's token reads no journal of a run; the server reads it for the agent.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::definition::Definition;
use baton_engine::driver::{HandInWay, QueueBrief};
use baton_engine::engine::{Problem, Yardstick};
use baton_engine::evidence::SeenFile;
use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::store::ClaimedHandoff;
use baton_engine::{Engine, RunId};
use baton_store::remote::RemoteStore;
use serde_json::{Value, json};

use crate::briefing::{self, Briefing};
use crate::store::Session;

/// Knows what only the run of a handoff can say about it.
#[async_trait]
pub(crate) trait Briefer: Send + Sync {
    /// Briefs whoever has claimed a handoff; the inner error says why there is no prompt.
    async fn brief(&self, claimed: &ClaimedHandoff, by: HandInWay) -> Result<Result<Briefing, String>, Problem>;

    /// Returns the yardstick for what is handed in for a handoff of a run that was started with this.
    async fn yardstick(
        &self,
        handoff: &Handoff,
        request: Option<&WrittenDocument>,
        definition: Option<&Definition>,
    ) -> Result<Yardstick, Problem>;

    /// Returns the files that a handoff is given by those before it, as they were when they were examined.
    async fn files_handed_to(&self, handoff: &Handoff) -> Result<Vec<SeenFile>, Problem>;

    /// Returns what a run was started with, if its workspace may be on this machine; `None` outside of a workflow.
    async fn definition(&self, run: &RunId) -> Result<Option<Definition>, Problem>;
}

/// Returns who tells it in a session.
pub(crate) fn of(session: &Session) -> Arc<dyn Briefer> {
    match &session.remote {
        Some(server) => Arc::new(FromServer(Arc::clone(server))),
        None => {
            let (engine, traces) = (session.engine.clone(), session.telemetry().is_some());
            Arc::new(WorkedOutHere { engine, traces })
        }
    }
}

/// Works it out from the journal.
struct WorkedOutHere {
    engine: Engine,
    /// Whether spans are collected.
    traces: bool,
}

#[async_trait]
impl Briefer for WorkedOutHere {
    async fn brief(&self, claimed: &ClaimedHandoff, by: HandInWay) -> Result<Result<Briefing, String>, Problem> {
        let mut told = briefing::brief(&self.engine, claimed, by).await?;
        if let Ok(briefing) = &mut told {
            briefing.brief.job.traceparent.take_if(|_| !self.traces);
        }
        Ok(told)
    }

    async fn yardstick(
        &self,
        handoff: &Handoff,
        request: Option<&WrittenDocument>,
        definition: Option<&Definition>,
    ) -> Result<Yardstick, Problem> {
        self.engine.yardstick(handoff, request, definition).await
    }

    async fn files_handed_to(&self, handoff: &Handoff) -> Result<Vec<SeenFile>, Problem> {
        self.engine.files_handed_to(handoff).await
    }

    async fn definition(&self, run: &RunId) -> Result<Option<Definition>, Problem> {
        self.engine.definition(run).await
    }
}

/// Asks the server.
struct FromServer(Arc<RemoteStore>);

#[async_trait]
impl Briefer for FromServer {
    async fn brief(&self, claimed: &ClaimedHandoff, by: HandInWay) -> Result<Result<Briefing, String>, Problem> {
        let ClaimedHandoff { handoff, request } = claimed;
        let hand_in = match by {
            HandInWay::Command => "command",
            HandInWay::Output | HandInWay::Files => "output",
        };
        let body = json!({ "fence": handoff.fence, "hand_in": hand_in });
        let told = self.0.post(&format!("/api/v1/handoffs/{}/briefing", handoff.id), &body).await?;
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        let texts = |name: &str| -> Vec<String> {
            told[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let Some(prompt) = text("prompt") else {
            return Ok(Err(text("no_prompt").unwrap_or_else(|| "the server sent none".to_owned())));
        };
        let mut brief = QueueBrief::with_prompt(handoff, request, prompt);
        brief.shortened = texts("shortened");
        brief.job.traceparent = text("traceparent");
        brief.job.phase = text("phase").unwrap_or_default();
        brief.job.output_directory = text("output_directory").map(PathBuf::from).unwrap_or_default();
        let yardstick = Yardstick::of_json(&told["yardstick"], handoff, Some(request));
        Ok(Ok(Briefing { brief, yardstick, missing_elsewhere: texts("missing_artifacts") }))
    }

    async fn yardstick(
        &self,
        handoff: &Handoff,
        request: Option<&WrittenDocument>,
        _: Option<&Definition>,
    ) -> Result<Yardstick, Problem> {
        Ok(Yardstick::of_json(&self.0.yardstick(&handoff.id).await?, handoff, request))
    }

    async fn files_handed_to(&self, handoff: &Handoff) -> Result<Vec<SeenFile>, Problem> {
        Ok(self.0.handed_over(&handoff.id).await?)
    }

    async fn definition(&self, _: &RunId) -> Result<Option<Definition>, Problem> {
        Ok(None)
    }
}
