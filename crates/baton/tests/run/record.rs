//! The record: whatever somebody does to the store, `baton audit verify --all` names it, given the anchor file.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use baton_testbed::{PostgresServer, Process};
use serde_json::Value;

use crate::site::{Ended, LONG, Site, end, listen};

const FLOW: &str =
    "name: record\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev, review: blocking}]\n";

/// What anybody can do who may write the database.
const FORGER: &str = include_str!("forger.py");

pub(crate) const FILE: &str = "[anchor]\nfile = \"heads\"\n";

pub(crate) fn site(configuration: &str) -> Site {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    site.scratch.write("baton.toml", configuration);
    site
}

/// A site with three runs, all approved, and its anchor file.
pub(crate) fn three(configuration: &str) -> Site {
    let site = site(configuration);
    ["one", "two", "three"].iter().for_each(|id| site.approved(id, &[]));
    site
}

impl Site {
    pub(crate) fn begin(&self, id: &str, more: &[&str]) -> Process {
        let mut process = self.start(&[&["run", "flow", "--workspace", id, "--no-input", "--id", id], more].concat());
        process.close_input();
        process
    }

    /// Runs a workflow that waits for a person, approves it from outside, and resumes it.
    pub(crate) fn approved(&self, id: &str, store: &[&str]) {
        let ended = end(&mut self.begin(id, store));
        assert_eq!(ended.code, Some(3), "{ended:?}");
        self.approve(id, store);
        let ended = self.baton(&[&["resume", id, "--no-input"], store].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }

    fn approve(&self, id: &str, store: &[&str]) -> Ended {
        let handoff = format!("{id}.build.1");
        let shown = self.baton(&[&["show", &handoff, "--json"], store].concat());
        let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
        let digest = shown["question"]["digest"].as_str().or(shown["digest"].as_str()).expect("a digest");
        let approved = self.baton(&[&["approve", &handoff, "--yes", "--shown", digest], store].concat());
        assert_eq!(approved.code, Some(0), "{approved:?}");
        approved
    }

    /// Changes the database behind the program's back.
    fn forge(&self, actions: &[&str]) {
        let mut forger = Command::new("python3");
        let status = forger.args(["-c", FORGER]).arg(self.store()).args(actions).status();
        assert!(status.expect("python3 is there").success(), "{actions:?}");
    }

    /// Verifies everything; returns what was found as `where code run`.
    pub(crate) fn verified(&self, more: &[&str]) -> Vec<String> {
        let ended = self.baton(&[&["audit", "verify", "--all", "--json"], more].concat());
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        let word = |value: &Value| value.to_string().replace('"', "");
        let mut found = Vec::new();
        for run in result["runs"].as_array().expect("runs") {
            let findings = run["findings"].as_array().expect("findings").iter();
            found.extend(findings.map(|finding| format!("run {} {}", word(&finding["code"]), word(&run["run"]))));
        }
        for part in ["ledger", "anchor"].iter().filter(|part| !result[*part].is_null()) {
            let findings = result[*part]["findings"].as_array().expect("findings").iter();
            found
                .extend(findings.map(|finding| format!("{part} {} {}", word(&finding["code"]), word(&finding["run"]))));
        }
        assert_eq!(result["findings"].as_u64(), Some(found.len() as u64), "{ended:?}");
        assert_eq!(ended.code, Some(if found.is_empty() { 0 } else { 1 }), "{ended:?}");
        found
    }

    pub(crate) fn anchor_lines(&self) -> Vec<String> {
        self.read(self.scratch.path("heads")).lines().map(str::to_owned).collect()
    }

    fn set_anchor_lines(&self, lines: &[String]) {
        fs::write(self.scratch.path("heads"), lines.join("\n") + "\n").expect("our own file");
    }
}

/// Returns the numbers and the runs of lines.
fn numbered(lines: &[String]) -> Vec<(String, String)> {
    let words = |line: &String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    lines.iter().map(words).map(|words| (words[1].clone(), words[3].clone())).collect()
}

#[test]
fn runs_that_wait_decisions_and_ends_are_anchored_in_order_and_verified() {
    let site = three(FILE);
    let lines = site.anchor_lines();
    let runs: Vec<String> = numbered(&lines).into_iter().map(|(number, run)| format!("{number} {run}")).collect();
    assert_eq!(
        runs,
        ["1 one", "2 one", "3 one", "4 two", "5 two", "6 two", "7 three", "8 three", "9 three"],
        "each run waited, was decided about, and ended"
    );
    assert!(site.verified(&[]).is_empty());
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.stdout.contains("sound  ledger  9 entries, last "), "{ended:?}");
    assert!(ended.stdout.contains("sound  anchor  9 lines, "), "{ended:?}");
    assert!(!ended.stderr.contains("note:"), "everything was compared: {ended:?}");
    assert!(
        lines[8].ends_with(ended.stdout.lines().rev().nth(1).expect("a line").rsplit(' ').next().expect("a digest"))
    );
}

#[test]
fn head_at_the_end_of_a_run_is_the_one_that_audit_verify_proves() {
    let site = site("");
    let waiting = end(&mut site.begin("one", &[]));
    let told = waiting.stderr.lines().find_map(|line| line.strip_prefix("head ")).expect("a head").trim().to_owned();
    let proved = site.baton(&["audit", "verify", "one", "--head", &told]);
    assert!(proved.code == Some(0) && proved.stdout.contains(&format!("head {told}")), "{proved:?}");
    let machine = end(&mut site.begin("two", &["--json"]));
    let last: Value = serde_json::from_str(machine.stdout.lines().last().expect("a line")).expect("JSON");
    let head = last["head"].as_str().expect("a head");
    let proved = site.baton(&["audit", "verify", "two"]);
    assert!(
        proved.stdout.contains(&format!("{} events", last["events"])) && proved.stdout.contains(head),
        "{proved:?}"
    );
}

#[test]
fn removed_run_is_named_by_the_ledger_and_by_the_anchor_if_the_ledger_was_computed_again() {
    let site = three(FILE);
    site.forge(&["remove:two"]);
    assert_eq!(site.verified(&[]), ["ledger run-removed two"]);
    site.forge(&["rechain"]);
    let found = site.verified(&[]);
    assert!(found.contains(&"anchor run-removed two".to_owned()), "{found:?}");
    assert!(found.iter().all(|finding| finding.starts_with("anchor")), "the store alone is sound: {found:?}");
    assert!(!found.iter().any(|finding| finding.ends_with("one") || finding.ends_with("three")), "{found:?}");
}

#[test]
fn decision_that_was_rewritten_with_recomputed_hashes_is_named() {
    let site = three(FILE);
    site.forge(&["redecide:two"]);
    assert_eq!(site.verified(&[]), ["run rewritten two", "run rewritten two"], "as decided, and as ended");
    let named = site.baton(&["audit", "verify", "two"]);
    assert!(named.code == Some(1) && named.stdout.contains("ledger entry 5 has"), "{named:?}");
    site.forge(&["rechain"]);
    let found = site.verified(&[]);
    let expected = ["anchor ledger-rewritten null", "anchor run-rewritten two", "anchor run-rewritten two"];
    assert_eq!(found, expected, "the others were only computed again");
    // Without the anchor nobody can tell, and it says so.
    site.scratch.write("baton.toml", "");
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.code == Some(0) && ended.stderr.contains("no anchor file to compare with"), "{ended:?}");
    assert_eq!(site.verified(&["--anchor", "heads"]), expected, "a file that was named");
}

#[test]
fn cut_tail_of_a_journal_is_named() {
    let site = three(FILE);
    site.forge(&["cut_run:two:1"]);
    let found = site.verified(&[]);
    assert!(found.contains(&"run shortened two".to_owned()), "{found:?}");
    site.forge(&["rechain"]);
    let found = site.verified(&[]);
    assert!(found.contains(&"anchor run-cut-off two".to_owned()), "{found:?}");
}

#[test]
fn cut_tail_of_the_ledger_is_named_and_what_follows_contradicts_the_anchor() {
    let site = three(FILE);
    site.forge(&["remove:three", "cut_ledger:6"]);
    let found = site.verified(&[]);
    assert!(found.contains(&"anchor ledger-cut-off null".to_owned()), "{found:?}");
    assert!(found.contains(&"anchor run-removed three".to_owned()), "{found:?}");
    site.approved("four", &[]);
    let found = site.verified(&[]);
    assert!(found.contains(&"anchor ledger-rewritten null".to_owned()), "{found:?}");
    assert!(found.contains(&"anchor run-removed three".to_owned()), "{found:?}");
}

#[test]
fn changed_removed_and_unreadable_lines_of_the_anchor_file_are_named() {
    let site = three(FILE);
    let lines = site.anchor_lines();
    let told = |lines: Vec<String>| {
        site.set_anchor_lines(&lines);
        site.verified(&[])
    };
    let mut changed = lines.clone();
    changed[3] = changed[3].replace(" two ", " zwei ");
    assert_eq!(told(changed), ["anchor line-changed null"]);
    let mut removed = lines.clone();
    removed.remove(3);
    assert_eq!(told(removed), ["anchor lines-missing null"]);
    assert_eq!(told(lines[..8].to_vec()), ["anchor lines-missing null"], "the store knows what was delivered");
    let mut unreadable = lines.clone();
    unreadable[3] = "what is this".to_owned();
    let found = told(unreadable);
    assert!(found.contains(&"anchor line-unreadable null".to_owned()), "{found:?}");
    let doubled = [&lines[..3], &lines[1..]].concat();
    assert!(told(doubled).is_empty(), "lines that come twice say the same");
}

#[test]
fn pruned_run_is_on_record_and_no_finding_and_its_name_can_be_used_again() {
    let site = three(FILE);
    let pruned = site.baton(&["prune", "--older-than", "0"]);
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    let removed = site.anchor_lines().iter().filter(|line| line.contains(" removed ")).count();
    assert_eq!(removed, 3, "{:?}", site.anchor_lines());
    assert!(site.verified(&[]).is_empty());
    site.approved("two", &[]);
    assert!(site.verified(&[]).is_empty());
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.stderr.contains("note: 3 runs were pruned: "), "{ended:?}");
}

#[test]
fn run_that_was_tampered_with_is_not_pruned() {
    let site = three(FILE);
    site.forge(&["cut_run:two:1"]);
    for more in [&[][..], &["--no-export", "--yes"]] {
        let pruned = site.baton(&[&["prune", "--older-than", "0"], more].concat());
        assert_eq!(pruned.code, Some(1), "{pruned:?}");
        assert!(pruned.stderr.contains("two: the journal is damaged, so the run is kept"), "{pruned:?}");
    }
    assert!(site.verified(&[]).contains(&"run shortened two".to_owned()), "it is still named");
}

#[test]
fn run_that_was_removed_as_if_it_had_been_pruned_is_named_because_the_anchor_does_not_know_of_it() {
    let site = three(FILE);
    site.forge(&["prune:two"]);
    assert_eq!(site.verified(&[]), ["anchor removal-not-anchored two"]);
}

#[test]
fn store_without_a_ledger_verifies_with_a_note_and_can_be_entered() {
    let site = three("");
    site.forge(&["forget_ledger"]);
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.code == Some(0) && ended.stderr.contains("note: 3 runs are not in the ledger yet"), "{ended:?}");
    site.scratch.write("baton.toml", FILE);
    let anchored = site.baton(&["audit", "anchor"]);
    assert_eq!(anchored.stdout, "3 new entries, 3 lines delivered to the anchor", "{anchored:?}");
    assert_eq!(site.anchor_lines().len(), 3);
    let again = site.baton(&["audit", "anchor", "--json"]);
    let again: Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!((again["entered"].as_u64(), again["delivered"].as_u64()), (Some(0), Some(0)));
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.code == Some(0) && !ended.stderr.contains("note:"), "{ended:?}");
}

#[test]
fn two_drivers_at_once_make_one_chain_and_each_line_once() {
    let site = site(FILE);
    let mut drivers: Vec<Process> = ["a", "b", "c", "d"].iter().map(|id| site.begin(id, &[])).collect();
    for driver in &mut drivers {
        let ended = end(driver);
        assert_eq!(ended.code, Some(3), "{ended:?}");
    }
    let lines = numbered(&site.anchor_lines());
    let numbers: Vec<&str> = lines.iter().map(|(number, _)| number.as_str()).collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
    assert!(site.verified(&[]).is_empty());
}

#[test]
fn command_that_fails_is_told_and_gets_the_lines_in_order_when_it_works_again() {
    let command = "[anchor]\ncommand = \"test -e works && cat >> heads || { echo no network >&2; exit 1; }\"\n";
    let site = site(command);
    for id in ["one", "two"] {
        let ended = end(&mut site.begin(id, &[]));
        assert_eq!(ended.code, Some(3), "a run does not fail without its anchor: {ended:?}");
        assert!(ended.stderr.contains("warning: heads are not anchored: "), "{ended:?}");
        assert!(ended.stderr.contains("no network"), "{ended:?}");
    }
    site.scratch.write("works", "");
    let ended = end(&mut site.begin("three", &[]));
    assert!(ended.code == Some(3) && !ended.stderr.contains("warning: heads"), "{ended:?}");
    let lines = numbered(&site.anchor_lines());
    let runs: Vec<&str> = lines.iter().map(|(_, run)| run.as_str()).collect();
    assert_eq!(runs, ["one", "two", "three"]);
    assert!(site.verified(&["--anchor", "heads"]).is_empty());
}

#[test]
fn entry_whose_process_was_killed_before_it_was_anchored_is_delivered_later() {
    let site = site("");
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let script = format!("test -e works && exec cat >> heads; echo begun > {begun}; read line < {go_on}; exit 1");
    site.scratch.write("anchor.sh", script).write("baton.toml", "[anchor]\ncommand = \"sh anchor.sh\"\n");
    let mut killed = site.begin("one", &[]);
    listen(&begun).find("begun", LONG).expect("the entry is being delivered");
    killed.kill();
    fs::write(&go_on, "\n").expect("the command ends");
    assert!(!site.scratch.path("heads").exists());
    site.scratch.write("works", "");
    let ended = end(&mut site.begin("two", &[]));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let lines = numbered(&site.anchor_lines());
    assert_eq!(lines, [("1", "one"), ("2", "two")].map(|(number, run)| (number.to_owned(), run.to_owned())));
}

#[test]
fn anchor_file_in_the_workspace_is_refused_and_one_outside_is_hidden_from_agents() {
    for place in ["one/heads", "link"] {
        let inside = site(&format!("[anchor]\nfile = \"{place}\"\n"));
        inside.scratch.folder("one").write("one/heads", "");
        std::os::unix::fs::symlink("one/heads", inside.scratch.path("link")).expect("our own folder");
        let ended = end(&mut inside.begin("one", &[]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("lies in the workspace, where agents can change it"), "{ended:?}");
    }

    let outside = site(FILE);
    let heads: PathBuf = outside.scratch.path("heads");
    let look = format!(
        "folder = os.environ['BATON_OUTPUT_DIRECTORY']\nos.makedirs(folder, exist_ok=True)\n\
         try:\n  seen = open({:?}).read()\nexcept OSError as error:\n  seen = 'hidden'\n\
         try:\n  open({:?}, 'a').write('x')\n  seen += ' changed'\nexcept OSError:\n  seen += ' kept'\n\
         write(os.path.join(folder, 'seen'), seen)\nreport()",
        heads.display().to_string(),
        heads.display().to_string()
    );
    let outside = outside.agent("dev", &look);
    outside.scratch.write("heads", "");
    let ended = end(&mut outside.begin("one", &[]));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(numbered(&outside.anchor_lines()).len(), 1, "nobody else has written to it");
    assert_eq!(outside.scratch.read("one/.baton/output/one/seen"), "hidden kept");
}

#[test]
fn removed_run_and_cut_ledger_of_a_postgresql_store_are_named() {
    let url = PostgresServer::shared().new_database();
    let store = ["--store", url.as_str()];
    let site = site(FILE);
    ["one", "two"].iter().for_each(|id| site.approved(id, &store));
    assert!(site.verified(&store).is_empty());
    let remove = "DELETE FROM events WHERE run = 'one'; DELETE FROM handoffs WHERE run = 'one'";
    baton_testbed::query(&url, remove);
    assert_eq!(site.verified(&store), ["ledger run-removed one"]);
    baton_testbed::query(&url, "DELETE FROM ledger WHERE number > 4");
    let found = site.verified(&store);
    assert!(found.contains(&"anchor ledger-cut-off null".to_owned()), "{found:?}");
    baton_testbed::query(&url, "UPDATE ledger SET events = events - 1 WHERE number = 4");
    let found = site.verified(&store);
    assert!(found.contains(&"ledger entry-changed two".to_owned()), "{found:?}");
}
