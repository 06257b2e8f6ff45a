//! Who decides where nothing is signed: the account that the operating system knows, never a variable, a label or an agent.

use baton_engine::known::HowKnown;
use baton_testbed::account;

use crate::signatures::Team;
use crate::site::{BATON, Ended, Site, end, find};

fn gate(fields: &str) -> String {
    format!("{{id: ok, gate: {{items: [the parser], {fields}}}}}")
}

#[test]
fn account_decides_whatever_variables_and_labels_say() {
    let team = Team::new(&gate(&format!("approvers: [{}]", account()))).waiting();
    // The variable USER lies in all of these tests.
    let approved = team.decide("approve", "ok.1", &["--as", "the board"]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let decide = find(&team.site.told(), "ok.1").decided.clone().expect("decided");
    assert_eq!((decide.by, decide.known), (account(), HowKnown::Account));
    assert_eq!(decide.label.as_deref(), Some("the board"));
    let shown = team.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains(&format!("approved by {} (as \"the board\") (cli)", account())), "{shown}");
}

#[test]
fn nobody_becomes_an_approver_by_a_label_or_a_variable() {
    let team = Team::new(&gate("approvers: [mallory, ana]")).waiting();
    let why = format!("the account `{}` is not one of the approvers: mallory, ana", account());
    team.is_refused(&team.decide("approve", "ok.1", &[]), &why);
    team.is_refused(&team.decide("approve", "ok.1", &["--as", "ana"]), &why);
    let refused = team.refused();
    assert!(refused[1].starts_with(&format!("{} (as \"ana\") (cli)", account())), "{refused:?}");
    team.is_refused(&team.decide("reject", "ok.1", &["--note", "no"]), &why);
    assert_eq!(team.decide("approve", "ok.1", &["--as", "a\nb"]).code, Some(2), "a label is one line");
}

#[test]
fn one_account_is_one_person() {
    let team = Team::new(&gate("at_least: 2")).waiting();
    let first = team.decide("approve", "ok.1", &[]);
    assert!(first.stdout.contains(&format!("1 of 2: {}", account())), "{first:?}");
    team.is_refused(&team.decide("approve", "ok.1", &["--as", "somebody else"]), "has already decided");
}

#[test]
fn file_of_answers_is_nobody_where_people_are_named() {
    let team = Team::new(&gate("at_least: 1")).waiting();
    team.site.scratch.write("answers.yaml", "- {approve: true}\n");
    let inbox = team.baton(&["inbox", "--answers", "answers.yaml"]);
    assert_eq!(inbox.code, Some(3), "{inbox:?}");
    assert!(
        inbox
            .stderr
            .contains("t.ok.1: nothing was decided: answers.yaml: only an account or a signature can decide here"),
        "{inbox:?}"
    );
    assert_eq!(team.site.resume(&["--answers", "answers.yaml"]).code, Some(3));
}

#[test]
fn whoever_sits_at_the_terminal_is_asked_once() {
    let team = Team::new(&gate("at_least: 2"));
    let mut command = team.site.program("script");
    let run = format!("{BATON} run flow --workspace workspace --id t");
    let mut process = baton_testbed::Process::spawn(command.args(["-qec", &run, "/dev/null"]).env("NO_COLOR", "1"));
    process.stdout.find("approvers 2 people", crate::site::LONG).expect("it is said who must decide");
    process.stdout.find("[l]ater", crate::site::LONG).expect("it asks");
    process.send_line("a\n");
    process.stdout.find("1 of 2", crate::site::LONG).expect("it counts");
    assert_eq!(process.wait(crate::site::LONG).expect("it ends").code(), Some(3), "the other one is elsewhere");
}

#[test]
fn agent_decides_nothing_through_any_door() {
    // Without a cage the agent reaches the program and the store; only the guard is between them.
    let tries = [
        "approve t.ok.1 --yes --shown 000000000000",
        "reject t.ok.1 --note no --yes --shown 000000000000",
        "answer t.ok.1 yes --yes --shown 000000000000",
        "ask t.ok.1 why --yes --shown 000000000000",
        "inbox --answers {root}/answers.yaml",
        "inbox --run t --answers {root}/answers.yaml",
        "run {root}/flow --workspace {root}/other --id u --answers {root}/answers.yaml",
        "cancel t",
        "prune --older-than 0 --no-export --yes",
        "queue pause writer",
        "queue resume writer",
        "queue limit writer 3",
        "store move",
        "store remove --yes",
    ];
    let site = Site::new();
    let root = site.scratch.root().display().to_string();
    let state = format!("XDG_STATE_HOME={}", baton_testbed::state_home(site.scratch.root()).display());
    let mut body = format!("os.chdir({root:?})\nwrote = open(workspace + '/told', 'w')\n");
    body.push_str(
        "def tries(*command):\n    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)\n    \
         print(done.returncode, done.stderr.strip().splitlines()[:1], file=wrote, flush=True)\n",
    );
    for words in tries {
        let words = words.replace("{root}", &root);
        body.push_str(&format!("tries({BATON:?}, *{words:?}.split())\n"));
        // Dropping the mark is not enough: those above still have it.
        let bare = "['env', '-u', 'BATON_HANDOFF_ID', 'PATH=/usr/bin:/bin']";
        body.push_str(&format!("tries(*{bare}, {BATON:?}, *{words:?}.split())\n"));
        body.push_str(&format!("tries('setsid', '-w', 'env', '-i', {state:?}, {BATON:?}, *{words:?}.split())\n"));
    }
    body.push_str("os.chdir(workspace)\nreport()");
    let flow = "name: hostile\nsandbox: off\nagents: {dev: {command: [./dev.py]}}\n\
                phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the parser]}}]\n";
    let site = site.workflow(flow).agent("dev", &body);
    site.scratch.write("answers.yaml", "- {approve: true}\n");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told = site.read(site.scratch.path("workspace/told"));
    assert_eq!(told.lines().count(), 3 * tries.len(), "{told}");
    for line in told.lines() {
        assert!(
            line.starts_with("1 ['error: an agent cannot decide: this process belongs to the work on t.build.1']"),
            "{told}"
        );
    }
    assert!(find(&site.told(), "ok.1").decided.is_none());
}

#[test]
fn gates_that_nobody_could_open_are_found_before_the_run() {
    for (fields, why) in [
        ("approvers: [ana, ben], signed: true", "workflow.yaml:5: ben cannot sign: there is no key of that name"),
        ("approvers: [ana, ben], at_least: 3", "workflow.yaml:5: 3 must approve, but only 2 may"),
        ("signed: true, at_least: 2", "workflow.yaml:5: 2 must sign, but baton.toml names 1 who can"),
        ("type: advisory, after: 1h, approvers: [ana]", "workflow.yaml:5: a gate that is advisory continues without"),
    ] {
        let team = Team::new(&gate(fields)).member("ana", &["-t", "ed25519"]);
        let run = team.site.run(&[]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
        let check = team.baton(&["workflow", "check", "flow"]);
        assert_eq!(check.code, Some(1), "{check:?}");
        assert!(check.stdout.contains("gate-approvers"), "{check:?}");
    }
    let team = Team::new(&gate("signed: true")).member("ana", &["-t", "ed25519"]);
    team.site.scratch.write("allowed_signers", "# nobody\nana cert-authority ssh-ed25519 AAAA\n");
    let run = team.site.run(&[]);
    assert!(run.code == Some(2) && run.stderr.contains("allowed_signers:2: "), "{run:?}");
}

/// Words before a command that put it into namespaces of its own, where it is root and sees no process above it.
const NESTED: [&str; 2] = ["unshare", "-Urpfm"];

/// Approves in namespaces that anybody can make, unless the machine forbids them. `before` are words before that, `first` is
/// done inside before.
fn nested(team: &Team, before: &[&str], first: &str, more: &str) -> Option<Ended> {
    let words = [before, &NESTED, &["--mount-proc"]].concat();
    let probe = team.site.program(words[0]).args(&words[1..]).arg("true").output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        return None;
    }
    let (shown, home) = (team.shown("ok.1"), team.site.scratch.path("home"));
    let script = format!("{first} {BATON} approve t.ok.1 --yes --shown {shown} {more}");
    let mut command = team.site.program(words[0]);
    command.args(&words[1..]).args(["sh", "-c", &script]).env("HOME", home).stderr(std::process::Stdio::piped());
    let mut process = baton_testbed::Process::spawn(&mut command);
    process.close_input();
    Some(end(&mut process))
}

#[test]
fn nobody_decides_in_namespaces_inside_of_a_cage() {
    let team = Team::new(&gate("type: blocking")).waiting();
    // What a cage takes stays taken, whatever is made inside of it.
    let Some(ended) = nested(&team, &["setpriv", "--no-new-privs"], "", "") else { return };
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.starts_with("error: an agent cannot decide: this process cannot gain new privileges"),
        "{ended:?}"
    );
    assert!(find(&team.site.told(), "ok.1").decided.is_none());
}

#[test]
fn whoever_can_get_no_new_privileges_signs_or_decides_nothing() {
    // Nothing in /proc is asked for it: whoever may mount there could put anything in its place.
    let team = Team::new(&gate("approvers: [ana], at_least: 1")).member("ana", &["-t", "ed25519"]).waiting();
    let approve = |more: &[&str]| {
        let shown = team.shown("ok.1");
        let mut command = team.site.program("setpriv");
        command.args(["--no-new-privs", BATON, "approve", "t.ok.1", "--yes", "--shown", &shown]).args(more);
        let mut process = baton_testbed::Process::spawn(command.stderr(std::process::Stdio::piped()));
        process.close_input();
        end(&mut process)
    };
    let plain = approve(&[]);
    assert_eq!(plain.code, Some(1), "{plain:?}");
    assert!(plain.stderr.starts_with("error: an agent cannot decide: this process cannot gain new"), "{plain:?}");
    let key = team.site.scratch.path("keys/ana").display().to_string();
    let signed = approve(&["--sign", "--key", &key]);
    assert_eq!(signed.code, Some(0), "{signed:?}");
}

#[test]
fn account_in_a_user_namespace_is_nobody_where_people_are_named() {
    let team = Team::new(&gate("approvers: [kim, ana], at_least: 2")).member("ana", &["-t", "ed25519"]).waiting();
    team.site.scratch.write("passwd", "kim:x:0:0::/:/bin/sh\n");
    let forged = format!("mount --bind {} /etc/passwd &&", team.site.scratch.path("passwd").display());
    let Some(ended) = nested(&team, &[], &forged, "") else { return };
    let outside = format!("uid {} in a user namespace", rustix::process::getuid().as_raw());
    team.is_refused(&ended, &format!("{outside}: only an account or a signature can decide here"));
    assert!(ended.stderr.contains("hint: sign the decision with --sign"), "{ended:?}");
    // A signature counts wherever it was made.
    let signing = format!("--sign --key {}", team.site.scratch.path("keys/ana").display());
    let signed = nested(&team, &[], "", &signing).expect("as before");
    assert!(signed.stdout.contains("1 of 2: ana"), "{signed:?}");
}

#[test]
fn gate_without_approvers_is_decided_in_a_container_and_the_user_outside_is_recorded() {
    let team = Team::new(&gate("type: blocking")).waiting();
    let Some(ended) = nested(&team, &[], "", "") else { return };
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let decide = find(&team.site.told(), "ok.1").decided.clone().expect("decided");
    let outside = format!("uid {} in a user namespace", rustix::process::getuid().as_raw());
    assert_eq!((decide.by, decide.known), (outside, HowKnown::Unproven));
}

#[test]
fn agent_with_process_numbers_of_its_own_decides_nothing() {
    // It sees the processes of the machine, but believes to be another one of them.
    let site = Site::new();
    let root = site.scratch.root().display().to_string();
    let state = format!("XDG_STATE_HOME={}", baton_testbed::state_home(site.scratch.root()).display());
    let words = format!("unshare -Urpf env -i {state} {BATON} approve t.ok.1 --yes --shown 000000000000");
    let body = format!(
        "done = subprocess.run({words:?}.split(), cwd={root:?}, capture_output=True, text=True, stdin=subprocess.DEVNULL)\n\
         write('told', done.stderr)\nreport()"
    );
    let flow = "name: hostile\nsandbox: off\nagents: {dev: {command: [./dev.py]}}\n\
                phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the parser]}}]\n";
    let site = site.workflow(flow).agent("dev", &body);
    assert_eq!(site.run(&[]).code, Some(3));
    let told = site.read(site.scratch.path("workspace/told"));
    let is_possible = !told.contains("unshare failed") && !told.contains("Operation not permitted");
    assert!(!is_possible || told.contains("error: an agent cannot decide: this process "), "{told}");
}
