//! Hostile agents that fill the disk: the run ends, says what is wrong, and its record is sound.

use std::process::{Command, Stdio};

use baton_testbed::Process;

use crate::den::{Den, RUN_FLOW, everybody};
use crate::site::{Ended, end};

/// Runs the workflow in a workspace of four megabytes, which nobody else sees.
fn run_in_a_small_workspace(den: &Den) -> Ended {
    let inner = den.command(&RUN_FLOW);
    let mut command = Command::new("unshare");
    // Only root may mount; everybody else is root in a namespace of users.
    command.arg(if rustix::process::getuid().is_root() { "-m" } else { "-rm" });
    let mount = "mount -t tmpfs -o size=4m,mode=0777 small workspace && exec \"$@\"";
    command.args(["sh", "-c", mount, "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).env_remove("XDG_STATE_HOME");
    command.current_dir(den.site.scratch.root()).stderr(Stdio::piped());
    let mut process = Process::spawn(&mut command);
    process.close_input();
    end(&mut process)
}

#[test]
fn workspace_full_of_small_files_fails_the_attempt_and_not_the_record() {
    let body = "def fill():\n    for number in range(10000):\n        write('small-%d' % number, 'x' * 4096)\n\
        trick('filled', fill)\nprint(seen, file=sys.stderr, flush=True)\ntell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        let ended = run_in_a_small_workspace(&den);
        assert_eq!(ended.code, Some(3), "{who:?}: {}", ended.stderr);
        let shown = den.baton(&["show", "t.build.1"]).stdout;
        let log = den.baton(&["log", "t", "--json"]).stdout;
        assert!(shown.contains("No space left on device"), "{who:?}: {shown}");
        assert!(log.contains("No space left on device"), "{who:?}: {log}");
        assert_eq!(den.baton(&["audit", "verify", "--all"]).code, Some(0), "{who:?}");
    }
}
