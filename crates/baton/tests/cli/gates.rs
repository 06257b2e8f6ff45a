//! Stores in which something waits for a person: a review with evidence, a gate, choices at a limit.

use baton_engine::HandoffId;
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Command, Ending, HandIn, Verdict, Verify};
use baton_engine::step::{Role, Step};
use baton_protocol::Dialect;

use crate::documents::REPORT;
use crate::stocked::Stocked;

/// A request for a decision, with items to look at.
pub(crate) const GATE: &str = r#"handoff:
  id: HO-2026-019
  timestamp: "2026-04-16T16:40:00Z"
  from: {agent: architecture}
  to:
    agent: human
    reason: The design goes to implementation, which costs three weeks
  gate: {type: blocking, name: design-approval}
  context:
    summary: Upload design complete with 12 ranked risks, all of rank 4 or 5 have a measure; cost estimate 15 days
    artifacts:
      - path: docs/upload/architecture.md
  validation_request:
    items:
      - Unscanned files are deleted after 6 hours
    options:
      continue: Goes on with two more visits
      revise: Starts to count again
"#;

fn step(role: Role, phase: &str) -> Option<Step> {
    Some(Step { role, phase: phase.to_owned(), visit: 1, within: None, about: None, after: None })
}

/// A decision of a person, in the run `run-7`.
pub(crate) fn with_gate(stocked: &Stocked, id: &str, phase: &str, choices: &[&str]) -> HandoffId {
    let role = if choices.is_empty() { Role::Gate } else { Role::Limit };
    stocked.accept_document(id, "run-7", WrittenDocument::new(Dialect::Package, GATE), |terms| {
        terms.from = "architecture".to_owned();
        terms.to = "human".to_owned();
        terms.step = step(role, phase);
        terms.choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    })
}

/// Work that was refuted once and now waits for approval, with what was seen of it.
pub(crate) fn with_review(stocked: &Stocked, id: &str, phase: &str) -> HandoffId {
    let id = stocked.accept_with(id, "run-7", |terms| {
        terms.verify = true;
        terms.retry.delay_ms = 0;
        terms.step = step(Role::Work, phase);
    });
    let refuted =
        Verdict::Refuted { reasons: "artifact-missing: src/export/csv.rs is not there".to_owned(), for_good: false };
    for (verdict, review) in [(refuted, false), (Verdict::Verified, true)] {
        reported(stocked, &id);
        let fence = stocked.find(&id).expect("there").fence;
        stocked.apply(
            &id,
            Command::Verify(Verify {
                fence,
                verdict,
                examined: examined(),
                evidence: None,
                kept: Vec::new(),
                review,
                repair: false,
                dice: 0.0,
            }),
        );
    }
    id
}

/// Lets the agent report once more.
pub(crate) fn reported(stocked: &Stocked, id: &HandoffId) {
    let fence = stocked.claim(60_000).fence;
    let document = WrittenDocument::new(Dialect::Task, REPORT);
    stocked.apply(id, Command::Report(HandIn::new(fence, Ending::Complete, document)));
}

fn examined() -> Vec<ExaminedClaim> {
    let seen = |rule: &str, claim: &str, verdict, seen: &str, sha256: Option<&str>| ExaminedClaim {
        rule: rule.to_owned(),
        claim: claim.to_owned(),
        verdict,
        seen: seen.to_owned(),
        path: None,
        sha256: sha256.map(str::to_owned),
        mark: None,
        allowed: None,
        asks_person: false,
        kind: None,
    };
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    vec![
        seen("artifact-missing", "made src/export/csv.rs", ClaimFinding::Verified, "1204 bytes", Some(digest)),
        seen("claim-refuted", "tests pass", ClaimFinding::Refuted, "ended with 1\u{1b}[31m", None),
        seen("skill-unproven", "used reading-before-writing", ClaimFinding::Unverifiable, "no transcript", None),
    ]
}

/// Returns the digest of what is to be decided.
pub(crate) fn digest(stocked: &Stocked, id: &HandoffId) -> String {
    stocked.find(id).expect("there").shown().expect("something to decide about").0
}
