//! Hostile agents at the doors of Baton: its commands, its store, its driver. None of them opens.

use baton_testbed::Process;
use serde_json::{Value, json};

use crate::den::{Den, RUN_FLOW, Who, everybody};
use crate::site::{LONG, end, listen};

/// Something waits for a person here: the run `g`.
fn with_a_gate(den: &Den) -> String {
    den.site.scratch.write("gate/workflow.yaml", "name: gate\nphases: [{id: ok, gate: {items: [the plan]}}]\n");
    assert_eq!(den.baton(&["run", "gate", "--workspace", "workspace", "--id", "g", "--no-input"]).code, Some(3));
    let shown = den.baton(&["show", "g.ok.1", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    shown["question"]["digest"].as_str().expect("a digest").to_owned()
}

#[test]
fn commands_of_baton_decide_claim_and_report_nothing_for_an_agent_whatever_it_drops() {
    let body = r#"
digest, store = open('digest').read(), os.path.join(workspace, '../records/store.db')
BATON = open('program').read()
write('report.json', json.dumps({"baton": 1, "document": "report", "id": os.environ["BATON_HANDOFF_ID"],
                                 "outcome": "complete", "summary": "Wrote the parser and its tests."}))
write('answers.yaml', '- {approve: true}\n')
path = 'PATH=' + os.environ['PATH']
ways = {
    'as it is': [],
    'unmarked': ['env'] + sum((['-u', name] for name in os.environ if name.startswith('BATON_')), []),
    'with nothing': ['env', '-i', path],
    'with the store': ['env', '-i', path, 'BATON_STORE=' + store],
    'with a home': ['env', '-i', path, 'HOME=' + os.environ['HOME'], 'BATON_STORE=' + store],
    'in a session': ['env', '-i', path, 'BATON_STORE=' + store, 'setsid', '--wait'],
}
verbs = {
    'approve': ['approve', 'g.ok.1', '--yes', '--shown', digest],
    'approve as': ['approve', 'g.ok.1', '--yes', '--shown', digest, '--as', 'Ana'],
    'reject': ['reject', 'g.ok.1', 'No.', '--yes', '--shown', digest],
    'answer': ['answer', 'g.ok.1', 'Yes.', '--yes', '--shown', digest],
    'answers': ['inbox', '--answers', 'answers.yaml'],
    'claim': ['claim', '--agent', 'dev'],
    'report': ['report', os.environ['BATON_HANDOFF_ID'], '--fence', os.environ['BATON_FENCE'], 'report.json'],
    'cancel': ['cancel', 'g'],
    'prune': ['prune', '--older-than', '0s', '--yes'],
}
for way, before in ways.items():
    for verb, words in verbs.items():
        ended = subprocess.run(before + [BATON] + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        seen[way + ': ' + verb] = [ended.returncode, ended.stdout.decode()[:300]]
tell()
"#;
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        let digest = with_a_gate(&den);
        den.site.scratch.write("workspace/digest", digest).write("workspace/program", den.baton_path());
        let before = den.baton(&["log", "g", "--json"]).stdout;
        let seen = den.seen();
        let seen = seen.as_object().expect("an object");
        assert_eq!(seen.len(), 54);
        for (trick, ended) in seen {
            // Without anything to read, an inbox is empty; saying so is not a lie.
            let harmless = ended[0] == 0 && (trick.ends_with(": answers") || trick.ends_with(": prune"));
            assert!(ended[0] != 0 || harmless, "{who:?} {trick}: {ended}");
        }
        assert_eq!(den.baton(&["log", "g", "--json"]).stdout, before, "{who:?}: nothing has happened to it");
        let log = den.baton(&["log", "t"]).stdout;
        assert_eq!(log.lines().count(), 8, "{who:?}: nothing but its own report has happened: {log}");
        assert_eq!(den.baton(&["audit", "verify", "--all"]).code, Some(0), "{who:?}");
    }
}

#[test]
fn neither_store_nor_state_is_found_by_any_path() {
    let body = r#"
records, home = os.path.realpath('../records'), os.environ['HOME']
def sizes(paths):
    found = 0
    for path in paths:
        try:
            found += len(open(path, 'rb').read(1 << 16))
        except OSError:
            pass
    return found
names = ['store.db', 'store.db-wal', 'store.db-shm']
seen['by its name'] = sizes(records + '/' + name for name in names)
seen['by roots'] = sizes(root + records + '/' + name for root in glob.glob('/proc/[0-9]*/root') for name in names)
seen['by folders'] = sizes(cwd + '/records/' + name for cwd in glob.glob('/proc/[0-9]*/cwd') for name in names)
seen['by open files'] = len([path for path in glob.glob('/proc/[0-9]*/fd/*') if 'store.db' in os.path.realpath(path)])
seen['by maps'] = len([path for path in glob.glob('/proc/[0-9]*/map_files/*') if 'store.db' in os.path.realpath(path)])
seen['baselines'] = sum(len(files) for _, _, files in os.walk(home + '/.local/state/baton'))
seen['variables'] = sorted(name for name in os.environ if name in ('BATON_STORE', 'XDG_STATE_HOME', 'SSH_AUTH_SOCK'))
os.symlink(records, 'src/records')
seen['by a link'] = sizes('src/records/' + name for name in names)
os.remove('src/records')
trick('by a hard link', lambda: os.link(records + '/store.db', 'src/hard'))
trick('by a name beside it', lambda: os.rename(records, records + '.old'))
for ending in ('', '-wal', '-shm', '-journal'):
    trick('put there' + ending, lambda: write(records + '/store.db' + ending, 'x'))
trick('a folder above', lambda: os.rename(os.path.dirname(workspace), os.path.dirname(workspace) + '.old'))
tell()
"#;
    for who in everybody() {
        let seen = Den::new(who, ("", "", ""), body).seen();
        for nothing in ["by its name", "by roots", "by folders", "by open files", "by maps", "baselines", "by a link"] {
            assert_eq!(seen[nothing], json!(0), "{who:?} {nothing}: {seen}");
        }
        assert_eq!(seen["variables"], json!([]), "{who:?}");
        let refused = seen.as_object().expect("an object").iter().skip(8);
        for (trick, refused) in refused {
            assert!(refused.is_string(), "{who:?} {trick}: {seen}");
        }
    }
}

#[test]
fn driver_whose_number_is_known_is_out_of_reach() {
    let body = r#"
number = int(open('number').readline())
trick('killed', lambda: os.kill(number, signal.SIGKILL))
trick('group killed', lambda: os.kill(-number, signal.SIGKILL))
trick('stopped', lambda: os.kill(number, signal.SIGSTOP))
for name in ('mem', 'environ', 'root', 'cwd', 'fd', 'cmdline'):
    trick(name, lambda: os.stat('/proc/%d/%s' % (number, name)) and None)
tell()
"#;
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        let number = den.site.pipe("workspace/number");
        let mut process = Process::spawn(&mut den.command(&RUN_FLOW));
        process.close_input();
        std::fs::write(&number, format!("{}\n", process.id())).expect("the agent reads it");
        let ended = end(&mut process);
        assert_eq!(ended.code, Some(0), "{who:?}: {}", ended.stderr);
        let seen = den.told();
        for (trick, outcome) in seen.as_object().expect("an object") {
            assert!(outcome == "ESRCH" || outcome == "ENOENT", "{who:?} {trick}: {outcome}");
        }
    }
}

#[test]
fn helper_that_outlives_an_agent_without_a_cage_decides_nothing() {
    // Other variables, a session of its own, and a parent that is gone: nothing shows where it comes from.
    let body = "helper = 'read digest < go; \"$0\" approve t.build.1 --yes --shown $digest --as \"The CTO\" > done 2>&1'\n\
        keep = [name + '=' + os.environ[name] for name in ['PATH', 'HOME']]\n\
        keep += open('keep').read().split('\\n')\n\
        program = keep.pop()\n\
        subprocess.run(['env', '-i', *keep, 'setsid', 'sh', '-c', '(sh -c \\'' + helper + '\\' ' + program + ') &'],\n    \
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\nreport()";
    for who in everybody() {
        let den = Den::new(who, ("", ", review: blocking", "sandbox: off\n"), body);
        let (go, done) = (den.site.pipe("workspace/go"), den.site.pipe("workspace/done"));
        let store = den.path("records/store.db");
        den.site.scratch.write("workspace/keep", format!("BATON_STORE={}\n{}", store.display(), den.baton_path()));
        assert_eq!(den.run().code, Some(3), "{who:?}");
        let shown = den.baton(&["show", "t.build.1", "--json"]).stdout;
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
        let digest = shown["question"]["digest"].as_str().expect("a digest");
        std::fs::write(&go, format!("{digest}\n")).expect("the helper reads it");
        let told = std::fs::read_to_string(&done).expect("the helper writes it");
        assert!(told.contains("an agent cannot decide"), "{who:?}: {told}");
        assert_eq!(den.baton(&["approve", "t.build.1", "--yes", "--shown", digest]).code, Some(0), "a person can");
    }
}

#[test]
fn agent_without_a_cage_that_kills_its_driver_has_not_reported() {
    let body = r#"
alive = open('alive', 'w')
if os.environ['BATON_ATTEMPT'] == '1':
    report(summary='The evil is done.')
    group = os.getpgid(os.getppid())
    os.kill(os.getppid(), signal.SIGKILL)
    os.killpg(group, signal.SIGKILL)
    signal.pause()
report()
"#;
    for who in everybody() {
        let den = Den::new(who, ("", "", "sandbox: off\n"), body);
        let alive = den.site.pipe("workspace/alive");
        let mut process = Process::spawn(&mut den.command(&RUN_FLOW));
        let lines = listen(&alive);
        assert_eq!(process.wait(LONG).expect("it is killed").code(), None, "{who:?}");
        let mut again = Process::spawn(&mut den.command(&["resume", "t", "--no-input"]));
        again.close_input();
        // The first agent is ended; the second waits for somebody who reads, or ends as well.
        assert_eq!(lines.rest(LONG), Ok(Vec::new()), "{who:?}");
        let _reader = std::fs::File::options().read(true).write(true).open(&alive).expect("it opens");
        let ended = end(&mut again);
        assert_eq!(ended.code, Some(0), "{who:?}: {}", ended.stderr);
        let log = den.baton(&["log", "t"]).stdout;
        assert!(log.contains("has died"), "{who:?}: {log}");
        let shown = den.baton(&["show", "t.build.1"]).stdout;
        assert!(!shown.contains("evil") && shown.contains("tries     2 of 2"), "{who:?}: {shown}");
    }
}

#[test]
fn configuration_that_an_agent_puts_above_the_workspace_goes_to_a_person() {
    let body = "write('../baton.toml', '[check]\\nsummary_tokens = 400\\n')\nreport()";
    for phase in ["", ", writes: [a.txt]"] {
        let den = Den::new(Who::Me, ("", phase, ""), body);
        let ended = den.run();
        assert_eq!(ended.code, Some(3), "{phase}: {}", ended.stderr);
        let planted = den.site.scratch.path("baton.toml");
        let told = format!("`{}` was created", planted.display());
        let shown = den.baton(&["show", "t.build.1"]).stdout;
        assert!(shown.contains(&told) && shown.contains("configures Baton"), "{phase}: {shown}");
    }
}

#[test]
fn configuration_that_an_agent_puts_into_the_workspace_goes_to_a_person() {
    let plant = "write('src/baton.toml', '[anchor]\\ncommand = \"touch evil\"\\n')\n";
    let now = format!("{plant}report(files_modified=['src/baton.toml'])");
    let before = format!("if os.environ['BATON_ATTEMPT'] == '1':\n    {plant}    sys.exit(1)\nreport()");
    for (who, body) in everybody().into_iter().flat_map(|who| [(who, &now), (who, &before)]) {
        let den = Den::new(who, ("", "", ""), body);
        let ended = den.run();
        assert_eq!(ended.code, Some(3), "{who:?}: {}", ended.stderr);
        let (shown, log) = (den.baton(&["show", "t.build.1"]).stdout, den.baton(&["log", "t", "--json"]).stdout);
        for told in [shown, log] {
            assert!(
                told.contains("`src/baton.toml` was created") && told.contains("configures Baton"),
                "{who:?}: {told}"
            );
        }
        let named = Den::new(who, ("", ", writes: ['src/baton.toml']", ""), &now);
        assert_eq!(named.run().code, Some(0), "{who:?}: the workflow says that it may");
    }
}
