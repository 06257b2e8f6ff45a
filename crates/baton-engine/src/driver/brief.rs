//! What an attempt needs: the prompt, the job of the agent, and the scene for the evidence.

use std::path::PathBuf;
use std::time::Duration;

use baton_protocol::Dialect;
use baton_protocol::model::{Document, Kind, Request};
use baton_protocol::workflow::{self, AgentFields, Confinement, Phase, ReportFrom, Skill, Workflow};
use serde_json::{Map, Value};

use crate::agent::Job;
use crate::definition::LocatedPhase;
use crate::evidence::{CheckCommand, ClaimKind, EarlierAttempt, ExaminedClaim, RefutedFiles, Scene};
use crate::flow::{self, limits};
use crate::handoff::{About, Note, State, WrittenDocument};
use crate::handover::{self, Copy};
use crate::output_directory::{OutputFault, output_directory};
use crate::prompt::{self, Briefing, Prompt, PromptFault, ReportTo};
use crate::protection::Protection;
use crate::route;
use crate::run::{RecordFault, Run, TrackedHandoff};
use crate::session::SessionTurn;
use crate::step::{ORCHESTRATOR, Role};
use crate::trace::TraceIds;
use crate::view;

/// How long a command of a workflow may take unless it says otherwise.
const CHECK_TIME: Duration = Duration::from_secs(10 * 60);

/// What an agent is told, and the files that its prompt names.
pub(super) struct Instructions {
    pub(super) prompt: Prompt,
    /// What must be in the workspace before the agent reads its prompt.
    pub(super) copies: Vec<Copy>,
}

/// Why an agent's prompt cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BriefFault {
    /// The workflow has no such agent.
    #[error("unknown agent {0}")]
    NoAgent(String),
    /// What is asked, outside of any workflow, cannot be read.
    #[error("its request cannot be read")]
    Request,
    /// The output directory is unknown.
    #[error(transparent)]
    Output(#[from] OutputFault),
    /// There is no prompt.
    #[error(transparent)]
    Prompt(#[from] PromptFault),
    /// What is recorded does not fit together.
    #[error(transparent)]
    Record(#[from] RecordFault),
}

/// A phase or a delegation, with everything that the workflow says about it.
pub(crate) struct Brief<'r> {
    pub(super) run: &'r Run,
    pub(crate) tracked: &'r TrackedHandoff,
    pub(super) located: LocatedPhase<'r>,
    pub(super) agent: Option<&'r AgentFields>,
    /// Whether the files of the attempt lie in the workspace; those of a worker may lie elsewhere.
    pub(super) has_files: bool,
    /// Whether the agent works on a machine that may not have the workspace.
    pub(super) is_elsewhere: bool,
}

impl<'r> Brief<'r> {
    pub(super) fn of(run: &'r Run, tracked: &'r TrackedHandoff) -> Option<Brief<'r>> {
        let located = run.definition.locate(&tracked.step.phase)?;
        let agent = located.definition.workflow.agent(&tracked.handoff.terms.to);
        Some(Brief { run, tracked, located, agent, has_files: true, is_elsewhere: false })
    }

    /// Returns the phase, if the handoff stands for it and not for help with it.
    pub(crate) fn phase(&self) -> Option<&'r Phase> {
        (self.tracked.step.role != Role::Delegation).then(|| self.located.phase())
    }

    /// Returns how the agent writes.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        let agent = self.agent?;
        // Whoever only knows folders writes what stands in folders.
        let usual = agent.directory.is_some().then_some(Dialect::Mailbox);
        agent.dialect.as_deref().and_then(Dialect::parse).or(usual)
    }

    pub(super) fn mandatory_skills(&self) -> Vec<Skill> {
        let mut skills = self.agent.map(|agent| agent.mandatory_skills.clone()).unwrap_or_default();
        skills.extend(self.phase().map(|phase| phase.mandatory_skills.clone()).unwrap_or_default());
        skills
    }

    /// Returns patterns of the files that may be changed; `None` for all.
    pub(super) fn writes(&self) -> Option<Vec<String>> {
        Some(self.phase()?.writes.clone()?.0)
    }

    /// Returns what the processes of the agent may see, change and use up.
    pub(super) fn confinement(&self) -> Confinement {
        self.located.definition.workflow.confinement(self.agent)
    }

    pub(super) fn checks(&self) -> Vec<CheckCommand> {
        let workflow = &self.located.definition.workflow;
        self.phase()
            .map(|phase| phase.verify.iter().map(|fields| check(workflow, fields)).collect())
            .unwrap_or_default()
    }

    /// Returns where the agent puts its output; the error says why that cannot be worked out.
    pub(super) fn output_directory(&self) -> Result<PathBuf, OutputFault> {
        output_directory(self.run, &self.tracked.step.phase)
    }

    /// Returns the agents that come next anyway.
    pub(crate) fn following(&self) -> Vec<String> {
        flow::following(&self.run.definition, &self.tracked.step.phase)
    }

    /// Renders what the agent is told.
    pub(super) fn tell(&self, delimiter: &str, turn: Option<&SessionTurn>) -> Result<Instructions, BriefFault> {
        self.tell_with(delimiter, self.report_to(), turn)
    }

    /// Returns where the report of the agent goes.
    fn report_to(&self) -> ReportTo<'_> {
        let handoff = &self.tracked.handoff;
        let is = |way: fn(&AgentFields) -> bool| self.agent.is_some_and(way);
        match self.agent.and_then(|agent| agent.report) {
            _ if is(|agent| agent.directory.is_some()) => ReportTo::Folder,
            _ if is(|agent| agent.queue == Some(true)) => {
                // Whoever has not claimed it yet gets the next token.
                let fence = if handoff.lease().is_some() { handoff.fence } else { handoff.fence.next() };
                ReportTo::Queue { handoff: &handoff.id, fence, lease_seconds: None }
            }
            Some(ReportFrom::Stdout) => ReportTo::Stdout,
            Some(ReportFrom::File) => ReportTo::File,
            // What a coding agent says last is its report: most may not look up a variable.
            Some(ReportFrom::Auto) | None if is(|agent| agent.profile.is_some()) => ReportTo::Answer,
            Some(ReportFrom::Auto) | None => ReportTo::Either,
        }
    }

    /// Renders what the agent is told, if its report goes there.
    pub(super) fn tell_with(
        &self,
        delimiter: &str,
        report_to: ReportTo<'_>,
        turn: Option<&SessionTurn>,
    ) -> Result<Instructions, BriefFault> {
        let agent = self.agent.ok_or_else(|| BriefFault::NoAgent(self.tracked.handoff.terms.to.clone()))?;
        let request = self.tracked.asked().ok_or(RecordFault::Request)?;
        // What one agent expects of another is data, and is handed over as such.
        let helped = (self.tracked.step.role == Role::Delegation).then(|| Request {
            expectations: None,
            context: None,
            ..request.clone()
        });
        let request = helped.as_ref().unwrap_or(request);
        let handovers = handover::given(self.run, self.tracked);
        let (memory, index) = (handover::memory(self.run, self.tracked), handover::index(self.run, self.tracked));
        let (skills, writes, checks) = (self.mandatory_skills(), self.writes(), self.checks());
        let output = self.output_directory()?;
        let output = output.strip_prefix(&self.run.definition.workspace).unwrap_or(&output);
        let handoff = &self.tracked.handoff;
        let within = agent.acknowledge.and_then(|asked| asked.within).map(|within| within.to_string());
        let attempt_folder = self.files_of_attempt().unwrap_or_default();
        let template = agent.template.as_ref().and_then(|path| self.located.definition.templates.get(path));
        let reasons = route::reasons(&self.located.definition.workflow, &handoff.terms.to);
        let briefing = Briefing {
            workflow: self.located.definition.name(),
            phase: &self.tracked.step.phase,
            agent: &self.tracked.handoff.terms.to,
            role: agent.role.as_deref(),
            handoff: Some(handoff.id.as_str()),
            dialect: self.dialect().unwrap_or(Dialect::Native),
            request,
            handovers: &handovers,
            fetches_files: self.is_elsewhere && !handover::files(self.run, self.tracked).is_empty(),
            index: index.as_ref(),
            memory: memory.as_ref(),
            notes: &self.tracked.handoff.notes,
            last_failure: handoff.last_failure.as_ref(),
            // Whoever holds it has begun this attempt.
            attempt: self.tracked.attempts + u32::from(handoff.lease().is_none()),
            judges: Some(self.tracked.step.role == Role::Work && flow::judges(&self.located, &handoff.terms.to)),
            mandatory_skills: &skills,
            output_directory: &output.to_string_lossy(),
            attempt_folder: &attempt_folder,
            profile: agent.profile,
            report_to,
            acknowledge: agent.must_acknowledge(),
            acknowledge_within: within.as_deref(),
            checks: &checks,
            writes: writes.as_deref(),
            reasons: &reasons,
            delimiter,
            template: template.map(String::as_str),
            budget_tokens: agent
                .prompt_tokens
                .or_else(|| limits::smallest(&self.located, |limits| limits.prompt_tokens)),
        };
        let prompt = match turn.filter(|turn| turn.goes_on) {
            None => prompt::render(&briefing)?,
            Some(SessionTurn { repairs: true, .. }) => {
                let reasons = handoff.last_failure.as_ref().map(|failure| failure.text());
                prompt::render_repair(&briefing, &reasons.unwrap_or_default())?
            }
            Some(_) => prompt::render_resumed(&briefing)?,
        };
        // A file that the prompt names is the one that is written: both are worked out together.
        Ok(Instructions { prompt, copies: handover::copies(self.run, self.tracked, index) })
    }

    /// Returns where the files of the attempt will be, relative to the workspace.
    fn files_of_attempt(&self) -> Option<String> {
        if !self.has_files {
            return None;
        }
        let handoff = &self.tracked.handoff;
        let fence = if handoff.lease().is_some() { handoff.fence } else { handoff.fence.next() };
        let folder = self.run.attempt_folder(&handoff.id, fence);
        Some(folder.strip_prefix(&self.run.definition.workspace).ok()?.to_string_lossy().into_owned())
    }

    /// Returns what the agent must know: the notes, and what was wrong with its last attempt.
    fn notes(&self) -> Vec<Note> {
        let mut notes = self.tracked.handoff.notes.clone();
        let failure = self.tracked.handoff.last_failure.as_ref().map(|failure| failure.text());
        let told = |text: &String| notes.iter().any(|note| note.text == *text);
        if let Some(text) = failure.filter(|text| !told(text)) {
            notes.push(Note::new(About::Refuted, ORCHESTRATOR, text));
        }
        notes
    }

    /// Returns how long the workflow lets the agent work.
    fn timeout(&self) -> Option<Duration> {
        let phase = self.phase().and_then(|phase| phase.timeout);
        phase.or_else(|| self.agent?.timeout).map(workflow::Duration::as_std)
    }

    /// Returns the request as the agent reads it: in its own dialect, if that has requests.
    fn request(&self) -> WrittenDocument {
        let native = (*self.tracked.request).clone();
        let dialect = self.dialect().filter(|dialect| dialect.has(Kind::Request) && *dialect != Dialect::Native);
        match (dialect, self.tracked.asked()) {
            (Some(dialect), Some(request)) => flow::written(dialect, Document::Request(Box::new(request.clone()))),
            _ => native,
        }
    }

    /// Returns the job of the agent.
    pub(super) fn job(&self, prompt: String, folder: PathBuf) -> Result<Job, OutputFault> {
        let handoff = &self.tracked.handoff;
        Ok(Job {
            run: self.run.id.clone(),
            handoff: handoff.id.clone(),
            phase: self.tracked.step.phase.clone(),
            agent: handoff.terms.to.clone(),
            fence: handoff.fence,
            attempt: self.tracked.attempts,
            session: self.tracked.turn().cloned().unwrap_or_default(),
            spent_before: self.tracked.session.as_ref().map(|session| session.spent).unwrap_or_default(),
            ended: self.tracked.ended,
            prompt,
            request: self.request(),
            contract: None,
            notes: self.notes(),
            workspace: self.run.definition.workspace.clone(),
            output_directory: self.output_directory()?,
            folder,
            writes: self.writes(),
            undo: self.refuted().to_undo(),
            confinement: self.confinement(),
            timeout: handoff.terms.timeout_ms.map(Duration::from_millis).or_else(|| self.timeout()),
            pick_up_within: self.agent.and_then(|agent| agent.pick_up_within).map(workflow::Duration::as_std),
            traceparent: Some(TraceIds::of(self.run).traceparent(&handoff.id, handoff.fence)),
        })
    }

    /// Returns where an attempt happens.
    pub(super) fn scene(&self, folder: PathBuf, earlier: Vec<EarlierAttempt>) -> Scene {
        let handoff = &self.tracked.handoff;
        let text = |name: &str, value: String| (name.to_owned(), value);
        let output_directory = self.output_directory().ok();
        let output = output_directory.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        // Nobody can have worked between the attempts if this is the first.
        let settled = if earlier.is_empty() { Vec::new() } else { self.settled() };
        Scene {
            workspace: self.run.definition.workspace.clone(),
            workflow_folder: self.located.definition.folder.clone(),
            folder,
            earlier,
            baseline: self.tracked.baseline(handoff.fence).cloned(),
            before: None,
            after: None,
            output_directory,
            request: self.tracked.asked().cloned(),
            checks: self.checks(),
            gate_checks: self.gate_checks(),
            is_interrupted: false,
            strayed: self.strayed(),
            mandatory_skills: self.mandatory_skills().into_iter().map(|skill| skill.name).collect(),
            writes: self.writes(),
            // Commands are the workflow's own, whoever works in the phase.
            confinement: self.located.definition.workflow.confinement(None),
            is_caged: self.tracked.protection.as_ref().is_some_and(Protection::is_full),
            others_write: self.others_write(),
            settled,
            refuted: self.refuted(),
            views: view::kept(self.run),
            names_new_files: self.dialect() == Some(Dialect::Package),
            transcript: self.tracked.transcript.clone(),
            skills: self.tracked.skills.clone(),
            variables: vec![
                text("BATON_RUN", self.run.id.to_string()),
                text("BATON_HANDOFF_ID", handoff.id.to_string()),
                text("BATON_FENCE", handoff.fence.to_string()),
                text("BATON_PHASE", self.tracked.step.phase.clone()),
                text("BATON_WORKSPACE", self.run.definition.workspace.to_string_lossy().into_owned()),
                text("BATON_OUTPUT_DIRECTORY", output),
                text("BATON_WORKFLOW_DIRECTORY", self.located.definition.folder.to_string_lossy().into_owned()),
            ],
        }
    }

    /// Returns the commands that decide about it in place of a person.
    fn gate_checks(&self) -> Vec<CheckCommand> {
        let gate = self.phase().and_then(|phase| match self.tracked.step.role {
            Role::Gate => phase.gate.as_ref(),
            Role::Work => phase.review.as_ref().map(|review| &review.gate),
            _ => None,
        });
        let workflow = &self.located.definition.workflow;
        gate.into_iter().flat_map(flow::deciding_checks).map(|fields| check(workflow, fields)).collect()
    }

    /// Returns whether commands decide about it in place of a person.
    pub(super) fn has_gate_checks(&self) -> bool {
        !self.gate_checks().is_empty()
    }

    /// Returns the files that reports were refuted for since a report of the phase was accepted last.
    fn refuted(&self) -> RefutedFiles {
        let visits = handover::earlier_visits(self.run, &self.tracked.step).into_iter().chain([self.tracked]);
        visits.fold(RefutedFiles::default(), |refuted, visit| match visit.handoff.state {
            State::Completed { .. } => RefutedFiles::default(),
            _ => refuted.and(&visit.refuted),
        })
    }

    /// Returns what the commands of its phase have written before where they may not.
    fn strayed(&self) -> Vec<ExaminedClaim> {
        let visits = handover::earlier_visits(self.run, &self.tracked.step).into_iter().chain([self.tracked]);
        let is_own = |tracked: &TrackedHandoff, seen: &ExaminedClaim| {
            tracked.step.role == Role::Check || seen.kind == Some(ClaimKind::GateCheck)
        };
        let strayed = visits.flat_map(|visit| {
            let seen = visit.sent_back.iter().chain(&visit.examined);
            seen.filter(move |seen| seen.has_strayed() && is_own(visit, seen))
        });
        strayed.cloned().collect()
    }

    /// Returns what others may have changed since this attempt began; a phase without `writes` may change everything.
    fn others_write(&self) -> Vec<String> {
        let handoff = &self.tracked.handoff;
        let since = handoff.lease().map(|lease| lease.since).or(self.tracked.begun_at).unwrap_or(handoff.accepted_at);
        let at_work = flow::work(self.run).filter(|other| other.handoff.lease().is_some());
        let ended = self.run.worked_since(since).filter(|other| other.handoff.lease().is_none());
        let working = at_work.chain(ended).filter(|other| other.handoff.id != handoff.id);
        working.filter_map(|other| Brief::of(self.run, other)).flat_map(|brief| brief.may_write()).collect()
    }

    /// Returns the files that were examined as the work of others since this handoff exists: those of whoever helped it.
    fn settled(&self) -> Vec<String> {
        let handoff = &self.tracked.handoff;
        let others = self.run.worked_since(handoff.accepted_at);
        let others = others
            .filter(|other| other.step.phase != self.tracked.step.phase || other.step.role != self.tracked.step.role);
        others.flat_map(|other| &other.examined).filter_map(|examined| examined.path.clone()).collect()
    }

    /// Returns what the phase may change: all files, unless the workflow says which. Its commands may run what the agent has
    /// written, and nothing keeps them to `writes`.
    pub(super) fn may_write(&self) -> Vec<String> {
        let mut patterns = self.writes().unwrap_or_default();
        if self.writes().is_none() || self.runs_commands() {
            patterns.push("**".to_owned());
        }
        patterns
    }

    /// Returns whether commands follow the work that may change all files.
    fn runs_commands(&self) -> bool {
        let expectations = self.tracked.asked().and_then(|request| request.expectations.as_ref());
        !self.checks().is_empty() || expectations.is_some_and(|expectations| !expectations.success_criteria.is_empty())
    }
}

/// Returns a command of the workflow as it is run.
pub(super) fn check(workflow: &Workflow, check: &workflow::CheckFields) -> CheckCommand {
    CheckCommand {
        name: check.name.clone().unwrap_or_default(),
        words: check.run.as_ref().map(workflow::CommandLine::words).unwrap_or_default(),
        timeout: check.timeout.map_or(CHECK_TIME, workflow::Duration::as_std),
        env: workflow.env.iter().chain(&check.env).cloned().collect(),
        set_env: set(&check.set_env),
    }
}

/// Returns the command of a check phase.
pub(super) fn command(workflow: &Workflow, phase: &Phase) -> CheckCommand {
    CheckCommand {
        name: phase.id().to_owned(),
        words: phase.check.as_ref().map(workflow::CommandLine::words).unwrap_or_default(),
        timeout: phase.timeout.map_or(CHECK_TIME, workflow::Duration::as_std),
        env: workflow.env.iter().chain(&phase.env).cloned().collect(),
        set_env: set(&phase.set_env),
    }
}

fn set(variables: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    variables.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Returns whether a request asks for commands to be run.
pub(super) fn asks_for_commands(scene: &Scene) -> bool {
    let criteria =
        |request: &Request| request.expectations.as_ref().is_some_and(|asked| !asked.success_criteria.is_empty());
    !scene.checks.is_empty() || !scene.gate_checks.is_empty() || scene.request.as_ref().is_some_and(criteria)
}
