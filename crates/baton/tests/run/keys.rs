//! Keys and names of approvers: what cannot count is refused before a run, and what has changed since is told.

use baton_engine::known::HowKnown;

use crate::signatures::Team;
use crate::site::{Ended, find};

const PLAIN: [&str; 2] = ["-t", "ed25519"];

fn gate(fields: &str) -> String {
    format!("{{id: ok, gate: {{items: [the parser], {fields}}}}}")
}

/// A team of two with a gate, whose allowed signers are these lines; `ANA` and `BEN` are their keys.
fn team(fields: &str, lines: &str) -> Team {
    let team = Team::new(&gate(fields));
    let (ana, ben) = (team.stranger("ana", &PLAIN), team.stranger("ben", &PLAIN));
    let lines = lines.replace("ANA", ana.trim()).replace("BEN", ben.trim());
    team.site.scratch.write("allowed_signers", lines);
    team
}

/// Expects that neither `run` nor `workflow check` takes the workflow, for this reason.
#[track_caller]
fn is_refused(team: &Team, why: &str) {
    let run = team.site.run(&[]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
    let check = team.baton(&["workflow", "check", "flow"]);
    assert_ne!(check.code, Some(0), "{check:?}");
    assert!(format!("{}{}", check.stdout, check.stderr).contains(why), "{why}: {check:?}");
}

#[test]
fn key_that_cannot_count_is_refused_before_the_run_with_its_place() {
    let short = Team::new(&gate("approvers: [ana], signed: true"));
    short.stranger("short", &["-t", "rsa", "-b", "1024"]);
    let short = short.site.read(short.site.scratch.path("keys/short.pub"));
    let one = "approvers: [ana], signed: true";
    for (lines, why) in [
        (format!("# team\nana {short}"), "allowed_signers:2: the key cannot be used: an RSA key needs 2048 bits"),
        ("ANA\n".to_owned(), "allowed_signers:1: the name is missing: write who has this key before it"),
        ("ana ssh-ed25519 AAAA\n".to_owned(), "allowed_signers:1: the key cannot be used"),
        ("\nana valid-before=20200101Z ANA\n".to_owned(), "allowed_signers:2: the key has expired"),
        ("ana namespaces=\"git\" ANA\n".to_owned(), "allowed_signers:1: the key is for the namespaces `git`"),
        ("ben BEN\n".to_owned(), "ana cannot sign: there is no key of that name"),
    ] {
        is_refused(&team(one, &lines), why);
    }
    let shared = team("approvers: [ana, boss], at_least: 2, signed: true", "ana,boss ANA\n");
    is_refused(&shared, "2 must sign, but with the keys that they share only 1 can");
    is_refused(&team("signed: true, at_least: 2", "ana,boss ANA\n"), "only 1 can");
}

#[test]
fn name_that_nobody_can_have_is_refused_before_the_run() {
    for name in ["''", "'ana '", "'*'", "'!ana'", "\"a\\nb\"", "'a,b'"] {
        is_refused(&team(&format!("approvers: [{name}]"), "ana ANA\n"), "is not a possible name");
    }
    is_refused(&team("approvers: []", "ana ANA\n"), "the list of approvers is empty");
}

#[test]
fn byte_order_mark_before_the_first_name_is_not_part_of_it() {
    let team = team("approvers: [ana], signed: true", "\u{feff}ana ANA\n").waiting();
    assert_eq!(team.decide("approve", "ok.1", &["--sign", "--key", "keys/ana"]).code, Some(0));
}

#[test]
fn broken_file_of_approvers_stops_only_those_who_need_keys() {
    let team = team("approvers: [ana], signed: true", "ana ANA\n").waiting();
    team.site.scratch.write("allowed_signers", "ssh-ed25519 AAAA\n");
    for command in ["runs", "show t", "list", "log t", "inbox", "audit verify t", "doctor"] {
        let ended = team.baton(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
    }
    let again = team.site.baton(&["run", "flow", "--workspace", "workspace", "--id", "u", "--no-input"]);
    assert!(again.code == Some(2) && again.stderr.contains("allowed_signers:1: the name is missing"), "{again:?}");
    let approved = team.decide("approve", "ok.1", &["--sign", "--key", "keys/ana"]);
    assert!(approved.stderr.contains("warning: the keys cannot be compared with those of baton.toml"), "{approved:?}");
    assert_eq!(approved.code, Some(0), "the recorded key counts");
}

#[test]
fn keys_that_are_not_those_of_the_configuration_any_more_are_told() {
    let team = team("approvers: [ana], signed: true", "ana ANA\n").waiting();
    let told = |ended: &Ended| {
        ended.stderr.contains("the keys recorded with the run are not those of baton.toml: ana (SHA256:")
    };
    let sound = team.baton(&["audit", "verify", "--all"]);
    assert!(!told(&sound) && !told(&team.site.resume(&[])), "{sound:?}");
    let other = team.site.read(team.site.scratch.path("keys/ben.pub"));
    team.site.scratch.write("allowed_signers", format!("ana {other}"));
    let approved = team.decide("approve", "ok.1", &["--sign", "--key", "keys/ana"]);
    assert!(told(&approved) && approved.code == Some(0), "{approved:?}");
    for ended in [team.baton(&["audit", "verify", "t"]), team.site.resume(&[])] {
        assert!(told(&ended) && ended.code == Some(0), "{ended:?}");
    }
}

#[test]
fn what_is_missing_or_wrong_in_a_signature_is_named() {
    let team = team("approvers: [ana], signed: true", "ana ANA\n").waiting();
    team.stranger("eve", &PLAIN);
    let unsigned = team.decide("approve", "ok.1", &[]);
    assert!(unsigned.stderr.contains("hint: an approver can sign with: "), "{unsigned:?}");
    let stranger = team.decide("approve", "ok.1", &["--sign", "--key", "keys/eve"]);
    team.is_refused(&stranger, "does not belong to any approver: ana");
    assert!(stranger.stderr.contains("the key SHA256:"), "{stranger:?}");
    // Nobody is asked for a passphrase, or for a key at all, for what was not looked at.
    let unseen =
        team.baton(&["approve", "t.ok.1", "--yes", "--shown", "000000000000", "--sign", "--key", "keys/nobody"]);
    assert!(unseen.stderr.starts_with("error: t.ok.1: it has changed since it was shown"), "{unseen:?}");
    let blind = team.baton(&["approve", "t.ok.1"]);
    assert!(blind.stderr.contains("--yes --shown DIGEST --sign"), "{blind:?}");
}

#[test]
fn whoever_signs_elsewhere_is_told_what_the_digest_stands_for() {
    let team = team("approvers: [ana], signed: true", "ana ANA\n").waiting();
    let text = team.decide("approve", "ok.1", &["--to-sign"]);
    assert!(
        text.stdout.starts_with("baton decision 1\nhandoff: t.ok.1\n") && !text.stdout.contains("parser"),
        "{text:?}"
    );
    assert!(text.stderr.contains("the parser"), "{text:?}");
}

#[test]
fn quotation_marks_in_a_label_do_not_end_it() {
    let team = Team::new(&gate("type: blocking")).waiting();
    assert_eq!(team.decide("approve", "ok.1", &["--as", "ana\" (cli, signed) x \""]).code, Some(0));
    let decide = find(&team.site.told(), "ok.1").decided.clone().expect("decided");
    assert_eq!(decide.known, HowKnown::Account);
    let shown = team.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains(r#"(as "ana\" (cli, signed) x \"")"#), "{shown}");
}
