//! A little workflow with everything that a run can show: a lie, a review that sends back, help, a phase that is left
//! out, and a gate. Its agents are shell scripts that really write a letter.

use crate::sandbox::{Run, Sandbox};

const WORKFLOW: &str = r#"
name: letter
agents:
  writer: {command: [sh, .baton/writer.sh], report: stdout}
  reviewer: {command: [sh, .baton/reviewer.sh], report: stdout}
  lawyer: {command: [sh, .baton/lawyer.sh], report: stdout}
phases:
  - {id: write, agent: writer, task: Write letter.txt., retry: {max_retries: 2, delay: 0s}}
  - {id: review, agent: reviewer, task: Review letter.txt., on_failure: write}
  - {id: translate, agent: writer, task: Translate it., when: "false"}
  - {id: spelling, check: [grep, -q, Dear, letter.txt]}
  - {id: release, gate: {name: Release, items: [letter.txt], choices: {send: next, burn: stop}}}
routes:
  - {agent: writer, reason: legal_question, to: lawyer}
"#;

/// The first report claims a file that is not there, the second asks a lawyer, the third is honest.
const WRITER: &str = r#"
cat > /dev/null
echo x >> ../writer.count
case $(wc -l < ../writer.count | tr -d ' ') in
1) echo '{"baton": 1, "document": "report", "outcome": "complete", "summary": "letter.txt has three paragraphs.",
  "artifacts": [{"path": "letter.txt", "description": "The letter"}]}' ;;
2) echo '{"baton": 1, "document": "report", "outcome": "blocked", "blocked_reason": "legal_question",
  "attempted": ["Read the law"], "summary": "May the letter promise a refund within 14 days?"}' ;;
*) echo Dear Ana >> letter.txt
  echo '{"baton": 1, "document": "report", "outcome": "complete", "summary": "letter.txt has three paragraphs.",
  "artifacts": [{"path": "letter.txt", "description": "The letter"}], "files_modified": ["letter.txt"],
  "next": {"agent": "printer"}}' ;;
esac
"#;

const REVIEWER: &str = r#"
cat > /dev/null
echo x >> ../reviewer.count
case $(wc -l < ../reviewer.count | tr -d ' ') in
1) echo '{"baton": 1, "document": "report", "outcome": "complete", "verdict": "CHANGES_REQUESTED",
  "summary": "letter.txt: the second paragraph repeats the first."}' ;;
*) echo '{"baton": 1, "document": "report", "outcome": "complete", "verdict": "APPROVED",
  "summary": "letter.txt: nothing is left to change."}' ;;
esac
"#;

/// Thinks for ever, as long as somebody wants that.
const LAWYER: &str = r#"
cat > /dev/null
if [ -e .baton/slow ]; then exec sleep 600; fi
echo '{"baton": 1, "document": "report", "outcome": "complete", "summary": "Yes, the law asks for 14 days at least."}'
"#;

/// Answers the gate.
pub(crate) const ANSWERS: &str = "- {phase: release, answer: send}\n";

/// Where the workflow is, and a workspace beside it.
pub(crate) fn with_letter() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("flow/workflow.yaml", WORKFLOW).write("answers.yaml", ANSWERS);
    for (name, script) in [("writer", WRITER), ("reviewer", REVIEWER), ("lawyer", LAWYER)] {
        // The shell reads them: a program that was written a moment ago may be open in another test's child.
        sandbox.write(&format!("desk/.baton/{name}.sh"), script);
    }
    sandbox
}

/// Runs the workflow as `letter-1`.
pub(crate) fn run_letter(sandbox: &Sandbox, options: &[&str]) -> Run {
    sandbox.baton(&[&["run", "flow", "--workspace", "desk", "--id", "letter-1"], options].concat())
}

/// Hides what differs between runs: times, tokens, and places.
pub(crate) fn settled(sandbox: &Sandbox, text: &str) -> String {
    let root = std::fs::canonicalize(sandbox.path(".")).expect("the folder exists");
    let text = text.replace(root.to_str().expect("a path of text"), "SANDBOX");
    let text = (1..60).rev().fold(text, |text, second| text.replace(&format!("{second}s ago"), "now"));
    text.lines().map(line_settled).collect::<Vec<_>>().join("\n")
}

fn line_settled(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let is_time = |text: &str| text.parse::<f64>().is_ok();
        let is_hash = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (words.last_mut(), word) {
            (Some(number), "ms" | "s") if is_time(number) => *number = "TIME".to_owned(),
            (_, hash) if is_hash(hash) => words.push("HASH".to_owned()),
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}
