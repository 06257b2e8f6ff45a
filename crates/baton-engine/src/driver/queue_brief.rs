//! What a claimant from the queue receives: the prompt that a command agent gets, and the paths.

use std::path::PathBuf;

use baton_protocol::model::{Document, Kind};
use baton_protocol::workflow::Confinement;
use baton_protocol::{Dialect, Hints};

use super::brief::{Brief, BriefFault, Instructions};
use crate::agent::Job;
use crate::evidence::Scene;
use crate::handoff::{Handoff, WrittenDocument};
use crate::handover::Copy;
use crate::id::HandoffId;
use crate::prompt::{self, Briefing, ReportTo};
use crate::run::{RecordFault, Run};
use crate::session::{SessionTurn, Spent};

/// How a claimant hands in its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandInWay {
    /// With `baton report`.
    Command,
    /// In the file or the output that somebody else reads and hands in.
    Output,
    /// The same, and the files of the attempt lie in the workspace of the run.
    Files,
}

/// What a claimant receives.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueBrief {
    /// What is to be done. Its folder is for the caller to make; without a workflow its places are empty.
    pub job: Job,
    /// How many tokens the prompt has.
    pub prompt_tokens: usize,
    /// What was cut or left out of the prompt to fit the budget.
    pub shortened: Vec<String>,
    /// How the report must be written, where the workflow says so.
    pub dialect: Option<Dialect>,
    /// The folder of the workflow file.
    pub workflow_folder: Option<PathBuf>,
    /// What the driver looks at afterwards; its folder is for the caller to make.
    pub scene: Option<Scene>,
    /// Files that the prompt names and that are for the caller to write into the workspace.
    pub copies: Vec<Copy>,
}

impl HandInWay {
    fn report_to(self, handoff: &Handoff) -> ReportTo<'_> {
        match self {
            HandInWay::Command => {
                let lease_seconds = handoff.lease().map(|lease| lease.length_ms / 1000);
                ReportTo::Queue { handoff: &handoff.id, fence: handoff.fence, lease_seconds }
            }
            HandInWay::Output | HandInWay::Files => ReportTo::Either,
        }
    }
}

impl QueueBrief {
    /// Makes the prompt for a claimed handoff of a run; the error says why there is none. Whoever works elsewhere is told how to
    /// fetch files.
    pub fn of_run(
        run: &Run,
        id: &HandoffId,
        delimiter: &str,
        by: HandInWay,
        is_elsewhere: bool,
    ) -> Result<QueueBrief, BriefFault> {
        let tracked =
            run.find(id).ok_or_else(|| RecordFault::Elsewhere { handoff: id.clone(), run: run.id.clone() })?;
        let brief = Brief::of(run, tracked).ok_or(RecordFault::NoPhase)?;
        let brief = Brief { has_files: by == HandInWay::Files, is_elsewhere, ..brief };
        let Instructions { prompt, copies } = brief.tell_with(delimiter, by.report_to(&tracked.handoff), None)?;
        Ok(QueueBrief {
            job: brief.job(prompt.text, PathBuf::new())?,
            prompt_tokens: prompt.tokens,
            shortened: prompt.shortened,
            dialect: brief.dialect(),
            workflow_folder: Some(brief.located.definition.folder.clone()),
            scene: Some(brief.scene(PathBuf::new(), Vec::new())),
            copies,
        })
    }

    /// Makes the prompt for a claimed handoff outside a workflow, from its request alone.
    pub fn alone(
        handoff: &Handoff,
        request: &WrittenDocument,
        delimiter: &str,
        by: HandInWay,
    ) -> Result<QueueBrief, BriefFault> {
        let dialect = Dialect::parse(&request.dialect);
        let reading = baton_protocol::read(request.text.as_bytes(), Hints { format: None, dialect });
        let Some(Document::Request(asked)) = reading.document else {
            return Err(BriefFault::Request);
        };
        let mut asked = prompt::plain_task(&asked, delimiter)?;
        asked.from.get_or_insert_default().agent.get_or_insert_with(|| handoff.terms.from.clone());
        let answers = |dialect: &Dialect| dialect.has(Kind::Report) || *dialect == Dialect::Package;
        let prompt = prompt::render(&Briefing {
            handoff: Some(handoff.id.as_str()),
            dialect: dialect.filter(answers).unwrap_or(Dialect::Native),
            notes: &handoff.notes,
            last_failure: handoff.last_failure.as_ref(),
            attempt: handoff.attempts,
            report_to: by.report_to(handoff),
            acknowledge: handoff.terms.acknowledge,
            ..Briefing::plain(&handoff.terms.to, &asked, delimiter)
        })?;
        let mut brief = QueueBrief::with_prompt(handoff, request, prompt.text);
        brief.prompt_tokens = prompt.tokens;
        brief.shortened = prompt.shortened;
        Ok(brief)
    }

    /// Takes a prompt that is made already. Nothing is known of a workspace.
    pub fn with_prompt(handoff: &Handoff, request: &WrittenDocument, prompt: String) -> QueueBrief {
        QueueBrief {
            job: Job {
                run: handoff.run.clone(),
                handoff: handoff.id.clone(),
                phase: String::new(),
                agent: handoff.terms.to.clone(),
                fence: handoff.fence,
                attempt: handoff.attempts,
                session: SessionTurn::default(),
                spent_before: Spent::default(),
                ended: handoff.attempts.saturating_sub(1),
                prompt,
                request: request.clone(),
                contract: None,
                notes: handoff.notes.clone(),
                workspace: PathBuf::new(),
                output_directory: PathBuf::new(),
                folder: PathBuf::new(),
                writes: None,
                undo: Vec::new(),
                confinement: Confinement::default(),
                timeout: None,
                pick_up_within: None,
                traceparent: None,
            },
            prompt_tokens: 0,
            shortened: Vec::new(),
            dialect: None,
            workflow_folder: None,
            scene: None,
            copies: Vec::new(),
        }
    }
}
