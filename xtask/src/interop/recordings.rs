//! The cases that are recorded for each program.

use std::time::Duration;

use super::script::{Answer, Call, Fault, Script};
use super::vendor::Vendor;

/// One session of one program.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) vendor: Vendor,
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<&'static str>,
    /// Variables that differ from the usual ones; an empty one is removed.
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    pub(crate) start: Start,
    pub(crate) script: Script,
    pub(crate) turns: Vec<Prompt>,
    pub(crate) limit: Duration,
}

/// Where the program is started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// In a folder that is not a repository and that nobody trusts.
    Plain,
    InGit,
}

/// The prompt of the program.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) prompt: &'static str,
    /// Whether the session is there already.
    pub(crate) resumes: bool,
    /// The program is killed as soon as this file is there.
    pub(crate) killed_at: Option<&'static str>,
}

const REPORT: &str = "The design is in DESIGN.md.\n\n```json\n{\"agent\": \"architect\", \"status\": \"complete\", \"handoff\": {\"next_agent\": \"developer\", \"context\": \"See DESIGN.md.\"}}\n```";

const FAULTS: &[(&str, Fault)] = &[
    ("unauthorized", Fault::Unauthorized),
    ("forbidden", Fault::Forbidden),
    ("rate-limited", Fault::RateLimited),
    ("limit-with-reset", Fault::LimitWithReset),
    ("overloaded", Fault::Overloaded),
    ("server-error", Fault::ServerError),
    ("out-of-credit", Fault::OutOfCredit),
    ("model-not-found", Fault::ModelNotFound),
    ("context-too-long", Fault::ContextTooLong),
];

/// Returns every recording.
pub(crate) fn all() -> Vec<Recording> {
    Vendor::ALL.into_iter().flat_map(of).collect()
}

fn of(vendor: Vendor) -> Vec<Recording> {
    let mut recordings = vec![
        recording(vendor, "good", vec![write(), report()]),
        recording(vendor, "skill", vec![Answer::Calls(vec![Call::Skill("designing".into())]), report()]),
        recording(vendor, "skill-unknown", vec![Answer::Calls(vec![Call::Skill("no-such-skill".into())]), report()]),
        recording(vendor, "shell-failed", vec![shell("ls no-such-file"), report()]),
        Recording {
            limit: Duration::from_secs(20),
            ..recording(vendor, "stream-cut", vec![Answer::Cut("The design".into())])
        },
        Recording {
            arguments: reader(vendor),
            ..recording(vendor, "permission-refused", vec![write(), say("I was not allowed to write.")])
        },
        Recording { arguments: vec!["--no-such-flag"], ..recording(vendor, "unknown-flag", vec![report()]) },
        subagent(vendor),
        resumed(vendor),
        killed(vendor),
        Recording { turns: vec![then_told("Write a design.")], ..recording(vendor, "session-lost", vec![report()]) },
    ];
    // OpenCode waits an hour if it is told to.
    let endless = |fault| vendor == Vendor::Opencode && fault == Fault::LimitWithReset;
    recordings.extend(FAULTS.iter().map(|(name, fault)| Recording {
        limit: Duration::from_secs(if endless(*fault) { 45 } else { 240 }),
        ..recording(vendor, name, vec![Answer::Fault(*fault)])
    }));
    recordings.extend(subscription_limit(vendor));
    recordings.extend(nobody_answers(vendor));
    recordings.extend(no_key(vendor));
    recordings.extend(untrusted(vendor));
    recordings
}

fn recording(vendor: Vendor, name: &'static str, steps: Vec<Answer>) -> Recording {
    Recording {
        vendor,
        name,
        arguments: writer(vendor),
        environment: Vec::new(),
        start: Start::InGit,
        script: Script::default().when("Write a design", steps),
        turns: vec![told("Write a design.")],
        limit: Duration::from_secs(60),
    }
}

fn subagent(vendor: Vendor) -> Recording {
    let main = vec![
        vec![Answer::Calls(vec![Call::Subagent("Look at the design again.".into())])],
        vec![report()],
        vec![say("The subagent agrees. My report above stands.")],
    ];
    let script = Script::default()
        .when(
            "Look at the design again",
            vec![Answer::Calls(vec![Call::Skill("designing".into())]), shell("true"), say("It is good.")],
        )
        .when_again("Write a design", main);
    Recording { script, ..recording(vendor, "subagent", Vec::new()) }
}

fn resumed(vendor: Vendor) -> Recording {
    let steps = vec![write(), say("The design is written."), report()];
    Recording {
        turns: vec![told("Write a design."), then_told("There is no fenced JSON block at the end of your answer.")],
        ..recording(vendor, "resumed", steps)
    }
}

fn killed(vendor: Vendor) -> Recording {
    let steps = vec![write(), shell("touch started && tail -f started"), report()];
    let turns = vec![
        Prompt { killed_at: Some("started"), ..told("Write a design.") },
        then_told("You were interrupted. Go on."),
    ];
    Recording { turns, ..recording(vendor, "killed", steps) }
}

/// A login instead of a key: only then Claude Code says when a limit ends.
fn subscription_limit(vendor: Vendor) -> Option<Recording> {
    let environment = vec![("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "not-a-token")];
    let steps = vec![Answer::Fault(Fault::LimitWithReset)];
    (vendor == Vendor::Claude).then(|| Recording { environment, ..recording(vendor, "subscription-limit", steps) })
}

/// A permission that a person would be asked for.
fn nobody_answers(vendor: Vendor) -> Option<Recording> {
    let steps = vec![write(), say("I was not allowed to write.")];
    let (arguments, environment) = match vendor {
        Vendor::Claude => (Vec::new(), Vec::new()),
        Vendor::Opencode => (Vec::new(), vec![("OPENCODE_PERMISSION", "{\"edit\":\"ask\"}")]),
        Vendor::Codex | Vendor::Gemini => return None,
    };
    Some(Recording { arguments, environment, ..recording(vendor, "permission-asked", steps) })
}

fn no_key(vendor: Vendor) -> Option<Recording> {
    let variable = match vendor {
        Vendor::Claude => "ANTHROPIC_API_KEY",
        Vendor::Codex => "LOCAL_KEY",
        Vendor::Gemini => "GEMINI_API_KEY",
        // The key is in its settings.
        Vendor::Opencode => return None,
    };
    Some(Recording { environment: vec![(variable, "")], ..recording(vendor, "missing-key", vec![report()]) })
}

fn untrusted(vendor: Vendor) -> Option<Recording> {
    let arguments = match vendor {
        Vendor::Codex => vec!["--sandbox", "workspace-write"],
        Vendor::Gemini => vec!["--approval-mode", "auto_edit"],
        Vendor::Claude | Vendor::Opencode => return None,
    };
    Some(Recording { arguments, start: Start::Plain, ..recording(vendor, "untrusted", vec![report()]) })
}

/// Returns the arguments of an agent that may write and run commands.
fn writer(vendor: Vendor) -> Vec<&'static str> {
    match vendor {
        Vendor::Claude => {
            vec!["--permission-mode", "acceptEdits", "--allowedTools", "Bash(touch:*),Bash(true),Bash(tail:*)"]
        }
        Vendor::Codex => vec!["--sandbox", "workspace-write", "--skip-git-repo-check"],
        Vendor::Gemini => vec!["--skip-trust", "--approval-mode", "yolo"],
        Vendor::Opencode => vec!["--auto"],
    }
}

/// Returns the arguments of an agent that may only read.
fn reader(vendor: Vendor) -> Vec<&'static str> {
    match vendor {
        Vendor::Claude => vec!["--permission-mode", "dontAsk"],
        Vendor::Codex => vec!["--sandbox", "read-only", "--skip-git-repo-check"],
        Vendor::Gemini => vec!["--skip-trust"],
        Vendor::Opencode => vec!["--agent", "plan"],
    }
}

fn told(prompt: &'static str) -> Prompt {
    Prompt { prompt, resumes: false, killed_at: None }
}

fn then_told(prompt: &'static str) -> Prompt {
    Prompt { resumes: true, ..told(prompt) }
}

fn report() -> Answer {
    say(REPORT)
}

fn say(text: &str) -> Answer {
    Answer::Text(text.to_owned())
}

fn write() -> Answer {
    Answer::Calls(vec![Call::Write { path: "DESIGN.md".into(), content: "# Design".into() }])
}

fn shell(command: &str) -> Answer {
    Answer::Calls(vec![Call::Shell(command.to_owned())])
}
