//! The page over TLS, with a certificate that the browser was told to believe.

use crate::browser::{Driver, Settings};
use crate::client::Premises;
use crate::stage::GATE;

const CERTIFICATE: &str = include_str!("../fixtures/localhost.pem");
const KEY: &str = include_str!("../fixtures/localhost.key");

/// Identifies the key of the certificate. After making new ones: `openssl x509 -in localhost.pem -pubkey -noout |
/// openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
const KEY_DIGEST: &str = "yOFSONgQ+bcMWEIjV+p33iX4cefKs9Eq6LiNF2KMMEE=";

#[test]
fn page_works_over_tls_and_its_cookies_are_secure() {
    let premises = Premises::new().workflow(GATE, "report");
    premises.scratch.write("chain.pem", CERTIFICATE).write("key.pem", KEY);
    let token = premises.token(&["--role", "approver", "--name", "ana"]);
    let tls = ["--tls-cert", "chain.pem", "--tls-key", "key.pem", "--workflow", "flow", "--workspace", "workspace"];
    let server = premises.serve_with(&tls);
    let port = server.address.rsplit(':').next().expect("a port");
    let url = |path: &str| format!("https://localhost:{port}{path}");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings { trusts: Some(KEY_DIGEST), ..Settings::default() });
    ana.log_in(&url("/start"), &token);
    ana.until("h1", "Start gates");
    let cookies = ana.cookies();
    let session = cookies.iter().find(|cookie| cookie["name"].as_str().is_some_and(|name| name.contains("session")));
    let session = session.unwrap_or_else(|| panic!("{cookies:#?}"));
    assert_eq!((&session["httpOnly"], &session["sameSite"]), (&true.into(), &"Strict".into()), "{session}");
    assert!(cookies.iter().all(|cookie| cookie["secure"] == true), "{cookies:#?}");
    ana.write("input[name=id]", "t");
    ana.click("button.main");
    ana.until("#run-state", "waiting for a person");
    ana.click("#run-head .lead a");
    ana.until(".decide", "Leads to ship.");
    ana.click("#decide-approve button");
    ana.until("#run-state", "completed");
    assert_eq!(ana.address(), url("/runs/t"));
    assert_eq!(ana.complaints(), Vec::<String>::new());
}
