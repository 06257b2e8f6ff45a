//! Hostile agents with links: whatever a name leads to, what may not be changed stays, or its change is named.

use baton_engine::State;

use crate::den::{Den, everybody};
use crate::site::{Site, find};

const ONLY_OUT: &str = ", writes: ['out/**']";

/// Runs the workflow: it does not pass, and what was tried is named to whoever looks.
#[track_caller]
fn assert_caught(den: &Den, named: &[&str]) {
    let ended = den.run();
    assert_eq!(ended.code, Some(3), "{:?}: {}", den.who, ended.stderr);
    let shown = den.baton(&["show", "t.build.1"]).stdout;
    let log = den.baton(&["log", "t", "--json"]).stdout;
    for name in named {
        assert!(shown.contains(name), "{:?}: `{name}` is not shown: {shown}", den.who);
        assert!(log.contains(name), "{:?}: `{name}` is not in the record: {log}", den.who);
    }
}

#[test]
fn hard_links_to_what_may_not_be_changed_cannot_be_made() {
    let body = "os.makedirs(os.environ['BATON_OUTPUT_DIRECTORY'], exist_ok=True)\n\
        places = {'allowed': 'out', 'output': os.environ['BATON_OUTPUT_DIRECTORY'], 'temporary': '/tmp', 'home': os.environ['HOME'] + '/.cache'}\n\
        files = {'file': 'old.txt', 'git': '.git/config', 'key': os.environ['HOME'] + '/.ssh/id', 'setting': '../baton.toml'}\n\
        for place, folder in places.items():\n    for name, file in files.items():\n        \
        trick(name + ' from ' + place, lambda: os.link(file, folder + '/hard-' + os.environ['BATON_FENCE'] + str(os.getpid())))\n\
        tell()";
    for who in everybody() {
        let den = Den::new(who, ("", ONLY_OUT, ""), body);
        den.site
            .scratch
            .folder("workspace/out")
            .folder("home/.cache")
            .write("baton.toml", "[check]\nsummary_tokens = 400\n");
        let seen = den.seen();
        for (trick, outcome) in seen.as_object().expect("an object") {
            assert!(
                ["EROFS", "EXDEV", "ENOENT", "EPERM"].iter().any(|code| outcome == code),
                "{who:?} {trick}: {outcome}"
            );
        }
    }
}

#[test]
fn write_through_a_hard_link_that_was_there_is_named() {
    let body = "write('out/hard.txt', 'evil')\nreport(files_modified=['out/hard.txt'])";
    for who in everybody() {
        let den = Den::new(who, ("", ONLY_OUT, ""), body);
        den.site.scratch.folder("workspace/out");
        std::fs::hard_link(den.path("workspace/old.txt"), den.path("workspace/out/hard.txt")).expect("one file system");
        assert_caught(&den, &["`old.txt` was changed", "only `out/**`"]);
    }
}

#[test]
fn write_through_a_link_into_another_folder_is_named_without_a_cage() {
    let body = "if not os.path.islink('out'): os.symlink('src', 'out')\nwrite('out/a.txt', 'evil ' + os.environ['BATON_FENCE'])\n\
        report(artifacts=['out/a.txt'], files_modified=['out/a.txt'])";
    for who in everybody() {
        let den = Den::new(who, ("", ONLY_OUT, "sandbox: off\n"), body);
        assert_caught(&den, &["`src/a.txt` was changed", "only `out/**`"]);
    }
}

#[test]
fn link_in_place_of_an_output_directory_opens_nothing() {
    let body = "folder = os.environ['BATON_OUTPUT_DIRECTORY']\n\
        if os.environ['BATON_ATTEMPT'] == '1':\n    import shutil\n    shutil.rmtree(folder, ignore_errors=True)\n    \
        trick('linked', lambda: os.symlink(os.path.join(workspace, 'src'), folder))\n    sys.exit(1)\n\
        trick('through it', lambda: write(os.path.join(folder, 'a.txt'), 'evil'))\n\
        print(json.dumps(seen), file=sys.stderr)\nreport()";
    for who in everybody() {
        let den = Den::new(who, ("", ", writes: []", ""), body);
        den.run();
        assert_eq!(den.site.scratch.read("workspace/src/a.txt"), "as it was\n", "{who:?}");
    }
}

#[test]
fn folder_that_a_check_swaps_for_a_link_is_named() {
    let body = "os.makedirs('out', exist_ok=True)\n\
        write('out/test.sh', 'mv out aside; ln -s src out; echo evil > out/a.txt')\nreport(files_modified=['out/test.sh'])";
    let phase = ", writes: ['out/**'], verify: [{name: tests, run: 'sh out/test.sh'}]";
    for (who, rest) in everybody().into_iter().flat_map(|who| [(who, ""), (who, "sandbox: off\n")]) {
        let den = Den::new(who, ("", phase, rest), body);
        assert_caught(&den, &["`src/a.txt` was changed while the checks ran"]);
    }
}

#[test]
fn file_that_becomes_a_link_before_the_approval_is_shown_again() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}, ops: {command: [./ops.py]}}\n\
        phases: [{id: build, agent: dev, review: blocking}, {id: ship, agent: ops}]\n";
    let create = "write('migration.sql', 'CREATE TABLE users')\nreport(artifacts=['migration.sql'])";
    for (leads_to, content) in
        [("../evil.sql", "DROP TABLE users"), ("../evil.sql", "CREATE TABLE users"), ("evil.sql", "DROP TABLE users")]
    {
        let site = Site::new().workflow(flow).agent("dev", create).agent("ops", "report()");
        assert_eq!(site.run(&[]).code, Some(3));
        let file = site.scratch.path("workspace/migration.sql");
        std::fs::remove_file(&file).expect("removed");
        std::fs::write(file.parent().expect("a folder").join(leads_to), content).expect("our own folder");
        std::os::unix::fs::symlink(leads_to, &file).expect("our own folder");
        let shown = find(&site.told(), "build.1").handoff.shown().expect("something is shown").0;
        assert_eq!(site.baton(&["approve", "t.build.1", "--yes", "--shown", &shown]).code, Some(0));
        let again = site.resume(&[]);
        assert_eq!(again.code, Some(3), "{leads_to}, {content}: {}", again.stderr);
        assert!(again.stderr.contains("`migration.sql` has changed since it was shown"), "{}", again.stderr);
        assert!(!matches!(site.told().root().handoff.state, State::Completed { .. }));
    }
}

#[test]
fn helper_that_outlives_an_agent_without_a_cage_changes_nothing_that_is_approved() {
    // Other variables, a session of its own, and a parent that is gone: without a cage it gets away.
    let body = "helper = 'read go < go; echo DROP > migration.sql; echo done > done'\n\
        write('migration.sql', 'CREATE TABLE users')\n\
        subprocess.run(['env', '-i', 'PATH=' + os.environ['PATH'], 'setsid', 'sh', '-c', '(' + helper + ') > /dev/null 2>&1 &'])\n\
        report(artifacts=['migration.sql'])";
    for who in everybody() {
        let den = Den::new(who, ("", ", review: blocking", "sandbox: off\n"), body);
        let (go, done) = (den.site.pipe("workspace/go"), den.site.pipe("workspace/done"));
        assert_eq!(den.run().code, Some(3), "{who:?}");
        std::fs::write(&go, "go\n").expect("the helper reads it");
        assert_eq!(std::fs::read_to_string(&done).expect("the helper writes it"), "done\n");
        let shown: serde_json::Value =
            serde_json::from_str(&den.baton(&["show", "t.build.1", "--json"]).stdout).expect("it is JSON");
        let shown = shown["question"]["digest"].as_str().expect("a digest");
        assert_eq!(den.baton(&["approve", "t.build.1", "--yes", "--shown", shown]).code, Some(0), "{who:?}");
        let again = den.baton(&["resume", "t", "--no-input"]);
        assert_eq!(again.code, Some(3), "{who:?}: {}", again.stderr);
        assert!(again.stderr.contains("`migration.sql` has changed since it was shown"), "{}", again.stderr);
        let waiting = den.baton(&["inbox", "--json"]).stdout;
        assert!(waiting.contains("build: not caged (sandbox: off)"), "{who:?}: {waiting}");
    }
}
