//! `baton doctor --agents`: coding agents that a run would stumble over are found before it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{BATON, Run, Sandbox, run};

/// What the real programs printed, by the name of the recording.
macro_rules! recorded {
    ($name:literal) => {
        Recorded {
            stdout: include_str!(concat!("../../../baton-agents/tests/recorded/", $name, ".jsonl")),
            stderr: include_str!(concat!("../../../baton-agents/tests/recorded/", $name, ".stderr")),
            exit: include_str!(concat!("../../../baton-agents/tests/recorded/", $name, ".exit")),
        }
    };
}

struct Recorded {
    stdout: &'static str,
    stderr: &'static str,
    exit: &'static str,
}

/// A machine with some coding agents on it.
struct Machine {
    sandbox: Sandbox,
}

impl Machine {
    fn new() -> Machine {
        let sandbox = Sandbox::new();
        sandbox.folder("bin");
        Machine { sandbox }
    }

    /// Installs a program that says its version, and for the rest what a real one has said.
    fn with(self, program: &str, version: &str, says: &Recorded) -> Machine {
        let (stdout, stderr) = (format!("bin/{program}.out"), format!("bin/{program}.err"));
        self.sandbox.write(&stdout, says.stdout).write(&stderr, says.stderr);
        let folder = self.sandbox.path("bin");
        let folder = folder.display();
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\ncat > /dev/null\n\
             cat '{folder}/{program}.out'\ncat '{folder}/{program}.err' >&2\nexit {}\n",
            says.exit.trim()
        );
        let path = self.sandbox.path("bin").join(program);
        fs::write(&path, script).expect("the program can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        self
    }

    /// Asks the agents of a workflow, with variables that are set here.
    fn doctor(&self, agents: &str, variables: &[(&str, &str)]) -> Run {
        let workflow = format!("name: w\nagents: {{{agents}}}\nphases: [{{id: x, agent: a}}]\n");
        self.sandbox.write("workflow.yaml", workflow);
        let mut command = self.sandbox.command(BATON);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.sandbox.path("bin").display());
        command.env("PATH", path).envs(variables.iter().copied()).args(["doctor", "--agents", "--json"]);
        run(command, b"")
    }
}

/// Returns what was said about the agents: the verdict, the message and the hint.
fn told(run: &Run) -> Vec<(String, String, String)> {
    let result = run.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = result["checks"].as_array().expect("checks").iter().filter(|check| check["name"] == "agent");
    checks.map(|check| (text(&check["verdict"]), text(&check["message"]), text(&check["hint"]))).collect()
}

#[test]
fn agent_that_answers_is_fine_and_needs_no_store() {
    let machine = Machine::new().with("claude", "2.1.325 (Claude Code)", &recorded!("claude/good"));
    let run = machine.doctor("a: {profile: claude}, b: {command: [sh]}", &[]);
    assert_eq!(run.code, Some(0), "{run}");
    let told = told(&run);
    let [(verdict, message, _)] = &told[..] else { panic!("only the profile is asked: {told:?}") };
    assert_eq!(verdict, "fine");
    assert!(message.starts_with("a: claude 2.1.325 answers") && message.contains("2100 tokens"), "{message}");
    assert!(!machine.sandbox.path(".baton").exists(), "nothing is left in the workspace");
}

#[test]
fn every_trouble_of_the_first_attempt_is_found_with_what_to_do_about_it() {
    let rows = [
        ("claude", recorded!("claude/missing-key"), "Not logged in", "ANTHROPIC_API_KEY"),
        ("claude", recorded!("claude/model-not-found"), "selected model", "--model"),
        ("claude", recorded!("claude/unknown-flag"), "--no-such-flag", "arguments"),
        ("codex", recorded!("codex/untrusted"), "trusted directory", "--skip-git-repo-check"),
        ("codex", recorded!("codex/missing-key"), "LOCAL_KEY", "env"),
        ("gemini", recorded!("gemini/untrusted"), "trusted directory", "--skip-trust"),
        ("gemini", recorded!("gemini/missing-key"), "GEMINI_API_KEY", "env"),
        ("opencode", recorded!("opencode/model-not-found"), "claude-sonnet-9", "--model"),
    ];
    for (program, says, message, hint) in rows {
        let run = Machine::new().with(program, "99.0.0", &says).doctor(&format!("a: {{profile: {program}}}"), &[]);
        assert_eq!(run.code, Some(1), "{run}");
        let told = told(&run);
        let [(verdict, said, advice)] = &told[..] else { panic!("{told:?}") };
        assert_eq!(verdict, "wrong", "{run}");
        assert!(said.contains(message) && advice.contains(hint), "{program}: {run}");
        assert!(!said.contains('\u{1b}'), "no colours of the program: {said:?}");
    }
}

#[test]
fn program_that_is_missing_is_named_with_its_package() {
    let run = Machine::new().doctor("a: {profile: opencode}", &[]);
    assert_eq!(run.code, Some(1), "{run}");
    let told = told(&run);
    assert_eq!(told[0].1, "a: opencode is not installed");
    assert!(told[0].2.contains("npm install --global opencode-ai"), "{run}");
}

#[test]
fn key_that_is_set_here_and_not_passed_on_is_named() {
    let machine = Machine::new().with("claude", "2.1.325", &recorded!("claude/missing-key"));
    let key = [("ANTHROPIC_API_KEY", "not-a-key")];
    let kept = told(&machine.doctor("a: {profile: claude}", &key));
    assert!(
        kept[0].1.contains("set here but not passed on: ANTHROPIC_API_KEY; name what it needs in `env`"),
        "{kept:?}"
    );
    for agents in ["a: {profile: claude, env: [ANTHROPIC_API_KEY]}", "a: {profile: claude, env: [ANTHROPIC_*]}"] {
        let passed = told(&machine.doctor(agents, &key));
        assert!(!passed[0].1.contains("not passed on"), "{passed:?}");
    }
}

#[test]
fn agents_get_the_variables_of_the_whole_workflow() {
    let machine = Machine::new().with("claude", "2.1.325", &recorded!("claude/good"));
    let claude = machine.sandbox.path("bin/claude");
    let script = fs::read_to_string(&claude).expect("it is there");
    fs::write(&claude, script.replace("cat > /dev/null\n", "cat > /dev/null\n[ \"$COMPANY_KEY\" = k ] || exit 7\n"))
        .expect("the program can be written");
    let key = [("COMPANY_KEY", "k")];
    assert_eq!(machine.doctor("a: {profile: claude}", &key).code, Some(1), "nothing is passed on");
    let run = machine.doctor("a: {profile: claude}}\nenv: [\"COMPANY_*\"]\noutputs: {", &key);
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn version_that_is_older_than_the_one_that_was_tried_is_a_warning() {
    let machine = Machine::new().with("gemini", "0.9.0", &recorded!("gemini/good"));
    let run = machine.doctor("a: {profile: gemini}", &[]);
    assert_eq!(run.code, Some(0), "a warning is no fault: {run}");
    let told = told(&run);
    assert_eq!((told[0].0.as_str(), told[1].0.as_str()), ("warning", "fine"), "{run}");
    assert!(told[0].1.contains("gemini 0.9.0 is older than 0.61.0"), "{run}");
}
