//! Signed decisions, made with the real `ssh-keygen` and its agent: what counts, what does not, and what the journal says.

use std::process::Command;

use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::Decision;
use baton_testbed::Process;

use crate::site::{Ended, LONG, Site, end, find};

const GATE: &str = "{id: ok, gate: {items: [the parser], approvers: [ana, ben], at_least: 2, signed: true}}";

/// A team whose members have keys, and a gate that two of them must sign.
pub(crate) struct Team {
    pub(crate) site: Site,
}

impl Team {
    pub(crate) fn new(gate: &str) -> Team {
        let flow = format!(
            "name: release\nagents: {{dev: {{command: [./dev.py]}}}}\n\
             phases:\n- {{id: build, agent: dev}}\n- {gate}\n- {{id: ship, agent: dev}}\n"
        );
        let team = Team { site: Site::new().workflow(&flow).agent("dev", "report()") };
        team.site.scratch.folder("keys").folder("home").write("allowed_signers", "# the team\n");
        team.site.scratch.write("baton.toml", "[approvers]\nfile = \"allowed_signers\"\n");
        team
    }

    /// Gives somebody a key that counts.
    pub(crate) fn member(self, name: &str, kind: &[&str]) -> Team {
        let public = self.stranger(name, kind);
        let allowed = self.site.read(self.site.scratch.path("allowed_signers"));
        self.site.scratch.write("allowed_signers", format!("{allowed}{name} {public}"));
        self
    }

    /// Gives somebody a key that nobody knows.
    pub(crate) fn stranger(&self, name: &str, kind: &[&str]) -> String {
        let path = self.site.scratch.path(format!("keys/{name}"));
        let made =
            Command::new("ssh-keygen").args(["-q", "-N", "", "-C", name]).args(kind).arg("-f").arg(&path).status();
        assert!(made.expect("ssh-keygen is there").success());
        self.site.read(path.with_extension("pub"))
    }

    /// Runs the program with a home folder of its own and no SSH agent.
    pub(crate) fn baton(&self, arguments: &[&str]) -> Ended {
        let mut command = self.site.command(arguments);
        command.env("HOME", self.site.scratch.path("home")).env_remove("SSH_AUTH_SOCK");
        let mut process = Process::spawn(&mut command);
        process.close_input();
        end(&mut process)
    }

    /// Runs the workflow until somebody must decide.
    pub(crate) fn waiting(self) -> Team {
        let ended = self.site.run(&[]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        self
    }

    pub(crate) fn shown(&self, name: &str) -> String {
        find(&self.site.told(), name).handoff.shown().expect("something is shown").0
    }

    /// Decides about what is shown now.
    pub(crate) fn decide(&self, verb: &str, name: &str, more: &[&str]) -> Ended {
        let (id, shown) = (format!("t.{name}"), self.shown(name));
        self.baton(&[&[verb, &id], more, &["--yes", "--shown", &shown]].concat())
    }

    fn sign(&self, verb: &str, key: &str, more: &[&str]) -> Ended {
        self.decide(verb, "ok.1", &[&["--sign", "--key", &format!("keys/{key}")], more].concat())
    }

    /// Signs what would be decided with `ssh-keygen` itself, and returns the file with the signature.
    fn signed_elsewhere(&self, verb: &str, name: &str, key: &str, namespace: &str) -> String {
        let text = self.decide(verb, name, &["--to-sign"]);
        assert_eq!(text.code, Some(0), "{text:?}");
        self.site.scratch.write("decision", format!("{}\n", text.stdout));
        let (key, file) = (self.site.scratch.path(format!("keys/{key}")), self.site.scratch.path("decision"));
        let _ = std::fs::remove_file(self.site.scratch.path("decision.sig"));
        let mut sign = Command::new("ssh-keygen");
        sign.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(file);
        assert!(sign.status().expect("ssh-keygen is there").success());
        "decision.sig".to_owned()
    }

    /// Returns why decisions were refused, as the journal has it.
    pub(crate) fn refused(&self) -> Vec<String> {
        let facts = self.site.journal().into_iter().map(|event| event.fact().expect("it can be read"));
        let refused = facts.filter_map(|fact| match fact {
            Fact::Refused(refused) => Some(format!("{} {}", refused.by.unwrap_or_default(), refused.why)),
            Fact::Accepted(_) | Fact::Happened(_) => None,
        });
        refused.collect()
    }

    /// Expects that a decision is refused, for this reason, and that the journal says so.
    pub(crate) fn is_refused(&self, ended: &Ended, why: &str) {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(why), "{why}: {}", ended.stderr);
        let refused = self.refused();
        assert!(refused.last().is_some_and(|last| last.contains(why)), "{why}: {refused:#?}");
        let log = self.baton(&["log", "t"]).stdout;
        assert!(log.contains(why), "{log}");
    }
}

const PLAIN: [&str; 2] = ["-t", "ed25519"];

fn team() -> Team {
    Team::new(GATE).member("ana", &PLAIN).member("ben", &PLAIN).waiting()
}

#[test]
fn two_people_sign_and_only_then_it_goes_on() {
    let team = team();
    let inbox = team.baton(&["inbox"]).stdout;
    assert!(inbox.contains("approvers: 2 of ana, ben, signed\n"), "{inbox}");
    assert!(inbox.contains("baton approve t.ok.1 --sign"), "{inbox}");
    let first = team.sign("approve", "ana", &["--note", "fine", "--as", "release manager"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stdout.contains("1 of 2: ana (as \"release manager\")"), "{first:?}");
    assert_eq!(team.site.resume(&[]).code, Some(3), "one is not enough");
    let shown = team.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains("approved  ana (as \"release manager\")\n"), "{shown}");
    let second = team.sign("approve", "ben", &[]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(second.stdout.contains("t.ok.1 completed"), "{second:?}");
    assert_eq!(team.site.resume(&[]).code, Some(0));
    let log = team.baton(&["log", "t"]).stdout;
    assert!(log.contains("approved by ana (as \"release manager\") (cli, signed)"), "{log}");
    assert!(log.contains("approved by ben (cli, signed)"), "{log}");
    let audit = team.baton(&["audit", "verify", "t"]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
    assert_eq!(team.refused(), [""; 0]);
}

#[test]
fn one_of_them_is_enough_to_reject() {
    let team = team();
    assert_eq!(team.sign("approve", "ana", &[]).code, Some(0));
    let rejected = team.sign("reject", "ben", &["--note", "Leap years are wrong."]);
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
    assert_eq!(team.site.resume(&[]).code, Some(3), "the gate is asked again");
    assert_eq!(
        find(&team.site.told(), "ok.2").handoff.approvals.len(),
        0,
        "what was approved is not what is there now"
    );
}

#[test]
fn decision_without_a_signature_is_refused_and_journalled() {
    let team = team();
    team.is_refused(&team.decide("approve", "ok.1", &[]), "is not one of the approvers: ana, ben");
    team.is_refused(&team.decide("approve", "ok.1", &["--as", "ana"]), "is not one of the approvers: ana, ben");
}

#[test]
fn signature_of_a_key_that_nobody_named_is_refused_and_journalled() {
    let team = team();
    let public = team.stranger("mallory", &PLAIN);
    team.is_refused(&team.sign("approve", "mallory", &["--as", "ana"]), "does not belong to any approver: ana, ben");
    // Nobody joins while the run goes on: the keys are those from its beginning.
    team.site.scratch.write("allowed_signers", format!("ana {public}\nben {public}\n"));
    team.is_refused(&team.sign("approve", "mallory", &[]), "does not belong to any approver: ana, ben");
}

#[test]
fn same_person_does_not_count_twice() {
    let team = team();
    assert_eq!(team.sign("approve", "ana", &[]).code, Some(0));
    team.is_refused(&team.sign("approve", "ana", &["--note", "once more"]), "ana has already decided");
    assert_eq!(find(&team.site.told(), "ok.1").handoff.approvals.len(), 1);
}

#[test]
fn signature_for_another_purpose_or_of_other_words_is_refused_and_journalled() {
    let team = team();
    let git = team.signed_elsewhere("approve", "ok.1", "ana", "git");
    let why = "it was made for `git`, not for `baton`";
    team.is_refused(&team.decide("approve", "ok.1", &["--signature", &git]), why);
    let ours = team.signed_elsewhere("approve", "ok.1", "ana", "baton");
    let noted = team.decide("approve", "ok.1", &["--note", "and drop the table", "--signature", &ours]);
    team.is_refused(&noted, "it does not match the decision");
    let turned = team.decide("reject", "ok.1", &["--note", "no", "--signature", &ours]);
    team.is_refused(&turned, "it does not match the decision");
    let damaged = team.site.read(team.site.scratch.path(&ours)).replace('A', "B");
    team.site.scratch.write("damaged.sig", damaged);
    assert_eq!(team.decide("approve", "ok.1", &["--signature", "damaged.sig"]).code, Some(1));
    // As it was signed, it counts.
    let counted = team.decide("approve", "ok.1", &["--signature", &ours]);
    assert_eq!(counted.code, Some(0), "{counted:?}");
    assert_eq!(find(&team.site.told(), "ok.1").handoff.approvals[0].by, "ana");
}

#[test]
fn signature_that_was_given_before_does_not_count_for_what_comes_later() {
    let review = "{id: again, agent: dev, review: {approvers: [ana, ben], signed: true}}";
    let team = Team::new(review).member("ana", &PLAIN).member("ben", &PLAIN).waiting();
    let (old, ours) = (team.shown("again.1"), team.signed_elsewhere("approve", "again.1", "ana", "baton"));
    let key = ["--sign", "--key", "keys/ben", "--note", "Leap years are wrong."];
    let rejected = team.decide("reject", "again.1", &key);
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
    assert_eq!(team.site.resume(&[]).code, Some(3), "the second attempt waits");
    let replayed = team.baton(&["approve", "t.again.1", "--yes", "--shown", &old, "--signature", &ours]);
    team.is_refused(&replayed, "it has changed since it was shown");
    let moved = team.decide("approve", "again.1", &["--signature", &ours]);
    team.is_refused(&moved, "it does not match the decision");
}

#[test]
fn key_is_found_by_itself_in_the_home_folder_and_in_the_agent() {
    let team = team();
    let missing = team.decide("approve", "ok.1", &["--sign"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("none of your keys belongs to an approver: ana, ben"), "{}", missing.stderr);
    let home = team.site.scratch.path("home/.ssh");
    std::fs::create_dir_all(&home).expect("a folder");
    for name in ["ana", "ana.pub"] {
        let usual = name.replace("ana", "id_ed25519");
        std::fs::rename(team.site.scratch.path(format!("keys/{name}")), home.join(usual)).expect("moved");
    }
    let found = team.decide("approve", "ok.1", &["--sign"]);
    assert!(found.stdout.contains("1 of 2: ana"), "{found:?}");

    let socket = team.site.scratch.path("agent");
    let mut agent = Process::spawn(team.site.program("ssh-agent").arg("-D").arg("-a").arg(&socket));
    agent.stdout.find("SSH_AUTH_SOCK", LONG).expect("the agent runs");
    let mut add = Command::new("ssh-add");
    let added = add.arg("-q").arg(team.site.scratch.path("keys/ben")).env("SSH_AUTH_SOCK", &socket).status();
    assert!(added.expect("ssh-add is there").success());
    for name in ["ben", "ben.pub"] {
        std::fs::remove_file(team.site.scratch.path(format!("keys/{name}"))).expect("it was there");
    }
    let shown = team.shown("ok.1");
    let mut command = team.site.command(&["approve", "t.ok.1", "--sign", "--yes", "--shown", &shown]);
    command.env("HOME", team.site.scratch.path("keys")).env("SSH_AUTH_SOCK", &socket);
    let done = end(&mut Process::spawn(&mut command));
    assert!(done.stdout.contains("t.ok.1 completed"), "{done:?}");
    agent.terminate();
}

#[test]
fn every_usual_kind_of_key_signs() {
    let gate = "{id: ok, gate: {items: [the parser], at_least: 4, signed: true}}";
    let team = Team::new(gate)
        .member("a", &PLAIN)
        .member("b", &["-t", "ecdsa", "-b", "256"])
        .member("c", &["-t", "ecdsa", "-b", "384"])
        .member("d", &["-t", "rsa", "-b", "2048"])
        .waiting();
    for name in ["a", "b", "c", "d"] {
        let signed = team.sign("approve", name, &[]);
        assert_eq!(signed.code, Some(0), "{signed:?}");
    }
    assert_eq!(team.site.resume(&[]).code, Some(0));
}

#[test]
fn audit_names_a_signed_decision_that_was_rewritten_with_all_its_hashes() {
    let team = team();
    assert_eq!(team.sign("approve", "ana", &["--note", "fine"]).code, Some(0));
    assert_eq!(team.sign("approve", "ben", &[]).code, Some(0));
    assert_eq!(team.baton(&["audit", "verify", "t"]).code, Some(0));
    let mut events = team.site.journal();
    let mut head = Head::START;
    for event in &mut events {
        event.detail = event.detail.replace("\"note\":\"fine\"", "\"note\":\"evil\"");
        event.hash = event.hash_after(&head.hash);
        head = event.head();
    }
    write_journal(&team.site, &events);
    let audit = team.baton(&["audit", "verify", "t"]);
    assert_eq!(audit.code, Some(1), "{audit:?}");
    assert!(audit.stdout.contains("not permitted: the signature does not count: it does not match"), "{audit:?}");
    assert_eq!(audit.stdout.matches("not permitted").count(), 1, "only that one: {audit:?}");
    let json = team.baton(&["audit", "verify", "t", "--json"]).stdout;
    assert!(json.contains("\"not-permitted\""), "{json}");
}

/// Writes a journal and what is bound to it, as somebody could who may write to the store.
fn write_journal(site: &Site, events: &[Event]) {
    let connection = rusqlite::Connection::open(site.store()).expect("it opens");
    for event in events {
        let (seq, hash) = (i64::try_from(event.seq).expect("small"), event.hash.0);
        connection
            .execute("UPDATE events SET detail = ?1, hash = ?2 WHERE seq = ?3", (&event.detail, hash, seq))
            .expect("written");
        connection.execute("UPDATE handoffs SET head = ?1 WHERE last_seq = ?2", (hash, seq)).expect("written");
    }
    connection.execute("UPDATE handoffs SET body = replace(body, 'fine', 'evil')", ()).expect("written");
}

#[test]
fn decision_records_who_signed_it_and_with_which_key() {
    let team = Team::new("{id: ok, gate: {items: [the parser], signed: true}}").member("ana", &PLAIN).waiting();
    assert_eq!(team.sign("approve", "ana", &[]).code, Some(0));
    let run = team.site.told();
    let decide = find(&run, "ok.1").decided.clone().expect("decided");
    assert_eq!((decide.by.as_str(), decide.decision.clone()), ("ana", Decision::Approve));
    let mut print = Command::new("ssh-keygen");
    let printed = print.args(["-l", "-f"]).arg(team.site.scratch.path("keys/ana.pub")).output().expect("it prints");
    let key = &decide.known.signature().expect("signed").key;
    assert!(String::from_utf8_lossy(&printed.stdout).contains(key.as_str()), "{key}");
}

#[test]
fn signature_that_was_taken_back_cannot_be_handed_in_again() {
    let gate = "{id: ok, gate: {items: [the parser], approvers: [ana, ben], at_least: 2, signed: true, \
        choices: {ship: next, drop: stop}}}";
    let team = Team::new(gate).member("ana", &PLAIN).member("ben", &PLAIN).waiting();
    let choose = |key: &str, choice: &str| team.sign("answer", key, &["--choice", choice]);
    for choice in ["ship", "drop"] {
        assert_eq!(choose("ana", choice).code, Some(0));
    }
    assert_eq!(choose("ben", "ship").code, Some(0));
    // The same words signed with the same key are the same signature, which everybody can read in the journal.
    team.is_refused(&choose("ana", "ship"), "ana has already decided");
    assert_eq!(team.site.resume(&[]).code, Some(3), "it is open");
    assert_eq!(choose("ben", "drop").code, Some(0));
    assert_eq!(find(&team.site.told(), "ok.1").deciders().as_deref(), Some("ana, ben"));
}

#[test]
fn phase_with_approvers_is_not_passed_by_whoever_answers_after_a_failure() {
    let phase = "{id: ok, agent: dev, review: {approvers: [ana], signed: true}, retry: {max_retries: 0}}";
    let team = Team::new(phase).member("ana", &PLAIN).member("ben", &PLAIN);
    let site =
        Team { site: team.site.agent("dev", "if 'ok' in os.environ['BATON_HANDOFF_ID']: sys.exit(1)\nreport()") };
    let team = site.waiting();
    team.is_refused(&team.decide("answer", "ok.failure.1", &["--choice", "continue"]), "is not one of the approvers");
    let signed = ["--choice", "continue", "--sign", "--key", "keys/ben"];
    team.is_refused(&team.decide("answer", "ok.failure.1", &signed), "does not belong to any approver");
    let signed = ["--choice", "continue", "--sign", "--key", "keys/ana"];
    let answered = team.decide("answer", "ok.failure.1", &signed);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    assert_eq!(team.site.resume(&[]).code, Some(0));
}

#[test]
fn work_that_waits_for_approvers_is_not_passed_by_calling_it_off() {
    let phase = "{id: ok, agent: dev, review: {approvers: [ana], signed: true}}";
    let team = Team::new(phase).member("ana", &PLAIN).waiting();
    assert_eq!(team.baton(&["cancel", "t.ok.1"]).code, Some(0));
    assert_eq!(team.site.resume(&[]).code, Some(3));
    team.is_refused(&team.decide("answer", "ok.failure.1", &["--choice", "continue"]), "is not one of the approvers");
}

#[test]
fn agent_does_not_add_a_key_of_its_own_to_the_approvers() {
    let team = Team::new(GATE).member("ana", &PLAIN).member("ben", &PLAIN);
    let before = team.site.read(team.site.scratch.path("allowed_signers"));
    let body = "try:\n    open('allowed_signers', 'a').write('ana ssh-ed25519 AAAA')\n\
        except OSError as error:\n    write('told', error.strerror)\nreport()";
    let site = team.site.agent("dev", body);
    let ended = site.baton(&["run", "flow", "--workspace", ".", "--no-input", "--id", "t"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(site.read(site.scratch.path("told")), "Read-only file system");
    assert_eq!(site.read(site.scratch.path("allowed_signers")), before);
}
