//! How long it takes to make the prompt of an agent: small, with notes and data, and cut to a budget.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use baton_engine::handoff::{About, Note};
use baton_engine::prompt::{Briefing, ReportTo, render};
use baton_protocol::Dialect;
use baton_protocol::model::Request;
use baton_protocol::model::request::{Context, Party};

const ROUNDS: usize = 1_000;

fn main() {
    println!("| prompt | dialect | tokens | median |");
    println!("|---|---|--:|--:|");
    let short = request("The importer reads 12 fields; rows without an id stay in a list of their own.");
    let long = request(&"The importer reads 12 fields of each row. ".repeat(2_000));
    let notes: Vec<Note> = (0..20).map(note).collect();
    for dialect in Dialect::ALL {
        measure("small", &briefing(dialect, &short, &[]));
    }
    measure("20 notes", &briefing(Dialect::PhaseBlock, &short, &notes));
    measure("20,000 tokens", &briefing(Dialect::PhaseBlock, &long, &notes));
    let cut = Briefing { budget_tokens: Some(4_000), ..briefing(Dialect::PhaseBlock, &long, &notes) };
    measure("20,000 tokens cut to 4,000", &cut);
}

fn measure(name: &str, briefing: &Briefing<'_>) {
    let tokens = render(briefing).expect("a prompt").tokens;
    let mut rounds: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            black_box(render(black_box(briefing)).expect("a prompt"));
            begin.elapsed()
        })
        .collect();
    rounds.sort_unstable();
    println!("| {name} | {} | {tokens} | {:.0?} |", briefing.dialect, rounds[ROUNDS / 2]);
}

fn note(number: usize) -> Note {
    let text = format!("Remark {number}: the names of the fields must be those of the interface.");
    Note::new(About::Feedback, "maria", text)
}

fn request(summary: &str) -> Request {
    Request {
        id: Some("run-7.implementation".to_owned()),
        timestamp: Some("2026-05-04T08:15:30Z".to_owned()),
        from: Some(Party { agent: Some("lead".to_owned()), ..Party::default() }),
        instructions: Some("Write the importer after architecture.md, tests first.".to_owned()),
        context: Some(Context { summary: Some(summary.to_owned()), ..Context::default() }),
        ..Request::default()
    }
}

fn briefing<'a>(dialect: Dialect, request: &'a Request, notes: &'a [Note]) -> Briefing<'a> {
    Briefing {
        workflow: "import",
        phase: "implementation",
        agent: "developer",
        role: None,
        handoff: Some("run-7.implementation"),
        dialect,
        request,
        handovers: &[],
        index: None,
        memory: None,
        notes,
        last_failure: None,
        attempt: 1,
        fetches_files: false,
        judges: None,
        mandatory_skills: &[],
        output_directory: "out/import",
        attempt_folder: ".baton/runs/run-7/implementation/1",
        profile: None,
        report_to: ReportTo::File,
        acknowledge: false,
        acknowledge_within: None,
        checks: &[],
        writes: None,
        reasons: &[],
        delimiter: "k7Qz2m9XwB4t",
        template: None,
        budget_tokens: None,
    }
}
