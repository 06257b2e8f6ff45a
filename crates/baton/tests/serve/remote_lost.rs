//! Answers that are lost on their way: what was asked for has happened, once, and asking again does nothing else.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use crate::client::{LONG, Premises, Running};
use crate::remote_machine::RemoteMachine;

/// Stands between a client and a server, and loses the next answer at an address.
struct LossyProxy {
    address: String,
    loses: Arc<Mutex<Option<&'static str>>>,
}

impl LossyProxy {
    fn before(server: &Running) -> LossyProxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let loses: Arc<Mutex<Option<&'static str>>> = Arc::default();
        let (server, lost) = (server.address.clone(), Arc::clone(&loses));
        // It ends with the test.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, lost) = (server.clone(), Arc::clone(&lost));
                thread::spawn(move || pass_on(client, &server, &lost));
            }
        });
        LossyProxy { address, loses }
    }

    fn loses(&self, path: &'static str) {
        *self.loses.lock().expect("no panic") = Some(path);
    }

    fn has_lost(&self) -> bool {
        self.loses.lock().expect("no panic").is_none()
    }
}

/// Passes one request on, and its answer back, unless that is to be lost.
fn pass_on(mut client: TcpStream, server: &str, loses: &Mutex<Option<&'static str>>) {
    let Some((head, body)) = request(&mut client) else { return };
    let (line, rest) = head.split_once("\r\n").expect("a line");
    let mut stream = TcpStream::connect(server).expect("it listens");
    stream.write_all(format!("{line}\r\nConnection: close\r\n{rest}").as_bytes()).expect("it reads");
    stream.write_all(&body).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let mut lost = loses.lock().expect("no panic");
    match *lost {
        Some(path) if line.contains(path) => *lost = None,
        // A client that has gone away needs no answer.
        Some(_) | None => drop(client.write_all(&answer)),
    }
}

fn request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    client.read_exact(&mut body).expect("a body");
    Some((head, body))
}

#[test]
fn lost_answers_have_had_their_effect_once() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let proxy = LossyProxy::before(&server);
    let client = RemoteMachine::at(&format!("http://{}", proxy.address), None);
    proxy.loses("/api/v1/batches");
    let sent = client.does(&["send", "--to", "finder", "request.json", "--json"]);
    assert!(proxy.has_lost());
    assert_eq!(sent.json()["accepted"][0]["existing"], false, "it was asked again, and is our own: {sent}");
    client.does(&["send", "--to", "finder", "request.json"]).is(0, &["csv-07: sent before"]);
    proxy.loses("/api/v1/claims");
    let claimed = client.does(&["claim", "--agent", "finder", "--json"]);
    assert!(proxy.has_lost());
    assert_eq!((&claimed.json()["fence"], &claimed.json()["attempt"]), (&json!(1), &json!(1)), "{claimed}");
    proxy.loses("/report");
    client.does(&["report", "csv-07", "--fence", "1", "review.json"]);
    assert!(proxy.has_lost());
    client.does(&["report", "csv-07", "--fence", "1", "review.json"]).is(0, &["csv-07: already recorded"]);
    let person = premises.token(&["--role", "approver"]);
    let client = client.with_token(&person);
    let inbox = client.does(&["inbox", "--json"]).json();
    let digest = inbox["waiting"][0]["digest"].as_str().expect("a digest");
    let decide = ["approve", "csv-07", "--yes", "--shown", digest];
    proxy.loses("/decision");
    client.run(&decide).is(75, &["cannot be reached"]);
    assert_ne!(client.run(&decide).code, Some(75), "it is told that this was decided");
    server.as_owner_of(&person);
    let journal = server.get("/api/v1/runs/csv-07/journal").expect(200);
    let kinds: Vec<&str> =
        journal["events"].as_array().expect("events").iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["accepted", "claimed", "reported", "decided"]);
}

#[test]
fn worker_goes_on_with_what_it_has_claimed_without_hearing_of_it() {
    let premises = Premises::new();
    let server = premises.serve();
    let proxy = LossyProxy::before(&server);
    let machine = RemoteMachine::at(&format!("http://{}", proxy.address), None);
    proxy.loses("/api/v1/claims");
    server.send("csv-07");
    let script = "cat > /dev/null; cat report.json";
    let mut worker = machine.start(&["worker", "--agent", "finder", "--once", "--", "sh", "-c", script]);
    assert!(worker.wait(LONG).is_some_and(|status| status.success()));
    assert!(proxy.has_lost());
    let shown = server.get("/api/v1/handoffs/csv-07").expect(200);
    assert_eq!((&shown["handoff"]["state"], &shown["handoff"]["attempts"]), (&json!("completed"), &json!(1)));
}
