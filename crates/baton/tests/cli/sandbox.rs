//! A folder of its own for each test, and the program run in it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use baton_engine::StateFolder;
use baton_testbed::{isolate, state_home};
use serde_json::Value;

/// The program under test.
pub(crate) const BATON: &str = env!("CARGO_BIN_EXE_baton");

/// No run may take longer; every one of them takes a fraction of that.
const TIME_MAX: Duration = Duration::from_secs(120);

/// A temporary folder, removed at the end.
pub(crate) struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("baton-cli-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).expect("the folder can be made");
        Sandbox { root: fs::canonicalize(root).expect("it is there") }
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let full = self.path(path);
        fs::create_dir_all(full.parent().expect("a file has a folder")).expect("the folder can be made");
        fs::write(full, content).expect("the file can be written");
        self
    }

    pub(crate) fn folder(&self, path: &str) -> &Self {
        fs::create_dir_all(self.path(path)).expect("the folder can be made");
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("the file can be read")
    }

    /// Returns the file of the store that the program uses here.
    pub(crate) fn store(&self) -> PathBuf {
        self.store_of("")
    }

    /// Returns the file of the store of a project below.
    pub(crate) fn store_of(&self, project: &str) -> PathBuf {
        let project = self.root.join(project).components().as_path().to_owned();
        self.state().of(&project).join("baton.db")
    }

    /// Returns the state folder that the program uses here.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::at(state_home(&self.root).join("baton"))
    }

    /// Makes a command that sees nothing of the user who runs the tests.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        isolate(&mut command, &self.root).current_dir(&self.root);
        command
    }

    /// Runs the program with these arguments, in the folder, with nothing on standard input.
    pub(crate) fn baton(&self, arguments: &[&str]) -> Run {
        self.baton_with_input(arguments, b"")
    }

    pub(crate) fn baton_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(BATON);
        command.args(arguments);
        run(command, input)
    }

    /// Runs the program in a folder below.
    pub(crate) fn baton_in(&self, folder: &str, arguments: &[&str]) -> Run {
        let mut command = self.command(BATON);
        command.args(arguments).current_dir(self.path(folder));
        run(command, b"")
    }

    /// Runs the program with one more variable in its environment.
    pub(crate) fn baton_with_variable(&self, name: &str, value: &str, arguments: &[&str]) -> Run {
        let mut command = self.command(BATON);
        command.env(name, value).args(arguments);
        run(command, b"")
    }

    /// Runs another program, if there is one of that name.
    pub(crate) fn program_with_input(&self, program: &str, arguments: &[&str], input: &[u8]) -> Option<Run> {
        Command::new(program).arg("--version").output().ok()?;
        let mut command = self.command(program);
        command.args(arguments);
        Some(run(command, input))
    }

    /// Runs the program with so much address space and no more.
    #[cfg(target_os = "linux")]
    pub(crate) fn baton_within(&self, kilobytes: u32, arguments: &[&str]) -> Run {
        let mut command = self.command("sh");
        command.arg("-c").arg(format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"")).arg(BATON).args(arguments);
        run(command, b"")
    }

    /// Checks files with `--json` and returns what was said; the run must have ended in an orderly way.
    pub(crate) fn check_json(&self, arguments: &[&str]) -> Value {
        let run = self.baton(&[&["check", "--json"], arguments].concat());
        assert!(matches!(run.code, Some(0..=2)), "{run}");
        run.json()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A folder that is left behind does not make a test fail.
        let _ = fs::remove_dir_all(&self.root);
        let _ = fs::remove_dir_all(state_home(&self.root));
    }
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let id = child.id();
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let input = input.to_owned();
    // A program that has read enough closes its end; what it answers is what counts.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(TIME_MAX) else {
        baton_testbed::kill(&id.to_string());
        panic!("{command:?} did not end within {TIME_MAX:?}");
    };
    feeder.join().expect("the input was offered");
    Run::from(output.expect("the program can be waited for"))
}

/// How a run ended.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON on stdout ({error}):\n{self}"))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }
}

/// Stdout, stderr and status as one text, for snapshots.
impl std::fmt::Display for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(formatter, "--- stderr\n{}", self.stderr)?;
        }
        match self.code {
            Some(code) => write!(formatter, "--- exit {code}"),
            None => write!(formatter, "--- ended by a signal"),
        }
    }
}

/// Writes the diagnostics of the JSON form as lines: `path:line:column severity code pointer`.
pub(crate) fn briefly(result: &Value) -> String {
    let mut text = String::new();
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    for file in result["files"].as_array().expect("files") {
        let (path, valid) = (word(&file["path"]), if file["valid"] == true { "valid" } else { "not valid" });
        writeln!(text, "{path} {} {} {valid}", word(&file["dialect"]), word(&file["document"])).expect("text");
        for found in file["diagnostics"].as_array().expect("diagnostics") {
            let at = format!("{}:{}", found["line"], found["column"]);
            let (severity, code) = (word(&found["severity"]), word(&found["code"]));
            let line = format!("  {at} {severity} {code} {}", word(&found["pointer"]));
            writeln!(text, "{}", line.trim_end()).expect("text");
        }
    }
    text
}

/// Returns the codes of all diagnostics, in order.
pub(crate) fn codes(result: &Value) -> Vec<String> {
    let files = result["files"].as_array().expect("files").iter();
    files
        .flat_map(|file| file["diagnostics"].as_array().expect("diagnostics"))
        .map(|found| found["code"].as_str().expect("a code").to_owned())
        .collect()
}
