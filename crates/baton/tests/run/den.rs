//! A place for hostile agents: they play their tricks, and tell how each ended.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use baton_testbed::Process;
use serde_json::Value;

use crate::site::{BATON, Ended, Site, end};

/// What every trickster begins with: `trick` tries something and remembers how it ended, `tell` hands that in.
pub(crate) const TRICKS: &str = r#"
import errno, fcntl, glob, resource, termios
seen = {}

def trick(name, act):
    try:
        seen[name] = act()
    except OSError as error:
        seen[name] = errno.errorcode.get(error.errno, str(error))

def tell():
    folder = os.environ["BATON_OUTPUT_DIRECTORY"]
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "seen.json"), json.dumps(seen))
    report()
"#;

/// Who runs Baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Me,
    Nobody,
}

pub(crate) fn everybody() -> Vec<Who> {
    if rustix::process::getuid().is_root() { vec![Who::Me, Who::Nobody] } else { vec![Who::Me] }
}

/// Where a copy of the program is, if one is needed.
const COPY: &str = "program/baton";

/// Returns whether everybody may enter all folders on the way to a file.
fn is_open_to_all(path: &Path) -> bool {
    let is_open = |folder: &Path| fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & 0o1 != 0);
    path.ancestors().skip(1).all(is_open)
}

/// A site with a home folder and a store of its own.
pub(crate) struct Den {
    pub(crate) site: Site,
    pub(crate) who: Who,
}

impl Den {
    /// One agent in one phase; `members` are more of the agent, `phase` more of the phase, `rest` more of the workflow.
    pub(crate) fn new(who: Who, (agent, phase, rest): (&str, &str, &str), body: &str) -> Den {
        let flow = format!(
            "name: cage\nagents: {{dev: {{command: [./dev.py], retry: {{max_retries: 1, delay: 0s}}{agent}}}}}\n\
             phases: [{{id: build, agent: dev{phase}}}]\n{rest}"
        );
        let site = Site::with_git().workflow(&flow).agent("dev", &format!("{TRICKS}{body}"));
        site.scratch.write("home/.ssh/id", "secret").folder("records").write("workspace/src/a.txt", "as it was\n");
        if who == Who::Nobody && !is_open_to_all(Path::new(BATON)) {
            site.scratch.folder("program");
            fs::copy(BATON, site.scratch.path(COPY)).expect("the program can be copied");
        }
        Den { site, who }
    }

    /// Returns where whoever runs Baton finds the program: the repository may lie where nobody else may look.
    pub(crate) fn baton_path(&self) -> String {
        let copy = self.path(COPY);
        if copy.exists() { copy.to_string_lossy().into_owned() } else { BATON.to_owned() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.site.scratch.path(path)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&self.baton_path());
        command.args(arguments);
        command
    }

    /// Makes a command that is run by whoever runs Baton, and sees what Baton sees.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = match self.who {
            Who::Me => Command::new(program),
            Who::Nobody => {
                let own = Command::new("chown").args(["-R", "65534:65534"]).arg(self.site.scratch.root()).status();
                assert!(own.expect("chown runs").success());
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
                command
            }
        };
        command.current_dir(self.site.scratch.root()).env("USER", "mallory").env("HOME", self.path("home"));
        command.env_remove("XDG_STATE_HOME").env("BATON_STORE", self.path("records/store.db"));
        command.stderr(Stdio::piped());
        command
    }

    /// Starts the program at a terminal of its own, which belongs to whoever runs it.
    pub(crate) fn at_terminal(&self, arguments: &[&str]) -> Process {
        let mut script = self.program("script");
        script
            .args(["-qec", &[&[self.baton_path().as_str()], arguments].concat().join(" "), "/dev/null"])
            .env("NO_COLOR", "1");
        Process::spawn(&mut script)
    }

    pub(crate) fn baton(&self, arguments: &[&str]) -> Ended {
        let mut process = Process::spawn(&mut self.command(arguments));
        process.close_input();
        end(&mut process)
    }

    pub(crate) fn run(&self) -> Ended {
        self.baton(&RUN_FLOW)
    }

    /// Runs the workflow to its good end, and returns what the agent has seen.
    #[track_caller]
    pub(crate) fn seen(&self) -> Value {
        let ended = self.run();
        assert_eq!(ended.code, Some(0), "{:?}: {}", self.who, ended.stderr);
        self.told()
    }

    /// Returns what the agent has seen.
    pub(crate) fn told(&self) -> Value {
        let text = self.site.scratch.read("workspace/.baton/output/t/seen.json");
        serde_json::from_str(&text).expect("it is JSON")
    }
}

pub(crate) const RUN_FLOW: [&str; 7] = ["run", "flow", "--workspace", "workspace", "--id", "t", "--no-input"];
