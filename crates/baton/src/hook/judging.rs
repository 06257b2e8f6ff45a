//! Judges what an agent hands in as a run does: by the rules and the request first, then by what can be seen.

use baton_agents::evidence::LocalEvidence;
use baton_engine::answer::{self, Successors};
use baton_engine::engine::{IncomingDocument, ValidDocument, Yardstick};
use baton_engine::evidence::{self, Content, Evidence as _, ExaminedClaim, KeptBytes, Scene};
use baton_protocol::model::Report;
use baton_protocol::{Dialect, Settings};

use super::reasons::Reasons;
use crate::command_error::CommandError;

/// A document that can be read and is valid.
#[derive(Debug)]
pub(crate) struct UnderstoodText {
    /// The document.
    pub document: ValidDocument,
    /// What it says.
    pub report: Report,
}

/// What was seen of a report.
#[derive(Debug, Default)]
pub(crate) struct SeenClaims {
    /// Claim by claim.
    pub examined: Vec<ExaminedClaim>,
    /// The files that were looked at.
    pub contents: Vec<Content>,
}

/// Reads and judges a text; the reasons say why it is not a valid report. The usual dialect is that of agents for which none
/// is agreed.
pub(crate) fn read(yardstick: &Yardstick, usual: Dialect, text: &str) -> Result<Box<UnderstoodText>, Reasons> {
    let judged = yardstick.judge(&IncomingDocument::of(text.as_bytes()));
    let reasons = Reasons::of_document(&judged, text, yardstick.dialect.unwrap_or(usual));
    let Some(document) = judged.valid.filter(|_| reasons.are_none()) else { return Err(reasons) };
    let Some(understood) = answer::understand(document.document.clone(), Successors::Nobody) else {
        return Err(Reasons::of_one("This is an acknowledgment, not a report."));
    };
    if answer::of_report(&understood.report).is_none() {
        return Err(Reasons::of_one("The report does not say how the work ended."));
    }
    Ok(Box::new(UnderstoodText { document, report: understood.report }))
}

/// Compares what a report claims with what can be seen; the reasons say what is not so.
pub(crate) async fn examine(
    eyes: &LocalEvidence,
    scene: &Scene,
    report: &Report,
    settings: &Settings,
    kept: KeptBytes,
) -> Result<SeenClaims, Reasons> {
    let mut examined = eyes.examine(scene, report).await;
    evidence::allow(&mut examined, settings);
    let reasons = Reasons::of_evidence(&examined);
    if !reasons.are_none() {
        return Err(reasons);
    }
    let has_files = examined.iter().any(|one| one.path.is_some());
    let contents =
        if has_files { eyes.contents(&scene.workspace, &scene.views, &examined, kept).await } else { Vec::new() };
    Ok(SeenClaims { examined, contents })
}

/// Starts what looking needs.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CommandError::internal(format!("cannot start the runtime: {error}")))
}
