//! One script of verbs, good and bad, played through every door. What comes back must be the same.
//!
//! The command line and HTTP play it with the real program on SQLite, the engine with the store in memory, and the command line
//! once more as a client of a server. Whoever adds a door adds an implementation of [`Door`], and no line of the script.

use std::collections::BTreeMap;
use std::process::Command;

use baton_engine::Fence;
use baton_testbed::account;
use serde_json::Value;

use crate::client::{Premises, Running};
use crate::documents::{ACKNOWLEDGMENT, PACKAGE, REPORT, REQUEST, with};
use crate::door_direct::Direct;
use crate::door_over_http::OverHttp;
use crate::sandbox::{Run, Sandbox};

/// What a door is asked for.
#[derive(Debug, Clone)]
pub(crate) enum Verb {
    Send {
        document: &'static str,
        to: Option<&'static str>,
        key: Option<&'static str>,
        deadline: Option<&'static str>,
        /// How soon it must be claimed, and how soon acknowledged.
        within: [Option<&'static str>; 2],
    },
    /// What the rules say about a document.
    Judge {
        document: &'static str,
    },
    Claim {
        agent: &'static str,
    },
    Heartbeat {
        id: &'static str,
        fence: Fence,
    },
    Acknowledge {
        id: &'static str,
        fence: Fence,
        document: Option<&'static str>,
    },
    Report {
        id: &'static str,
        fence: Fence,
        document: &'static str,
    },
    Fail {
        id: &'static str,
        fence: Fence,
    },
    Decide {
        id: &'static str,
        decision: &'static str,
        text: &'static str,
        shown: Shown,
        inside_work: bool,
    },
    Cancel {
        id: &'static str,
    },
    Requeue {
        id: &'static str,
    },
    /// Begins a run of [`GATE`], which waits for a person at once.
    Begin {
        run: &'static str,
    },
    Look {
        id: &'static str,
    },
    /// Waits until it is finished.
    Wait {
        id: &'static str,
    },
    /// The journal of a handoff, event for event.
    Journal {
        id: &'static str,
    },
    /// What waits for people, of one run or of all.
    Inbox {
        run: Option<&'static str>,
    },
}

/// Which digest somebody decides about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shown {
    Latest,
    /// The beginning of the latest, in capitals.
    Beginning,
    Another,
    TooShort,
}

impl Shown {
    /// Returns what somebody names who was shown this digest.
    pub(crate) fn of(self, digest: &str) -> String {
        match self {
            Shown::Latest => digest.to_owned(),
            Shown::Beginning => digest.chars().take(12).collect::<String>().to_uppercase(),
            Shown::Another => "0".repeat(64),
            Shown::TooShort => "01234567".to_owned(),
        }
    }
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The states of what was done.
    Done(Vec<String>),
    /// The document is not valid: the codes of what was found.
    Invalid(Vec<String>),
    /// It had no effect.
    Problem(String),
}

/// A workflow whose runs wait for a person, who has a choice.
pub(crate) const GATE: &str = "name: gates\nphases:\n  - id: ok\n    gate:\n      name: 'Ship it?'\n      items: [the parser]\n      \
    choices: {ship: end, look again: ok}\n";

/// A report that asks, and offers answers.
const ASKS: &str = r#"{"baton": 1, "document": "report", "id": "csv-07", "outcome": "needs_clarification",
    "summary": "Found two functions in src/csv.rs that write rows, write_row and put_row.",
    "questions": [{"question": "Which of the two?", "options": ["write_row", "put_row"]}]}"#;

/// What somebody would say about such a run who does not drive it.
const OF_A_RUN: &str = r#"{"baton": 1, "document": "report", "id": "gated", "outcome": "complete",
    "summary": "Found the writer of rows in src/csv.rs, function write_row."}"#;

pub(crate) trait Door {
    fn play(&mut self, verb: &Verb) -> Answer;
}

pub(crate) fn documents() -> BTreeMap<&'static str, String> {
    let long = "Every one of the archives was opened, its index compared, and its pages counted twice. ".repeat(60);
    BTreeMap::from([
        ("request.json", REQUEST.to_owned()),
        ("nobody.json", with(REQUEST, "csv-07", "csv-08")),
        ("package.yaml", PACKAGE.to_owned()),
        ("return.yaml", returned()),
        ("report.json", REPORT.to_owned()),
        ("other.json", with(REPORT, "csv-07", "csv-99")),
        ("gated.json", OF_A_RUN.to_owned()),
        ("long.json", long_summary(&long)),
        ("stop.json", with(REPORT, "\"complete\"", "\"partial\"").replace("PROCEED", "STOP")),
        ("asks.json", ASKS.to_owned()),
        ("ack.yaml", ACKNOWLEDGMENT.to_owned()),
        ("maybe.yaml", with(ACKNOWLEDGMENT, "received: true", "received: maybe")),
        ("broken.json", "{\"task_id\": ".to_owned()),
    ])
}

/// A package that hands the result back.
fn returned() -> String {
    let swapped = with(
        PACKAGE,
        "agent: architecture\n  to:\n    agent: security-review",
        "agent: security-review\n  to:\n    agent: architecture",
    );
    with(&swapped, "handoff:\n", "handoff:\n  type: return\n")
        + "  result:\n    status: complete\n    summary: Six threats are ranked; each has one measure in docs/upload/risks.md.\n"
}

/// A report whose summary is over the budget of 500 tokens.
fn long_summary(text: &str) -> String {
    let mut report: serde_json::Value = serde_json::from_str(REPORT).expect("JSON");
    report["context_summary"] = text.into();
    report.to_string()
}

/// The script. Every verb is played once right and once refused.
fn script() -> Vec<Verb> {
    use Verb::{
        Acknowledge, Begin, Cancel, Claim, Decide, Fail, Heartbeat, Inbox, Journal, Judge, Look, Report, Requeue, Send,
        Wait,
    };
    let send = |document, to| Send { document, to, key: None, deadline: None, within: [None; 2] };
    let within = |within| Send { document: "request.json", to: Some("finder"), key: None, deadline: None, within };
    let keyed =
        |document| Send { document, to: Some("finder"), key: Some("nightly"), deadline: None, within: [None; 2] };
    let due = |document, deadline| Send { document, to: Some("finder"), key: None, deadline, within: [None; 2] };
    let decide = |id, decision, text| Decide { id, decision, text, shown: Shown::Latest, inside_work: false };
    let approve = |id, shown| Decide { id, decision: "approve", text: "", shown, inside_work: false };
    let id = "csv-07.research";
    vec![
        send("nobody.json", None),
        send("broken.json", Some("finder")),
        send("report.json", Some("finder")),
        due("request.json", Some("2020-01-01T00:00:00Z")),
        within([Some("0s"), None]),
        within([None, Some("0s")]),
        Judge { document: "request.json" },
        Judge { document: "long.json" },
        Judge { document: "broken.json" },
        keyed("request.json"),
        keyed("request.json"),
        keyed("nobody.json"),
        Look { id: "csv-7" },
        Look { id: "nowhere-at-all" },
        Look { id: "csv-07" },
        Claim { agent: "nobody-works-for-this" },
        Claim { agent: "finder" },
        Claim { agent: "finder" },
        Heartbeat { id, fence: Fence(1) },
        Heartbeat { id, fence: Fence(7) },
        Acknowledge { id, fence: Fence(1), document: Some("request.json") },
        Acknowledge { id, fence: Fence(1), document: Some("maybe.yaml") },
        Acknowledge { id, fence: Fence(1), document: None },
        Report { id, fence: Fence(1), document: "broken.json" },
        Report { id, fence: Fence(1), document: "other.json" },
        Report { id, fence: Fence(1), document: "long.json" },
        Report { id, fence: Fence(1), document: "ack.yaml" },
        Report { id, fence: Fence(1), document: "request.json" },
        Report { id, fence: Fence(9), document: "report.json" },
        Fail { id, fence: Fence(9) },
        Fail { id, fence: Fence(1) },
        approve(id, Shown::Another),
        Cancel { id },
        Cancel { id },
        Requeue { id },
        Requeue { id },
        Claim { agent: "finder" },
        Report { id, fence: Fence(2), document: "asks.json" },
        Inbox { run: None },
        Inbox { run: Some("nowhere-at-all") },
        decide(id, "approve", ""),
        decide(id, "ask", "Why?"),
        decide(id, "answer", " "),
        decide(id, "answer", " 2\n"),
        Claim { agent: "finder" },
        Report { id, fence: Fence(3), document: "asks.json" },
        decide(id, "answer", "WRITE_ROW"),
        Claim { agent: "finder" },
        Report { id, fence: Fence(4), document: "asks.json" },
        decide(id, "answer", " both, but put_row first "),
        Claim { agent: "finder" },
        Report { id, fence: Fence(5), document: "stop.json" },
        Inbox { run: None },
        decide(id, "answer", "fine"),
        decide(id, "reject", " "),
        decide(id, "reject", "Name the trait."),
        Claim { agent: "finder" },
        Report { id, fence: Fence(6), document: "stop.json" },
        decide(id, "ask", " "),
        decide(id, "ask", "Which trait?"),
        Claim { agent: "finder" },
        Report { id, fence: Fence(7), document: "stop.json" },
        Decide { id, decision: "approve", text: "", shown: Shown::Latest, inside_work: true },
        approve(id, Shown::Another),
        approve(id, Shown::TooShort),
        approve(id, Shown::Beginning),
        approve(id, Shown::Another),
        Inbox { run: None },
        Wait { id },
        Journal { id },
        send("package.yaml", None),
        Claim { agent: "security-review" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "package.yaml" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "return.yaml" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "return.yaml" },
        Look { id: "HO" },
        due("nobody.json", Some("2h")),
        Look { id: "csv" },
        Begin { run: "last" },
        Begin { run: "csv-07" },
        Begin { run: "gated" },
        Heartbeat { id: "gated", fence: Fence(1) },
        Acknowledge { id: "gated", fence: Fence(1), document: None },
        Report { id: "gated", fence: Fence(1), document: "gated.json" },
        Fail { id: "gated", fence: Fence(1) },
        Inbox { run: Some("gated") },
        decide("gated", "approve", ""),
        decide("gated", "answer", ""),
        decide("gated", "answer", "2"),
        decide("gated", "answer", "shipp"),
        decide("gated", "answer", "Ship"),
    ]
}

#[test]
fn every_door_gives_the_same_answers() {
    let (mut command_line, mut engine, mut http) = (CommandLine::new(), Direct::new(), OverHttp::new());
    let mut client = CommandLine::of_a_server();
    let (mut kinds, mut answers) = ((0, 0), String::new());
    for (number, verb) in script().iter().enumerate() {
        let (told, direct) = (timeless(command_line.play(verb)), timeless(engine.play(verb)));
        assert_eq!(told, direct, "{number}: {verb:?}: the command line (left), the engine (right)");
        assert_eq!(timeless(http.play(verb)), direct, "{number}: {verb:?}: HTTP (left), the engine (right)");
        let remote = timeless(client.play(verb));
        assert_eq!(remote, direct, "{number}: {verb:?}: a client of a server (left), the engine (right)");
        answers += &format!("{verb:?}\n    {told:?}\n");
        if matches!(told, Answer::Done(_)) { kinds.0 += 1 } else { kinds.1 += 1 }
    }
    // Everybody runs this with an account of their own.
    insta::assert_snapshot!(answers.replace(&format!("\\\"{}\\\"", account()), "\\\"me\\\""));
    assert!(kinds.0 >= 15 && kinds.1 >= 20, "right and refused: {kinds:?}");
}

/// Leaves out who has decided before, when and through which door: that differs from door to door.
fn timeless(answer: Answer) -> Answer {
    match answer {
        Answer::Problem(text) => Answer::Problem(match text.split_once(" by ") {
            Some((before, _)) if before.contains(": already ") => format!("{before} by …"),
            _ => text,
        }),
        answer => answer,
    }
}

/// The program, on a store of its own or as a client of a server.
struct CommandLine {
    sandbox: Sandbox,
    server: Option<Server>,
}

/// A server that the program is a client of.
struct Server {
    running: Running,
    token: String,
    /// Keeps its store.
    _premises: Premises,
}

impl CommandLine {
    fn new() -> CommandLine {
        let sandbox = Sandbox::new();
        documents().iter().for_each(|(name, text)| _ = sandbox.write(name, text));
        sandbox.write("flow/workflow.yaml", GATE);
        CommandLine { sandbox, server: None }
    }

    fn of_a_server() -> CommandLine {
        let premises = Premises::new().workflow(GATE, "report");
        let token = premises.token(&["--role", "approver", "--name", &account()]);
        let mut running = premises.serve_flow();
        running.as_owner_of(&token);
        let server = Server { running, token, _premises: premises };
        CommandLine { server: Some(server), ..CommandLine::new() }
    }

    fn command(&self) -> Command {
        let mut command = self.sandbox.command(crate::sandbox::BATON);
        if let Some(server) = &self.server {
            command.env("BATON_STORE", format!("http://{}", server.running.address)).env("BATON_TOKEN", &server.token);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        let mut command = self.command();
        command.args(words).arg("--json");
        crate::sandbox::run(command, b"")
    }

    fn digest(&self, id: &str) -> String {
        let inbox = self.run(&["inbox"]).json();
        let asked = inbox["waiting"].as_array().and_then(|asked| asked.iter().find(|asked| is_of(asked, id)));
        asked.and_then(|asked| asked["digest"].as_str()).unwrap_or("000000000000").to_owned()
    }
}

impl Door for CommandLine {
    fn play(&mut self, verb: &Verb) -> Answer {
        let fence = |fence: &Fence| fence.to_string();
        match verb {
            Verb::Send { document, to, key, deadline, within: [claimed, acknowledged] } => {
                let within = [("--pick-up-within", claimed), ("--acknowledge-within", acknowledged)];
                let given = [("--to", to), ("--key", key), ("--deadline", deadline)].into_iter().chain(within);
                let given: Vec<_> = given.collect();
                let given = given.iter().filter_map(|(name, value)| Some([*name, (**value)?])).flatten();
                answer(&self.run(&["send", document].into_iter().chain(given).collect::<Vec<_>>()))
            }
            Verb::Judge { document } => answer(&self.run(&["check", document])),
            Verb::Claim { agent } => answer(&self.run(&["claim", "--agent", agent, "--claimant", "worker"])),
            Verb::Heartbeat { id, fence: number } => answer(&self.run(&["heartbeat", id, "--fence", &fence(number)])),
            Verb::Acknowledge { id, fence: number, document } => {
                answer(&self.run(&[&["ack", id, "--fence", &fence(number)][..], document.as_slice()].concat()))
            }
            Verb::Report { id, fence: number, document } => {
                answer(&self.run(&["report", id, "--fence", &fence(number), document]))
            }
            Verb::Fail { id, fence: number } => {
                let failure = ["--code", "TIMEOUT", "--message", "too slow", "--permanent"];
                answer(&self.run(&[&["fail", id, "--fence", &fence(number)][..], &failure].concat()))
            }
            Verb::Decide { id, decision, text, shown, inside_work } => {
                let digest = shown.of(&self.digest(id));
                let mut command = self.command();
                command.args([decision, id, "--yes", "--shown", &digest, "--json"]);
                match *decision {
                    "approve" => &mut command,
                    "reject" => command.args(["--note", text]),
                    _ => command.arg(text),
                };
                if *inside_work {
                    command.env("BATON_HANDOFF_ID", "some.other.work");
                }
                answer(&crate::sandbox::run(command, b""))
            }
            Verb::Cancel { id } => answer(&self.run(&["cancel", id])),
            Verb::Requeue { id } => answer(&self.run(&["requeue", id])),
            Verb::Begin { run } => {
                // A server starts what it knows by name, and goes on with it after the command has ended.
                let named = if self.server.is_some() { "gates" } else { "flow" };
                let begun = begun(&self.run(&["run", named, "--id", run]));
                if let (Some(server), Answer::Done(_)) = (&self.server, &begun) {
                    server.running.until("/api/v1/gates", |inbox| asks(inbox, run));
                }
                begun
            }
            Verb::Look { id } => answer(&self.run(&["show", id])),
            Verb::Wait { id } => answer(&self.run(&["wait", id])),
            Verb::Journal { id } => {
                let told = self.run(&["log", id]).stdout;
                journal(told.lines().map(|line| serde_json::from_str(line).expect("JSON")))
            }
            Verb::Inbox { run } => {
                let of = run.map(|run| ["--run", run]);
                answer(&self.run(&[&["inbox"], of.as_slice().as_flattened()].concat()))
            }
        }
    }
}

/// Returns whether something that waits for a person is this handoff, or belongs to this run.
fn is_of(asked: &Value, id: &str) -> bool {
    asked["id"] == *id || asked["run"] == *id
}

/// Returns whether something in an inbox is about this handoff or run.
pub(crate) fn asks(inbox: &Value, id: &str) -> bool {
    inbox["waiting"].as_array().is_some_and(|waiting| waiting.iter().any(|asked| is_of(asked, id)))
}

/// Returns the events of a journal in their JSON form, without what differs from time to time and from door to door.
pub(crate) fn journal(events: impl Iterator<Item = Value>) -> Answer {
    fn stripped(value: &mut Value) {
        const DIFFERENT: [&str; 8] = ["at", "hash", "door", "known", "author", "dice", "shown", "text"];
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !DIFFERENT.contains(&name.as_str()));
                members.values_mut().for_each(stripped);
            }
            Value::Array(items) => items.iter_mut().for_each(stripped),
            _ => {}
        }
    }
    let told = |mut event: Value| {
        stripped(&mut event);
        format!("{} {}", event["event"].as_str().unwrap_or("?"), event["detail"])
    };
    Answer::Done(events.map(told).collect())
}

/// Understands how a run began: it waits for a person, or there is none.
fn begun(run: &Run) -> Answer {
    match run.stderr.lines().find_map(|line| line.strip_prefix("error: ")) {
        Some(error) => Answer::Problem(error.to_owned()),
        None => Answer::Done(vec!["begun".to_owned()]),
    }
}

/// Returns what was found in a document.
pub(crate) fn judged<'f>(found: impl Iterator<Item = &'f Value>) -> Answer {
    Answer::Invalid(found.filter_map(|found| Some(found["code"].as_str()?.to_owned())).collect())
}

/// Understands what the program printed.
fn answer(run: &Run) -> Answer {
    if let Some(error) = run.stderr.lines().find_map(|line| line.strip_prefix("error: ")) {
        // The command line names the file; other doors have none.
        let names = documents();
        let named = error.split_once(": ").filter(|(name, _)| names.contains_key(name));
        return Answer::Problem(named.map_or(error, |(_, error)| error).to_owned());
    }
    let json = run.json();
    if let Some(files) = json["files"].as_array() {
        let found = files.iter().flat_map(|file| file["diagnostics"].as_array().into_iter().flatten());
        return judged(found);
    }
    let several = ["accepted", "handoffs", "waiting", "results"].iter().find_map(|name| json[*name].as_array());
    let one = || match json["handoff"].is_null() {
        true => Vec::new(),
        false => vec![&json],
    };
    let items: Vec<_> = several.map_or_else(one, |items| items.iter().collect());
    let state = |item: &Value| {
        let asked = || Some(format!("{}: {}", item["ask"].as_str()?, item["title"].as_str()?));
        let state = item["handoff"]["state"].as_str().or(item["state"].as_str());
        state.map(str::to_owned).or_else(asked).unwrap_or_else(|| "?".to_owned())
    };
    Answer::Done(items.into_iter().map(state).collect())
}
