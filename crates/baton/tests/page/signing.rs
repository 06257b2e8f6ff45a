//! A gate that demands signatures: the page has no button that would fail, but the command that signs, and shows who did.

use std::process::Command;

use crate::browser::{Driver, Settings};
use crate::client::Premises;
use crate::stage::Stage;

const SIGNED: &str = "name: gates\nagents: {dev: {command: [./dev.sh]}}\nphases:\n- {id: build, agent: dev}\n\
    - {id: ok, gate: {name: 'Ship it?', items: [the parser], approvers: [ana, ben], at_least: 2, signed: true}}\n- {id: ship, agent: dev}\n";

/// Makes a key. Returns the public half.
fn key(premises: &Premises, name: &str) -> String {
    let path = premises.scratch.path(format!("keys/{name}"));
    let made = Command::new("ssh-keygen").args(["-q", "-N", "", "-C", name, "-t", "ed25519", "-f"]).arg(&path).status();
    assert!(made.expect("ssh-keygen is there").success());
    premises.scratch.read(format!("keys/{name}.pub"))
}

/// Runs the command that the page shows, with somebody's key.
fn sign(premises: &Premises, shown: &str, name: &str) {
    let key = premises.scratch.path(format!("keys/{name}")).display().to_string();
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert_eq!(words.first(), Some(&"baton"), "{shown}");
    let arguments = [&words[1..], &["--yes", "--key", &key]].concat();
    let (code, _, stderr) = premises.run(&arguments);
    assert_eq!(code, Some(0), "{shown}: {stderr}");
}

#[test]
fn gate_that_demands_signatures_shows_the_command_and_then_who_has_signed() {
    let premises = Premises::new().workflow(SIGNED, "report");
    premises.scratch.folder("keys");
    let [of_ana, of_ben] = ["ana", "ben"].map(|name| key(&premises, name));
    premises.scratch.write("allowed_signers", format!("ana {of_ana}ben {of_ben}"));
    premises.scratch.write("baton.toml", "[approvers]\nfile = \"allowed_signers\"\n");
    let stage = Stage::on(premises);
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox/t.ok.1"), &stage.ana);
    ana.until(".decide", "This gate counts signed decisions only.");
    assert_eq!((ana.count(".decide form"), ana.count(".decide button")), (0, 0), "nothing to click that would fail");
    let command = ana.text(".decide pre");
    assert!(command.starts_with("baton approve t.ok.1 --sign --shown "), "{command}");
    sign(&stage.premises, &command, "ana");
    ana.go(&stage.url("/inbox/t.ok.1"));
    ana.until(".decide", "✓ ana");
    assert!(!ana.text(".decide").contains("✓ ben"));
    sign(&stage.premises, &command, "ben");
    ana.until("#question-state", "Already approved by");
    stage.until_run_is("t", "completed");
    ana.go(&stage.url("/runs/t/handoffs/t.ok.1"));
    ana.until("main", "ben");
    ana.go(&stage.url("/runs/t/journal"));
    ana.until("main", "approved by ana");
    ana.until("main", "approved by ben");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}
