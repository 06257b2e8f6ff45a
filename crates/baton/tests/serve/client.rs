//! A server under test, and a client that speaks just enough HTTP to see everything that it answers.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_testbed::{Process, Scratch, isolate};
use serde_json::{Value, json};

/// Nothing takes longer, on the slowest machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What every agent begins with: `report` hands in a report that is complete.
const PREAMBLE: &str = r#"report() {
printf '{"baton": 1, "document": "report", "id": "%s", "outcome": "complete", "summary": "Wrote the parser for dates and its three tests."}' "$BATON_HANDOFF_ID" > "$BATON_REPORT_FILE"
}
cat > /dev/null
"#;

const BATON: &str = env!("CARGO_BIN_EXE_baton");

/// A folder with a store, in which servers run.
pub(crate) struct Premises {
    pub(crate) scratch: Scratch,
    store: String,
}

/// A server that listens, and somebody who speaks to it.
pub(crate) struct Running {
    pub(crate) process: Process,
    pub(crate) client: Client,
}

/// Somebody who speaks to a server.
pub(crate) struct Client {
    pub(crate) address: String,
    pub(crate) token: Option<String>,
}

impl Deref for Running {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Premises {
    /// With a SQLite store.
    pub(crate) fn new() -> Premises {
        Premises::with_store("baton.db")
    }

    pub(crate) fn with_store(store: &str) -> Premises {
        let scratch = Scratch::new();
        scratch.folder("workspace");
        Premises { scratch, store: store.to_owned() }
    }

    /// With a workflow, whose agent `dev` is a script for the shell.
    pub(crate) fn workflow(self, text: &str, agent: &str) -> Premises {
        self.scratch.write("flow/workflow.yaml", text);
        self.scratch.write("flow/dev.sh", format!("#!/bin/sh\n{PREAMBLE}{agent}\n"));
        let permissions = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.scratch.path("flow/dev.sh"), permissions).expect("our own file");
        self
    }

    /// Starts a server that knows the workflow.
    pub(crate) fn serve_flow(&self) -> Running {
        fs::create_dir_all(self.scratch.path("workspace")).expect("our own folder");
        self.serve_with(&["--workflow", "flow", "--workspace", "workspace"])
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BATON);
        isolate(&mut command, self.scratch.root()).current_dir(self.scratch.root());
        // Programs that a test puts in `bin` are found first.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.scratch.path("bin").display()));
        command.args(arguments).args(["--store", &self.store]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end. Returns its exit code and what it said on both ways.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).stdin(Stdio::null()).output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Makes a token.
    pub(crate) fn token(&self, options: &[&str]) -> String {
        let arguments: Vec<&str> = ["token", "create"].iter().chain(options).copied().collect();
        let (code, stdout, stderr) = self.run(&arguments);
        assert_eq!(code, Some(0), "{stderr}");
        stdout.trim().to_owned()
    }

    /// Starts a server on a free port.
    pub(crate) fn serve(&self) -> Running {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, options: &[&str]) -> Running {
        self.serve_at("127.0.0.1:0", options)
    }

    /// Starts a server at an address, such as that of one that was killed.
    pub(crate) fn serve_at(&self, address: &str, options: &[&str]) -> Running {
        let arguments: Vec<&str> = ["serve", "--listen", address, "--json"].iter().chain(options).copied().collect();
        let process = Process::spawn(&mut self.command(&arguments));
        let log = || process.stderr.as_ref().map(|log| log.rest(LONG));
        let line = process.stdout.next(LONG).unwrap_or_else(|_| panic!("{:?}", log()));
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let url = told["url"].as_str().expect("an address");
        let address = url.split_once("://").map(|(_, address)| address.to_owned()).expect("an address");
        Running { process, client: Client { address, token: None } }
    }
}

impl Client {
    /// Speaks to the same server with a token.
    pub(crate) fn as_owner_of(&mut self, token: &str) -> &mut Client {
        self.token = Some(token.to_owned());
        self
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("our own socket");
        stream
    }

    fn write(&self, stream: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let default = [("Host", self.address.as_str()), ("Content-Type", "application/json")];
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let defaults = default.iter().filter(|(name, _)| !given(name));
        for (name, value) in defaults.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(token) = self.token.as_ref().filter(|_| !given("Authorization")) {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if !given("Content-Length") {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
    }

    /// Makes a request, and reads the whole answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.connect();
        self.write(&mut stream, method, path, headers, body);
        Answer::read(BufReader::new(stream))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[], &body.to_string())
    }

    /// Begins to read a stream of events.
    pub(crate) fn follow(&self, path: &str, headers: &[(&str, &str)]) -> Followed {
        let mut stream = self.connect();
        self.write(&mut stream, "GET", path, headers, "");
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        assert_eq!(status, 200, "{headers:?}");
        Followed { reader }
    }

    /// Sends a request to `finder`. Returns the id of the handoff.
    pub(crate) fn send(&self, id: &str) -> String {
        let sent = self.post("/api/v1/handoffs", &request(id, "finder")).expect(201);
        sent["handoff"]["id"].as_str().expect("an id").to_owned()
    }

    /// Claims one handoff of `finder`. Returns its id and fence.
    pub(crate) fn claim(&self) -> (String, u64) {
        let claimed = self.post("/api/v1/claims", &json!({ "agent": "finder", "wait": "20s" })).expect(200);
        let claim = &claimed["claims"][0];
        (claim["handoff"]["id"].as_str().expect("an id").to_owned(), claim["fence"].as_u64().expect("a fence"))
    }

    /// Asks for the same again and again until the answer is as wanted. The server rings nobody for that, so we ask.
    pub(crate) fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = std::time::Instant::now();
        loop {
            let answer = self.get(path).expect(200);
            if wanted(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < LONG, "{answer:#}");
            std::thread::yield_now();
        }
    }
}

/// A request that is valid.
pub(crate) fn request(id: &str, to: &str) -> Value {
    let document = json!({ "baton": 1, "document": "request", "id": id, "instructions": "Find the writer of rows." });
    json!({ "to": to, "document": document })
}

/// A report that is valid and complete.
pub(crate) fn report(id: &str, outcome: &str) -> Value {
    json!({ "baton": 1, "document": "report", "id": id, "outcome": outcome,
        "summary": "Found the writer of rows in src/csv.rs, function write_row." })
}

impl Answer {
    fn read(mut reader: BufReader<TcpStream>) -> Answer {
        let (status, headers) = head(&mut reader);
        let mut bytes = Vec::new();
        let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let length =
            headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
        match (is_chunked, length) {
            (true, _) => while chunk(&mut reader, &mut bytes) {},
            (false, length) => {
                let mut body = reader.take(length.unwrap_or(u64::MAX));
                body.read_to_end(&mut bytes).expect("an answer");
            }
        }
        Answer { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body of an answer with this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).expect("JSON")
    }

    /// Returns the code of a problem with this status.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> String {
        let problem = self.expect(status);
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!((problem["status"].as_u64(), problem["detail"].is_string()), (Some(u64::from(status)), true));
        problem["code"].as_str().expect("a code").to_owned()
    }
}

fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let first = line(reader);
    let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{first:?}"));
    let mut headers = Vec::new();
    loop {
        let line = line(reader);
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None => return (status, headers),
        }
    }
}

fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).expect("an answer");
    line.trim_end().to_owned()
}

fn chunk(reader: &mut BufReader<TcpStream>, bytes: &mut Vec<u8>) -> bool {
    let length = u64::from_str_radix(&line(reader), 16).expect("the length of a chunk");
    reader.take(length).read_to_end(bytes).expect("a chunk");
    line(reader);
    length > 0
}

/// A stream of events.
pub(crate) struct Followed {
    reader: BufReader<TcpStream>,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Iterator for Followed {
    type Item = Told;

    fn next(&mut self) -> Option<Told> {
        let (mut id, mut name) = (None, String::new());
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).expect("a stream") == 0 {
                return None;
            }
            // What stands between the fields are the lengths of chunks.
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = value.parse().ok(),
                Some(("event", value)) => name = value.to_owned(),
                Some(("data", value)) => {
                    // The streams of pages name fragments, which is not JSON.
                    let data = serde_json::from_str(value).unwrap_or_else(|_| value.into());
                    return Some(Told { id, name, data });
                }
                _ => {}
            }
        }
    }
}
