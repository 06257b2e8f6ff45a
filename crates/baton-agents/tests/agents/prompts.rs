//! What commands are told, and how.

use baton_engine::failure::Transience;
use baton_protocol::workflow::{AgentFields, CommandLine, PromptBy};

use crate::bench::{Bench, answered, failed};

fn by_argument(command: CommandLine) -> AgentFields {
    AgentFields { command: Some(command), prompt: Some(PromptBy::Argument), ..AgentFields::default() }
}

#[test]
fn prompt_is_on_stdin() {
    let bench = Bench::new();
    assert_eq!(bench.answer("cat").text, "Please review.");
    assert_eq!(bench.scratch.read("attempt/prompt.md"), "Please review.");
}

#[test]
fn prompt_is_the_last_argument() {
    let bench = Bench::new();
    bench.program("workflow/echo.sh", "#!/bin/sh\ncat; printf '%s|' \"$@\"\n");
    let words = ["./echo.sh", "--flag"].map(str::to_owned).to_vec();
    let reply = answered(bench.attempt(&bench.agent(&by_argument(CommandLine::Program(words))), &bench.job()));
    assert_eq!(reply.text, "--flag|Please review.|");
    let shell = by_argument(CommandLine::Shell("echo \"$1\"".to_owned()));
    assert_eq!(answered(bench.attempt(&bench.agent(&shell), &bench.job())).text, "Please review.\n");
}

#[test]
fn prompt_that_cannot_be_an_argument_is_refused_for_good() {
    let bench = Bench::new();
    let agent = bench.agent(&by_argument(CommandLine::Shell("printf %s \"$1\" | wc -c".to_owned())));
    let mut job = bench.job();
    job.prompt = "x".repeat(120 * 1024);
    assert_eq!(answered(bench.attempt(&agent, &job)).text.trim(), "122880");
    for prompt in ["x".repeat(120 * 1024 + 1), "a\0b".to_owned()] {
        job.prompt = prompt;
        let failure = failed(bench.attempt(&agent, &job));
        assert_eq!(failure.chance, Transience::Permanent);
        assert!(failure.message.contains("prompt: stdin"), "{failure}");
    }
}

#[test]
fn command_knows_where_it_is_and_what_is_asked() {
    let bench = Bench::new();
    let root = bench.scratch.root().display().to_string();
    let text = bench.answer("pwd; env | grep ^BATON_ | sort; cat $BATON_REQUEST_FILE $BATON_PROMPT_FILE").text;
    let run = bench.job().run.to_string();
    let text = text.replace(&root, "ROOT").replace(&run, "RUN");
    insta::assert_snapshot!(text, @r#"
    ROOT/workspace
    BATON_ACKNOWLEDGMENT_FILE=ROOT/attempt/acknowledgment.yaml
    BATON_AGENT=reviewer
    BATON_ATTEMPT=2
    BATON_FENCE=7
    BATON_HANDOFF_ID=hoff-1
    BATON_NOTES_FILE=ROOT/attempt/notes.json
    BATON_OUTPUT_DIRECTORY=ROOT/workspace/out
    BATON_PHASE=build/review
    BATON_PROMPT_FILE=ROOT/attempt/prompt.md
    BATON_REPORT_FILE=ROOT/attempt/report.md
    BATON_REQUEST_FILE=ROOT/attempt/request.json
    BATON_RUN=RUN
    BATON_WORKFLOW_DIRECTORY=ROOT/workflow
    BATON_WORKSPACE=ROOT/workspace
    {"task_id": "t", "phase": "write"}Please review.
    "#);
}

#[test]
fn request_that_is_no_json_is_yaml() {
    let bench = Bench::new();
    let mut job = bench.job();
    job.request.text = "handoff:\n  from: a\n".to_owned();
    let reply = answered(bench.attempt(&bench.shell("echo $BATON_REQUEST_FILE; cat $BATON_REQUEST_FILE"), &job));
    assert!(reply.text.ends_with("/attempt/request.yaml\nhandoff:\n  from: a\n"), "{}", reply.text);
}

#[test]
fn agent_that_makes_no_sense_is_refused() {
    let bench = Bench::new();
    let refused = |agent: &AgentFields| {
        let made = baton_agents::CommandAgent::new("reviewer", agent, bench.scratch.root(), crate::bench::clock());
        made.expect_err("no agent").to_string()
    };
    assert_eq!(refused(&AgentFields::default()), "agent `reviewer` has no command");
    let empty = AgentFields { command: Some(CommandLine::Program(Vec::new())), ..AgentFields::default() };
    assert_eq!(refused(&empty), "the command of agent `reviewer` is empty");
    let mut odd = AgentFields { command: Some(CommandLine::Shell("x".to_owned())), ..AgentFields::default() };
    odd.set_env.insert("A".to_owned(), serde_json::json!({"b": 1}));
    assert_eq!(refused(&odd), "agent `reviewer`: the variable A must be text");
}
