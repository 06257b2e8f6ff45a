//! Packages as results: `baton report` and `baton worker` understand them as a run does.

use crate::documents::PACKAGE;
use crate::queue_life::done;
use crate::sandbox::{Run, Sandbox};

/// The answer of a specialist, as seed 002 writes it: no step, back to who asked.
const RETURN: &str = r#"handoff:
  id: HO-2026-040
  timestamp: "2026-04-09T09:12:00Z"
  kind: return
  from: { agent: security-review }
  to: { agent: architecture, reason: The risks are ranked }
  context:
    summary: Ranked 7 threats in docs/upload/threats.md; T-3 (unscanned files) has rank 1 and needs a quarantine folder.
    decisions:
      - { id: D-9, decision: Unscanned files stay 4 hours at most, rationale: The scanner was never down for longer }
"#;

/// A sandbox in which the package was sent and claimed.
fn with_a_package_claimed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", PACKAGE).write("return.yaml", RETURN);
    done(&sandbox, &["send", "package.yaml"]);
    done(&sandbox, &["claim", "--agent", "security-review"]);
    sandbox
}

fn report(sandbox: &Sandbox, text: &str) -> Run {
    sandbox.write("answer.yaml", text);
    sandbox.baton(&["report", "HO-2026-031", "--fence", "1", "answer.yaml"])
}

fn state(sandbox: &Sandbox) -> String {
    done(sandbox, &["show", "HO-2026-031", "--json"]).json()["handoff"]["state"].as_str().expect("a state").to_owned()
}

#[test]
fn a_return_package_completes_its_handoff() {
    let sandbox = with_a_package_claimed();
    let run = report(&sandbox, RETURN);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "HO-2026-031 completed\n"), "{run}");
    let waited = done(&sandbox, &["wait", "HO-2026-031"]);
    assert_eq!(waited.stdout, RETURN, "the journal has it as it was written");
}

#[test]
fn a_package_that_hands_on_completes_its_handoff() {
    let sandbox = with_a_package_claimed();
    let onward = RETURN.replace("kind: return", "kind: sequential").replace("agent: architecture", "agent: backend");
    assert_eq!(report(&sandbox, &onward).stdout, "HO-2026-031 completed\n");
}

#[test]
fn a_delegation_blocks_until_its_result_comes_back() {
    let sandbox = with_a_package_claimed();
    let delegation =
        RETURN.replace("kind: return", "kind: delegation").replace("agent: architecture", "agent: scanner")
            + "  expectations:\n    deliverable: How long the scanner was down in each of the last 12 months\n";
    assert_eq!(report(&sandbox, &delegation).stdout, "HO-2026-031 blocked: delegation\n");
    sandbox.write("help.yaml", PACKAGE.replace("HO-2026-031", "HO-2026-041").replace("security-review", "scanner"));
    done(&sandbox, &["send", "help.yaml", "--returns-to", "HO-2026-031"]);
    done(&sandbox, &["claim", "--agent", "scanner"]);
    sandbox.write("result.yaml", RETURN.replace("agent: security-review", "agent: scanner"));
    done(&sandbox, &["report", "HO-2026-041", "--fence", "1", "result.yaml"]);
    let again = done(&sandbox, &["claim", "--agent", "security-review", "--prompt"]).stdout;
    assert!(again.contains("T-3 (unscanned files) has rank 1"), "what came back is told: {again}");
}

#[test]
fn an_escalation_asks_a_person_and_a_gate_asks_for_review() {
    let sandbox = with_a_package_claimed();
    let escalation = RETURN.replace("kind: return", "kind: escalation").replace("agent: architecture", "agent: human")
        + "    open_questions:\n      - { question: May unscanned files be kept at all?, priority: high }\n";
    assert_eq!(report(&sandbox, &escalation).code, Some(0));
    assert_eq!(state(&sandbox), "awaiting_person");
    let inbox = done(&sandbox, &["inbox"]).stdout;
    assert!(inbox.contains("HO-2026-031"), "{inbox}");
    let sandbox = with_a_package_claimed();
    let gate = RETURN.replace("kind: return", "kind: gate").replace("agent: architecture", "agent: human")
        + "  gate: { type: blocking, name: risks }\n  validation_request: { items: [Is the order of the risks right?] }\n";
    let run = report(&sandbox, &gate);
    assert_eq!(run.code, Some(0), "{run}");
    let shown = done(&sandbox, &["show", "HO-2026-031", "--json"]).json();
    assert_eq!((&shown["handoff"]["state"], &shown["handoff"]["ask"]), (&"awaiting_person".into(), &"review".into()));
}

#[test]
fn a_request_is_never_its_own_answer() {
    let sandbox = with_a_package_claimed();
    let copied = PACKAGE.replace("id: HO-2026-031", "id: HO-2026-032");
    for text in [PACKAGE, copied.as_str()] {
        let run = report(&sandbox, text);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("answer.yaml: this is the request itself, not an answer to it"), "{run}");
    }
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_package_that_is_not_valid_changes_nothing() {
    let sandbox = with_a_package_claimed();
    let run = report(&sandbox, &RETURN.replace("summary:", "sumary:"));
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_worker_takes_a_package_as_the_result() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", PACKAGE).write("return.yaml", RETURN);
    done(&sandbox, &["send", "package.yaml"]);
    done(&sandbox, &["worker", "--agent", "security-review", "--once", "--", "cat", "return.yaml"]);
    assert_eq!(done(&sandbox, &["wait", "HO-2026-031"]).stdout, RETURN);
}
