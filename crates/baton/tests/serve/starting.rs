//! Starting a server: where it may listen, and what it says.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};

use crate::client::Premises;
use crate::remote_machine::RemoteMachine;

/// A certificate of `localhost` that nobody but these tests believes, and its key.
const CERTIFICATE: &str = include_str!("../fixtures/localhost.pem");
const KEY: &str = include_str!("../fixtures/localhost.key");

fn refused(premises: &Premises, options: &[&str]) -> String {
    let arguments: Vec<&str> = ["serve"].iter().chain(options).copied().collect();
    let (code, stdout, stderr) = premises.run(&arguments);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    stderr
}

#[test]
fn address_that_others_reach_needs_tokens_and_a_proxy() {
    let premises = Premises::new();
    let open = refused(&premises, &["--listen", "0.0.0.0:0"]);
    assert!(open.contains("there is no token") && open.contains("baton token create"), "{open}");
    assert!(refused(&premises, &["--listen", "127.0.0.1:0", "--behind-proxy"]).contains("there is no token"));
    premises.token(&["--role", "approver"]);
    let bare = refused(&premises, &["--listen", "0.0.0.0:0"]);
    assert!(bare.contains("unencrypted") && bare.contains("--behind-proxy") && bare.contains("--tls-cert"), "{bare}");
    let server = premises.serve_with(&["--behind-proxy"]);
    assert_eq!(server.get("/readyz").status, 200);
    assert_eq!(server.get("/api/v1/handoffs").problem(401), "unauthorized");
    let elsewhere = server.ask("GET", "/healthz", &[("Host", "baton.example")], "");
    assert_eq!(elsewhere.status, 200, "behind a proxy it has other names");
}

#[test]
fn address_in_use_and_unreadable_workflows_are_told() {
    let premises = Premises::new();
    let server = premises.serve();
    let taken = refused(&premises, &["--listen", &server.address]);
    assert!(taken.contains("another program listens there") && taken.contains("--listen 127.0.0.1:0"), "{taken}");
    let port = server.address.rsplit_once(':').expect("it has a port").1;
    let named = refused(&premises, &["--listen", &format!("localhost:{port}")]);
    assert!(named.contains("another program listens there"), "localhost is an address, too: {named}");
    assert!(refused(&premises, &["--listen", port]).contains("write ADDRESS:PORT"));
    let missing = refused(&premises, &["--listen", "127.0.0.1:0", "--workspace", "nothere"]);
    assert!(missing.contains("there is no folder nothere") && missing.contains("make the folder"), "{missing}");
    assert!(refused(&premises, &["--listen", "127.0.0.1:0", "--workflow", "nowhere"]).contains("nowhere"));
}

#[test]
fn wrong_address_of_a_server_is_told_with_the_right_one() {
    let premises = Premises::new();
    let server = premises.serve();
    let address = server.address.clone();
    let ask = |store: &str, command: &str| RemoteMachine::at(store, None).run(&[command]);
    ask(&address, "list").is(2, &[&format!("write http://{address},")]);
    let right = format!("did you mean http://{address}?");
    ask(&format!("https://{address}"), "list").is(2, &["does not speak TLS", &right]);
    ask(&format!("http://{address}"), "serve").is(2, &["BATON_STORE is set to a server"]);
    drop(server);
    let away = ask(&format!("http://{address}"), "list");
    away.is(75, &["`baton serve` starts one"]);
    assert!(!away.stderr.contains("holds the file"), "{away}");
}

#[test]
fn server_speaks_tls_with_its_own_certificate() {
    let premises = Premises::new();
    premises.scratch.write("chain.pem", CERTIFICATE).write("key.pem", KEY);
    premises.token(&["--role", "viewer"]);
    let server = premises.serve_with(&["--tls-cert", "chain.pem", "--tls-key", "key.pem"]);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).expect("PEM")).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.expect("safe").with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a client");
    // Somebody who never says anything is in nobody's way.
    let _silent = TcpStream::connect(&server.address).expect("it listens");
    let mut stream = rustls::StreamOwned::new(connection, TcpStream::connect(&server.address).expect("it listens"));
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    // Not everybody says goodbye before hanging up.
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("\"status\":\"ok\""), "{answer}");
}

#[test]
fn certificate_without_its_key_is_refused() {
    let premises = Premises::new();
    premises.scratch.write("chain.pem", CERTIFICATE).write("empty.pem", "");
    assert!(refused(&premises, &["--listen", "127.0.0.1:0", "--tls-cert", "chain.pem"]).contains("--tls-key"));
    let options = ["--listen", "127.0.0.1:0", "--tls-cert", "chain.pem", "--tls-key", "empty.pem"];
    assert!(refused(&premises, &options).contains("private key cannot be read"));
}
