//! What people approve is what was looked at: files that change before anything follows are shown again, and whoever
//! decides elsewhere sees the files themselves.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;

use baton_engine::State;
use baton_engine::run::Run;

use crate::site::{Ended, Site, find};

const REVIEWED: &str = "name: gates\nagents: {dev: {command: [./dev.py]}, ops: {command: [./ops.py]}}\n\
    phases: [{id: build, agent: dev, review: blocking}, {id: ship, agent: ops}]\n";

const GATED: &str = "name: gates\nagents: {dev: {command: [./dev.py]}, ops: {command: [./ops.py]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the migration]}}, {id: ship, agent: ops}]\n";

const CREATE: &str = "write('migration.sql', 'CREATE TABLE users')\nreport(artifacts=['migration.sql'])";

fn site(flow: &str) -> Site {
    Site::new().workflow(flow).agent("dev", CREATE).agent("ops", "report()")
}

fn approve(site: &Site, name: &str) -> Ended {
    let shown = find(&site.told(), name).handoff.shown().expect("something is shown").0;
    site.baton(&["approve", &format!("t.{name}"), "--yes", "--shown", &shown])
}

fn is_completed(run: &Run) -> bool {
    matches!(run.root().handoff.state, State::Completed { .. })
}

/// Lets a file change between what was seen and the approval; nothing may follow from that.
fn changed_before_approval(flow: &str, name: &str) {
    let site = site(flow);
    assert_eq!(site.run(&[]).code, Some(3));
    site.scratch.write("workspace/migration.sql", "DROP TABLE users");
    assert_eq!(approve(&site, name).code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("`migration.sql` has changed since it was shown"), "{}", again.stderr);
    let run = site.told();
    assert!(run.latest("ship").is_none(), "nothing has followed");
    let shown = site.baton(&["show", &format!("t.{name}")]).stdout;
    assert!(shown.contains("`migration.sql` has changed since it was shown"), "{shown}");
    // Whoever looks at it as it is now can let it pass.
    assert_eq!(approve(&site, name).code, Some(0));
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(is_completed(&site.told()));
    assert_eq!(site.baton(&["audit", "verify", "t"]).code, Some(0));
}

#[test]
fn reviewed_file_that_changes_before_the_approval_is_shown_again() {
    changed_before_approval(REVIEWED, "build.1");
}

#[test]
fn file_of_the_phase_before_a_gate_that_changes_is_shown_again() {
    changed_before_approval(GATED, "ok.1");
}

#[test]
fn file_that_changes_after_the_approval_and_before_the_next_phase_is_shown_again() {
    let site = site(GATED);
    assert_eq!(site.run(&[]).code, Some(3));
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    std::fs::remove_file(site.scratch.path("workspace/migration.sql")).expect("removed");
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    let shown = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains("it is gone"), "{shown}");
}

#[test]
fn folder_that_changes_is_shown_again() {
    let body = "os.mkdir('migrations')\nwrite('migrations/1.sql', 'CREATE TABLE users')\n\
        report(artifacts=['migrations'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    site.scratch.write("workspace/migrations/2.sql", "DROP TABLE users");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("`migrations` has changed"), "{}", again.stderr);
}

#[test]
fn what_has_not_changed_follows_at_once() {
    for (flow, name) in [(REVIEWED, "build.1"), (GATED, "ok.1")] {
        let site = site(flow);
        assert_eq!(site.run(&[]).code, Some(3));
        assert_eq!(approve(&site, name).code, Some(0));
        let ended = site.resume(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(is_completed(&site.told()));
        let shown = site.baton(&["show", "t.build.1"]).stdout;
        assert!(shown.contains("`migration.sql` exists, 18 bytes"), "the evidence stays: {shown}");
        let decided = site.baton(&["show", &format!("t.{name}"), "--file", "migration.sql"]);
        assert_eq!(decided.stdout, "CREATE TABLE users", "what was decided about can be looked at: {decided:?}");
    }
}

#[test]
fn gate_shows_what_was_seen_of_the_phase_before_it() {
    let site = site(GATED);
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains("`migration.sql` exists, 18 bytes"), "{shown}");
}

#[test]
fn file_is_shown_where_the_workspace_is_not() {
    let site = site(GATED);
    assert_eq!(site.run(&[]).code, Some(3));
    std::fs::remove_dir_all(site.scratch.path("workspace")).expect("removed");
    for id in ["t.ok.1", "t.build.1"] {
        let shown = site.baton(&["show", id, "--file", "migration.sql"]);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "CREATE TABLE users"), "{}", shown.stderr);
    }
    let unknown = site.baton(&["show", "t.ok.1", "--file", "migration.sq"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("did you mean migration.sql?"), "{}", unknown.stderr);
}

#[test]
fn files_are_kept_within_the_limits_of_the_project() {
    let body = "write('small', 'x' * 1000)\nwrite('other', 'y' * 1000)\nwrite('large', 'z' * 3000)\n\
        report(artifacts=['small', 'other', 'large'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    site.scratch.write("baton.toml", "[artifacts]\nfile_kib = 2\nrun_kib = 1\n");
    assert_eq!(site.run(&[]).code, Some(3));
    let kept = |name: &str| site.baton(&["show", "t.ok.1", "--file", name]).code == Some(0);
    assert_eq!([kept("small"), kept("other"), kept("large")], [true, false, false]);
    let large = site.baton(&["show", "t.ok.1", "--file", "large"]);
    assert!(large.stderr.contains("[artifacts] in baton.toml"), "{}", large.stderr);
}

#[test]
fn file_that_is_shown_again_is_kept_as_it_is_now_and_the_log_says_why() {
    let site = site(REVIEWED);
    assert_eq!(site.run(&[]).code, Some(3));
    site.scratch.write("workspace/migration.sql", "DROP TABLE users");
    let approved = approve(&site, "build.1");
    assert!(approved.stderr.contains("baton resume t"), "it says how it goes on: {}", approved.stderr);
    assert_eq!(site.resume(&[]).code, Some(3));
    let now = site.baton(&["show", "t.build.1", "--file", "migration.sql"]);
    assert_eq!((now.code, now.stdout.as_str()), (Some(0), "DROP TABLE users"), "{}", now.stderr);
    let log = site.baton(&["log", "t"]).stdout;
    assert!(log.contains("asked again: `migration.sql` has changed since it was shown"), "{log}");
}

#[test]
fn digest_of_an_earlier_round_does_not_count_although_the_file_is_as_it_was_then() {
    let site = site(REVIEWED);
    assert_eq!(site.run(&[]).code, Some(3));
    let mut digests = Vec::new();
    for content in ["B", "CREATE TABLE users", "B"] {
        digests.push(find(&site.told(), "build.1").handoff.shown().expect("something is shown").0);
        site.scratch.write("workspace/migration.sql", content);
        assert_eq!(approve(&site, "build.1").code, Some(0));
        assert_eq!(site.resume(&[]).code, Some(3));
    }
    for old in digests {
        assert_eq!(site.baton(&["approve", "t.build.1", "--yes", "--shown", &old]).code, Some(1));
    }
}

#[test]
fn what_a_link_in_an_approved_folder_leads_to_belongs_to_it() {
    let body = "os.mkdir('out')\nwrite('payload', 'good')\nos.symlink('../payload', 'out/link')\n\
        report(artifacts=['out', 'payload'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    site.scratch.write("workspace/payload", "evil");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let again = site.resume(&[]);
    assert!(again.stderr.contains("`out` has changed"), "{}", again.stderr);
}

/// Changes a file.
fn evil(path: &'static str) -> impl Fn(&Site) {
    move |site| {
        site.scratch.write(path, "evil");
    }
}

/// Lets an agent leave something that is approved, changes it, and returns whether that is noticed.
fn is_noticed(body: &str, change: impl Fn(&Site)) -> bool {
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    change(&site);
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let ended = site.resume(&[]);
    assert!(matches!(ended.code, Some(0 | 3)), "{}", ended.stderr);
    ended.code == Some(3)
}

#[test]
fn folder_behind_a_link_in_an_approved_folder_belongs_to_it_and_loops_end() {
    let body = "os.makedirs('out/deep')\nos.makedirs('sub')\nwrite('sub/y', 'good')\n\
        os.symlink('../sub', 'out/dir')\nos.symlink('../out', 'sub/back')\nos.symlink('..', 'out/deep/up')\n\
        os.symlink('nowhere', 'out/broken')\nreport(artifacts=['out'])";
    assert!(is_noticed(body, evil("workspace/sub/y")));
    assert!(!is_noticed(body, |_| {}), "what has not changed follows at once");
}

#[test]
fn link_that_leads_out_of_the_workspace_is_told_as_open() {
    let body =
        "os.mkdir('out')\nwrite('out/x', 'x')\nos.symlink('/etc/hostname', 'out/host')\nreport(artifacts=['out'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    let gate = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(gate.contains("? `out` exists") && gate.contains("`host` in it points outside the workspace"), "{gate}");
    assert!(!gate.contains("✓ `out`"), "{gate}");
}

fn with_mode(path: &'static str, mode: u32) -> impl Fn(&Site) {
    move |site: &Site| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(site.scratch.path(path), permissions).expect("our own file");
    }
}

#[test]
fn file_that_runs_as_its_owner_after_the_approval_is_shown_again() {
    let tool = "os.mkdir('out')\nwrite('out/tool', 'ls')\nos.chmod('out/tool', 0o755)\n\
                write('tool', 'ls')\nos.chmod('tool', 0o755)\n";
    for (artifact, path) in [("out", "workspace/out/tool"), ("tool", "workspace/tool")] {
        let agent = format!("{tool}report(artifacts=['{artifact}'])");
        assert!(is_noticed(&agent, with_mode(path, 0o4755)), "{path}");
    }
}

#[test]
fn file_that_can_be_run_after_the_approval_is_shown_again() {
    let executable = |path: &'static str| with_mode(path, 0o755);
    let folder = "os.mkdir('out')\nwrite('out/tool', 'rm -r /')\nreport(artifacts=['out'])";
    assert!(is_noticed(folder, executable("workspace/out/tool")));
    assert!(is_noticed("write('tool', 'rm -r /')\nreport(artifacts=['tool'])", executable("workspace/tool")));
}

#[test]
fn what_is_too_large_to_hash_is_compared_by_size_and_time() {
    let large = "write('large', 'A')\nos.truncate('large', 1100 * 1024 * 1024)\nreport(artifacts=['large'])";
    assert!(is_noticed(large, |site| {
        let file = std::fs::File::options().write(true).open(site.scratch.path("workspace/large")).expect("ours");
        std::os::unix::fs::FileExt::write_all_at(&file, b"EVIL", 0).expect("written");
    }));
    let many = "os.mkdir('many')\nfor n in range(10050): write(f'many/{n}', '')\nwrite('many/1', 'good')\n\
        report(artifacts=['many'])";
    assert!(is_noticed(many, evil("workspace/many/1")));
    assert!(!is_noticed(many, |_| {}));
}

#[test]
fn whole_workspace_can_be_approved_and_baton_does_not_change_it() {
    let body = "write('a', 'good')\nos.makedirs('sub/.git')\nwrite('sub/.git/x', 'good')\nreport(artifacts=['.'])";
    assert!(is_noticed(body, evil("workspace/a")));
    assert!(is_noticed(body, evil("workspace/sub/.git/x")));
    assert!(!is_noticed(body, |_| {}));
}

#[test]
fn what_baton_writes_into_an_approved_folder_is_not_a_change() {
    for named in ["os.path.join('.baton/output/t')", "'.baton/output'", "'.baton'", "'.'", "'state/current.json', 'm'"]
    {
        let flow = format!("{REVIEWED}views: [manifest, state, registry, phase-status]\n");
        let body = format!(
            "write(os.path.join(os.environ['BATON_OUTPUT_DIRECTORY'], 'x'), 'good')\nos.makedirs('state', exist_ok=True)\n\
             write('state/current.json', 'mine')\nwrite('m', 'good')\nreport(artifacts=[{named}])"
        );
        let site = Site::new().workflow(&flow).agent("dev", &body).agent("ops", "report()");
        assert_eq!(site.run(&[]).code, Some(3));
        assert!(site.scratch.path("workspace/.baton/output/t/MANIFEST.yaml").exists());
        assert_eq!(approve(&site, "build.1").code, Some(0));
        let ended = site.resume(&[]);
        assert_eq!(ended.code, Some(0), "{named}: {}", ended.stderr);
    }
    let flow = format!("{REVIEWED}views: [manifest]\n");
    let body = "write(os.path.join(os.environ['BATON_OUTPUT_DIRECTORY'], 'x'), 'good')\nreport(artifacts=['.baton'])";
    let site = Site::new().workflow(&flow).agent("dev", body).agent("ops", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    site.scratch.write("workspace/.baton/output/t/x", "evil");
    assert_eq!(approve(&site, "build.1").code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3), "what the agent has put there is bound");
}

#[test]
fn gate_covers_what_a_phase_left_that_failed_and_was_let_pass() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}, ops: {command: [./ops.py]}}\n\
        phases:\n  - {id: code, agent: dev, writes: [code.sql, more.sql]}\n\
        \x20 - {id: ok, gate: {items: [the migration]}}\n  - {id: ship, agent: ops}\n";
    let site = site(flow).agent("dev", "write('code.sql', 'CODE')\nsys.exit(3)");
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = find(&site.told(), "code.failure.1").handoff.shown().expect("something is shown").0;
    let passed = site.baton(&["answer", "t.code.failure.1", "continue", "--yes", "--shown", &shown]);
    assert_eq!(passed.code, Some(0), "{passed:?}");
    let asked = site.resume(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let shown = site.baton(&["show", "t.ok.1"]).stdout;
    let failed = "✗ `code` failed, and was let pass, PROCESSING_ERROR: the command ended with 3";
    assert!(shown.contains(failed), "{shown}");
    assert!(shown.contains("? `code.sql` was left by code, which failed, it is covered as it is now"), "{shown}");
    assert!(shown.contains("? `more.sql` does not exist: code, which failed, has not made it"), "{shown}");
    assert_eq!(site.baton(&["show", "t.ok.1", "--file", "code.sql"]).stdout, "CODE");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    site.scratch.write("workspace/code.sql", "EVIL");
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("`code.sql` has changed since it was shown"), "{}", again.stderr);
    site.scratch.write("workspace/more.sql", "EVIL");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("`more.sql` has changed since it was shown"), "{}", again.stderr);
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
}

#[test]
fn large_sparse_file_that_is_changed_through_memory_is_shown_again() {
    let site = site(GATED).agent("dev", "report(artifacts=['big.bin'])");
    let file = std::fs::File::create(site.scratch.path("workspace/big.bin")).expect("our own folder");
    file.set_len(16 * 1024 * 1024).expect("it has holes only");
    let mapper = "import mmap, sys\nfile = open('big.bin', 'r+b')\nmemory = mmap.mmap(file.fileno(), 0)\n\
        for letter in (b'A', b'Z'):\n    memory[0:1] = letter\n    print(flush=True)\n    sys.stdin.readline()";
    let mut mapper = std::process::Command::new("python3")
        .args(["-c", mapper])
        .current_dir(site.scratch.path("workspace"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python is there");
    let (mut tell, told) = (mapper.stdin.take().expect("piped"), mapper.stdout.take().expect("piped"));
    let mut told = std::io::BufReader::new(told).lines();
    told.next().expect("it has written").expect("a line");
    assert_eq!(site.run(&[]).code, Some(3));
    tell.write_all(b"\n").expect("it reads");
    told.next().expect("it has written again").expect("a line");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("`big.bin` has changed since it was shown"), "{}", again.stderr);
    drop(tell);
    mapper.wait().expect("it ends");
}
