//! Claiming what can begin: each agent gets its prompt, and two that may change the same files take turns.

use jiff::Timestamp;

use super::attempt::SeenWorkspace;
use super::brief::{Brief, Instructions};
use super::run_loop::RunLoop;
use super::{LEASE, ReachedAgent};
use crate::Fence;
use crate::draft::Draft;
use crate::evidence::{Moment, Scene};
use crate::failure::{Code, Failure, Transience};
use crate::flow;
use crate::handoff::State;
use crate::id::HandoffId;
use crate::lifecycle::{Claim, Command, Fail};
use crate::overlap::overlap;
use crate::protection::Protection;
use crate::run::{NextTurn, Run, TrackedHandoff};
use crate::session::{self, SessionKind, SessionTurn};
use crate::step::Role;

/// What an agent that was claimed for gets.
pub(super) struct Ready {
    /// The fence of the claim.
    pub(super) fence: Fence,
    pub(super) told: Instructions,
}

enum Prepared {
    Told { told: Box<Instructions>, protection: Option<Protection>, session: Option<SessionTurn> },
    Nothing,
    Elsewhere,
    Impossible(String),
}

impl RunLoop<'_> {
    /// Claims what can begin now. Returns what the agents get.
    pub(super) async fn claim_ready(&mut self, draft: &mut Draft) -> Vec<(HandoffId, Ready)> {
        let is_ready = |tracked: &TrackedHandoff, at: Timestamp| matches!(tracked.handoff.state, State::Pending { ready_at } if ready_at <= at);
        let at = draft.at;
        let ready = flow::work(&draft.run).filter(|tracked| is_ready(tracked, at));
        let ready: Vec<HandoffId> = ready.map(|tracked| tracked.handoff.id.clone()).collect();
        let mut prompts = Vec::new();
        // What begins at the same time begins from the same workspace.
        let mut before = None;
        for id in ready {
            let Some(tracked) = draft.run.find(&id) else { continue };
            if draft.run.is_finished() || flow::is_held(&draft.run) || collides(&draft.run, tracked) {
                continue;
            }
            let prepared = self.prepare(&draft.run, tracked);
            let claim = match &prepared {
                Prepared::Told { told, protection, session } => Claim {
                    moved: told.prompt.shortened.clone(),
                    protection: protection.clone(),
                    session: session.clone(),
                    ..claim(&self.driver.claimant, Some(told.prompt.tokens as u64))
                },
                Prepared::Elsewhere => continue,
                Prepared::Nothing | Prepared::Impossible(_) => claim(&self.driver.claimant, None),
            };
            // What a command changes is told to people, too.
            let is_measured = matches!(prepared, Prepared::Told { .. } | Prepared::Nothing);
            if before.is_none() && is_measured {
                before = self.driver.evidence.remember(&draft.run.definition.workspace).await;
            }
            let before = before.clone().filter(|_| is_measured);
            let baseline = before.as_ref().and_then(|before| before.digest.clone());
            if draft.apply(&id, Command::Claim(Claim { baseline, ..claim })).is_err() {
                continue;
            }
            let fence = draft.run.find(&id).map_or(Fence::NONE, |tracked| tracked.handoff.fence);
            // It is kept and held here before the claim is written: whoever dies in between leaves nothing unknown.
            if before.is_some() {
                self.keep_baseline(&draft.run, &id, fence, before.clone()).await;
            }
            self.seen.insert(id.clone(), (fence, SeenWorkspace { before, after: None }));
            match prepared {
                Prepared::Told { told, .. } => prompts.push((id, Ready { fence, told: *told })),
                Prepared::Impossible(why) => {
                    let failure =
                        Failure { chance: Transience::Permanent, ..Failure::new(Code::dependency_missing(), why) };
                    let _ = draft.apply(&id, Command::Fail(Fail::new(fence, failure, 0.0)));
                }
                Prepared::Nothing | Prepared::Elsewhere => {}
            }
        }
        prompts
    }

    /// Keeps how the workspace is before an attempt.
    async fn keep_baseline(&self, run: &Run, id: &HandoffId, fence: Fence, before: Option<Moment>) {
        let workspace = run.definition.workspace.clone();
        // Without a folder the attempt cannot begin; that is told then.
        let Ok(folder) = self.driver.team.folder(&workspace, &run.id, id, fence) else { return };
        self.driver.evidence.keep(&Scene { workspace, folder, before, ..Scene::default() }).await;
    }

    /// Returns which turn of which session the next attempt is; `None` where programs keep no sessions.
    fn next_turn(&self, tracked: &TrackedHandoff, kind: SessionKind) -> Option<SessionTurn> {
        match (kind, tracked.next_session()) {
            (SessionKind::OneTurn, _) => None,
            (_, Some((session, next))) => {
                Some(SessionTurn { id: session.id.clone(), goes_on: true, repairs: next == NextTurn::Repairs })
            }
            (SessionKind::Chosen, None) => {
                Some(SessionTurn { id: Some(session::uuid(&self.driver.random.word())), ..SessionTurn::default() })
            }
            (SessionKind::Told, None) => Some(SessionTurn::default()),
        }
    }

    fn prepare(&self, run: &Run, tracked: &TrackedHandoff) -> Prepared {
        if tracked.step.role == Role::Check {
            return Prepared::Nothing;
        }
        let Some(brief) = Brief::of(run, tracked) else {
            return Prepared::Impossible("its phase is not in the workflow".to_owned());
        };
        match self.driver.team.reach(brief.located.definition, &tracked.handoff.terms.to) {
            ReachedAgent::Elsewhere => Prepared::Elsewhere,
            ReachedAgent::Not(why) => Prepared::Impossible(why),
            ReachedAgent::Here(agent) => {
                let session = self.next_turn(tracked, agent.sessions());
                match brief.tell(&self.driver.random.word(), session.as_ref()) {
                    Ok(told) => {
                        let protection = agent.protection(&brief.confinement());
                        Prepared::Told { told: Box::new(told), protection, session }
                    }
                    Err(why) => Prepared::Impossible(format!("its prompt cannot be made: {why}")),
                }
            }
        }
    }
}

pub(super) fn claim(claimant: &str, prompt_tokens: Option<u64>) -> Claim {
    let lease_ms = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
    Claim { prompt_tokens, driver: true, ..Claim::by(claimant, lease_ms) }
}

/// Returns whether somebody works now who may change the same files.
fn collides(run: &Run, tracked: &TrackedHandoff) -> bool {
    let writes = Brief::of(run, tracked).and_then(|brief| brief.writes()).unwrap_or_default();
    if writes.is_empty() {
        return false;
    }
    let working = flow::work(run)
        .filter(|other| other.handoff.lease().is_some() || matches!(other.handoff.state, State::Verifying));
    let briefs =
        working.filter(|other| other.handoff.id != tracked.handoff.id).filter_map(|other| Brief::of(run, other));
    let mut theirs = briefs.flat_map(|brief| brief.writes().unwrap_or_default());
    theirs.any(|their| writes.iter().any(|mine| overlap(mine, &their)))
}
