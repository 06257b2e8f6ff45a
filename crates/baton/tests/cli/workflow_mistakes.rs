//! The mistakes that people make in workflow files, and what they are told.
//!
//! Each is a small file in `fixtures/workflow-mistakes.txt`; `⇥` there is a tab. All answers stand in one snapshot, to be read
//! as somebody who is new to the program would: where it is, what is wrong, and what to write.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const MISTAKES: &str = include_str!("../fixtures/workflow-mistakes.txt");

const NESTED: &str = "name: nested
inputs: {feature: {required: true}, language: {default: Rust}}
agents: {developer: {command: [sh]}}
phases: [{id: build, agent: developer, task: \"{{ inputs.feature }}\"}]
";

#[test]
fn every_mistake_gets_one_answer_with_its_place_and_what_to_write() {
    let sandbox = Sandbox::new();
    sandbox.write("team/nested.yaml", NESTED).write("team/agents/plain.sh", "#!/bin/sh\n");
    sandbox.write("team/agents/dev.sh", "#!/bin/sh\n");
    fs::set_permissions(sandbox.path("team/agents/dev.sh"), Permissions::from_mode(0o755)).expect("its permissions");
    let mut answers = String::new();
    for mistake in MISTAKES.split("=== ").skip(1) {
        let (title, file) = mistake.split_once('\n').expect("a title and a file");
        sandbox.write("team/workflow.yaml", file.replace('⇥', "\t"));
        let answer = sandbox.baton(&["workflow", "check", "team/workflow.yaml"]).stdout;
        let count = answer.lines().filter(|line| line.starts_with("error[") || line.starts_with("warning[")).count();
        assert_eq!(count, 1, "{title}:\n{answer}");
        answers.push_str(&format!("=== {title}\n{}\n\n", answer.trim_end()));
    }
    assert_snapshot!(answers);
}
