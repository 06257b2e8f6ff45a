//! What holds for every handoff, whatever is asked of it in whatever order: random commands, right and wrong tokens,
//! clocks that go back. A failing sequence is made as short as possible and printed.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "properties/sequence.rs"]
mod sequence;

use baton_engine::handoff::{Handoff, State, StateName};
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{self, Command};
use proptest::prelude::*;

use sequence::{Life, Moment, Outcome, life};

/// How many lives are lived for each property, unless `PROPTEST_CASES` says otherwise.
const LIVES: u32 = 128;

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(LIVES);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Lives the life and looks at the handoff before and after each moment.
fn watch(life: &Life, mut look: impl FnMut(&Handoff, &Moment, &Handoff)) {
    for moment in life.moments() {
        look(&moment.before, &moment, &moment.after);
    }
}

fn is_requeue(command: &Command) -> bool {
    matches!(command, Command::Requeue(_))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn token_never_decreases_and_grows_with_a_claim_only(life in life()) {
        watch(&life, |before, moment, after| {
            let claimed = moment.outcome == Outcome::Happened && matches!(moment.command, Command::Claim(_));
            assert_eq!(after.fence, if claimed { before.fence.next() } else { before.fence });
        });
    }

    #[test]
    fn version_grows_by_one_with_every_event(life in life()) {
        watch(&life, |before, moment, after| {
            let recorded = moment.outcome != Outcome::Ignored;
            assert_eq!(after.version, before.version + u64::from(recorded));
        });
    }

    #[test]
    fn time_of_the_last_event_never_goes_back(life in life()) {
        watch(&life, |before, moment, after| {
            assert!(after.changed_at >= before.changed_at);
            if moment.outcome != Outcome::Ignored {
                assert_eq!(after.changed_at, moment.at.max(before.changed_at));
            }
            if let Some(finished) = after.state.finished_at() {
                assert!(finished <= after.changed_at && finished >= after.accepted_at);
            }
        });
    }

    #[test]
    fn refused_command_changes_nothing_but_the_journal(life in life()) {
        watch(&life, |before, moment, after| {
            if moment.outcome != Outcome::Happened {
                let mut same = after.clone();
                (same.version, same.changed_at) = (before.version, before.changed_at);
                assert_eq!(&same, before);
            }
        });
    }

    #[test]
    fn finished_handoff_stays_finished_unless_it_is_requeued(life in life()) {
        watch(&life, |before, moment, after| {
            let (was, is) = (before.state.name(), after.state.name());
            if was.is_finished() && was != is {
                assert!(is_requeue(&moment.command) && is == StateName::Pending, "{was} to {is}");
            }
            if was == StateName::Completed {
                assert_eq!(is, was, "completed is for ever");
            }
        });
    }

    #[test]
    fn attempts_never_exceed_the_policy(life in life()) {
        watch(&life, |_, _, after| assert!(after.attempts <= after.terms.retry.max_retries + 1));
    }

    #[test]
    fn attempts_are_forgotten_only_when_there_is_something_new_to_know(life in life()) {
        watch(&life, |before, moment, after| {
            if after.attempts < before.attempts {
                let told = matches!(moment.command, Command::Resume(_) | Command::Decide(_) | Command::Requeue(_));
                assert!((told || before.returned_early) && after.attempts == 0 && !after.notes.is_empty());
            }
        });
    }

    #[test]
    fn handoff_wakes_exactly_while_something_can_end(life in life()) {
        watch(&life, |_, _, after| {
            let finished = after.state.finished_at().is_some();
            let endings = [after.lease().map(|lease| lease.until), after.times_out_at(), after.deadline];
            let expected = endings.into_iter().flatten().min().filter(|_| !finished);
            assert_eq!(after.wakes_at(), expected);
            assert!(after.lease().is_none() || after.wakes_at().is_some(), "a claim always ends");
        });
    }

    #[test]
    fn what_wakes_can_be_expired_and_nothing_else_can(life in life()) {
        watch(&life, |_, moment, after| {
            let at = moment.at.max(after.changed_at);
            let due = after.wakes_at().is_some_and(|wake| wake <= at);
            let expire = Command::Expire(lifecycle::Expire { dice: 0.5, for_good: false, fence: None });
            assert_eq!(lifecycle::apply(after, expire, at).is_ok(), due);
        });
    }

    #[test]
    fn same_command_has_the_same_effect(life in life()) {
        watch(&life, |before, moment, _| {
            let once = lifecycle::apply(before, moment.command.clone(), moment.at);
            let again = lifecycle::apply(before, moment.command.clone(), moment.at);
            assert_eq!(once, again);
        });
    }

    #[test]
    fn report_or_failure_said_twice_is_never_applied_twice(life in life()) {
        watch(&life, |_, moment, after| {
            let said = matches!(moment.command, Command::Report(_) | Command::Fail(_));
            if said && moment.outcome == Outcome::Happened {
                let again = lifecycle::apply(after, moment.command.clone(), moment.at);
                assert_eq!(again.map(|next| next.fact), Err(lifecycle::Refusal::Repeated));
            }
        });
    }

    #[test]
    fn agreement_never_changes_and_only_a_requeue_lifts_the_deadline(life in life()) {
        watch(&life, |before, moment, after| {
            assert_eq!(after.terms, before.terms);
            if after.deadline != before.deadline {
                assert!(is_requeue(&moment.command) && after.deadline.is_none());
            }
        });
    }

    #[test]
    fn ready_time_is_never_before_the_event_that_made_it_pending(life in life()) {
        watch(&life, |before, moment, after| {
            let was_pending = matches!(before.state, State::Pending { .. });
            if let (State::Pending { ready_at }, Outcome::Happened, false) = (&after.state, moment.outcome, was_pending) {
                assert!(*ready_at >= after.changed_at && *ready_at >= before.accepted_at);
            }
        });
    }

    #[test]
    fn journal_gives_the_handoff_again(life in life()) {
        let mut head = Head::START;
        let mut events: Vec<Event> = Vec::new();
        let mut record = |handoff: &Handoff, fact: &Fact| {
            let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, fact);
            head = event.head();
            events.push(event);
        };
        let accepted = life.accept.clone().apply(life.accepted_at);
        record(&accepted.handoff, &accepted.fact);
        let mut last = accepted.handoff;
        for moment in life.moments() {
            if let Some(fact) = &moment.fact {
                record(&moment.after, fact);
            }
            last = moment.after;
        }
        let mut handoff = None;
        for event in &events {
            handoff = Some(lifecycle::replay(handoff, event.fact().unwrap(), event.at).unwrap());
        }
        assert_eq!(handoff, Some(last));
    }
}
