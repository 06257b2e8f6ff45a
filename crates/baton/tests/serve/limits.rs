//! Slow connections: none is held for nothing, and none that the server itself makes wait is cut off.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::json;

use crate::client::{Client, LONG, Premises, Running};

/// What a server waits for here at most.
const PATIENCE: [&str; 2] = ["--patience", "300ms"];

fn impatient() -> (Premises, Running) {
    let premises = Premises::new();
    let server = premises.serve_with(&PATIENCE);
    (premises, server)
}

fn connected(server: &Client) -> TcpStream {
    let stream = TcpStream::connect(&server.address).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("our own socket");
    stream
}

/// Reads until the server hangs up. A reset says the same as an end.
fn rest(mut stream: impl std::io::Read) -> String {
    let (mut bytes, begun) = (Vec::new(), Instant::now());
    let _ = stream.read_to_end(&mut bytes);
    assert!(begun.elapsed() < LONG, "it did not hang up");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn connection_whose_request_does_not_come_is_closed() {
    let (_premises, server) = impatient();
    for sent in ["", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut stream = connected(&server);
        stream.write_all(sent.as_bytes()).expect("it reads");
        let told = rest(stream);
        assert!(!told.contains("200 OK"), "{told}");
    }
    assert_eq!(server.get("/healthz").status, 200, "others are served");
}

#[test]
fn connection_that_is_kept_and_not_used_is_closed() {
    let (_premises, server) = impatient();
    let mut stream = connected(&server);
    for _ in 0..2 {
        // Used in time, it is kept.
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        let mut reader = BufReader::new(&mut stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).expect("an answer") > 2 {
            if let Some(given) = line.to_lowercase().strip_prefix("content-length: ") {
                length = given.trim().parse().expect("a number");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        assert!(String::from_utf8_lossy(&body).contains("ok"));
    }
    assert_eq!(rest(stream), "", "nothing more is said");
}

#[test]
fn body_that_does_not_come_is_refused() {
    let (_premises, server) = impatient();
    let mut stream = connected(&server);
    let head = "POST /api/v1/handoffs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 1000\r\n\r\n{";
    stream.write_all(head.as_bytes()).expect("it reads");
    let told = rest(stream);
    assert!(told.starts_with("HTTP/1.1 408 ") && told.contains("\"too_slow\""), "{told}");
    assert!(told.contains("the body did not arrive within 0.3 s"), "{told}");
}

#[test]
fn whoever_waits_for_the_server_is_not_cut_off() {
    let (_premises, server) = impatient();
    let mut stream = server.follow("/api/v1/events", &[]);
    let waits = Client { address: server.address.clone(), token: None };
    let waiting = std::thread::spawn(move || waits.post("/api/v1/claims", &json!({ "agent": "finder", "wait": "2s" })));
    // Longer than the server is patient with what it waits for itself.
    let claimed = waiting.join().expect("an answer").expect(200);
    assert_eq!(claimed["claims"], json!([]), "it waited to the end");
    server.send("csv-07");
    assert_eq!(stream.next().expect("an event").data["handoff"], "csv-07");
}

#[test]
fn connections_above_the_limit_wait_until_one_ends() {
    let premises = Premises::new();
    let server = premises.serve_with(&["--patience", "300ms", "--connections", "1"]);
    let _idle = connected(&server);
    assert_eq!(server.get("/healthz").status, 200, "it is answered when the idle one was closed");
}

#[test]
fn tls_handshake_that_is_not_finished_is_given_up() {
    let premises = Premises::new();
    let (certificate, key) = (include_str!("../fixtures/localhost.pem"), include_str!("../fixtures/localhost.key"));
    premises.scratch.write("chain.pem", certificate).write("key.pem", key);
    premises.token(&["--role", "viewer"]);
    let server = premises.serve_with(&["--patience", "300ms", "--tls-cert", "chain.pem", "--tls-key", "key.pem"]);
    let mut stream = connected(&server);
    // The beginning of a client's hello.
    stream.write_all(&[0x16, 0x03, 0x01]).expect("it reads");
    assert_eq!(rest(stream), "");
}

#[test]
fn server_that_is_told_to_stop_does_not_wait_for_idle_connections() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let _idle = connected(&server);
    assert_eq!(server.get("/healthz").status, 200);
    let begun = Instant::now();
    server.process.terminate();
    assert_eq!(server.process.wait(LONG).and_then(|status| status.code()), Some(0));
    assert!(begun.elapsed().as_secs() < 9, "it waited for somebody who says nothing");
}
