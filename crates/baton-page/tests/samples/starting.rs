//! Samples of the form that starts a run.

use baton_page::layout::Viewer;
use baton_page::starting::{self, SentStart, StartInput, StartableWorkflow};

use super::Named;

/// Makes the pages that start a run.
pub(super) fn pages(viewer: &Viewer<'_>, poison: &str) -> Vec<Named> {
    let startable = StartableWorkflow {
        name: format!("feature{poison}"),
        description: Some(format!("Researches, writes and checks a feature.{poison}")),
        inputs: vec![
            StartInput {
                name: "feature".to_owned(),
                description: Some(format!("What to build{poison}")),
                default: None,
                is_required: true,
            },
            StartInput {
                name: "reviewers".to_owned(),
                description: None,
                default: Some(format!("[\"ana\"]{poison}")),
                is_required: false,
            },
        ],
        phases: ["research", "approve-plan", "write", "validate"].map(|phase| format!("{phase}{poison}")).to_vec(),
    };
    let sent = SentStart {
        why: format!("another run works in this folder{poison}"),
        advice: Some("name another folder".to_owned()),
        inputs: vec![("feature".to_owned(), format!("CSV export{poison}"))],
        workspace: format!("csv{poison}"),
        id: String::new(),
    };
    let both = [startable.clone(), startable.clone()];
    vec![
        ("start", starting::choice(viewer, &both)),
        ("start-empty", starting::choice(viewer, &[])),
        ("start-form", starting::form(viewer, &startable, None)),
        ("start-refused", starting::form(viewer, &startable, Some(&sent))),
    ]
}
