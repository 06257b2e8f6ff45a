//! What agents, commands and people do: the ports of a driver, with somebody's mind behind them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::Fence;
use baton_engine::agent::{Agent, EndedTurn, Job, Reply, Update, Updates};
use baton_engine::definition::Definition;
use baton_engine::door::Door;
use baton_engine::driver::{Audience, News, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem};
use baton_engine::evidence::{
    ChangedFiles, CheckCommand, CheckOutcome, ClaimFinding, Content, Evidence, ExaminedClaim, FileIdentity, KeptBytes,
    Moment, Scene, WorkspaceFault,
};
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::Digest;
use baton_engine::handover::Copy;
use baton_engine::known::Decider;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{People, Question, Response};
use baton_engine::run::Run;
use baton_engine::session::{SessionKind, Spent};
use baton_engine::{HandoffId, RunId};
use baton_protocol::Dialect;
use baton_protocol::model::Report;

use crate::chance::Chance;
use crate::saying::{self, LIE, Saying};
use crate::witness::Witness;

/// Decides what everybody does.
pub trait Mind: Send + Sync {
    /// What an agent does, and how long it works before.
    fn work(&self, job: &Job) -> (Duration, Act);

    /// Returns how the program of an agent keeps sessions.
    fn sessions(&self, agent: &str) -> SessionKind {
        let _ = agent;
        SessionKind::OneTurn
    }

    /// How long a command takes, and whether it passes.
    fn check(&self, check: &CheckCommand) -> (Duration, bool);

    /// How long claims are examined.
    fn examine(&self) -> Duration;

    /// Whether somebody has changed the files that a person has approved.
    fn changes_approved_files(&self) -> bool;

    /// What a person at the driver says, and after how long.
    fn decide(&self, question: &Question) -> Person;
}

/// What an agent does.
#[derive(Debug, Clone)]
pub enum Act {
    /// It says something.
    Says(Saying),
    /// It fails.
    Fails(Failure),
    /// It says something when its time is over.
    SaysLate(Saying),
    /// It does nothing, for ever.
    Hangs,
}

/// What a person does who is asked.
#[derive(Debug, Clone)]
pub enum Person {
    /// Nobody is there.
    Nobody,
    /// Somebody decides after a while.
    Says(Duration, Decision),
    /// Somebody is there and never says anything.
    Silent,
}

/// Reaches agents that have a mind.
pub struct Office {
    /// What they do.
    pub mind: Arc<dyn Mind>,
    /// Who keeps the books.
    pub witness: Arc<Witness>,
    /// Whether somebody is certainly dead.
    pub is_dead: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Team for Office {
    fn reach(&self, definition: &Definition, agent: &str) -> ReachedAgent {
        let Some(known) = definition.workflow.agents.get(agent) else {
            return ReachedAgent::Not(format!("there is no agent {agent}"));
        };
        if known.queue.unwrap_or_default() {
            return ReachedAgent::Elsewhere;
        }
        ReachedAgent::Here(Arc::new(Actor {
            mind: self.mind.clone(),
            witness: self.witness.clone(),
            dialect: known.dialect.as_deref().and_then(Dialect::parse).unwrap_or(Dialect::Native),
            acknowledges: known.must_acknowledge(),
            sessions: self.mind.sessions(agent),
        }))
    }

    fn folder(&self, _: &Path, _: &RunId, id: &HandoffId, fence: Fence) -> Result<PathBuf, PlaceFault> {
        Ok(Path::new(id.as_str()).join(fence.to_string()))
    }

    fn keep(&self, _: &Path, _: &[Copy]) -> Result<(), PlaceFault> {
        Ok(())
    }

    fn is_dead(&self, claimant: &str) -> bool {
        (self.is_dead)(claimant)
    }

    fn lock(&self, _: &Path, _: &RunId, _: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        Ok(WorkspaceLock::of(()))
    }

    fn sweep(&self, _: &RunId, _: &Path) {}
}

struct Actor {
    mind: Arc<dyn Mind>,
    witness: Arc<Witness>,
    dialect: Dialect,
    acknowledges: bool,
    sessions: SessionKind,
}

#[async_trait]
impl Agent for Actor {
    fn sessions(&self) -> SessionKind {
        self.sessions
    }

    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        self.witness.begins(&job.run, &job.handoff, job.fence);
        let (time, act) = self.mind.work(job);
        if self.sessions == SessionKind::Told {
            let _ = updates.send(Update::Session(format!("{}-{}", job.handoff, job.fence)));
        }
        if self.sessions != SessionKind::OneTurn {
            let _ = updates.send(Update::Spent(Spent { input: 7, ..Spent::default() }));
        }
        let acknowledgment = if self.acknowledges { saying::acknowledgment(job) } else { None };
        if let Some(text) = &acknowledgment {
            tokio::time::sleep(time / 4).await;
            // Nobody may listen.
            let _ = updates.send(Update::Acknowledged(text.clone()));
        }
        let late = matches!(act, Act::SaysLate(_));
        match job.timeout.filter(|most| late || *most <= time) {
            // It cannot be stopped, and goes on when nobody wants to know.
            Some(most) if late => tokio::time::sleep(most + Duration::from_secs(1)).await,
            Some(most) => {
                tokio::time::sleep(most).await;
                return Err(Failure::new(Code::timeout(), "it took too long and was stopped")).into();
            }
            None => tokio::time::sleep(time).await,
        }
        match act {
            Act::Hangs => std::future::pending().await,
            Act::Fails(failure) => Err(failure).into(),
            Act::Says(saying) | Act::SaysLate(saying) => {
                let text = saying::write(self.dialect, job, &saying);
                self.witness.heard(&job.handoff, job.fence, Digest::of(text.as_bytes()));
                Ok(Reply { text, source: "memory".to_owned(), acknowledgment, ..Reply::default() }).into()
            }
        }
    }
}

/// Looks at claims, and believes whatever is not a lie.
pub struct Inspector {
    /// What they do.
    pub mind: Arc<dyn Mind>,
    /// Who keeps the books, and what attempts are measured with.
    pub witness: Arc<Witness>,
}

#[async_trait]
impl Evidence for Inspector {
    async fn remember(&self, _: &Path) -> Option<Moment> {
        let number = self.witness.moment();
        Some(Moment { digest: Some(Digest::of(&number.to_be_bytes())), seen: Arc::new(number) })
    }

    async fn keep(&self, scene: &Scene) {
        if let Some(digest) = scene.before.as_ref().and_then(|before| before.digest.clone()) {
            self.witness.keeps(&scene.folder, digest);
        }
    }

    async fn examine(&self, scene: &Scene, report: &Report) -> Vec<ExaminedClaim> {
        tokio::time::sleep(self.mind.examine()).await;
        self.witness.measures(scene);
        let lies = report.summary.as_deref().is_some_and(|summary| summary.contains(LIE));
        let (verdict, seen) =
            if lies { (ClaimFinding::Refuted, "not there") } else { (ClaimFinding::Verified, "there") };
        let (path, sha256) = (Some("out/report.md".to_owned()), Some(Digest::of(b"as it was").0));
        vec![ExaminedClaim {
            path,
            sha256,
            ..ExaminedClaim::new("artifact-missing", verdict, "the file was made", seen)
        }]
    }

    async fn identify(&self, _: &Path, _: &[PathBuf], paths: Vec<String>) -> Result<Vec<FileIdentity>, WorkspaceFault> {
        tokio::time::sleep(self.mind.examine()).await;
        // A change stays for as long as nobody looks again: the next look finds another one, or what was there first.
        let content: &[u8] = if self.mind.changes_approved_files() { b"as it is now" } else { b"as it was" };
        let identity = FileIdentity::There { sha256: Some(Digest::of(content).0), mark: None };
        Ok(vec![identity; paths.len()])
    }

    async fn contents(&self, _: &Path, _: &[PathBuf], _: &[ExaminedClaim], _: KeptBytes) -> Vec<Content> {
        vec![Content { digest: Digest::of(b"as it was"), bytes: b"as it was".to_vec() }]
    }

    async fn changed(&self, _: &Scene) -> ChangedFiles {
        ChangedFiles::default()
    }

    async fn run(&self, _: &Scene, check: &CheckCommand) -> CheckOutcome {
        let (time, passed) = self.mind.check(check);
        tokio::time::sleep(time).await;
        let ended = if passed { "exit 0" } else { "exit 1" };
        CheckOutcome { passed, ended: ended.to_owned(), tail: String::new(), examined: Vec::new() }
    }
}

/// Somebody in front of the driver's terminal.
pub struct AtTheDesk(pub Arc<dyn Mind>);

#[async_trait]
impl People for AtTheDesk {
    async fn decide(&self, question: &Question) -> Option<Response> {
        match self.0.decide(question) {
            Person::Nobody => None,
            Person::Silent => std::future::pending().await,
            Person::Says(time, decision) => {
                tokio::time::sleep(time).await;
                Some(Response { decision, note: None, by: Decider::account("ana", None), door: Door::Terminal })
            }
        }
    }
}

/// Listens to nothing.
pub struct Deaf;

impl Audience for Deaf {
    fn hear(&self, _: &Run, _: &News<'_>) {}
}

/// Chance, as the driver wants it.
pub struct SeededRandom(pub Chance);

impl baton_engine::engine::Random for SeededRandom {
    fn number(&self) -> f64 {
        self.0.fraction()
    }

    fn word(&self) -> String {
        format!("{:016x}", self.0.number())
    }
}
