//! The examples in the repository: those that are valid and those that are not.

use std::path::Path;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, briefly};

fn examples(folder: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let full = std::fs::canonicalize(path).expect("the examples exist");
    full.to_str().expect("the path is text").to_owned()
}

#[test]
fn every_handoff_is_valid() {
    let run = Sandbox::new().baton(&["check", "--strict", &examples("handoffs")]);
    assert_snapshot!(run, @"
    2 mailbox reports
    1 mailbox request
    1 metadata-block report
    1 package acknowledgment
    2 package requests
    2 phase-block reports
    2 task reports
    1 task request
    ok: 12 of 12 files valid, 0 errors, 0 warnings
    --- exit 0
    ");
}

#[test]
fn what_is_broken_has_the_expected_findings() {
    let (sandbox, folder) = (Sandbox::new(), examples("broken"));
    assert_eq!(sandbox.baton(&["check", &folder]).code, Some(1));
    assert_snapshot!(briefly(&sandbox.check_json(&[&folder])).replace(&folder, "broken"), @"
    broken/package.yaml package request not valid
      9:14 error implicit-context /handoff/context/summary
      9:14 warning vague-summary /handoff/context/summary
      11:5 error delegation-without-deliverable /handoff/expectations/deliverable
      12:9 warning unmeasurable-constraint /handoff/expectations/constraints/0
      14:9 warning unmeasurable-criterion /handoff/expectations/success_criteria/0
    broken/report.json ? ? not valid
      13:1 error unreadable
    broken/review.md metadata-block report not valid
      9:16 warning invented-timestamp /timestamp
      12:13 error blocked-without-attempts /status
      13:21 warning unknown-reason /blocked_reason
      15:19 error blocked-names-next-agent /handoff/next_agent
      16:16 warning vague-context /handoff/context
    ");
}
