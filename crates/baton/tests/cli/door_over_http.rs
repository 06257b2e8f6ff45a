//! The script of the door suite, played over HTTP.

use std::collections::BTreeMap;

use baton_engine::Fence;
use baton_testbed::account;
use serde_json::{Value, json};

use crate::client::{Answer as HttpAnswer, Premises, Running};
use crate::door_suite::{Answer, Door, GATE, Shown, Verb, documents};

/// A server, spoken to by a person and by an agent.
pub(crate) struct OverHttp {
    server: Running,
    person: String,
    agent: String,
    documents: BTreeMap<&'static str, String>,
    /// Keeps the store of the server.
    _premises: Premises,
}

impl OverHttp {
    pub(crate) fn new() -> OverHttp {
        let premises = Premises::new().workflow(GATE, "report");
        let person = premises.token(&["--role", "approver", "--name", &account()]);
        let agent = premises.token(&["--role", "agent", "--agent", "finder"]);
        let mut server = premises.serve_flow();
        server.as_owner_of(&person);
        OverHttp { server, person, agent, documents: documents(), _premises: premises }
    }

    fn work(&self, id: &str, verb: &str, body: &Value) -> Answer {
        answer(&self.server.post(&format!("/api/v1/handoffs/{id}/{verb}"), body))
    }

    fn document(&self, name: &str) -> Value {
        self.documents[name].clone().into()
    }

    fn approve(&mut self, id: &str, shown: Shown, inside_work: bool) -> Answer {
        let gate = self.server.get(&format!("/api/v1/gates/{id}"));
        let latest = serde_json::from_str::<Value>(&gate.text).expect("JSON")["gate"]["digest"].clone();
        let digest = match shown {
            Shown::Latest => latest,
            Shown::Another => "0".repeat(64).into(),
        };
        let body = json!({ "decision": "approve", "shown": digest });
        if inside_work {
            self.server.as_owner_of(&self.agent);
        }
        let decided = self.server.post(&format!("/api/v1/gates/{id}/decision"), &body);
        self.server.as_owner_of(&self.person);
        if inside_work {
            // Here the token says that this is an agent; elsewhere it is the process inside whose work it runs.
            assert_eq!(decided.problem(403), "not_a_person");
            return Answer::Problem(
                "an agent cannot decide: this process belongs to the work on some.other.work".to_owned(),
            );
        }
        answer(&decided)
    }
}

impl Door for OverHttp {
    fn play(&mut self, verb: &Verb) -> Answer {
        let with = |Fence(fence): &Fence| json!({ "fence": fence });
        match verb {
            Verb::Send { document, to, key, deadline } => {
                let body = json!({ "document": self.document(document), "to": to, "deadline": deadline });
                let headers: Vec<(&str, &str)> = key.iter().map(|key| ("Idempotency-Key", *key)).collect();
                answer(&self.server.ask("POST", "/api/v1/handoffs", &headers, &body.to_string()))
            }
            Verb::Claim { agent } => {
                answer(&self.server.post("/api/v1/claims", &json!({ "agent": agent, "claimant": "worker" })))
            }
            Verb::Heartbeat { id, fence } => self.work(id, "heartbeat", &with(fence)),
            Verb::Acknowledge { id, fence, document } => {
                let mut body = with(fence);
                body["document"] = document.map(|name| self.document(name)).into();
                self.work(id, "acknowledgment", &body)
            }
            Verb::Report { id, fence, document } => {
                let mut body = with(fence);
                body["document"] = self.document(document);
                self.work(id, "report", &body)
            }
            Verb::Fail { id, fence: Fence(fence) } => {
                let body = json!({ "fence": fence, "code": "TIMEOUT", "message": "too slow", "transient": false });
                self.work(id, "failure", &body)
            }
            Verb::Approve { id, shown, inside_work } => self.approve(id, *shown, *inside_work),
            Verb::Cancel { id } => self.work(id, "cancel", &json!({})),
            Verb::Requeue { id } => self.work(id, "requeue", &json!({})),
            Verb::Begin { run } => {
                let begun = self.server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": run }));
                if begun.status == 201 { Answer::Done(vec!["begun".to_owned()]) } else { answer(&begun) }
            }
            Verb::Look { id } => answer(&self.server.get(&format!("/api/v1/handoffs/{id}"))),
            Verb::Inbox => answer(&self.server.get("/api/v1/gates")),
        }
    }
}

/// Understands what the server answered.
fn answer(given: &HttpAnswer) -> Answer {
    let json: Value = serde_json::from_str(&given.text).expect("JSON");
    let texts = |items: &Value, text: &dyn Fn(&Value) -> Option<String>| -> Vec<String> {
        items.as_array().into_iter().flatten().filter_map(text).collect()
    };
    if given.status >= 400 {
        return match json["code"].as_str() {
            Some("invalid_document") => {
                Answer::Invalid(texts(&json["diagnostics"], &|found| Some(found["code"].as_str()?.to_owned())))
            }
            _ => Answer::Problem(json["detail"].as_str().expect("a sentence").to_owned()),
        };
    }
    let state = |item: &Value| {
        let state = item["handoff"]["state"].as_str().or(item["ask"].as_str());
        Some(state.unwrap_or("?").to_owned())
    };
    let several = ["claims", "waiting"].iter().find(|name| json[**name].is_array());
    Answer::Done(several.map_or_else(|| vec![state(&json).expect("a state")], |name| texts(&json[*name], &state)))
}
