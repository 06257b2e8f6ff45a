//! What every prompt must keep: valid examples, tight fences, a budget.

mod budgets;
mod examples;
mod fences;
mod outlines;
mod own_templates;
mod whole;

use std::time::Duration;

use baton_protocol::Dialect;
use baton_protocol::model::request::{Context, DecisionMade, Expectations, Input, OpenQuestion, Party, WorkflowState};
use baton_protocol::model::terms::QuestionPriority;
use baton_protocol::model::{Artifact, Request};
use baton_protocol::wire::Label;
use baton_protocol::workflow::Skill;
use serde_json::json;

use super::{Briefing, Prompt, ReportTo, render, render_repair, render_resumed};
use crate::evidence::CheckCommand;
use crate::failure::{Code, Failure};
use crate::handoff::{About, Note};
use crate::handover::Handover;

const DELIMITER: &str = "k7Qz2m9XwB4t";

/// Everything that a briefing borrows.
struct Case {
    request: Request,
    notes: Vec<Note>,
    failure: Option<Failure>,
    skills: Vec<Skill>,
    handovers: Vec<Handover>,
    checks: Vec<CheckCommand>,
    writes: Option<Vec<String>>,
}

impl Case {
    /// A phase in the middle of a run, tried for the first time.
    fn usual() -> Case {
        let words = |word: &str| word.split(' ').map(str::to_owned).collect();
        Case {
            request: request(),
            notes: Vec::new(),
            failure: None,
            skills: vec![Skill::named("developing-with-tdd"), Skill::named("verifying-before-completion")],
            handovers: Vec::new(),
            checks: vec![CheckCommand {
                name: "tests_passed".to_owned(),
                words: words("cargo test"),
                timeout: Duration::ZERO,
                ..CheckCommand::default()
            }],
            writes: Some(vec!["src/**".to_owned()]),
        }
    }

    fn say(mut self, about: About, from: &str, text: &str) -> Case {
        self.notes.push(Note::new(about, from, text));
        self
    }

    fn answer(mut self, about: About, from: &str, question: &str, text: &str) -> Case {
        self.notes.push(Note { question: Some(question.to_owned()), ..Note::new(about, from, text) });
        self
    }

    fn fail(mut self, message: &str) -> Case {
        self.failure = Some(Failure::new(Code::timeout(), message.to_owned()));
        self
    }

    fn summary(mut self, summary: &str) -> Case {
        self.request.context.get_or_insert_default().summary = Some(summary.to_owned());
        self
    }

    fn briefing(&self, dialect: Dialect) -> Briefing<'_> {
        Briefing {
            workflow: "mcp-wrapper",
            phase: "tools/get-issue/implementation",
            agent: "tool-developer",
            role: Some("You write wrappers in TypeScript."),
            handoff: self.request.id.as_deref(),
            dialect,
            request: &self.request,
            handovers: &self.handovers,
            fetches_files: false,
            index: None,
            memory: None,
            notes: &self.notes,
            last_failure: self.failure.as_ref(),
            attempt: 1 + u32::from(self.failure.is_some() || !self.notes.is_empty()),
            judges: None,
            mandatory_skills: &self.skills,
            output_directory: "out/mcp-wrapper/get-issue",
            attempt_folder: ".baton/runs/run-7/get-issue.implementation/1",
            profile: None,
            report_to: ReportTo::File,
            acknowledge: dialect == Dialect::Package,
            acknowledge_within: None,
            checks: &self.checks,
            writes: self.writes.as_deref(),
            reasons: &[],
            delimiter: DELIMITER,
            template: None,
            budget_tokens: None,
        }
    }

    fn prompt(&self, dialect: Dialect) -> Prompt {
        render(&self.briefing(dialect)).expect("a prompt")
    }
}

fn request() -> Request {
    let text = |text: &str| Some(text.to_owned());
    let name = |name: &str| Label::Name(name.to_owned());
    let context = Context {
        summary: text("get-issue takes an issueId and answers with 850 tokens, of which 40 are needed."),
        artifacts: vec![Artifact::bare("out/mcp-wrapper/architecture.md".to_owned())],
        decisions: vec![DecisionMade {
            id: text("D-1"),
            decision: text("Keep id, title, state and assignee"),
            rationale: text("nobody reads the rest"),
        }],
        open_questions: vec![OpenQuestion {
            question: text("Is the history wanted?"),
            priority: Some(QuestionPriority::Low),
            context: None,
            options: Vec::new(),
        }],
        facts: json!({ "token_reduction": 0.95 }).as_object().cloned().unwrap_or_default(),
        ..Context::default()
    };
    Request {
        id: text("run-7.get-issue.implementation"),
        timestamp: text("2026-05-04T08:15:30Z"),
        from: Some(Party { agent: text("tool-lead"), ..Party::default() }),
        to: Some(Party { agent: text("tool-developer"), ..Party::default() }),
        instructions: text("Implement the wrapper for get-issue after architecture.md, tests first."),
        context: Some(context),
        expectations: Some(Expectations {
            deliverable: text("The wrapper and its unit tests"),
            constraints: vec!["No new dependency".to_owned()],
            success_criteria: vec!["Unit tests cover at least 80 % of the lines".to_owned()],
            ..Expectations::default()
        }),
        workflow: Some(WorkflowState {
            name: text("mcp-wrapper"),
            current_step: Some(name("implementation")),
            completed_steps: vec![name("architecture")],
            remaining_steps: vec![name("review")],
        }),
        input: Some(Input { schema: None, data: Some(json!({ "tool": { "name": "get-issue" } })) }),
        ..Request::default()
    }
}
