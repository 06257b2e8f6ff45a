//! Everything that can be done to a journal from outside, done to a sample, and found.

use proptest::prelude::*;

use super::*;
use crate::Fence;
use crate::handoff::{Digest, State, StateName, Terms, WrittenDocument};
use crate::journal::Fact;
use crate::lifecycle::table::sample;
use crate::lifecycle::{Accept, Command, Expire, apply, refuse, to_journal};

/// A journal with its rows.
#[derive(Clone)]
struct Sample {
    events: Vec<Event>,
    rows: Vec<(Handoff, Head)>,
}

impl Sample {
    fn empty() -> Sample {
        Sample { events: Vec::new(), rows: Vec::new() }
    }

    fn head(&self) -> Head {
        self.events.last().map_or(Head::START, Event::head)
    }

    fn write(&mut self, handoff: Handoff, at: Timestamp, fact: &Fact) {
        let event = self.head().next(&handoff.run, &handoff.id, handoff.version, at, fact);
        self.rows.retain(|(row, _)| row.id != handoff.id);
        self.rows.push((handoff, event.head()));
        self.events.push(event);
    }

    fn accept(&mut self, name: &str, seconds: i64) {
        let request = WrittenDocument {
            dialect: "native".to_owned(),
            text: format!("request of {name}"),
            path: None,
            warnings: Box::default(),
        };
        let terms = Terms::between("a", "b");
        let accept = Accept { id: id(name), run: sample::run(), terms, request, notes: Vec::new() };
        let transition = accept.apply(sample::time(seconds));
        self.write(transition.handoff, sample::time(seconds), &transition.fact);
    }

    /// Applies a command as a store does: late ones are journalled, others that are refused leave no trace.
    fn command(&mut self, name: &str, make: impl Fn(&Handoff) -> Command, seconds: i64) {
        let row = self.rows.iter().find(|(row, _)| row.id == id(name)).expect("accepted").0.clone();
        let (command, at) = (make(&row), sample::time(seconds));
        match apply(&row, command.clone(), at) {
            Ok(next) => self.write(next.handoff, at, &next.fact),
            Err(refusal) => {
                if let Some(refused) = to_journal(&command, &refusal) {
                    let next = refuse(&row, refused, at);
                    self.write(next.handoff, at, &next.fact);
                }
            }
        }
    }

    fn audit(&self) -> Audit {
        verify(&sample::run(), &self.events, &self.rows)
    }

    fn codes(&self) -> Vec<&'static str> {
        self.audit().findings.iter().map(|finding| finding.fault.code()).collect()
    }
}

fn id(name: &str) -> HandoffId {
    HandoffId::parse(name).expect("safe")
}

/// Two handoffs whose events alternate, with a late report and an expired lease among them.
fn two() -> Sample {
    let mut sample = Sample::empty();
    sample.accept("one", 0);
    sample.accept("two", 1);
    sample.command("one", |_| sample::claim(), 2);
    sample.command("two", |_| sample::claim(), 3);
    sample.command("one", |row| sample::heartbeat(row.fence), 10);
    sample.command("two", |_| Command::Expire(Expire { dice: 0.25, for_good: false, fence: None }), 100);
    sample.command("one", |row| sample::acknowledge(row.fence, true), 11);
    sample.command("two", |row| sample::report(row.fence), 101);
    sample.command("one", |row| sample::report(row.fence), 102);
    sample.command("two", |_| sample::claim(), 200);
    sample
}

#[test]
fn sound_journal_has_no_findings_and_a_head() {
    let sample = two();
    let audit = sample.audit();
    assert_eq!(audit.findings, []);
    assert_eq!((audit.events, audit.handoffs, audit.head), (10, 2, sample.head()));
}

#[test]
fn every_changed_byte_is_found_at_its_event() {
    let sound = two();
    for index in 0..sound.events.len() {
        for event in changed(&sound.events[index]) {
            let mut sample = sound.clone();
            sample.events[index] = event.clone();
            let findings = sample.audit().findings;
            let named = |finding: &AuditFinding| finding.seq == Some(event.seq) && finding.handoff.is_some();
            assert!(findings.iter().any(named), "{event:?}: {findings:?}");
        }
    }
}

/// Every change of one byte of an event's texts and hash, and a change of each number.
fn changed(event: &Event) -> Vec<Event> {
    let mut all = Vec::new();
    let mut change = |with: &dyn Fn(&mut Event)| {
        let mut copy = event.clone();
        with(&mut copy);
        all.push(copy);
    };
    for place in 0..event.detail.len() {
        change(&|copy| copy.detail = flipped(&event.detail, place));
    }
    for place in 0..event.kind.len() {
        change(&|copy| copy.kind = flipped(&event.kind, place));
    }
    for place in 0..32 {
        change(&|copy| copy.hash.0[place] ^= 1);
    }
    change(&|copy| copy.version += 1);
    change(&|copy| copy.seq += 1);
    change(&|copy| copy.at += std::time::Duration::from_micros(1));
    change(&|copy| copy.handoff = id("three"));
    change(&|copy| copy.run = RunId::parse("other").expect("safe"));
    all
}

fn flipped(text: &str, place: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    bytes[place] ^= 1;
    String::from_utf8(bytes).expect("the samples are ASCII")
}

#[test]
fn changed_event_is_the_only_one_that_is_called_changed() {
    let mut sample = two();
    sample.events[4].detail = sample.events[4].detail.replace("null", "9999");
    let audit = sample.audit();
    let changed: Vec<_> = audit.findings.iter().filter(|finding| finding.fault.code() == "changed").collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].seq, Some(5));
    assert!(changed[0].to_string().starts_with("event 5 (extended, one): it was changed"), "{}", changed[0]);
}

#[test]
fn changed_hash_does_not_accuse_the_next_event() {
    let mut sample = two();
    sample.events[4].hash.0[0] ^= 1;
    assert_eq!(sample.codes(), ["changed"]);
}

#[test]
fn every_removed_event_is_found() {
    let sound = two();
    let last = sound.events.len() - 1;
    for index in 0..=last {
        let mut sample = sound.clone();
        let gone = sample.events.remove(index);
        let codes = sample.codes();
        let expected = if index == last { "cut-off" } else { "removed" };
        assert!(codes.contains(&expected), "{gone:?}: {codes:?}");
    }
}

#[test]
fn every_tail_that_is_cut_off_is_found() {
    let sound = two();
    for length in 0..sound.events.len() {
        let sample = Sample { events: sound.events[..length].to_vec(), rows: sound.rows.clone() };
        assert!(sample.codes().contains(&"cut-off"), "{length}");
    }
}

#[test]
fn every_swapped_pair_is_found() {
    let sound = two();
    for first in 0..sound.events.len() {
        for second in first + 1..sound.events.len() {
            // As the store would give them: moved, and with their numbers exchanged.
            let mut moved = sound.clone();
            moved.events.swap(first, second);
            assert!(moved.codes().contains(&"out-of-order"), "{first} {second}");
            let mut renumbered = moved.clone();
            renumbered.events[first].seq = first as u64 + 1;
            renumbered.events[second].seq = second as u64 + 1;
            assert!(renumbered.codes().contains(&"changed"), "{first} {second}");
        }
    }
}

#[test]
fn inserted_event_is_found() {
    let sound = two();
    for index in 0..sound.events.len() {
        let mut sample = sound.clone();
        sample.events.insert(index, sound.events[index].clone());
        assert_eq!(sample.codes(), ["out-of-order"], "{index}");
    }
}

#[test]
fn forged_event_at_the_end_is_found_by_the_row() {
    let mut sample = two();
    let rows = sample.rows.clone();
    sample.command("two", |row| sample::report(row.fence), 201);
    assert_eq!(Sample { rows, ..sample }.codes(), ["other-head", "other-row"]);
}

#[test]
fn what_the_lifecycle_forbids_is_found_although_the_chain_holds() {
    let mut sample = two();
    let (mut row, _) = sample.rows[0].clone();
    row.version += 1;
    let fact = Fact::from(sample::claim());
    sample.write(row, sample::time(300), &fact);
    let audit = sample.audit();
    assert!(audit.findings[0].to_string().contains("impossible: `claim` was impossible"), "{audit:?}");
}

#[test]
fn time_that_runs_backwards_is_found_although_the_chain_holds() {
    let mut sample = two();
    let (row, _) = sample.rows.iter().find(|(row, _)| row.id == id("two")).expect("there").clone();
    let next = apply(&row, sample::heartbeat(row.fence), sample::time(250)).expect("held");
    sample.write(next.handoff, sample::time(5), &next.fact);
    assert!(sample.codes().contains(&"backwards"));
}

#[test]
fn every_changed_field_of_a_row_is_found() {
    type Change = (&'static str, fn(&mut Handoff));
    let changes: [Change; 13] = [
        ("run", |row| row.run = RunId::parse("other").expect("safe")),
        ("terms", |row| std::sync::Arc::make_mut(&mut row.terms).to.push('x')),
        ("request", |row| row.request = Digest::of(b"other")),
        ("accepted_at", |row| row.accepted_at = sample::time(9)),
        ("changed_at", |row| row.changed_at = sample::time(9)),
        ("version", |row| row.version += 1),
        ("fence", |row| row.fence = row.fence.next()),
        ("attempts", |row| row.attempts += 1),
        ("state", |row| row.state = State::Verifying),
        ("notes", |row| row.notes = sample::handoff(StateName::Pending).notes.into_iter().chain(note()).collect()),
        ("last_report", |row| row.last_report = Some(Digest::of(b"other"))),
        ("evidence", |row| row.evidence = Some(Digest::of(b"other"))),
        ("last_failure", |row| {
            row.last_failure =
                Some(crate::Failure::new(crate::Code::parse("OTHER").expect("capital letters"), "something else"));
        }),
    ];
    for (name, change) in changes {
        let mut sample = two();
        change(&mut sample.rows[0].0);
        let fault = &sample.audit().findings[0].fault;
        assert_eq!(*fault, AuditFault::OtherRow(vec![name]));
    }
}

fn note() -> Option<crate::handoff::Note> {
    let about = crate::handoff::About::Feedback;
    Some(crate::handoff::Note::new(about, "nobody", "forged"))
}

#[test]
fn missing_and_superfluous_rows_are_found() {
    let mut without = two();
    without.rows.remove(0);
    assert_eq!(without.codes(), ["no-row"]);

    let mut with = two();
    let (mut row, head) = with.rows[0].clone();
    row.id = id("three");
    with.rows.push((row, head));
    assert_eq!(with.codes(), ["no-events"]);
}

#[test]
fn changed_hash_of_a_row_is_found() {
    let mut sample = two();
    sample.rows[0].1.hash.0[31] ^= 1;
    assert_eq!(sample.codes(), ["other-hash"]);
}

#[test]
fn only_a_head_kept_elsewhere_finds_a_journal_that_was_rewritten() {
    let kept = two().head().hash;
    let mut rewritten = Sample::empty();
    rewritten.accept("one", 0);
    assert_eq!(rewritten.codes(), [""; 0]);
    let mut auditor = Auditor::new(sample::run()).expecting(kept);
    rewritten.events.iter().for_each(|event| auditor.event(event));
    assert_eq!(auditor.finish(&rewritten.rows).findings[0].fault, AuditFault::HeadUnknown(kept));
}

#[test]
fn head_kept_elsewhere_may_be_older_than_the_journal() {
    let sample = two();
    let mut auditor = Auditor::new(sample::run()).expecting(sample.events[3].hash);
    sample.events.iter().for_each(|event| auditor.event(event));
    assert_eq!(auditor.finish(&sample.rows).findings, []);
}

proptest! {
    /// Whatever happens, the journal that a store writes is sound; whatever is done to it afterwards is found.
    #[test]
    fn random_lives_are_sound_until_somebody_touches_them(
        steps in proptest::collection::vec((0..2usize, 0..sample::commands().len(), 0..50i64), 1..40),
        touched in any::<proptest::sample::Index>(),
        kind in 0..4usize,
    ) {
        let mut sample = Sample::empty();
        sample.accept("one", 0);
        sample.accept("two", 0);
        let mut seconds = 0;
        for (which, command, pause) in steps {
            seconds += pause;
            let make = sample::commands()[command].1;
            // A report of an older claim needs one.
            let safe = |row: &Handoff| if row.fence == Fence(0) { sample::cancel() } else { make(row) };
            sample.command(["one", "two"][which], safe, seconds);
        }
        prop_assert_eq!(sample.audit().findings, []);

        let index = touched.index(sample.events.len());
        match kind {
            0 => sample.events[index].detail.push(' '),
            1 => drop(sample.events.remove(index)),
            2 => sample.events[index].at += std::time::Duration::from_micros(1),
            _ => sample.events.insert(index, sample.events[index].clone()),
        }
        prop_assert!(!sample.audit().findings.is_empty());
    }
}
