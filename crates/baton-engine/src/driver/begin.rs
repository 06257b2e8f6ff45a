//! Beginning: what was claimed starts, what was reported is examined, and what is over is called off.

use std::sync::PoisonError;

use baton_protocol::workflow;
use tokio::task::AbortHandle;

use super::attempt::{self, Failed, Finished, Trial};
use super::brief::{self, Brief};
use super::look::FileLook;
use super::run_loop::{Errand, Outcome, RunLoop};
use super::{News, ReachedAgent};
use crate::Fence;
use crate::agent::Job;
use crate::engine::{Yardstick, settings_of};
use crate::evidence::{self, ExaminedClaim, Moment, Scene};
use crate::failure::{Code, Failure};
use crate::flow;
use crate::handoff::State;
use crate::id::HandoffId;
use crate::report_contract::ReportContract;
use crate::run::TrackedHandoff;
use crate::step::Role;
use crate::view;

/// An agent, a command or an examination that goes on. Only one goes on for each handoff.
pub(super) struct Working {
    /// The fence of the claim.
    pub(super) fence: Fence,
    task: AbortHandle,
    /// Whether its result is no longer needed.
    pub(super) called_off: bool,
}

impl RunLoop<'_> {
    /// Starts what was claimed, and examines what was reported.
    pub(super) fn begin_work(&mut self) {
        for (id, working) in &mut self.working {
            let handoff = self.run.find(id).map(|tracked| &tracked.handoff);
            // What has expired, was released or waits for a person is not worked on any more.
            let goes_on = handoff.is_some_and(|handoff| {
                handoff.fence == working.fence && matches!(handoff.state, State::Claimed { .. } | State::Verifying)
            });
            if !goes_on && !working.called_off {
                working.task.abort();
                working.called_off = true;
            }
        }
        let run = &self.run;
        self.seen.retain(|id, (fence, _)| {
            run.find(id).is_some_and(|tracked| tracked.handoff.fence == *fence && is_worked_on(tracked))
        });
        let mine = |tracked: &&TrackedHandoff| match &tracked.handoff.state {
            State::Claimed { lease } => lease.claimant == self.driver.claimant,
            State::Verifying => true,
            _ => false,
        };
        // What was called off must have ended before the same work begins again.
        let begin: Vec<HandoffId> = flow::work(&self.run)
            .filter(mine)
            .map(|tracked| tracked.handoff.id.clone())
            .filter(|id| !self.working.contains_key(id))
            .collect();
        for id in begin {
            self.begin_one(&id);
        }
    }

    fn begin_one(&mut self, id: &HandoffId) {
        let Some(tracked) = self.run.find(id) else { return };
        let fence = tracked.handoff.fence;
        if tracked.handoff.approved || tracked.step.role == Role::Gate {
            return self.look_at_files(id);
        }
        let Some(brief) = Brief::of(&self.run, tracked) else { return };
        let folder = match self.driver.team.folder(&self.run.definition.workspace, &self.run.id, id, fence) {
            Ok(folder) => folder,
            Err(why) => return self.results.push((id.clone(), fence, failed(why.to_string()))),
        };
        let may_write = brief.may_write();
        let mut scene = brief.scene(folder.clone(), self.driver.earlier_attempts(&self.run, tracked));
        scene.is_interrupted = self.is_interrupted(id, fence);
        if let Some((_, seen)) = self.seen.get(id).filter(|(claim, _)| *claim == fence) {
            let is_recorded = |before: &Moment| before.digest.is_some() && before.digest == scene.baseline;
            (scene.before, scene.after) = (seen.before.clone().filter(is_recorded), seen.after.clone());
        }
        let evidence = self.driver.evidence.clone();
        let (verifying, report) = (matches!(tracked.handoff.state, State::Verifying), tracked.report().cloned());
        let news = if verifying { News::Examines(id) } else { News::Begins(id) };
        self.driver.audience.hear(&self.run, &news);
        let task = if let (true, Some(report)) = (verifying, report) {
            let examine = attempt::examine(
                evidence,
                scene,
                report,
                (settings_of(&brief.located, &self.driver.settings), self.room()),
            );
            self.tasks.spawn(async move { Outcome::Work(examine.await) })
        } else if tracked.step.role == Role::Check {
            let check = attempt::check(
                evidence,
                scene,
                brief::command(&brief.located.definition.workflow, brief.located.phase()),
            );
            self.tasks.spawn(async move { Outcome::Work(check.await) })
        } else {
            let reached = self.driver.team.reach(brief.located.definition, &tracked.handoff.terms.to);
            let ReachedAgent::Here(agent) = reached else {
                return self.results.push((id.clone(), fence, failed("its agent is not available here".to_owned())));
            };
            let told = match self.ready.remove(id).filter(|ready| ready.fence == fence) {
                Some(ready) => Ok(ready.told),
                // The claim was written, but the answer of the store got lost, and with it the prompt.
                None => brief.tell(&self.driver.random.word(), tracked.turn()),
            };
            let job = told.map_err(|why| why.to_string()).and_then(|told| {
                let kept = self.driver.team.keep(&self.run.definition.workspace, &told.copies);
                kept.map_err(|why| why.to_string())?;
                brief.job(told.prompt.text, folder).map_err(|why| why.to_string())
            });
            let job = match job {
                Ok(job) => job,
                Err(why) => return self.results.push((id.clone(), fence, failed(why))),
            };
            let yardstick = Yardstick::of_brief(&brief, &scene, settings_of(&brief.located, &self.driver.settings));
            let contract = ReportContract {
                dialect: yardstick.dialect,
                mandatory_skills: scene.mandatory_skills.clone(),
                writes: scene.writes.clone().filter(|_| !brief.located.is_in_lane()),
                views: scene.views.clone(),
                settings: yardstick.settings.clone(),
            };
            let trial = Box::new(Trial {
                agent,
                evidence,
                job: Job { contract: Some(contract), ..job },
                yardstick,
                scene,
                newcomers: self.newcomers.entry(id.clone()).or_default().clone(),
                acknowledge: brief.agent.is_some_and(workflow::AgentFields::must_acknowledge),
                room: self.room(),
                progress: self.tell.clone(),
                audience: self.driver.audience.clone(),
            });
            // A task is moved several times before it runs; what it does is large.
            let attempt = Box::pin(trial.run());
            self.tasks.spawn(async move { Outcome::Work(attempt.await) })
        };
        if !verifying {
            for (_, others) in self.newcomers.iter().filter(|(other, _)| *other != id) {
                others.lock().unwrap_or_else(PoisonError::into_inner).extend(may_write.iter().cloned());
            }
        }
        self.works_on(id, fence, task);
    }

    /// Looks at the files that people decide about: at a gate before they are asked, and everywhere after an approval.
    fn look_at_files(&mut self, id: &HandoffId) {
        let Some(tracked) = self.run.find(id) else { return };
        let fence = tracked.handoff.fence;
        self.driver.audience.hear(&self.run, &News::Examines(id));
        let look = FileLook {
            evidence: self.driver.evidence.clone(),
            workspace: self.run.definition.workspace.clone(),
            views: view::kept(&self.run),
            room: self.room(),
        };
        let task = if tracked.handoff.approved {
            let examined = approved_files(tracked);
            self.tasks.spawn(async move { Outcome::Work(look.after_approval(examined).await) })
        } else {
            let lines = flow::gate_lines(&self.run, &tracked.step);
            let scene = match self.scene_of_gate(tracked) {
                Ok(scene) => scene,
                Err(why) => return self.results.push((id.clone(), fence, failed(why))),
            };
            self.tasks.spawn(async move { Outcome::Work(look.before_asking(lines, scene).await) })
        };
        self.works_on(id, fence, task);
    }

    /// Returns where the commands of a gate are run; `None` if there are none.
    fn scene_of_gate(&self, gate: &TrackedHandoff) -> Result<Option<Scene>, String> {
        let Some(brief) = Brief::of(&self.run, gate).filter(Brief::has_gate_checks) else { return Ok(None) };
        let (workspace, handoff) = (&self.run.definition.workspace, &gate.handoff);
        let folder = self.driver.team.folder(workspace, &self.run.id, &handoff.id, handoff.fence);
        let is_interrupted = self.is_interrupted(&handoff.id, handoff.fence);
        let scene = |folder| Some(Scene { is_interrupted, ..brief.scene(folder, Vec::new()) });
        folder.map(scene).map_err(|why| why.to_string())
    }

    fn is_interrupted(&self, id: &HandoffId, fence: Fence) -> bool {
        self.interrupted.contains(&(id.clone(), fence))
    }

    fn works_on(&mut self, id: &HandoffId, fence: Fence, task: AbortHandle) {
        self.errands.insert(task.id(), Errand { handoff: id.clone(), fence: Some(fence) });
        self.working.insert(id.clone(), Working { fence, task, called_off: false });
    }
}

/// Returns what a person was shown of files. Older gates were asked with what the reports said.
pub(super) fn approved_files(tracked: &TrackedHandoff) -> Vec<ExaminedClaim> {
    if !tracked.examined.is_empty() {
        return tracked.examined.clone();
    }
    evidence::handed_over(&tracked.handoff.terms.files)
}

fn is_worked_on(tracked: &TrackedHandoff) -> bool {
    matches!(tracked.handoff.state, State::Claimed { .. } | State::Verifying)
}

pub(super) fn failed(why: String) -> Finished {
    Failed::with(Failure::new(Code::processing_error(), why))
}
