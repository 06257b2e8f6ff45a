//! The script of the door suite, played over HTTP.

use std::collections::BTreeMap;

use baton_engine::Fence;
use baton_testbed::account;
use serde_json::{Value, json};

use crate::client::{Answer as HttpAnswer, Premises, Running};
use crate::door_suite::{Answer, Door, GATE, Shown, Verb, asks, documents, journal, judged};

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

    fn decide(&mut self, id: &str, decision: &str, text: &str, shown: Shown, inside_work: bool) -> Answer {
        let gate = self.server.get(&format!("/api/v1/gates/{id}"));
        let gate: Value = serde_json::from_str(&gate.text).expect("JSON");
        let digest = shown.of(gate["gate"]["digest"].as_str().unwrap_or("000000000000"));
        let body = json!({ "decision": decision, "text": text, "shown": digest });
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
            Verb::Send { document, to, key, deadline, within: [claimed, acknowledged] } => {
                let body = json!({ "document": self.document(document), "to": to, "deadline": deadline,
                    "pick_up_within": claimed, "acknowledge_within": acknowledged });
                let headers: Vec<(&str, &str)> = key.iter().map(|key| ("Idempotency-Key", *key)).collect();
                answer(&self.server.ask("POST", "/api/v1/handoffs", &headers, &body.to_string()))
            }
            Verb::Judge { document } => {
                let found =
                    self.server.post("/api/v1/check", &json!({ "document": self.document(document) })).expect(200);
                judged(found["diagnostics"].as_array().into_iter().flatten())
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
            Verb::Decide { id, decision, text, shown, inside_work } => {
                self.decide(id, decision, text, *shown, *inside_work)
            }
            Verb::Cancel { id } => self.work(id, "cancel", &json!({})),
            Verb::Requeue { id } => self.work(id, "requeue", &json!({})),
            Verb::Begin { run } => {
                let begun = self.server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": run }));
                if begun.status != 201 {
                    return answer(&begun);
                }
                self.server.until("/api/v1/gates", |inbox| asks(inbox, run));
                Answer::Done(vec!["begun".to_owned()])
            }
            Verb::Look { id } => answer(&self.server.get(&format!("/api/v1/handoffs/{id}"))),
            Verb::Wait { id } => {
                let is_finished = |answer: &Value| !answer["handoff"]["finished_at"].is_null();
                self.server.until(&format!("/api/v1/handoffs/{id}"), is_finished);
                answer(&self.server.get(&format!("/api/v1/handoffs/{id}")))
            }
            Verb::Journal { id } => {
                let told = self.server.get(&format!("/api/v1/handoffs/{id}")).expect(200);
                journal(told["events"].as_array().expect("events").iter().cloned())
            }
            Verb::Inbox { run } => {
                let of = run.map(|run| format!("?run={run}")).unwrap_or_default();
                answer(&self.server.get(&format!("/api/v1/gates{of}")))
            }
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
            Some("invalid_document") => judged(json["diagnostics"].as_array().into_iter().flatten()),
            _ => Answer::Problem(json["detail"].as_str().expect("a sentence").to_owned()),
        };
    }
    let state = |item: &Value| {
        let asked = || Some(format!("{}: {}", item["ask"].as_str()?, item["title"].as_str()?));
        Some(item["handoff"]["state"].as_str().map(str::to_owned).or_else(asked).unwrap_or_else(|| "?".to_owned()))
    };
    let several = ["claims", "waiting"].iter().find(|name| json[**name].is_array());
    Answer::Done(several.map_or_else(|| vec![state(&json).expect("a state")], |name| texts(&json[*name], &state)))
}
