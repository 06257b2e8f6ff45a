//! One attempt: the agent works, what it says is read and judged, and what can be looked at quickly is looked at.

use std::sync::{Arc, Mutex, PoisonError};

use baton_protocol::model::Report;
use baton_protocol::read::is_blockless;
use baton_protocol::rules::claim_refuted;
use baton_protocol::{Dialect, Settings};

use tokio::sync::mpsc;

use super::brief::asks_for_commands;
use super::{Audience, Seen};
use crate::Fence;
use crate::agent::{AfterFailure, Agent, EndedTurn, Job, Reply, TurnEnd, Update};
use crate::answer::{self, Answer, Successors, UnderstoodReport};
use crate::engine::{GivenAcknowledgment, IncomingDocument, Yardstick};
use crate::evidence::{
    self, ChangedFiles, CheckCommand, CheckOutcome, ClaimFinding, ClaimKind, Content, Evidence, ExaminedClaim,
    KeptBytes, Moment, Scene, Transcript,
};
use crate::failure::{Code, CommandStream, Failure};
use crate::handoff::{Digest, WrittenDocument};
use crate::id::HandoffId;
use crate::run::LastReport;
use crate::session::Spent;

/// What came out of something that the driver had started.
#[derive(Debug)]
pub(super) enum Finished {
    /// The agent has answered.
    Answered(Box<Answered>),
    /// The agent has understood what is asked, and works on.
    Understood(WrittenDocument),
    /// The program of the agent has reported the name of its session, and it works on.
    Session(String),
    /// The agent has spent so much, and works on.
    Spent(Spent),
    /// The agent does not understand what is asked.
    NotUnderstood(WrittenDocument),
    /// The attempt has failed.
    Failed(Box<Failed>),
    /// A report that was recorded before has been examined.
    Examined(SeenReport),
    /// The files that a person decides about were looked at; `None` if they are as they were approved.
    Looked(Option<SeenReport>),
    /// A command has ended.
    Checked(CheckOutcome),
}

impl Finished {
    /// Returns what was seen, if files of it are still to be kept.
    pub(super) fn unkept(&mut self) -> Option<&mut SeenReport> {
        let seen = match self {
            Finished::Examined(seen) | Finished::Looked(Some(seen)) => seen,
            Finished::Answered(answered) => answered.examined.as_mut()?,
            Finished::Understood(_)
            | Finished::Session(_)
            | Finished::Spent(_)
            | Finished::NotUnderstood(_)
            | Finished::Failed(_)
            | Finished::Looked(None)
            | Finished::Checked(_) => return None,
        };
        Some(seen).filter(|seen| !seen.contents.is_empty())
    }
}

/// An attempt that has failed.
#[derive(Debug, Clone)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    /// The document that was refused.
    pub(super) document: Option<WrittenDocument>,
    /// What had changed by then.
    pub(super) changed: Vec<String>,
    pub(super) turn: TurnFigures,
    pub(super) after: AfterFailure,
}

/// What is known of a turn however it ended.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnFigures {
    pub(super) spent: Option<Spent>,
    /// The skills that were seen.
    pub(super) skills: Option<Vec<String>>,
    /// What people should know of its program.
    pub(super) warnings: Vec<String>,
}

/// How the workspace was before an attempt and when its agent had ended.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenWorkspace {
    pub(super) before: Option<Moment>,
    pub(super) after: Option<Moment>,
}

/// A report that can be recorded.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) document: WrittenDocument,
    /// The report, if everybody understands it as it was understood here.
    pub(super) known: Option<Arc<LastReport>>,
    pub(super) acknowledgment: Option<WrittenDocument>,
    pub(super) turn: TurnFigures,
    /// What had changed when it was handed in.
    pub(super) changed: Vec<String>,
    pub(super) transcript: Option<Transcript>,
    /// How the workspace was before and after, for whoever examines it later.
    pub(super) seen: SeenWorkspace,
    /// What was seen of it, unless commands must be run for that.
    pub(super) examined: Option<SeenReport>,
}

/// What was seen of a report.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenReport {
    pub(super) examined: Vec<ExaminedClaim>,
    /// The files that are still to be kept.
    pub(super) contents: Vec<Content>,
    /// What identifies those that are kept.
    pub(super) kept: Vec<Digest>,
}

/// Something that happens to an attempt of a handoff while it goes on.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) handoff: HandoffId,
    pub(super) fence: Fence,
    pub(super) what: Happens,
}

/// What happens while an attempt goes on.
#[derive(Debug)]
pub(super) enum Happens {
    /// The agent has understood what is asked.
    Understood(WrittenDocument),
    /// No agent has taken the request.
    Waiting(String),
    /// Somebody has taken the request.
    PickedUp,
    /// The session has this name.
    Session(String),
    /// What has been spent so far.
    Spent(Spent),
}

/// Patterns of files that others may change, as they come.
pub(super) type Newcomers = Arc<Mutex<Vec<String>>>;

/// What an attempt needs.
pub(super) struct Trial {
    pub(super) agent: Arc<dyn Agent>,
    pub(super) evidence: Arc<dyn Evidence>,
    pub(super) job: Job,
    pub(super) scene: Scene,
    /// What others may change who began while this one works.
    pub(super) newcomers: Newcomers,
    /// What its report is judged by.
    pub(super) yardstick: Yardstick,
    pub(super) acknowledge: bool,
    /// How much is kept of files.
    pub(super) room: KeptBytes,
    /// Gets the news while it goes on.
    pub(super) progress: mpsc::UnboundedSender<Progress>,
    /// Who sees what the agent does.
    pub(super) audience: Arc<dyn Audience>,
}

/// What was heard in a turn.
#[derive(Default)]
struct HeardInTurn {
    /// The last acknowledgment that was passed on.
    acknowledgment: Option<String>,
    /// What people should know of its program.
    warnings: Vec<String>,
}

impl Trial {
    /// Lets the agent work, and judges what it says.
    ///
    /// It is boxed because it is large: a future that holds it has room for it once more wherever it is passed on.
    pub(super) async fn run(mut self: Box<Self>) -> Finished {
        let (ended, heard) = match self.turn().await {
            Ok(ended) => ended,
            Err(finished) => return finished,
        };
        let turn = TurnFigures { spent: ended.spent, skills: ended.skills, warnings: heard.warnings };
        // What its turns before this one used was used in this attempt.
        if let Some(skills) = &turn.skills {
            self.scene.skills.get_or_insert_default().extend_from_slice(skills);
        }
        let reply = match ended.end {
            TurnEnd::Answered(reply) => reply,
            TurnEnd::Failed(failure, after) => return self.failed(failure, None, (turn, after)).await,
        };
        self.scene.transcript.clone_from(&reply.transcript);
        let acknowledgment = match self.acknowledged(&reply, heard.acknowledgment.as_ref()) {
            Ok(acknowledgment) => acknowledgment,
            Err(finished) => return finished,
        };
        let warned = |mut document: WrittenDocument| {
            document.warnings = turn.warnings.iter().chain(&*document.warnings).cloned().collect();
            document
        };
        match self.judged(&reply) {
            Ok((understood, document)) => {
                let document = warned(document);
                self.answered(understood, document, acknowledgment, turn).await
            }
            Err(refused) => {
                let (failure, document) = *refused;
                let document = warned(document);
                self.failed(failure, Some(document), (turn, AfterFailure::Policy)).await
            }
        }
    }

    /// Lets the agent work to its end, unless it says before that it has not understood: then the attempt is called off.
    async fn turn(&self) -> Result<(EndedTurn, HeardInTurn), Finished> {
        let (updates, mut news) = mpsc::unbounded_channel();
        let working = self.agent.turn(&self.job, &updates);
        tokio::pin!(working);
        let mut heard = HeardInTurn::default();
        let ended = loop {
            tokio::select! {
                biased;
                Some(update) = news.recv() => self.hear(update, &mut heard)?,
                ended = &mut working => break ended,
            }
        };
        while let Ok(update) = news.try_recv() {
            self.hear(update, &mut heard)?;
        }
        Ok((ended, heard))
    }

    /// Passes on what happens while the agent works.
    fn hear(&self, update: Update, heard: &mut HeardInTurn) -> Result<(), Finished> {
        let what = match update {
            Update::Acknowledged(text) => {
                let written = read_acknowledgment(&text, &self.yardstick)?;
                heard.acknowledgment = Some(text);
                Happens::Understood(written)
            }
            Update::Waiting { place } => Happens::Waiting(place),
            Update::PickedUp => Happens::PickedUp,
            Update::Session(id) => Happens::Session(id),
            Update::Spent(spent) => {
                self.audience.see(&self.job, &Seen::Spent(spent));
                Happens::Spent(spent)
            }
            // It is recorded with the report.
            Update::Warning(warning) => {
                heard.warnings.push(warning);
                return Ok(());
            }
            Update::Activity(activity) => {
                self.audience.see(&self.job, &Seen::Activity(activity));
                return Ok(());
            }
        };
        self.tell(what);
        Ok(())
    }

    fn tell(&self, what: Happens) {
        // Whoever leads the run lives longer than its attempts.
        let _ = self.progress.send(Progress { handoff: self.job.handoff.clone(), fence: self.job.fence, what });
    }

    async fn failed(
        &self,
        failure: Failure,
        document: Option<WrittenDocument>,
        (turn, after): (TurnFigures, AfterFailure),
    ) -> Finished {
        let changed = self.evidence.changed(&self.scene).await.files;
        Finished::Failed(Box::new(Failed { failure, document, changed, turn, after }))
    }

    async fn answered(
        self: Box<Self>,
        understood: UnderstoodReport,
        document: WrittenDocument,
        acknowledgment: Option<WrittenDocument>,
        turn: TurnFigures,
    ) -> Finished {
        let Some(answer) = answer::of_report(&understood.report) else {
            let failure = Failure::new(Code::validation_failed(), "the report does not say how the work ended");
            return self.failed(failure, Some(document), (turn, AfterFailure::Policy)).await;
        };
        let ChangedFiles { files: changed, after } = self.evidence.changed(&self.scene).await;
        let quick = !asks_for_commands(&self.scene);
        let mut scene = self.scene;
        scene.after = after;
        scene.others_write.append(&mut self.newcomers.lock().unwrap_or_else(PoisonError::into_inner));
        let examined = match quick {
            true => {
                Some(look(&*self.evidence, &scene, &understood.report, (&self.yardstick.settings, self.room)).await)
            }
            false => None,
        };
        // Without knowing the dialect, or of a package, others may understand something else.
        let UnderstoodReport { report, package, .. } = understood;
        let is_plain =
            package.is_none() && self.yardstick.dialect.is_some_and(|dialect| dialect.as_str() == document.dialect);
        let told = || LastReport { written: document.clone(), report, package: None, asks: None };
        let known = is_plain.then(|| Arc::new(told()));
        let (transcript, seen) = (scene.transcript, SeenWorkspace { before: scene.before, after: scene.after });
        let answered = Answered { answer, document, known, acknowledgment, turn, changed, transcript, seen, examined };
        Finished::Answered(Box::new(answered))
    }

    /// Reads what the agent said about having understood; `None` if there is nothing that was not passed on before.
    fn acknowledged(&self, reply: &Reply, said: Option<&String>) -> Result<Option<WrittenDocument>, Finished> {
        match &reply.acknowledgment {
            text if text.as_ref() == said && said.is_some() => Ok(None),
            Some(text) => read_acknowledgment(text, &self.yardstick).map(Some),
            None if self.acknowledge && said.is_none() => {
                Err(refused("it must say that it understood before its report counts, and it did not".to_owned()))
            }
            None => Ok(None),
        }
    }

    /// Reads and checks a report; an invalid one does not count as a report.
    fn judged(&self, reply: &Reply) -> Result<(UnderstoodReport, WrittenDocument), Box<(Failure, WrittenDocument)>> {
        let incoming =
            IncomingDocument { answers: reply.answers.as_deref(), ..IncomingDocument::of(reply.text.as_bytes()) };
        let judged = self.yardstick.judge(&incoming);
        let (dialect, judgement) = (judged.dialect, &judged.judgement);
        let dialect = dialect.or(self.yardstick.dialect).unwrap_or(Dialect::Native);
        let path = reply.path.as_deref().and_then(|path| path.strip_prefix(&self.job.workspace).ok());
        let path = path.map(|path| path.to_string_lossy().into_owned());
        let document = WrittenDocument { path, ..WrittenDocument::new(dialect, reply.text.clone()) };
        let unfit = |failure: Failure| {
            let whole = document.path.clone().unwrap_or_else(|| self.job.folder.display().to_string());
            Err(Box::new((failure, document.clone().shortened(&whole))))
        };
        let said = |message: &str| Failure::new(Code::validation_failed(), message);
        if !judgement.valid && is_blockless(&reply.text) {
            let places: Vec<&str> = [&reply.source].into_iter().chain(&reply.looked_in).map(String::as_str).collect();
            let message = format!(
                "no handoff block found in {}: end the report with the block that was asked for",
                places.join(", ")
            );
            // What it wrote instead is in the log of its output.
            return unfit(Failure { stream: Some(CommandStream::Stdout), ..said(&message) });
        }
        if !judgement.valid {
            return unfit(judged.failure("the report is not valid"));
        }
        let next = Successors::Agents(&self.yardstick.following);
        match judged.valid.and_then(|valid| answer::understand(valid.document, next)) {
            Some(understood) => Ok((understood, document.judged(judgement))),
            None => unfit(said("what it handed in is not a report")),
        }
    }
}

/// Checks an acknowledgment; an agent that did not understand its task does not continue.
fn read_acknowledgment(text: &str, yardstick: &Yardstick) -> Result<WrittenDocument, Finished> {
    let GivenAcknowledgment { understood, document } =
        GivenAcknowledgment::judge(text, yardstick).map_err(Failed::with)?;
    if understood { Ok(document) } else { Err(Finished::NotUnderstood(document)) }
}

fn refused(message: String) -> Finished {
    Failed::with(Failure::new(Code::validation_failed(), message))
}

impl Failed {
    /// An attempt of which nothing else is known.
    pub(super) fn with(failure: Failure) -> Finished {
        let (turn, after) = (TurnFigures::default(), AfterFailure::Policy);
        Finished::Failed(Box::new(Failed { failure, document: None, changed: Vec::new(), turn, after }))
    }
}

/// Examines a report that was recorded before.
pub(super) async fn examine(
    evidence: Arc<dyn Evidence>,
    scene: Scene,
    report: Report,
    (settings, room): (Settings, KeptBytes),
) -> Finished {
    Finished::Examined(look(&*evidence, &scene, &report, (&settings, room)).await)
}

/// Verifies every claim, and marks refuted ones that the workflow allows.
async fn look(
    evidence: &dyn Evidence,
    scene: &Scene,
    report: &Report,
    (settings, room): (&Settings, KeptBytes),
) -> SeenReport {
    let mut examined = evidence.examine(scene, report).await;
    if is_interrupted(scene) {
        // What is wrong now may be the doing of the commands: nobody but a person can tell.
        examined = examined.into_iter().map(ExaminedClaim::of_interrupted).chain([interrupted()]).collect();
    }
    evidence::allow(&mut examined, settings);
    if evidence::refuted(&examined).is_none() && !evidence::asks_person(&examined) {
        examined = decided_by_checks(evidence, scene, examined).await;
    }
    let contents = match examined.iter().any(|examined| examined.path.is_some()) {
        true => evidence.contents(&scene.workspace, &scene.views, &examined, room).await,
        false => Vec::new(),
    };
    SeenReport { examined, contents, kept: Vec::new() }
}

/// Adds what the commands of a review do that decide in place of a person. They may change what was looked at.
async fn decided_by_checks(evidence: &dyn Evidence, scene: &Scene, examined: Vec<ExaminedClaim>) -> Vec<ExaminedClaim> {
    let mut own = gate_checks(evidence, scene).await;
    if own.is_empty() {
        return examined;
    }
    let paths: Vec<String> = examined.iter().filter_map(|seen| seen.path.clone()).collect();
    own.retain(|seen| seen.path.as_ref().is_none_or(|path| !paths.contains(path)));
    let mut examined = match evidence.identify(&scene.workspace, &scene.views, paths).await {
        Ok(now) => evidence::after_approval(&examined, &now).unwrap_or(examined),
        Err(why) => examined.into_iter().chain([evidence::unseen(&why.to_string())]).collect(),
    };
    examined.extend(own);
    examined
}

/// Returns whether commands that decide in place of a person may have been run before, without anybody knowing what they did.
fn is_interrupted(scene: &Scene) -> bool {
    scene.is_interrupted && !scene.gate_checks.is_empty()
}

/// Tells that nobody knows what such commands did.
fn interrupted() -> ExaminedClaim {
    let (claim, seen) = ("the checks were interrupted", "what they had changed by then cannot be told from the work");
    ExaminedClaim::new(claim_refuted::RULE.name, ClaimFinding::Refuted, claim, seen).of_gate()
}

/// Runs the commands that decide in place of a person, and tells what each did.
pub(super) async fn gate_checks(evidence: &dyn Evidence, scene: &Scene) -> Vec<ExaminedClaim> {
    // It is measured from when each begins: what was done before is not its doing.
    let scene = Scene { earlier: Vec::new(), baseline: None, before: None, after: None, ..scene.clone() };
    let mut examined: Vec<ExaminedClaim> = is_interrupted(&scene).then(interrupted).into_iter().collect();
    for check in &scene.gate_checks {
        let outcome = evidence.run(&scene, check).await;
        // Several may change the same file: it is as the last one left it.
        let is_newer = |path: &String| outcome.examined.iter().any(|seen| seen.path.as_ref() == Some(path));
        examined.retain(|seen| !seen.path.as_ref().is_some_and(is_newer));
        let name = &check.name;
        examined.push(if outcome.passed {
            let claim = format!("the check `{name}` passed");
            ExaminedClaim::new(claim_refuted::RULE.name, ClaimFinding::Verified, claim, outcome.ended)
        } else {
            let wrote = if outcome.tail.is_empty() { String::new() } else { format!("; it wrote: {}", outcome.tail) };
            let (claim, seen) = (format!("the check `{name}` failed"), format!("{}{wrote}", outcome.ended));
            ExaminedClaim::new(claim_refuted::RULE.name, ClaimFinding::Refuted, claim, seen)
        });
        examined.extend(outcome.examined);
    }
    examined.into_iter().map(ExaminedClaim::of_gate).collect()
}

/// Returns whether all commands that decide a gate are known to have passed.
pub(super) fn have_passed(examined: &[ExaminedClaim], checks: usize) -> bool {
    let is_passed = |seen: &&ExaminedClaim| {
        seen.kind == Some(ClaimKind::GateCheck)
            && seen.rule == claim_refuted::RULE.name
            && seen.verdict == ClaimFinding::Verified
    };
    examined.iter().filter(is_passed).count() >= checks
}

/// Runs the command of a check phase.
pub(super) async fn check(evidence: Arc<dyn Evidence>, scene: Scene, check: CheckCommand) -> Finished {
    Finished::Checked(evidence.run(&scene, &check).await)
}
