//! Servers with something to look at.

use serde_json::{Value, json};

use crate::client::{Client, Premises, Running};

/// A workflow that waits for a person between two phases.
pub(crate) const GATE: &str = "name: gates\ndescription: Builds and ships.\n\
    agents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
    phases: [{id: build, agent: dev, on_failure: stop}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}, {id: ship, agent: dev}]\n";

/// A server with the token of an approver, `ana`.
pub(crate) struct Stage {
    pub(crate) premises: Premises,
    pub(crate) server: Running,
    pub(crate) ana: String,
}

impl Stage {
    /// Serves a workflow whose agent is a script.
    pub(crate) fn with(workflow: &str, agent: &str) -> Stage {
        Stage::on(Premises::new().workflow(workflow, agent))
    }

    /// Serves what is on the premises.
    pub(crate) fn on(premises: Premises) -> Stage {
        let ana = premises.token(&["--role", "approver", "--name", "ana"]);
        let mut server = premises.serve_flow();
        server.as_owner_of(&ana);
        Stage { premises, server, ana }
    }

    /// Serves [`GATE`].
    pub(crate) fn new() -> Stage {
        Stage::with(GATE, "report")
    }

    /// Starts a run of `gates`.
    pub(crate) fn start(&self, id: &str) {
        self.premises.scratch.folder(format!("workspace/{id}"));
        let body = json!({ "workflow": "gates", "id": id, "workspace": id });
        self.server.post("/api/v1/runs", &body).expect(201);
    }

    /// Starts a run of `gates`, and waits until it asks.
    pub(crate) fn asks(&self, id: &str) -> Value {
        self.start(id);
        let path = format!("/api/v1/runs/{id}");
        let is_asked = |run: &Value| run["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty());
        self.server.until(&path, is_asked)["waiting"][0].clone()
    }

    /// Waits until a run is in a state.
    pub(crate) fn until_run_is(&self, id: &str, state: &str) {
        self.server.until(&format!("/api/v1/runs/{id}"), |run| run["state"] == state);
    }

    /// Returns the events of a run.
    pub(crate) fn journal(&self, id: &str) -> Vec<Value> {
        let read = self.server.get(&format!("/api/v1/runs/{id}/journal?limit=1000")).expect(200);
        read["events"].as_array().expect("events").clone()
    }

    /// Returns the only decision of a run, as the journal has it.
    pub(crate) fn decision(&self, id: &str) -> Value {
        let events = self.journal(id);
        let decided: Vec<&Value> = events.iter().filter(|event| event["event"] == "decided").collect();
        assert_eq!(decided.len(), 1, "{decided:#?}");
        serde_json::from_str(decided[0]["detail"].as_str().expect("text")).expect("JSON")
    }

    /// Somebody without a token.
    pub(crate) fn stranger(&self) -> Client {
        Client { address: self.server.address.clone(), token: None }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address)
    }
}
