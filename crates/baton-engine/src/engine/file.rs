//! Filing work that was done elsewhere: a session that Baton does not drive has asked an agent and got its report. All
//! of it becomes one finished handoff, in one transaction, so that no part of it ever appears in a queue.

use jiff::Timestamp;

use super::{Caller, Engine, HandedIn, NewHandoff, Problem, ValidDocument, WantedTerms, Yardstick};
use crate::Fence;
use crate::evidence::{self, Content, ExaminedClaim};
use crate::expression::slug;
use crate::failure::{Code, Failure, Transience};
use crate::handoff::{Digest, Handoff, State, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Accept, Again, Claim, Command, Ending, Fail, HandIn, Verdict, Verify};
use crate::retry::{Policy, RETRIES_MAX};
use crate::store::{ClaimedHandoff, StoreError, TransactionStep};

/// How often another id is tried because somebody else in the same session has just taken it.
const IDS_TRIED: usize = 20;

/// The claim lasts no longer than the transaction that it is part of.
const LEASE_MS: u64 = 60_000;

/// Work that was done in a session.
#[derive(Debug, Clone)]
pub struct FiledWork {
    /// The run: what happens in one session is one.
    pub run: RunId,
    /// Who worked.
    pub agent: String,
    /// Who asked.
    pub from: String,
    /// Which process, for the record.
    pub claimant: String,
    /// What was asked.
    pub request: ValidDocument,
    /// What was handed in before and not accepted, in its order.
    pub refused: Vec<RefusedText>,
    /// How it ended.
    pub end: FiledEnd,
}

/// A text that was handed in and not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedText {
    /// The text.
    pub document: WrittenDocument,
    /// Why.
    pub why: String,
}

/// How work in a session ended.
#[derive(Debug, Clone)]
pub enum FiledEnd {
    /// With a report that counts.
    Reported {
        /// The report.
        document: Box<ValidDocument>,
        /// What was seen of its claims.
        examined: Vec<ExaminedClaim>,
        /// The files that were looked at.
        contents: Vec<Content>,
        /// How much of these is kept of a run.
        contents_bytes_max: u64,
    },
    /// With a text that was refused too, after which the agent was allowed to end.
    LetGo(RefusedText),
}

impl Engine {
    /// Files work that was done in a session. What is blocked or needs a person waits for one: nobody else would look. When
    /// the person has decided and the agent reports again, that is what comes of the same handoff.
    pub async fn file(&self, work: FiledWork, caller: &Caller) -> Result<Handoff, Problem> {
        let kept = match &work.end {
            FiledEnd::Reported { contents, contents_bytes_max, .. } if !contents.is_empty() => {
                self.store.keep_contents(&work.run, contents.clone(), *contents_bytes_max).await?.digests
            }
            FiledEnd::Reported { .. } | FiledEnd::LetGo(_) => Vec::new(),
        };
        let before = self.store.handoffs_of(&work.run).await?;
        let own: Vec<&Handoff> =
            before.iter().map(|(handoff, _)| handoff).filter(|one| one.terms.to == work.agent).collect();
        let mut answered = own.iter().find(|one| matches!(one.state, State::Pending { .. })).copied();
        let before = own.len();
        for number in before + 1..=before + IDS_TRIED {
            let (accept, commands) = self.filed(&work, number, &kept, answered)?;
            let id = answered.map_or_else(|| accept.id.clone(), |handoff| handoff.id.clone());
            let apply = |command: Command| TransactionStep::Apply(id.clone(), command.sent_by(caller.author()));
            let accept = answered.is_none().then(|| TransactionStep::Accept(Box::new(accept)));
            let steps = accept.into_iter().chain(commands.into_iter().map(apply));
            match self.store.carry_out(steps.collect(), self.now()).await {
                // Another agent of this name has ended at the same time, or somebody has claimed what was answered.
                Err(StoreError::Taken { .. } | StoreError::Refused(_)) if number < before + IDS_TRIED => {
                    answered = None
                }
                left => {
                    let last = left?.pop();
                    return last.ok_or_else(|| StoreError::Failed("nothing was filed".to_owned()).into());
                }
            }
        }
        Err(StoreError::Failed(format!("there is no free id for {} in {}", work.agent, work.run)).into())
    }

    /// Returns the handoff, and everything that happened to it; or what happened to the one that a person has answered.
    fn filed(
        &self,
        work: &FiledWork,
        number: usize,
        kept: &[Digest],
        answered: Option<&Handoff>,
    ) -> Result<(Accept, Vec<Command>), Problem> {
        let id = HandoffId::parse(format!("{}.{}.{number}", work.run, slug(&work.agent)))
            .or_else(|_| HandoffId::parse(format!("{}.{number}", work.run)))
            .unwrap_or_else(|_| self.random.id());
        let terms =
            WantedTerms { to: Some(work.agent.clone()), from: Some(work.from.clone()), ..WantedTerms::default() };
        let new = NewHandoff { id: Some(id), run: Some(work.run.clone()), terms, ..NewHandoff::default() };
        let mut accept = self.accept(&work.request, new)?;
        accept.terms.verify = true;
        let max_retries = u32::try_from(work.refused.len()).unwrap_or(RETRIES_MAX).min(RETRIES_MAX);
        accept.terms.retry = Policy { max_retries, ..Policy::NEVER };
        let mut commands = Vec::new();
        let mut fence = answered.map_or(Fence::NONE, |handoff| handoff.fence);
        // How often the one that was answered may be tried was settled when it was filed.
        let again = if answered.is_some() { Again::Repair } else { Again::Policy };
        let mut claimed = |commands: &mut Vec<Command>| {
            fence = fence.next();
            commands.push(Command::Claim(Claim::by(&work.claimant, LEASE_MS)));
            fence
        };
        for refused in &work.refused {
            let fence = claimed(&mut commands);
            commands.push(failed(fence, refused, Transience::Transient, again));
        }
        let fence = claimed(&mut commands);
        match &work.end {
            FiledEnd::LetGo(refused) => commands.push(failed(fence, refused, Transience::Permanent, Again::Policy)),
            FiledEnd::Reported { document, examined, .. } => {
                let report = self.ending(work, &accept, answered, document, fence)?;
                let is_examined =
                    matches!(&report, Command::Report(HandIn { ending: Ending::Complete | Ending::NeedsReview, .. }));
                commands.push(report);
                if is_examined {
                    commands.push(Command::Verify(Verify {
                        fence,
                        verdict: Verdict::Verified,
                        evidence: evidence::digest(examined),
                        review: evidence::asks_person(examined),
                        repair: false,
                        examined: examined.clone(),
                        kept: kept.to_vec(),
                        dice: 0.0,
                    }));
                }
            }
        }
        Ok((accept, commands))
    }

    /// Returns how a report ends the attempt.
    fn ending(
        &self,
        work: &FiledWork,
        accept: &Accept,
        answered: Option<&Handoff>,
        document: &ValidDocument,
        fence: Fence,
    ) -> Result<Command, Problem> {
        let handoff = answered.cloned().unwrap_or_else(|| accept.handoff(Timestamp::UNIX_EPOCH));
        let mut yardstick = Yardstick::of_project(&self.settings);
        yardstick.following.push(work.from.clone());
        let claimed = ClaimedHandoff { handoff, request: accept.request.clone() };
        let handed_in = HandedIn { fence, ..HandedIn::of(&claimed, &yardstick, document.clone()) };
        Ok(match handed_in.command(0.0).map_err(Problem::NoAnswer)? {
            Command::Report(mut report) => {
                if matches!(report.ending, Ending::Blocked { .. }) {
                    report.ending = Ending::NeedsClarification;
                }
                Command::Report(report)
            }
            Command::Fail(mut fail) => {
                fail.failure.chance = Transience::Permanent;
                Command::Fail(fail)
            }
            other => other,
        })
    }
}

fn failed(fence: Fence, refused: &RefusedText, chance: Transience, again: Again) -> Command {
    let failure = Failure { chance, ..Failure::new(Code::validation_failed(), refused.why.clone()) };
    Command::Fail(Fail { document: Some(refused.document.clone()), again, ..Fail::new(fence, failure, 0.0) })
}
