//! A plan that somebody has rejected and that is asked about again.

use baton_engine::HandoffId;
use baton_engine::engine::{EarlierQuestion, RunRecord};
use baton_engine::evidence::ClaimFinding;
use baton_engine::lifecycle::Decision;
use baton_page::exhibit::{Exhibit, ExhibitContent};
use serde_json::json;

use super::stage::Stage;
use super::{claim, waiting};

/// A run whose plan was rejected, and is there once more.
pub(crate) fn asked_again(id: &str, poison: &str) -> Stage {
    let mut stage = waiting(id, poison);
    let feedback = format!("Name the separator.{poison}");
    stage.decide("approve-plan", 600, "ana", Decision::Reject { feedback }, None);
    stage.shown_at_gate[0].sha256 = Some("b1946ac92492d2347c6235b4d2611184a3f1c9a7d5e2b40886c1d7f9e0a4b3c2".to_owned());
    let file = claim("artifact-missing", ClaimFinding::Verified, "docs/research.md", "4.3 kB", poison);
    stage.claim("research", None).report(
        "research",
        180,
        json!({"outcome": "complete", "summary": "The separator is a semicolon; a CSV writer fits beside xlsx.rs.", "artifacts": [{"path": "docs/research.md"}]}),
        vec![file],
    );
    stage
}

/// Returns what was decided about the same before.
pub(crate) fn earlier(stage: &Stage, id: &HandoffId) -> Option<EarlierQuestion> {
    EarlierQuestion::of(&RunRecord { run: stage.run.clone(), events: stage.events() }, id)
}

/// The files that are not as they were then.
pub(crate) fn exhibits(poison: &str) -> Vec<Exhibit> {
    let difference = "--- last decision\n+++ now\n@@ -1,3 +1,3 @@\n # Research\n \n-Which separator?\n+The separator is a semicolon.\n";
    vec![Exhibit {
        path: format!("docs/research.md{poison}"),
        sha256: None,
        content: ExhibitContent::Difference(format!("{difference}{poison}")),
    }]
}
