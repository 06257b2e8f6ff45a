//! The promises: what the journal of a run must show when one looks back at it.

use std::collections::{BTreeMap, BTreeSet};

use baton_engine::audit;
use baton_engine::flow;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Again, Command, Decision, Fail, Verify};
use baton_engine::memory::StoreModel;
use baton_engine::run::{REVISE, Run};
use baton_engine::session::REPAIRS_MAX;
use baton_engine::step::{HUMAN, Role};
use baton_engine::{Handoff, HandoffId, RunId, State};

use crate::witness::{BrokenPromise, Stamp, Witness, is_driver};

/// Looks back at everything that a store has kept.
pub fn examine(model: &StoreModel, witness: &Witness) -> Vec<BrokenPromise> {
    let runs = model.runs(None, u32::MAX);
    runs.iter().flat_map(|run| examine_run(model, witness, run)).collect()
}

fn examine_run(model: &StoreModel, witness: &Witness, run: &RunId) -> Vec<BrokenPromise> {
    let events = model.history(run, 0, u32::MAX);
    let audited = audit::verify(run, &events, &model.handoffs_of(run));
    let faults = audited.findings.into_iter().map(|finding| BrokenPromise {
        run: run.clone(),
        seq: finding.seq.unwrap_or(audited.head.seq),
        promise: "the journal alone rebuilds the run",
        what: finding.to_string(),
    });
    let mut found: Vec<BrokenPromise> = faults.collect();
    let is_run = events.first().is_some_and(|event| event.handoff.as_str() == run.as_str())
        && model.find(&events[0].handoff).is_some_and(|root| is_role(&root, Role::Run));
    if is_run && found.is_empty() {
        let stamps = witness.stamps(run);
        found.extend(History { witness, stamps: &stamps, events: &events, found: Vec::new() }.read());
    }
    found
}

fn is_role(handoff: &Handoff, role: Role) -> bool {
    handoff.terms.step.as_ref().is_some_and(|step| step.role == role)
}

/// The journal of a run, read from its beginning.
struct History<'h> {
    witness: &'h Witness,
    stamps: &'h [Stamp],
    events: &'h [Event],
    found: Vec<BrokenPromise>,
}

/// What was counted by hand.
#[derive(Default)]
struct Tallied {
    handoffs: u64,
    /// Failed attempts of each handoff since it last started over.
    failures: BTreeMap<HandoffId, u32>,
    /// How many may still be accepted beyond the limit.
    waivers: u32,
}

impl<'h> History<'h> {
    fn read(mut self) -> Vec<BrokenPromise> {
        let Some((first, rest)) = self.events.split_first() else { return self.found };
        let mut run = match Run::begin(first) {
            Ok(run) => run,
            Err(why) => {
                self.say(first.seq, "the journal alone rebuilds the run", why.to_string());
                return self.found;
            }
        };
        let mut tallied = Tallied::default();
        for event in rest {
            let counted = run.counted.clone();
            let before = run.find(&event.handoff).map(|tracked| tracked.handoff.clone());
            let over = run.is_finished();
            if let Err(why) = run.absorb(event) {
                self.say(event.seq, "the journal alone rebuilds the run", why.to_string());
                return self.found;
            }
            let Ok(fact) = event.fact() else { continue };
            self.count(&mut tallied, &run, event, &fact, before.as_ref());
            let revised = revises(&run, event, &fact);
            if revised {
                tallied.handoffs = 0;
            }
            let backwards = run.counted.handoffs < counted.handoffs || run.counted.used.tokens < counted.used.tokens;
            if !revised && backwards {
                self.say(event.seq, "counters never go back", format!("{counted:?} became {:?}", run.counted));
            }
            if run.counted.handoffs != tallied.handoffs {
                let what = format!("{} counted, {} seen", run.counted.handoffs, tallied.handoffs);
                self.say(event.seq, "what is counted is what happened", what);
            }
            if over && matches!(fact, Fact::Accepted(_)) {
                self.say(event.seq, "nothing begins in a run that has ended", event.handoff.to_string());
            }
            self.look_at(&run, event, &fact, before.as_ref());
        }
        self.at_the_end(&run);
        self.found
    }

    fn say(&mut self, seq: u64, promise: &'static str, what: String) {
        self.found.push(BrokenPromise { run: self.events[0].run.clone(), seq, promise, what });
    }

    /// Counts what the engine should have counted.
    fn count(&mut self, tallied: &mut Tallied, run: &Run, event: &Event, fact: &Fact, before: Option<&Handoff>) {
        let Some(tracked) = run.find(&event.handoff) else { return };
        match fact {
            Fact::Accepted(_) if tracked.step.role.is_counted() => {
                let limit = run.definition.workflow.limits.as_ref().and_then(|limits| limits.handoffs).unwrap_or(50);
                if limit > 0 && tallied.handoffs >= limit {
                    match tallied.waivers.checked_sub(1) {
                        Some(rest) => tallied.waivers = rest,
                        None => self.say(event.seq, "limits hold", format!("{} is one too many", event.handoff)),
                    }
                }
                tallied.handoffs += 1;
            }
            Fact::Happened(Command::Decide(_)) if tracked.step.role == Role::Limit => tallied.waivers += 1,
            // A repair is part of the attempt that it repairs.
            Fact::Happened(
                Command::Verify(Verify { repair: true, .. }) | Command::Fail(Fail { again: Again::Repair, .. }),
            ) => {
                let repairs = tracked.session.as_ref().map_or(0, |session| session.repairs);
                if repairs >= REPAIRS_MAX {
                    self.say(event.seq, "a report is repaired twice at most", format!("{} again", event.handoff));
                }
            }
            Fact::Happened(Command::Fail(_) | Command::Expire(_) | Command::Verify(_)) => {
                let open = matches!(tracked.handoff.state, State::Pending { .. });
                if open && event.handoff.as_str() != run.id.as_str() {
                    let failures = tallied.failures.entry(event.handoff.clone()).or_default();
                    *failures += 1;
                    let (failures, allowed) = (*failures, tracked.handoff.terms.retry.max_retries);
                    if failures > allowed {
                        let what = format!("{} failed {failures} times, {allowed} retries", event.handoff);
                        self.say(event.seq, "retries are counted", what);
                    }
                }
            }
            Fact::Happened(Command::Decide(_) | Command::Resume(_) | Command::Requeue(_)) => {
                tallied.failures.remove(&event.handoff);
            }
            Fact::Happened(Command::Report(_)) if before.is_some_and(|before| before.returned_early) => {
                tallied.failures.remove(&event.handoff);
            }
            Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => {}
        }
    }

    fn look_at(&mut self, run: &Run, event: &Event, fact: &Fact, before: Option<&Handoff>) {
        let Some(tracked) = run.find(&event.handoff) else { return };
        let handoff = &tracked.handoff;
        if let Fact::Happened(Command::Report(report)) = fact
            && matches!(tracked.step.role, Role::Work | Role::Delegation)
            && !self.witness.was_said(&event.handoff, report.fence, &report.document.digest())
        {
            self.say(event.seq, "only what was said counts", format!("{} with {}", event.handoff, report.fence));
        }
        let was_open = before.is_some_and(|before| !before.state.name().is_finished());
        if was_open && handoff.state.name().is_finished() {
            self.finished(run, event, tracked.step.role, handoff);
        }
    }

    /// What belongs to the end of a handoff is written with it.
    fn finished(&mut self, run: &Run, event: &Event, role: Role, handoff: &Handoff) {
        let together: Vec<&Event> = self.together(event.seq).collect();
        let root_ends = |one: &&Event| {
            one.handoff.as_str() == run.id.as_str()
                && matches!(one.kind.as_str(), "reported" | "failed" | "cancelled" | "expired")
        };
        // A run that begins again calls off what is open, and nothing follows from it.
        let leaves = together.iter().any(|one| one.handoff.as_str() == run.id.as_str() && one.kind == "requeued");
        let ends = run.is_finished() || leaves || together.iter().any(root_ends);
        let writer = self.stamps.get(index(event.seq));
        let by_driver = writer.is_some_and(|stamp| is_driver(&stamp.writer) && stamp.verb == "carry_out");
        let routed = together.iter().any(|one| one.handoff == handoff.id && one.kind == "routed");
        // Whoever takes a run over buries first, and decides when it has read everything.
        let takes = together.iter().any(|one| one.handoff.as_str() == run.id.as_str() && one.kind == "claimed");
        // While a person is asked about a limit, nothing else is decided.
        let asks = together.iter().copied().any(is_limit);
        if role != Role::Run && by_driver && !routed && !takes && !ends && !asks && !flow::is_held(run) {
            self.say(event.seq, "what follows is written with the end", handoff.id.to_string());
        }
        if let Some(to) = &handoff.terms.returns_to {
            let resumed = together.iter().any(|one| one.handoff == *to && one.kind == "resumed");
            let waits = run.find(to).is_some_and(|waiting| !waiting.handoff.state.name().is_finished());
            if !resumed && waits {
                self.say(event.seq, "every delegation returns", format!("{} did not return to {to}", handoff.id));
            }
        }
        if role == Role::Group && matches!(handoff.state, State::Completed { .. }) {
            let mut inside = run.handoffs().filter(|inside| inside.step.within.as_ref() == Some(&handoff.id));
            let open = inside.find(|inside| !inside.handoff.state.name().is_finished());
            if let Some(open) = open.map(|open| open.handoff.id.clone()) {
                self.say(event.seq, "a group ends after its members", format!("{open} is open in {}", handoff.id));
            }
        }
    }

    /// Returns the events that were written from this one on in the same transaction.
    fn together(&self, seq: u64) -> impl Iterator<Item = &'h Event> + use<'h> {
        let (start, events) = (index(seq), self.events);
        let transaction = self.stamps.get(start).map(|stamp| stamp.transaction);
        let same = move |stamp: &&Stamp| Some(stamp.transaction) == transaction;
        let count = self.stamps.get(start..).unwrap_or_default().iter().take_while(same).count();
        events[start..(start + count).max(start + 1).min(events.len())].iter()
    }

    fn at_the_end(&mut self, run: &Run) {
        let last = self.events.len() as u64;
        if run.is_finished() {
            let open = run.handoffs().filter(|tracked| !tracked.handoff.state.name().is_finished());
            let open: Vec<String> = open.map(|tracked| tracked.handoff.id.to_string()).collect();
            if !open.is_empty() {
                self.say(last, "a run ends with everything in it", open.join(", "));
            }
        }
        let mut routes: BTreeSet<(HandoffId, u64)> = BTreeSet::new();
        let mut lives: BTreeMap<HandoffId, u64> = BTreeMap::new();
        for event in self.events {
            let life = lives.entry(event.handoff.clone()).or_default();
            match event.kind.as_str() {
                "resumed" | "requeued" | "decided" | "claimed" => *life += 1,
                "routed" if !routes.insert((event.handoff.clone(), *life)) => {
                    self.found.push(BrokenPromise {
                        run: event.run.clone(),
                        seq: event.seq,
                        promise: "an outcome is routed once",
                        what: event.handoff.to_string(),
                    });
                }
                _ => {}
            }
        }
    }
}

/// Returns whom a run waits for that goes on no more; empty if nobody knows.
pub fn waits_for(run: &Run) -> Vec<String> {
    let people = run.waiting().map(|tracked| format!("{HUMAN}: {}", tracked.handoff.id));
    let queues = run.open().filter(|tracked| {
        matches!(tracked.handoff.state, State::Pending { .. })
            && flow::comes(run, tracked).is_some_and(|comes| matches!(comes, flow::Comes::ToTheQueue))
    });
    people.chain(queues.map(|tracked| format!("{}: {}", tracked.handoff.terms.to, tracked.handoff.id))).collect()
}

/// Returns whether an event asks a person about a limit.
fn is_limit(event: &Event) -> bool {
    let Ok(Fact::Accepted(accept)) = event.fact() else { return false };
    accept.terms.step.is_some_and(|step| step.role == Role::Limit)
}

fn index(seq: u64) -> usize {
    usize::try_from(seq).unwrap_or(usize::MAX).saturating_sub(1)
}

fn revises(run: &Run, event: &Event, fact: &Fact) -> bool {
    if matches!(fact, Fact::Happened(Command::Requeue(_))) && event.handoff.as_str() == run.id.as_str() {
        return true;
    }
    let Fact::Happened(Command::Decide(decide)) = fact else { return false };
    let Decision::Answer { answers } = &decide.decision else { return false };
    let limit = run.find(&event.handoff).is_some_and(|tracked| tracked.step.role == Role::Limit);
    limit && answers.trim().eq_ignore_ascii_case(REVISE)
}
