//! The team of most cases: an architect, a developer and a reviewer, and what the model says for each of them.

use serde_json::{Value, json};

use super::script::{Answer, Call, NOW, Script};
use super::stage::RUN;
use super::vendor::Vendor;

/// How the agents of a team write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    MetadataBlock,
    Native,
}

impl Dialect {
    pub(crate) const ALL: [Self; 2] = [Self::MetadataBlock, Self::Native];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MetadataBlock => "metadata-block",
            Self::Native => "native",
        }
    }
}

/// What the developer's work must pass.
pub(crate) const CHECK: &str = "test \"$(sh count.sh one two)\" = 2\n";
const COUNTER: &str = "echo $#";

/// Returns an agent of this vendor that may write and run the check.
pub(crate) fn agent(vendor: Vendor, variables: &[&str]) -> Value {
    let arguments: &[&str] = match vendor {
        Vendor::Claude => &[
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash(sh check.sh),Bash(true),Bash(touch:*),Bash(tail:*)",
        ],
        // As root its own sandbox does not start inside of Baton's cage, which is there anyway.
        Vendor::Codex => &["--sandbox", "danger-full-access", "--skip-git-repo-check"],
        Vendor::Gemini => &["--skip-trust", "--approval-mode", "yolo"],
        Vendor::Opencode => &["--auto"],
    };
    json!({
        "profile": vendor.name(), "arguments": arguments, "env": variables, "timeout": "5min",
        "retry": {"max_retries": 1, "delay": "1s"},
    })
}

/// Returns an agent of this vendor that may only read.
pub(crate) fn reader(vendor: Vendor, variables: &[&str]) -> Value {
    let arguments: &[&str] = match vendor {
        Vendor::Claude => &["--permission-mode", "dontAsk"],
        Vendor::Codex => &["--sandbox", "read-only", "--skip-git-repo-check"],
        Vendor::Gemini => &["--skip-trust"],
        Vendor::Opencode => &["--agent", "plan"],
    };
    let mut agent = agent(vendor, variables);
    agent["arguments"] = json!(arguments);
    agent
}

/// Returns a workflow of one phase, `design`, in the dialect that most agents write.
pub(crate) fn design(mut architect: Value) -> Value {
    architect["dialect"] = json!(Dialect::MetadataBlock.name());
    json!({
        "name": "team", "agents": {"architect": architect},
        "phases": [{"id": "design", "agent": "architect", "task": "Design the word counter", "writes": ["DESIGN.md"]}],
    })
}

/// Returns the workflow of three phases.
pub(crate) fn workflow(vendors: [Vendor; 3], dialect: Dialect, variables: &[&str]) -> Value {
    let [mut architect, mut developer, mut reviewer] = vendors.map(|vendor| agent(vendor, variables));
    for agent in [&mut architect, &mut developer, &mut reviewer] {
        agent["dialect"] = json!(dialect.name());
    }
    architect["mandatory_skills"] = json!(["designing"]);
    json!({
        "name": "team",
        "agents": {"architect": architect, "developer": developer, "reviewer": reviewer},
        "phases": [
            {"id": "design", "agent": "architect", "task": "Design the word counter", "writes": ["DESIGN.md"]},
            {
                "id": "implement", "agent": "developer", "task": "Implement the word counter", "writes": ["count.sh"],
                "verify": [{"name": "tests", "run": "sh check.sh"}],
            },
            {"id": "review", "agent": "reviewer", "task": "Review the word counter", "writes": []},
        ],
    })
}

/// Returns what the model says in the three phases.
pub(crate) fn script(dialect: Dialect) -> Script {
    let design =
        vec![skill("designing"), write_design(), Answer::Text(report(dialect, "architect", "design", &["designing"]))];
    let implement = vec![
        write("count.sh", COUNTER),
        shell("sh check.sh"),
        Answer::Text(report(dialect, "developer", "implement", &[])),
    ];
    Script::default()
        .when("Review the word counter", vec![Answer::Text(report(dialect, "reviewer", "review", &[]))])
        .when("Implement the word counter", implement)
        .when("Design the word counter", design)
}

/// Returns the report of the phase `design`.
pub(crate) fn good_report() -> Answer {
    report_with_skills(&[])
}

/// Returns the report of the phase `design`, which claims to have used skills.
pub(crate) fn report_with_skills(skills: &[&str]) -> Answer {
    Answer::Text(report(Dialect::MetadataBlock, "architect", "design", skills))
}

pub(crate) fn write_design() -> Answer {
    write("DESIGN.md", "# Design\n\nCount the arguments.")
}

pub(crate) fn write(path: &str, content: &str) -> Answer {
    Answer::Calls(vec![Call::Write { path: path.to_owned(), content: content.to_owned() }])
}

pub(crate) fn shell(command: &str) -> Answer {
    Answer::Calls(vec![Call::Shell(command.to_owned())])
}

pub(crate) fn skill(name: &str) -> Answer {
    Answer::Calls(vec![Call::Skill(name.to_owned())])
}

/// Returns a report that is true if the script was followed.
pub(crate) fn report(dialect: Dialect, agent: &str, phase: &str, skills: &[&str]) -> String {
    let mut report = match dialect {
        Dialect::MetadataBlock => json!({
            "agent": agent, "output_type": phase, "timestamp": NOW, "feature_directory": format!(".baton/output/{RUN}"), "status": "complete",
            "handoff": {"context": "The word counter prints the number of its arguments; DESIGN.md says why."},
        }),
        Dialect::Native => json!({
            "baton": 1, "document": "report", "id": format!("{RUN}.{phase}.1"), "from": {"agent": agent}, "phase": phase,
            "output_type": phase, "timestamp": NOW, "outcome": "complete", "feature_directory": format!(".baton/output/{RUN}"),
            "summary": "The word counter prints the number of its arguments, as DESIGN.md says and check.sh tests.",
            "next": {"context": "The word counter prints the number of its arguments; DESIGN.md says why."},
        }),
    };
    report["skills_invoked"] = json!(skills);
    if phase == "review" {
        report["verdict"] = json!("APPROVED");
    }
    if dialect == Dialect::Native {
        report["files_modified"] = match phase {
            "design" => json!(["DESIGN.md"]),
            "implement" => json!(["count.sh"]),
            _ => json!([]),
        };
    }
    format!("The work is done.\n\n```json\n{}\n```", serde_json::to_string_pretty(&report).unwrap_or_default())
}
