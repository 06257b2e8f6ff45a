//! One script of verbs, good and bad, played through every door. What comes back must be the same.
//!
//! The command line and HTTP play it with the real program on SQLite, the engine with the store in memory, and the command line
//! once more as a client of a server. Whoever adds a door adds an implementation of [`Door`], and no line of the script.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::engine::{
    Caller, Door as EngineDoor, HandedIn, IncomingDocument, NewHandoff, Problem, ValidDocument, WantedTerms,
    WantedTime, Yardstick,
};
use baton_engine::handoff::{Digest, Handoff};
use baton_engine::known::Decider;
use baton_engine::lifecycle::Decision;
use baton_engine::memory::{self, StillClock};
use baton_engine::people::{Question, Response};
use baton_engine::store::ClaimRequest;
use baton_engine::{Engine, Failure, Fence, HandoffId};
use baton_protocol::Kind;
use baton_testbed::account;
use jiff::Timestamp;

use crate::client::{Premises, Running};
use crate::documents::{ACKNOWLEDGMENT, PACKAGE, REPORT, REQUEST, with};
use crate::door_over_http::OverHttp;
use crate::sandbox::{Run, Sandbox};

/// What a door is asked for.
#[derive(Debug, Clone)]
pub(crate) enum Verb {
    Send { document: &'static str, to: Option<&'static str>, key: Option<&'static str>, deadline: Option<&'static str> },
    Claim { agent: &'static str },
    Heartbeat { id: &'static str, fence: Fence },
    Acknowledge { id: &'static str, fence: Fence, document: Option<&'static str> },
    Report { id: &'static str, fence: Fence, document: &'static str },
    Fail { id: &'static str, fence: Fence },
    Approve { id: &'static str, shown: Shown, inside_work: bool },
    Cancel { id: &'static str },
    Requeue { id: &'static str },
    Look { id: &'static str },
    Inbox,
}

/// Which digest somebody decides about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shown {
    Latest,
    Another,
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
        ("long.json", long_summary(&long)),
        ("stop.json", with(REPORT, "\"complete\"", "\"partial\"").replace("PROCEED", "STOP")),
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
    use Verb::{Acknowledge, Approve, Cancel, Claim, Fail, Heartbeat, Inbox, Look, Report, Requeue, Send};
    let send = |document, to| Send { document, to, key: None, deadline: None };
    let id = "csv-07.research";
    vec![
        send("nobody.json", None),
        send("broken.json", Some("finder")),
        send("report.json", Some("finder")),
        Send { document: "request.json", to: Some("finder"), key: None, deadline: Some("2020-01-01T00:00:00Z") },
        Send { document: "request.json", to: Some("finder"), key: Some("nightly"), deadline: None },
        Send { document: "request.json", to: Some("finder"), key: Some("nightly"), deadline: None },
        Send { document: "nobody.json", to: Some("finder"), key: Some("nightly"), deadline: None },
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
        Approve { id, shown: Shown::Another, inside_work: false },
        Cancel { id },
        Cancel { id },
        Requeue { id },
        Requeue { id },
        Claim { agent: "finder" },
        Report { id, fence: Fence(2), document: "stop.json" },
        Inbox,
        Approve { id, shown: Shown::Latest, inside_work: true },
        Approve { id, shown: Shown::Another, inside_work: false },
        Approve { id, shown: Shown::Latest, inside_work: false },
        Approve { id, shown: Shown::Another, inside_work: false },
        Inbox,
        send("package.yaml", None),
        Claim { agent: "security-review" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "package.yaml" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "return.yaml" },
        Report { id: "HO-2026-031", fence: Fence(1), document: "return.yaml" },
        Look { id: "HO" },
        Send { document: "nobody.json", to: Some("finder"), key: None, deadline: Some("2h") },
        Look { id: "csv" },
    ]
}

#[test]
fn every_door_gives_the_same_answers() {
    let (mut command_line, mut engine, mut http) = (CommandLine::new(), Direct::new(), OverHttp::new());
    let mut client = CommandLine::of_a_server();
    let (mut kinds, mut answers) = ((0, 0), String::new());
    for (number, verb) in script().iter().enumerate() {
        let (told, direct) = (command_line.play(verb), engine.play(verb));
        assert_eq!(told, direct, "{number}: {verb:?}: the command line (left), the engine (right)");
        assert_eq!(http.play(verb), direct, "{number}: {verb:?}: HTTP (left), the engine (right)");
        assert_eq!(client.play(verb), direct, "{number}: {verb:?}: a client of a server (left), the engine (right)");
        answers += &format!("{verb:?}\n    {told:?}\n");
        if matches!(told, Answer::Done(_)) { kinds.0 += 1 } else { kinds.1 += 1 }
    }
    insta::assert_snapshot!(answers);
    assert!(kinds.0 >= 15 && kinds.1 >= 20, "right and refused: {kinds:?}");
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
        CommandLine { sandbox, server: None }
    }

    fn of_a_server() -> CommandLine {
        let premises = Premises::new();
        let token = premises.token(&["--role", "approver", "--name", &account()]);
        let server = Server { running: premises.serve(), token, _premises: premises };
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
        let shown = self.run(&["show", id]);
        shown.json()["question"]["digest"].as_str().unwrap_or("000000000000").to_owned()
    }
}

impl Door for CommandLine {
    fn play(&mut self, verb: &Verb) -> Answer {
        let fence = |fence: &Fence| fence.to_string();
        match verb {
            Verb::Send { document, to, key, deadline } => {
                let given = [("--to", to), ("--key", key), ("--deadline", deadline)];
                let given = given.iter().filter_map(|(name, value)| Some([*name, (**value)?])).flatten();
                answer(&self.run(&["send", document].into_iter().chain(given).collect::<Vec<_>>()))
            }
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
            Verb::Approve { id, shown, inside_work } => {
                let digest = match shown {
                    Shown::Latest => self.digest(id),
                    Shown::Another => "0".repeat(64),
                };
                let mut command = self.command();
                command.args(["approve", id, "--yes", "--shown", &digest, "--json"]);
                if *inside_work {
                    command.env("BATON_HANDOFF_ID", "some.other.work");
                }
                answer(&crate::sandbox::run(command, b""))
            }
            Verb::Cancel { id } => answer(&self.run(&["cancel", id])),
            Verb::Requeue { id } => answer(&self.run(&["requeue", id])),
            Verb::Look { id } => answer(&self.run(&["show", id])),
            Verb::Inbox => answer(&self.run(&["inbox"])),
        }
    }
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
        return Answer::Invalid(found.filter_map(|found| Some(found["code"].as_str()?.to_owned())).collect());
    }
    let several = ["accepted", "handoffs", "waiting"].iter().find_map(|name| json[*name].as_array());
    let one = || match json["handoff"].is_null() {
        true => Vec::new(),
        false => vec![&json],
    };
    let items: Vec<_> = several.map_or_else(one, |items| items.iter().collect());
    let state = |item: &serde_json::Value| {
        let state = item["handoff"]["state"].as_str().or(item["state"].as_str()).or(item["ask"].as_str());
        state.unwrap_or("?").to_owned()
    };
    Answer::Done(items.into_iter().map(state).collect())
}

/// The engine itself.
struct Direct {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
    documents: BTreeMap<&'static str, String>,
}

impl Direct {
    fn new() -> Direct {
        let clock = StillClock::at(Timestamp::from_second(1_800_000_000).expect("a time"));
        let engine = memory::engine(&Arc::new(clock));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Direct { engine, runtime, documents: documents() }
    }

    async fn try_verb(&self, verb: &Verb) -> Result<Answer, Problem> {
        let engine = &self.engine;
        let project = Yardstick::of_project(&engine.settings);
        let states = |handoffs: &[Handoff]| {
            Answer::Done(handoffs.iter().map(|handoff| handoff.state.name().to_string()).collect())
        };
        let judged = |yardstick: &Yardstick, name: &str| -> Result<ValidDocument, Answer> {
            let judged = yardstick.judge(&IncomingDocument::of(self.documents[name].as_bytes()));
            let codes = judged.judgement.diagnostics.iter().map(|found| found.code.to_string()).collect();
            judged.valid.ok_or(Answer::Invalid(codes))
        };
        let caller = Caller {
            decider: Decider::account(account(), None),
            door: EngineDoor::CommandLine,
            role: None,
            working_on: None,
        };
        let applied = match verb {
            Verb::Send { document, to, key, deadline } => {
                let document = match judged(&project, document) {
                    Ok(document) => document.of_kind(Kind::Request)?,
                    Err(invalid) => return Ok(invalid),
                };
                let owned = |text: &Option<&str>| text.map(str::to_owned);
                let deadline = deadline.map(|text| match text.parse() {
                    Ok(time) => WantedTime::At(time),
                    Err(_) => WantedTime::In(Duration::from_secs(7200)),
                });
                let terms = WantedTerms { to: owned(to), key: owned(key), deadline, ..WantedTerms::default() };
                let new = NewHandoff { from: account(), terms: terms.clone(), ..NewHandoff::default() };
                let accept = engine.accept(&document, new)?;
                let accepted = engine.send(vec![accept], &terms).await?;
                return Ok(states(&accepted.into_iter().map(|accepted| accepted.handoff).collect::<Vec<_>>()));
            }
            Verb::Claim { agent } => {
                let wish = ClaimRequest {
                    agent: (*agent).to_owned(),
                    claimant: "worker".to_owned(),
                    lease_ms: 60_000,
                    count: 1,
                    times_itself: false,
                };
                let claimed = engine.store.claim(&wish, engine.clock.now()).await?;
                return Ok(states(&claimed.into_iter().map(|claimed| claimed.handoff).collect::<Vec<_>>()));
            }
            Verb::Heartbeat { id, fence } => engine.heartbeat(&engine.resolve(id).await?, *fence, None).await?,
            Verb::Acknowledge { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, None, None, &engine.settings).for_acknowledgments();
                let given = match document.map(|document| judged(&yardstick, document)) {
                    Some(Err(invalid)) => return Ok(invalid),
                    Some(Ok(document)) => Some(document),
                    None => None,
                };
                engine.acknowledge(&handoff, *fence, given).await?
            }
            Verb::Report { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let request = engine.request(&handoff.id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, Some(&request), None, &engine.settings);
                let document = match judged(&yardstick, document) {
                    Ok(document) => document,
                    Err(invalid) => return Ok(invalid),
                };
                let handed_in = HandedIn {
                    document,
                    request: &request,
                    handoff: &handoff,
                    following: &yardstick.following,
                    fence: *fence,
                    changed: Vec::new(),
                };
                engine.report(handed_in, Vec::new()).await?
            }
            Verb::Fail { id, fence } => {
                let mut failure = Failure::new(baton_engine::Code::timeout(), "too slow");
                failure.chance = baton_engine::failure::Transience::Permanent;
                engine.fail(&engine.resolve(id).await?, *fence, failure, None, Vec::new()).await?
            }
            Verb::Approve { id, shown, inside_work } => {
                let working_on = inside_work.then(|| HandoffId::parse("some.other.work").expect("safe"));
                let caller = Caller { working_on, ..caller };
                caller.person()?;
                let handoff = engine.resolve(id).await?;
                let question = engine.question(&handoff).await?;
                let said = Response {
                    decision: Decision::Approve,
                    note: None,
                    by: caller.decider.clone(),
                    door: baton_engine::door::Door::CommandLine,
                };
                let mut decide = decided(question.as_ref(), said, &handoff);
                if matches!(shown, Shown::Another) {
                    decide.shown = Digest("0".repeat(64));
                }
                engine.decide(&handoff, decide, &caller).await?
            }
            Verb::Cancel { id } => engine.cancel(&engine.resolve(id).await?, None, &caller).await?,
            Verb::Requeue { id } => {
                let handoff = engine.resolve(id).await?;
                return Ok(states(&[engine.requeue(&handoff, None, &caller).await?]));
            }
            Verb::Look { id } => return Ok(states(&[engine.resolve(id).await?])),
            Verb::Inbox => {
                let page = engine.inbox(None, None, 100).await?;
                let ask = |(_, question): &(Handoff, Question)| format!("{:?}", question.ask).to_lowercase();
                return Ok(Answer::Done(page.waiting.iter().map(ask).collect()));
            }
        };
        Ok(states(&[applied.handoff]))
    }
}

fn decided(question: Option<&Question>, said: Response, handoff: &Handoff) -> baton_engine::lifecycle::Decide {
    match question {
        Some(question) => question.decided(said),
        None => {
            let Decider { name, known, label } = said.by;
            let shown = handoff.shown().unwrap_or_else(|| Digest(String::new()));
            let (door, decision) = (said.door, said.decision);
            baton_engine::lifecycle::Decide { by: name, known, label, door, shown, decision, note: None, asked: None }
        }
    }
}

impl Door for Direct {
    fn play(&mut self, verb: &Verb) -> Answer {
        let answer = self.runtime.block_on(self.try_verb(verb));
        answer.unwrap_or_else(|problem| Answer::Problem(problem.to_string()))
    }
}
