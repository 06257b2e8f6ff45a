//! The whole lifecycle as a table: every command in every state, found by trying it. `docs/lifecycle.md` is made of it.

use super::{Action, Command, Refusal, Transition, apply, to_journal};
use crate::handoff::StateName;

/// One command in all states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleRow {
    /// The verb, with what distinguishes this variant of it.
    pub command: &'static str,
    /// What it does in each state, in the order of [`StateName::ALL`].
    pub cells: Vec<Cell>,
}

/// What a command does in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// It has its effect.
    Goes {
        /// The state after it.
        to: StateName,
        /// What must be done then.
        actions: Vec<&'static str>,
    },
    /// It has none.
    Refused {
        /// Why.
        why: &'static str,
        /// Whether that is journalled.
        journalled: bool,
    },
}

/// Tries every command in every state.
pub fn rows() -> Vec<LifecycleRow> {
    sample::commands().into_iter().map(|(command, make)| LifecycleRow { command, cells: cells(make) }).collect()
}

fn cells(make: sample::Make) -> Vec<Cell> {
    StateName::ALL
        .into_iter()
        .map(|name| {
            let handoff = sample::handoff(name);
            let command = make(&handoff);
            cell(&command, apply(&handoff, command.clone(), sample::time(sample::LATE)))
        })
        .collect()
}

fn cell(command: &Command, tried: Result<Transition, Refusal>) -> Cell {
    match tried {
        Ok(next) => {
            let actions = next.actions.iter().map(Action::name).collect();
            Cell::Goes { to: next.handoff.state.name(), actions }
        }
        Err(refusal) => Cell::Refused { why: refusal.name(), journalled: to_journal(command, &refusal).is_some() },
    }
}

/// A handoff in every state and every command, to try them.
pub(crate) mod sample {
    use jiff::Timestamp;

    #[cfg(test)]
    use crate::approval::{Approval, Approver, Key};
    use crate::failure::{Code, Failure};
    use crate::fence::Fence;
    use crate::handoff::{Ask, Digest, Handoff, Lease, State, StateName, Terms, WrittenDocument};
    use crate::id::{HandoffId, RunId};
    #[cfg(test)]
    use crate::journal::Fact;
    use crate::known::HowKnown;
    #[cfg(test)]
    use crate::lifecycle::RefusedCommand;
    use crate::lifecycle::{
        Accept, Acknowledge, Cancel, Claim, Command, Decide, Decision, Ending, Expire, Fail, HandIn, Heartbeat,
        Release, Requeue, Resume, Route, Verdict, Verify,
    };
    #[cfg(test)]
    use crate::ssh::Signature;

    /// Makes a command for a handoff.
    pub(crate) type Make = fn(&Handoff) -> Command;

    /// When the commands are tried: leases have ended and deadlines have not.
    pub(crate) const LATE: i64 = 1_000;

    /// This many seconds after the beginning.
    pub(crate) fn time(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + seconds).expect("a time of this century")
    }

    pub(crate) fn id() -> HandoffId {
        HandoffId::parse("hoff-1").expect("safe")
    }

    pub(crate) fn run() -> RunId {
        RunId::alone(&id())
    }

    pub(crate) fn accept() -> Accept {
        Accept { id: id(), run: run(), terms: Terms::between("a", "b"), request: written("do it"), notes: Vec::new() }
    }

    /// A handoff in this state that was claimed twice before.
    pub(crate) fn handoff(name: StateName) -> Handoff {
        let mut handoff = accept().apply(time(0)).handoff;
        handoff.changed_at = time(20);
        (handoff.version, handoff.fence, handoff.attempts) = (5, Fence(2), 1);
        handoff.last_report = Some(written("earlier").digest());
        let lease = || {
            let (since, until) = (time(20), time(80));
            Lease {
                claimant: "w".to_owned(),
                since,
                until,
                length_ms: 60_000,
                acknowledged: false,
                driven: false,
                times_itself: false,
            }
        };
        handoff.state = match name {
            StateName::Pending => State::Pending { ready_at: time(20) },
            StateName::Claimed => State::Claimed { lease: lease() },
            StateName::Verifying => State::Verifying,
            StateName::Blocked => State::Blocked { reason: "missing_requirements".to_owned() },
            StateName::AwaitingPerson => State::AwaitingPerson { ask: Ask::Review },
            StateName::Completed => State::Completed { at: time(20) },
            StateName::Failed => State::Failed { at: time(20) },
            StateName::Cancelled => State::Cancelled { at: time(20) },
        };
        handoff
    }

    fn written(text: &str) -> WrittenDocument {
        WrittenDocument { dialect: "native".to_owned(), text: text.to_owned(), path: None, warnings: Box::default() }
    }

    pub(crate) fn claim() -> Command {
        Command::Claim(Claim::by("w", 60_000))
    }

    pub(crate) fn acknowledge(fence: Fence, understood: bool) -> Command {
        Command::Acknowledge(Acknowledge { fence, understood, document: written("understood"), author: None })
    }

    pub(crate) fn heartbeat(fence: Fence) -> Command {
        Command::Heartbeat(Heartbeat::new(fence))
    }

    pub(crate) fn report(fence: Fence) -> Command {
        report_saying(fence, "done")
    }

    pub(crate) fn report_saying(fence: Fence, text: &str) -> Command {
        Command::Report(HandIn::new(fence, Ending::Complete, written(text)))
    }

    fn ending(fence: Fence, ending: Ending) -> Command {
        Command::Report(HandIn::new(fence, ending, written("done")))
    }

    pub(crate) fn fail(fence: Fence) -> Command {
        failing(fence, Code::processing_error())
    }

    fn failing(fence: Fence, code: Code) -> Command {
        Command::Fail(Fail::new(fence, Failure::new(code, "no"), 0.0))
    }

    pub(crate) fn cancel() -> Command {
        Command::Cancel(Cancel { by: "ana".to_owned(), reason: None })
    }

    pub(crate) fn requeue() -> Command {
        Command::Requeue(Requeue { by: "ana".to_owned(), ..Requeue::default() })
    }

    #[cfg(test)]
    pub(crate) fn step(role: crate::step::Role) -> crate::step::Step {
        crate::step::Step { role, phase: "build".to_owned(), visit: 1, within: None, about: None, after: None }
    }

    pub(crate) fn route() -> Command {
        let (to, why) = ("review".to_owned(), "the next phase".to_owned());
        Command::Route(Route { to, why, instead_of: None, skipped: Vec::new() })
    }

    fn verify(fence: Fence, verdict: Verdict) -> Command {
        Command::Verify(Verify {
            fence,
            verdict,
            examined: Vec::new(),
            evidence: None,
            kept: Vec::new(),
            review: false,
            repair: false,
            dice: 0.0,
        })
    }

    fn decide(handoff: &Handoff, decision: Decision) -> Command {
        let shown = handoff.shown().unwrap_or(Digest::of(b""));
        Command::Decide(Decide {
            by: "ana".to_owned(),
            known: HowKnown::Unproven,
            label: None,
            door: crate::door::Door::CommandLine,
            shown,
            decision,
            note: None,
            asked: None,
        })
    }

    fn resume() -> Command {
        Command::Resume(Resume { by: "c".to_owned(), resolution: "solved".to_owned(), question: None })
    }

    /// Every command, with its variants.
    pub(crate) fn commands() -> Vec<(&'static str, Make)> {
        vec![
            ("claim", |_| claim()),
            ("acknowledge: understood", |handoff| acknowledge(handoff.fence, true)),
            ("acknowledge: partial", |handoff| acknowledge(handoff.fence, false)),
            ("heartbeat", |handoff| heartbeat(handoff.fence)),
            ("report: complete", |handoff| report(handoff.fence)),
            ("report: blocked", |handoff| {
                ending(handoff.fence, Ending::Blocked { reason: "missing_requirements".to_owned() })
            }),
            ("report: needs_review", |handoff| ending(handoff.fence, Ending::NeedsReview)),
            ("report: needs_clarification", |handoff| ending(handoff.fence, Ending::NeedsClarification)),
            ("report: of an older claim", |handoff| report(Fence(handoff.fence.0 - 1))),
            ("fail: transient", |handoff| fail(handoff.fence)),
            ("fail: permanent", |handoff| failing(handoff.fence, Code::schema_validation_failed())),
            ("verify: verified", |handoff| verify(handoff.fence, Verdict::Verified)),
            ("verify: refuted", |handoff| {
                verify(handoff.fence, Verdict::Refuted { reasons: "not there".to_owned(), for_good: false })
            }),
            ("expire", |_| Command::Expire(Expire { dice: 0.0, for_good: false, fence: None })),
            ("resume", |_| resume()),
            ("decide: approve", |handoff| decide(handoff, Decision::Approve)),
            ("decide: reject", |handoff| decide(handoff, Decision::Reject { feedback: "again".to_owned() })),
            ("decide: answer", |handoff| decide(handoff, Decision::Answer { answers: "yes".to_owned() })),
            ("decide: ask", |handoff| decide(handoff, Decision::Ask { question: "why?".to_owned() })),
            ("cancel", |_| cancel()),
            ("requeue", |_| requeue()),
            ("release", |handoff| Command::Release(Release { fence: handoff.fence, why: "stopped".to_owned() })),
            ("route", |_| route()),
        ]
    }

    /// Every kind of fact.
    #[cfg(test)]
    pub(crate) fn facts() -> Vec<Fact> {
        let claimed = handoff(StateName::Claimed);
        let happened = commands().into_iter().map(|(_, make)| Fact::from(make(&claimed)));
        let refused = RefusedCommand {
            command: "report".to_owned(),
            fence: Fence(1),
            why: "late".to_owned(),
            document: Some(written("too late")),
            by: None,
            author: None,
        };
        let not_named = RefusedCommand {
            command: "decide".to_owned(),
            fence: Fence(0),
            why: "carl may not decide this; approvers: ana".to_owned(),
            document: None,
            by: Some("carl (cli)".to_owned()),
            author: None,
        };
        let first = Fact::Accepted(Box::new(accept()));
        let approvals = [approvals(), Fact::from(known(HowKnown::Account)), Fact::from(known(signature()))];
        let refused = [Fact::Refused(refused), Fact::Refused(not_named)];
        std::iter::once(first).chain(happened).chain(approvals).chain(refused).collect()
    }

    /// A gate that two must approve.
    #[cfg(test)]
    fn approvals() -> Fact {
        let key = Key { key: "ssh-ed25519 AAAA".to_owned(), valid_after: Some(time(0)), valid_before: None };
        let approvers = vec![
            Approver { name: "ana".to_owned(), keys: vec![key] },
            Approver { name: "ben".to_owned(), keys: Vec::new() },
        ];
        let mut accept = accept();
        accept.terms.approval = Some(Approval { at_least: 2, signed: true, approvers });
        Fact::Accepted(Box::new(accept))
    }

    #[cfg(test)]
    fn known(known: HowKnown) -> Command {
        let Command::Decide(decide) = decide(&handoff(StateName::Claimed), Decision::Approve) else { unreachable!() };
        Command::Decide(Decide { known, label: Some("release manager".to_owned()), ..decide })
    }

    #[cfg(test)]
    fn signature() -> HowKnown {
        let (key, armoured) = ("SHA256:abc".to_owned(), "-----BEGIN SSH SIGNATURE-----\n".to_owned());
        HowKnown::Signature(Box::new(Signature { key, armoured }))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::lifecycle::{ACTIONS, REFUSALS};

    #[test]
    fn every_word_of_the_table_is_explained() {
        for cell in rows().into_iter().flat_map(|row| row.cells) {
            match cell {
                Cell::Goes { actions, .. } => {
                    let explained = |word: &&str| ACTIONS.iter().any(|(name, _)| name == word);
                    assert!(actions.iter().all(explained), "{actions:?}");
                }
                Cell::Refused { why, .. } => assert!(REFUSALS.iter().any(|(name, _)| *name == why), "{why}"),
            }
        }
    }

    #[test]
    fn whole_table() {
        let mut text = String::new();
        for row in rows() {
            writeln!(text, "{}", row.command).expect("text");
            for (state, cell) in StateName::ALL.into_iter().zip(&row.cells) {
                writeln!(text, "  {state}: {cell:?}").expect("text");
            }
        }
        insta::assert_snapshot!(text);
    }
}
