//! Hostile agents in a cage: what they cannot see, change, signal, fill or leave behind.
//!
//! Each plays its tricks as whoever runs the tests and, where that is root, as an ordinary user too.

use std::ffi::OsStr;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::protection::Protection;
use baton_testbed::Process;
use serde_json::{Value, json};

use crate::den::{Den, RUN_FLOW, Who, everybody};
use crate::site::{LONG, end, find, listen};

#[test]
fn helpers_of_agents_and_commands_die_with_them_whatever_they_drop() {
    // Other variables, a session of its own, and parents that are gone: only the kernel knows where it came from.
    let helper = "(env -i PATH=\"$PATH\" setsid sh -c '(exec sleep 600 > alive) & (exec sleep 600 > alive) &' &)";
    for who in everybody() {
        for phase in ["agent", "verify", "check"] {
            let (verify, rest) = match phase {
                "verify" => (format!(", verify: [{{name: v, run: {:?}}}]", format!("{helper}; test -p alive")), ""),
                _ => (String::new(), ""),
            };
            let body = match phase {
                "agent" => format!("subprocess.run(['sh', '-c', {helper:?}])\nreport()"),
                _ => "report()".to_owned(),
            };
            let den = Den::new(who, ("", &verify, rest), &body);
            if phase == "check" {
                let flow = format!("name: cage\nphases: [{{id: build, check: {helper:?}}}]\n");
                den.site.scratch.write("flow/workflow.yaml", flow);
            }
            let alive = den.site.pipe("workspace/alive");
            // Whoever opens the pipe for writing waits for a reader, and the last writer ends it.
            let keeper = std::fs::File::options().read(true).write(true).open(&alive).expect("it opens");
            let ended = den.run();
            assert_eq!(ended.code, Some(0), "{who:?} {phase}: {}", ended.stderr);
            let lines = listen(&alive);
            drop(keeper);
            assert_eq!(lines.rest(LONG), Ok(Vec::new()), "{who:?}: what the {phase} started lives on");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn agent_that_takes_over_the_first_process_of_its_cage_dies_with_the_attempt() {
    let body = format!(
        "report()\n{}\nif os.fork() == 0:\n    os.setsid()\n    escape('alive')\nsignal.pause()",
        include_str!("outlive.py")
    );
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), &body);
        let alive = den.site.pipe("workspace/alive");
        let keeper = std::fs::File::options().read(true).write(true).open(&alive).expect("it opens");
        let ended = den.run();
        assert_eq!(ended.code, Some(0), "{who:?}: {}", ended.stderr);
        let lines = listen(&alive);
        drop(keeper);
        assert_eq!(lines.rest(LONG), Ok(Vec::new()), "{who:?}: it lives on");
    }
}

#[test]
fn store_keys_and_configuration_are_not_there() {
    let body = "records, home = os.path.join(workspace, '../records'), os.environ['HOME']\n\
        trick('store', lambda: len(open(records + '/store.db', 'rb').read()))\n\
        trick('store written', lambda: open(records + '/store.db', 'wb').write(b'x') and None)\n\
        trick('store removed', lambda: os.remove(records + '/store.db'))\n\
        trick('log of the store', lambda: len(open(records + '/store.db-wal', 'rb').read()))\n\
        trick('keys', lambda: os.listdir(home + '/.ssh'))\n\
        trick('keys written', lambda: write(home + '/.ssh/id', 'x'))\n\
        trick('configuration', lambda: len(open(os.path.join(workspace, '../baton.toml'), 'rb').read()))\n\
        tell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        den.site.scratch.write("baton.toml", "[check]\nsummary_tokens = 400\n");
        let seen = den.seen();
        for hidden in ["store", "log of the store", "configuration"] {
            assert!([json!(0), json!("EACCES"), json!("ENOENT")].contains(&seen[hidden]), "{who:?} {hidden}: {seen}");
        }
        assert_eq!(seen["keys"], json!([]), "{who:?}: {seen}");
        for refused in ["store written", "store removed", "keys written"] {
            assert!(seen[refused].is_string(), "{who:?} {refused}: {seen}");
        }
        assert!(den.baton(&["audit", "verify", "--all"]).code == Some(0), "the record is what it was");
    }
}

#[test]
fn what_a_phase_may_not_write_is_read_only() {
    let body = "trick('allowed', lambda: write('src/b.txt', 'x'))\n\
        trick('changed', lambda: write('old.txt', 'x'))\n\
        trick('renamed', lambda: os.rename('old.txt', 'src/old.txt'))\n\
        trick('linked', lambda: os.link('old.txt', 'src/hard.txt'))\n\
        trick('moded', lambda: os.chmod('old.txt', 0o777))\n\
        trick('hook', lambda: write('.git/hooks/pre-commit', 'x'))\n\
        trick('config', lambda: write('.git/config', 'x'))\n\
        trick('made', lambda: write('new.txt', 'x'))\n\
        trick('others', lambda: write('.baton/x', 'x'))\n\
        trick('elsewhere', lambda: write('/etc/baton-was-here', 'x'))\n\
        trick('home', lambda: write('/usr/baton-was-here', 'x'))\n\
        trick('kernel', lambda: os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)))\n\
        tell()";
    for who in everybody() {
        let den = Den::new(who, ("", ", writes: ['src/**']", ""), body);
        let seen = den.seen();
        assert_eq!(seen["allowed"], Value::Null, "{who:?}: {seen}");
        for refused in
            ["changed", "renamed", "linked", "moded", "hook", "config", "made", "others", "elsewhere", "home", "kernel"]
        {
            assert!(seen[refused].is_string(), "{who:?} {refused}: {seen}");
        }
        assert_eq!(den.site.scratch.read("workspace/old.txt"), "as it was\n");
    }
}

#[test]
fn keyrings_of_the_kernel_are_not_there() {
    // `add_key` and `keyctl`, in the order of the architecture that the test runs on.
    let (add, control) = if cfg!(target_arch = "x86_64") { (248, 250) } else { (217, 219) };
    let body = format!(
        "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         def call(*words):\n    ctypes.set_errno(0)\n    libc.syscall(*words)\n    return errno.errorcode.get(ctypes.get_errno())\n\
         seen['added'] = call({add}, b'user', b'baton', b'x', 1, -3)\nseen['looked'] = call({control}, 0, -3, 0)\ntell()"
    );
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), &body);
        assert_eq!(den.seen(), json!({"added": "ENOSYS", "looked": "ENOSYS"}), "{who:?}");
    }
}

#[test]
fn phase_that_may_write_nothing_has_its_output_directory_only() {
    let body =
        "trick('made', lambda: write('new.txt', 'x'))\ntrick('changed', lambda: write('src/a.txt', 'x'))\ntell()";
    for who in everybody() {
        let den = Den::new(who, ("", ", writes: []", ""), body);
        assert_eq!(den.seen(), json!({"made": "EROFS", "changed": "EROFS"}), "{who:?}");
        let prompt = den.site.read(den.site.attempt("build.1", Fence(1)).join("prompt.md"));
        assert!(prompt.contains("Change no file."), "{prompt}");
    }
}

#[test]
fn folder_that_is_not_there_yet_can_be_made_and_what_is_beside_it_stays() {
    let body = "trick('made', lambda: os.makedirs('out/deep'))\ntrick('written', lambda: write('out/deep/a.txt', 'x'))\n\
        trick('changed', lambda: write('src/a.txt', 'x'))\ntrick('replaced', lambda: os.rename('out', 'src'))\ntell()";
    let den = Den::new(Who::Me, ("", ", writes: ['out/**']", ""), body);
    let seen = den.seen();
    assert_eq!((&seen["made"], &seen["written"]), (&Value::Null, &Value::Null), "{seen}");
    assert!(seen["changed"].is_string() && seen["replaced"].is_string(), "{seen}");
}

#[test]
fn link_that_an_earlier_attempt_left_opens_nothing() {
    let body = "if os.environ['BATON_ATTEMPT'] == '1':\n    os.symlink('src', 'out')\n    sys.exit(1)\n\
        trick('through the link', lambda: write('out/a.txt', 'x'))\ntrick('behind it', lambda: write('src/a.txt', 'x'))\n\
        tell()";
    for who in everybody() {
        let den = Den::new(who, ("", ", writes: ['out/**']", ""), body);
        // Whether the link itself may be there is for the evidence to say.
        den.run();
        let seen = den.told();
        assert!(seen["through the link"].is_string() && seen["behind it"].is_string(), "{who:?}: {seen}");
        assert_eq!(den.site.scratch.read("workspace/src/a.txt"), "as it was\n");
    }
}

#[test]
fn phase_without_writes_changes_its_workspace_and_commits() {
    let body = "write('new.txt', 'x')\n\
        commit = 'git add -A && git -c user.name=t -c user.email=t@localhost commit -q -m second'\n\
        seen['committed'] = subprocess.run(['sh', '-c', commit]).returncode\ntell()";
    for who in everybody() {
        assert_eq!(Den::new(who, ("", "", ""), body).seen(), json!({"committed": 0}), "{who:?}");
    }
}

#[test]
fn driver_can_be_neither_seen_nor_killed() {
    let body = "comms = [open(path).read().strip() for path in glob.glob('/proc/[0-9]*/comm')]\n\
        seen['driver'] = 'baton' in comms\n\
        trick('parent', lambda: os.getppid() > 1)\n\
        if os.environ['BATON_ATTEMPT'] == '1':\n    os.kill(-1, signal.SIGKILL)\n    os.kill(os.getpid(), signal.SIGKILL)\n\
        tell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        assert_eq!(den.seen(), json!({"driver": false, "parent": false}), "{who:?}");
    }
}

#[test]
fn fork_bomb_stays_within_its_limit_and_goes_with_the_attempt() {
    let body = "count = 0\ntry:\n    while count < 500:\n        if os.fork() == 0:\n            signal.pause()\n        \
        count += 1\nexcept BlockingIOError:\n    pass\nseen['processes'] = count\ntell()";
    for who in everybody() {
        let den = Den::new(who, (", cage: {processes: 100}", "", ""), body);
        let seen = den.seen();
        // The kernel does not count processes of root.
        let most = if who == Who::Me && rustix::process::getuid().is_root() { 500 } else { 100 };
        assert!(seen["processes"].as_u64().is_some_and(|count| count <= most), "{who:?}: {seen}");
    }
}

#[test]
fn fork_bomb_that_never_ends_is_ended_and_named() {
    let body = "for _ in range(300):\n    try:\n        if os.fork() == 0: signal.pause()\n    except BlockingIOError:\n        \
        pass\nsignal.pause()";
    for who in everybody() {
        let den = Den::new(who, (", timeout: 2s, cage: {processes: 100}", "", ""), body);
        assert_eq!(den.run().code, Some(3), "{who:?}");
        let log = den.baton(&["log", "t"]).stdout;
        assert_eq!(log.matches("failed       TIMEOUT").count(), 2, "{who:?}: both attempts are ended: {log}");
    }
}

#[test]
fn file_cannot_grow_beyond_its_limit() {
    let body = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\ndef fill():\n    with open('src/big', 'wb', 0) as file:\n        \
        for _ in range(64): file.write(b'x' * (1 << 20))\n\
        trick('filled', fill)\nseen['bytes'] = os.path.getsize('src/big')\nos.remove('src/big')\n\
        seen['files'] = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\ntell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", "cage: {file_megabytes: 8, open_files: 99}\n"), body);
        assert_eq!(den.seen(), json!({"filled": "EFBIG", "bytes": 8 << 20, "files": 99}), "{who:?}");
    }
}

#[test]
fn workflow_says_what_else_is_hidden_what_can_be_written_and_whether_there_is_a_network() {
    let body = "import socket\n\
        trick('hidden', lambda: os.listdir('src'))\ntrick('keys', lambda: os.listdir(os.environ['HOME'] + '/.ssh'))\n\
        seen['interfaces'] = [name for _, name in socket.if_nameindex()]\ntell()";
    let cage = ", cage: {hide: [src], write: ['~/.ssh'], network: false}";
    for who in everybody() {
        let seen = Den::new(who, (cage, "", ""), body).seen();
        assert_eq!(seen, json!({"hidden": [], "keys": ["id"], "interfaces": ["lo"]}), "{who:?}");
    }
}

#[test]
fn what_protected_an_attempt_is_recorded_and_its_lack_is_shown_at_gates() {
    let gate = "report()";
    for (rest, recorded) in
        [("", Protection::Bubblewrap), ("sandbox: off\n", Protection::Nothing { why: "sandbox: off".to_owned() })]
    {
        let den = Den::new(Who::Me, ("", ", review: blocking", rest), gate);
        let ended = den.site.run(&[]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(ended.stderr.contains(&recorded.to_string()), "the run says so: {}", ended.stderr);
        let run = den.site.told();
        let build = find(&run, "build.1");
        assert!(matches!(build.handoff.state, State::AwaitingPerson { .. }));
        assert_eq!(build.protection, Some(recorded.clone()));
        let shown = den.site.baton(&["inbox", "--json"]).stdout;
        let is_shown = shown.contains("build: not caged (sandbox: off)");
        assert_eq!(is_shown, !recorded.is_full(), "{shown}");
    }
}

#[test]
fn key_agent_that_no_variable_names_cannot_be_used() {
    let body = "places = open(os.path.join(workspace, 'places')).read().split()\n\
        for place in places:\n    environment = dict(os.environ, SSH_AUTH_SOCK=place)\n    \
        seen[place] = subprocess.run(['ssh-add', '-l'], env=environment, capture_output=True).returncode\ntell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        // As OpenSSH makes it for a log-in, as a password manager does, and where somebody has put it.
        let places =
            [den.path("ssh-Xq7/agent.7"), den.path("home/.1password/agent.sock"), den.path("mine/my-ssh.sock")];
        den.site.scratch.folder("ssh-Xq7").folder("home/.1password").folder("mine");
        let agents: Vec<Process> = places
            .iter()
            .map(|place| {
                let agent = Process::spawn(den.program("ssh-agent").args(["-D", "-a"]).arg(place));
                agent.stdout.find("SSH_AUTH_SOCK", LONG).expect("the agent runs");
                agent
            })
            .collect();
        let lines: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        den.site.scratch.write("workspace/places", lines.join("\n"));
        // It says 1 if it has no keys, and 2 if nobody answers.
        for place in &places {
            let listed = den.program("ssh-add").arg("-l").env("SSH_AUTH_SOCK", place).output().expect("ssh-add runs");
            assert_eq!(listed.status.code(), Some(1), "outside of the cage it answers: {listed:?}");
        }
        let seen = den.seen();
        for line in &lines {
            assert_eq!(seen[line], json!(2), "{who:?}: {seen}");
        }
        agents.into_iter().for_each(|mut agent| agent.terminate());
    }
}

#[test]
fn programs_of_the_user_that_listen_at_a_socket_cannot_be_reached() {
    let body = "import socket\ndef reach(place):\n    client = socket.socket(socket.AF_UNIX)\n    client.connect(place)\n    \
        return 'reached'\n\
        for place in open(os.path.join(workspace, 'places')).read().split():\n    \
        trick(place, lambda: reach(place))\ntell()";
    for who in everybody() {
        for (phase, is_reached) in [("", false), (", cage: {write: [../mux/tmux-7/default]}", true)] {
            let den = Den::new(who, (phase, "", ""), body);
            // A multiplexer where nobody would look for it, an editor, and a daemon.
            let places = ["mux/tmux-7/default", "home/.emacs/server", "run/docker.sock"].map(|place| den.path(place));
            places.iter().for_each(|place| _ = den.site.scratch.folder(place.parent().expect("a folder")));
            let sockets = places.each_ref().map(|place| UnixListener::bind(place).expect("it listens"));
            let lines = places.each_ref().map(|place| place.display().to_string());
            den.site.scratch.write("workspace/places", lines.join("\n"));
            let seen = den.seen();
            assert_eq!(seen[&lines[0]] == json!("reached"), is_reached, "{who:?}: {seen}");
            assert!(lines[1..].iter().all(|line| seen[line] != json!("reached")), "{who:?}: {seen}");
            drop(sockets);
        }
    }
}

#[test]
fn command_changes_nothing_that_coding_agents_keep() {
    let body = "home = os.environ['HOME']\n\
        for name in ['.claude/CLAUDE.md', '.claude/settings.json', '.codex/config.toml', '.gemini/GEMINI.md']:\n    \
        trick(name, lambda: open(os.path.join(home, name), 'w').write('evil'))\ntell()";
    let den = Den::new(Who::Me, ("", ", writes: []", ""), body);
    let home = home_beyond_temporary_folders(den.site.scratch.root().file_name().expect("a name"));
    for folder in [".claude", ".codex", ".gemini"] {
        std::fs::create_dir_all(home.join(folder)).expect("our own folder");
    }
    std::fs::write(home.join(".claude/CLAUDE.md"), "mine").expect("our own file");
    let mut process = Process::spawn(den.command(&RUN_FLOW).env("HOME", &home));
    process.close_input();
    let ended = end(&mut process);
    let left = std::fs::read_to_string(home.join(".claude/CLAUDE.md")).expect("it is there");
    std::fs::remove_dir_all(&home).expect("our own folder");
    assert_eq!((ended.code, left.as_str()), (Some(0), "mine"), "{}", ended.stderr);
    let seen = den.told();
    assert!(seen.as_object().expect("an object").values().all(|outcome| outcome == "EROFS"), "{seen}");
}

/// Makes a home folder with a folder for keys. Temporary files can be changed, those in memory too, so it must not be among
/// them.
fn home_beyond_temporary_folders(name: &OsStr) -> PathBuf {
    let own = std::env::var_os("HOME").map(PathBuf::from);
    let places = [PathBuf::from(env!("CARGO_TARGET_TMPDIR"))].into_iter().chain(own);
    let mut homes = places.filter(|place| !place.starts_with("/tmp") && !place.starts_with("/var/tmp"));
    let made = homes.find_map(|place| {
        let home = place.join(name);
        std::fs::create_dir_all(home.join(".ssh")).is_ok().then_some(home)
    });
    made.expect("a place that is no temporary folder")
}

#[test]
fn bubblewrap_that_cannot_make_namespaces_is_told_and_something_else_protects() {
    let body = "import socket\nhome = os.environ['HOME']\ntrick('keys', lambda: open(home + '/.ssh/id').read())\n\
        trick('notes', lambda: open(home + '/notes').read())\ntrick('changed', lambda: write(home + '/notes', 'x'))\n\
        trick('written', lambda: write('new.txt', 'x'))\n\
        trick('driver', lambda: os.kill(os.getppid(), signal.SIGKILL))\n\
        trick('memory', lambda: open('/proc/%d/mem' % os.getppid(), 'rb').close())\n\
        trick('store', lambda: open(home + '/records/store.db', 'rb').read(1))\n\
        trick('store changed', lambda: open(home + '/records/store.db', 'ab').write(b'x'))\n\
        trick('store replaced', lambda: os.rename(home + '/records', home + '/other'))\n\
        trick('journal of the store', lambda: write(home + '/records/store.db-journal', 'x'))\n\
        trick('kernel', lambda: os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)))\n\
        trick('device', lambda: os.mknod('/tmp/baton-was-here', 0o60600, os.makedev(7, 0)))\n\
        trick('owner', lambda: os.chown(home + '/notes', 1, 1))\n\
        trick('host name', lambda: socket.sethostname('baton-was-here'))\ntell()";
    let den = Den::new(Who::Me, ("", "", ""), body);
    let home = home_beyond_temporary_folders(den.site.scratch.root().file_name().expect("a name"));
    std::fs::write(home.join(".ssh/id"), "secret").expect("our own folder");
    std::fs::write(home.join("notes"), "of mine").expect("our own folder");
    let broken = den.path("programs/bwrap");
    den.site.scratch.write(&broken, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("our own file");
    let path = format!("{}:{}", den.path("programs").display(), std::env::var("PATH").expect("there is a path"));
    std::fs::create_dir(home.join("records")).expect("our own folder");
    let store = home.join("records/store.db");
    let run = |arguments: &[&str]| {
        let mut process =
            Process::spawn(den.command(arguments).env("PATH", &path).env("HOME", &home).env("BATON_STORE", &store));
        process.close_input();
        end(&mut process)
    };
    let ended = run(&RUN_FLOW);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let why = "bubblewrap cannot make namespaces here: No permissions to create new namespace";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains(why) && doctor.stdout.contains("user namespaces"), "{}", doctor.stdout);
    std::fs::remove_dir_all(&home).expect("our own folder");
    let mut seen = den.told();
    // Signals are kept apart by kernels from 6.12 on.
    let killed = seen.as_object_mut().expect("an object").remove("driver");
    assert!(killed.is_some_and(|killed| ["EPERM", "ESRCH"].contains(&killed.as_str().unwrap_or_default())), "it lives");
    assert!(ended.stderr.contains("partly caged by Landlock"), "this kernel has none: {}", ended.stderr);
    // Root has no capability either.
    let readable = json!({"notes": "of mine", "owner": "EPERM", "host name": "EPERM"});
    let written = json!({"written": null});
    for (trick, outcome) in seen.as_object().expect("an object") {
        let expected = readable.get(trick).or(written.get(trick)).cloned().unwrap_or(json!("EACCES"));
        assert_eq!(*outcome, expected, "{trick}: {seen}");
    }
}
