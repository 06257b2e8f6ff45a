//! Counts the tokens of prompts: a team of three, in two dialects, first and when a report is repaired. With `--text` it
//! prints the prompts, too.
#![expect(clippy::print_stdout, reason = "it prints its figures")]

use std::time::Duration;

use baton_engine::evidence::CheckCommand;
use baton_engine::handover::Handover;
use baton_engine::prompt::{Briefing, ReportTo, render, render_repair};
use baton_protocol::Dialect;
use baton_protocol::model::Request;
use baton_protocol::model::request::{Expectations, Party, WorkflowState};
use baton_protocol::wire::Label;
use baton_protocol::workflow::{Profile, Skill};

/// What was wrong with a report.
const REASONS: &str = "no handoff block found in the final answer: end the report with the block that was asked for";

struct Phase {
    name: &'static str,
    agent: &'static str,
    task: &'static str,
    deliverable: Option<&'static str>,
    skills: Vec<Skill>,
    writes: Vec<String>,
    checks: Vec<CheckCommand>,
    handovers: Vec<Handover>,
}

fn main() {
    let show = std::env::args().any(|argument| argument == "--text");
    println!("| phase | dialect | first | repair |");
    println!("|---|---|--:|--:|");
    for dialect in [Dialect::MetadataBlock, Dialect::Native] {
        for phase in phases() {
            let request = request(&phase);
            let briefing = briefing(&phase, &request, dialect);
            let prompt = render(&briefing).expect("a prompt");
            let repair = render_repair(&briefing, REASONS).expect("a prompt");
            println!("| {} | {dialect} | {} | {} |", phase.name, prompt.tokens, repair.tokens);
            if show {
                println!("\n{}\n\n{}\n", prompt.text, repair.text);
            }
        }
    }
}

fn phases() -> [Phase; 3] {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let handover = |label: &str, text: &str, file: &str| Handover {
        label: label.to_owned(),
        from: None,
        text: text.to_owned(),
        file: Some(file.to_owned()),
    };
    [
        Phase {
            name: "design",
            agent: "architect",
            task: "Design a word counter in Python: one script, standard library only. Write DESIGN.md.",
            deliverable: Some("DESIGN.md"),
            skills: vec![Skill::named("designing")],
            writes: words("DESIGN.md"),
            checks: Vec::new(),
            handovers: Vec::new(),
        },
        Phase {
            name: "implement",
            agent: "developer",
            task: "Implement DESIGN.md.",
            deliverable: None,
            skills: Vec::new(),
            writes: words("count.py __pycache__/**"),
            checks: vec![CheckCommand {
                name: "tests".to_owned(),
                words: vec!["sh".to_owned(), "-c".to_owned(), "python3 check.py".to_owned()],
                timeout: Duration::from_secs(60),
                ..CheckCommand::default()
            }],
            handovers: vec![handover(
                "design by architect",
                "context: Implement sections 1 and 2 of DESIGN.md; count.py has one function, count_words.\nartifacts:\n- DESIGN.md",
                ".baton/runs/words/design.1/1/report.md",
            )],
        },
        Phase {
            name: "review",
            agent: "reviewer",
            task: "Review count.py against DESIGN.md. Change nothing.",
            deliverable: None,
            skills: Vec::new(),
            writes: Vec::new(),
            checks: Vec::new(),
            handovers: vec![handover(
                "implement by developer",
                "context: count.py counts words on stdin; check.py passes.\nfiles changed:\n- count.py",
                ".baton/runs/words/implement.1/1/report.md",
            )],
        },
    ]
}

fn request(phase: &Phase) -> Request {
    let names = ["design", "implement", "review"];
    let at = names.iter().position(|name| *name == phase.name).unwrap_or_default();
    let labels = |names: &[&str]| names.iter().map(|name| Label::Name((*name).to_owned())).collect();
    Request {
        id: Some(format!("words.{}.1", phase.name)),
        timestamp: Some("2026-05-04T08:15:30Z".to_owned()),
        from: Some(Party { agent: Some("orchestrator".to_owned()), ..Party::default() }),
        to: Some(Party { agent: Some(phase.agent.to_owned()), ..Party::default() }),
        instructions: Some(phase.task.to_owned()),
        expectations: phase
            .deliverable
            .map(|deliverable| Expectations { deliverable: Some(deliverable.to_owned()), ..Expectations::default() }),
        workflow: Some(WorkflowState {
            name: Some("words".to_owned()),
            current_step: Some(Label::Name(phase.name.to_owned())),
            completed_steps: labels(&names[..at]),
            remaining_steps: labels(&names[at + 1..]),
        }),
        ..Request::default()
    }
}

fn briefing<'a>(phase: &'a Phase, request: &'a Request, dialect: Dialect) -> Briefing<'a> {
    Briefing {
        workflow: "words",
        phase: phase.name,
        handoff: request.id.as_deref(),
        dialect,
        handovers: &phase.handovers,
        mandatory_skills: &phase.skills,
        output_directory: ".baton/output/words",
        profile: Some(Profile::Claude),
        attempt_folder: ".baton/runs/words/step.1/1",
        report_to: ReportTo::Answer,
        checks: &phase.checks,
        writes: Some(&phase.writes),
        ..Briefing::plain(phase.agent, request, "k7Qz2m9XwB4t")
    }
}
