//! Signed decisions over HTTP: a gate that demands signatures is decided by whoever has a key, and nobody else.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Premises, Running};
use crate::remote_machine::{Ended, RemoteMachine};

const SIGNED: &str = "name: release\nagents: {dev: {command: [./dev.sh]}}\nphases:\n- {id: build, agent: dev}\n\
    - {id: ok, gate: {items: [the parser], approvers: [ana, ben], at_least: 2, signed: true}}\n- {id: ship, agent: dev}\n";

/// A server with a run that waits for signatures, and a machine with the keys of everybody.
struct Signing {
    premises: Premises,
    server: Running,
    machine: RemoteMachine,
}

fn key(premises: &Premises, name: &str) -> String {
    let path = premises.scratch.path(format!("keys/{name}"));
    let made = Command::new("ssh-keygen").args(["-q", "-N", "", "-C", name, "-t", "ed25519", "-f"]).arg(&path).status();
    assert!(made.expect("ssh-keygen is there").success());
    premises.scratch.read(format!("keys/{name}.pub"))
}

impl Signing {
    fn new() -> Signing {
        let premises = Premises::new().workflow(SIGNED, "report");
        premises.scratch.folder("keys");
        let [ana, ben, _] = ["ana", "ben", "eve"].map(|name| key(&premises, name));
        premises.scratch.write("allowed_signers", format!("ana {ana}ben {ben}"));
        premises.scratch.write("baton.toml", "[approvers]\nfile = \"allowed_signers\"\n");
        let token = premises.token(&["--role", "approver", "--name", "ana"]);
        let mut server = premises.serve_flow();
        server.as_owner_of(&token);
        let machine = RemoteMachine::of(&server, Some(&token));
        machine.run(&["run", "release", "--id", "t"]).is(3, &["t waits for a person"]);
        Signing { premises, server, machine }
    }

    fn digest(&self) -> String {
        let gate = self.server.get("/api/v1/gates/t.ok.1").expect(200);
        gate["gate"]["digest"].as_str().expect("a digest").to_owned()
    }

    fn decide(&self, verb: &str, more: &[&str]) -> Ended {
        let digest = self.digest();
        self.machine.run(&[&[verb, "t.ok.1", "--yes", "--shown", &digest], more].concat())
    }

    fn sign(&self, verb: &str, name: &str, more: &[&str]) -> Ended {
        let key = self.premises.scratch.path(format!("keys/{name}")).display().to_string();
        self.decide(verb, &[&["--sign", "--key", &key], more].concat())
    }

    fn refused(&self) -> Vec<String> {
        let journal = self.server.get("/api/v1/runs/t/journal?limit=1000").expect(200);
        let events = journal["events"].as_array().expect("events").iter();
        events.filter(|event| event["event"] == "refused" || event["kind"] == "refused").map(Value::to_string).collect()
    }
}

#[test]
fn signatures_travel_to_the_server_and_only_they_count() {
    let signing = Signing::new();
    signing.decide("approve", &[]).is(1, &["only signed decisions count here"]);
    signing.sign("approve", "eve", &[]).is(1, &["the signature does not count"]);
    assert!(signing.refused().len() >= 2, "{:#?}", signing.refused());
    let first = signing.sign("approve", "ana", &["--as", "Ana B.", "--note", "ship it"]);
    assert!(first.code == Some(0) && first.stdout.contains("1 of 2: ana"), "{first}");
    signing.sign("approve", "ana", &[]).is(1, &["ana"]);
    let second = signing.sign("approve", "ben", &[]);
    assert_eq!(second.code, Some(0), "{second}");
    signing.server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    let log = signing.machine.does(&["log", "t"]).stdout;
    assert!(log.contains("ana") && log.contains("ben"), "{log}");
}

#[test]
fn signature_counts_for_one_decision_only() {
    let signing = Signing::new();
    let text = signing.decide("approve", &["--to-sign"]).stdout;
    signing.premises.scratch.write("decision", &text);
    let (key, file) = (signing.premises.scratch.path("keys/ana"), signing.premises.scratch.path("decision"));
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-q", "-Y", "sign", "-n", "baton", "-f"]).arg(key).arg(&file);
    assert!(sign.status().expect("ssh-keygen is there").success());
    let signature = signing.premises.scratch.read("decision.sig");
    let decide = |decision: &str, text: Option<&str>, note: Option<&str>| {
        let shown = signing.digest();
        let body = json!({ "decision": decision, "text": text, "note": note, "shown": shown, "signature": signature });
        signing.server.post("/api/v1/gates/t.ok.1/decision", &body)
    };
    assert_eq!(decide("reject", Some("too slow"), None).problem(403), "forged");
    assert_eq!(decide("approve", None, Some("and pay me")).problem(403), "forged");
    assert_eq!(signing.refused().len(), 2, "both are recorded: {:#?}", signing.refused());
    let once = decide("approve", None, None).expect(200);
    assert_eq!(once["handoff"]["state"], "awaiting_person", "ben must sign, too");
    assert_eq!(decide("approve", None, None).problem(409), "decided_already");
    let nonsense = json!({ "decision": "approve", "shown": signing.digest(), "signature": "trust me" });
    assert_eq!(signing.server.post("/api/v1/gates/t.ok.1/decision", &nonsense).problem(422), "bad_value");
    let agent = signing.premises.token(&["--role", "agent", "--agent", "dev"]);
    let machine = signing.machine.with_token(&agent);
    machine
        .run(&["approve", "t.ok.1", "--yes", "--shown", &signing.digest()])
        .is(1, &["this token sees handoffs of dev only"]);
}
