//! The witness: sees every transaction as it is written, and says at once what must never happen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_engine::Fence;
use baton_engine::evidence::Scene;
use baton_engine::failure::Code;
use baton_engine::handoff::{Digest, StateName};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::{Again, Command, Verdict};
use baton_engine::{Handoff, HandoffId, RunId, State};

use baton_engine::memory::RowChange;
use baton_engine::memory::{MemoryTransaction, TransactionWatcher};

/// Who wrote an event, and together with which others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Who.
    pub writer: Arc<str>,
    /// By which verb of the port.
    pub verb: &'static str,
    /// The number of the transaction.
    pub transaction: u64,
}

/// Something that must never happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenPromise {
    /// The run.
    pub run: RunId,
    /// The number of the event, or of the last one.
    pub seq: u64,
    /// Which promise was broken, in a few words.
    pub promise: &'static str,
    /// How.
    pub what: String,
}

/// Sees every transaction.
#[derive(Debug, Default)]
pub struct Witness(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    transactions: u64,
    stamps: BTreeMap<RunId, Vec<Stamp>>,
    /// What agents have really said: handoff, fence and the digest of the document, and to whom.
    said: HashSet<(HandoffId, Fence, Digest)>,
    /// The attempts that agents have begun.
    begun: HashSet<(HandoffId, Fence)>,
    /// What was kept of workspaces to measure attempts with, by the folder of the attempt.
    kept: HashMap<PathBuf, Digest>,
    moments: u64,
    /// The drivers that are certainly dead.
    dead: HashSet<String>,
    beats: Beats,
    violations: Vec<BrokenPromise>,
}

impl Witness {
    /// Takes down what an agent has said.
    pub fn heard(&self, handoff: &HandoffId, fence: Fence, digest: Digest) {
        self.look(|seen| seen.said.insert((handoff.clone(), fence, digest)));
    }

    /// Takes down that an agent begins to work.
    pub fn begins(&self, run: &RunId, handoff: &HandoffId, fence: Fence) {
        let first = self.look(|seen| seen.begun.insert((handoff.clone(), fence)));
        if !first {
            let (promise, what) = ("an attempt begins once", format!("{handoff} began twice with {fence}"));
            let seq = self.look(|seen| seen.stamps.get(run).map_or(0, |stamps| stamps.len() as u64));
            self.accuse(BrokenPromise { run: run.clone(), seq, promise, what });
        }
    }

    /// Returns the number of a look at a workspace.
    pub fn moment(&self) -> u64 {
        self.look(|seen| {
            seen.moments += 1;
            seen.moments
        })
    }

    /// Takes down what an attempt will be measured with.
    pub fn keeps(&self, attempt: &Path, digest: Digest) {
        self.look(|seen| seen.kept.insert(attempt.to_owned(), digest));
    }

    /// Looks whether an attempt is measured with what its claim names.
    pub fn measures(&self, scene: &Scene) {
        let is_at_hand = scene.before.as_ref().is_some_and(|before| before.digest == scene.baseline);
        let kept = self.look(|seen| seen.kept.get(&scene.folder).cloned());
        if scene.baseline.is_some() && !is_at_hand && kept != scene.baseline {
            let (promise, what) = ("what an attempt is measured with is kept", scene.folder.display().to_string());
            let run = scene.folder.iter().next().and_then(|id| id.to_str()?.split_once('.')).map(|(run, _)| run);
            let run = run.and_then(|run| RunId::parse(run).ok());
            let run = run.unwrap_or_else(|| panic!("the folder of an attempt: {what}"));
            let seq = self.look(|seen| seen.stamps.get(&run).map_or(0, |stamps| stamps.len() as u64));
            self.accuse(BrokenPromise { run, seq, promise, what });
        }
    }

    /// Takes down that a driver has died.
    pub fn died(&self, driver: &str) {
        self.look(|seen| seen.dead.insert(driver.to_owned()));
    }

    /// Returns whether a driver has died.
    pub fn is_dead(&self, driver: &str) -> bool {
        self.look(|seen| seen.dead.contains(driver))
    }

    /// Returns whether an agent has really said this.
    pub fn was_said(&self, handoff: &HandoffId, fence: Fence, digest: &Digest) -> bool {
        self.look(|seen| seen.said.contains(&(handoff.clone(), fence, digest.clone())))
    }

    /// Takes down a violation that somebody else has found.
    pub fn accuse(&self, violation: BrokenPromise) {
        self.look(|seen| seen.violations.push(violation));
    }

    /// Returns everything that must never happen and did.
    pub fn violations(&self) -> Vec<BrokenPromise> {
        self.look(|seen| seen.violations.clone())
    }

    /// Returns who wrote each event of a run.
    pub fn stamps(&self, run: &RunId) -> Vec<Stamp> {
        self.look(|seen| seen.stamps.get(run).cloned().unwrap_or_default())
    }

    fn look<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns whether a writer is a driver; its name is its claimant's.
pub fn is_driver(writer: &str) -> bool {
    writer.starts_with("driver-")
}

impl TransactionWatcher for Witness {
    fn saw(&self, transaction: &MemoryTransaction<'_>) {
        self.look(|seen| {
            seen.transactions += 1;
            let stamp =
                Stamp { writer: Arc::from(transaction.writer), verb: transaction.verb, transaction: seen.transactions };
            for change in transaction.changes {
                seen.stamps.entry(change.event.run.clone()).or_default().push(stamp.clone());
            }
            let wrong = transaction.changes.iter().flat_map(|change| wrong(transaction.writer, change));
            let taken = transaction.changes.iter().flat_map(|change| taken(transaction, &seen.dead, change));
            let beats = &mut seen.beats;
            let missed = transaction.changes.iter().filter_map(|change| beats.take(change));
            let found: Vec<BrokenPromise> = wrong.chain(taken).chain(missed).chain(intruder(transaction)).collect();
            seen.violations.extend(found);
        });
    }
}

fn violation(change: &RowChange, promise: &'static str, what: String) -> BrokenPromise {
    BrokenPromise { run: change.event.run.clone(), seq: change.event.seq, promise, what }
}

/// What one event must not be, whatever the engine says about it.
fn wrong(writer: &str, change: &RowChange) -> Vec<BrokenPromise> {
    let Some(before) = &change.before else { return Vec::new() };
    let mut found = Vec::new();
    let mut say = |promise, what: String| found.push(violation(change, promise, format!("{}: {what}", before.id)));
    let (after, at) = (&change.after, change.event.at);
    let state = before.state.name();
    if after.fence < before.fence {
        say("fences only grow", format!("from {} to {}", before.fence, after.fence));
    }
    if state.is_finished() && after.state.name() != state && change.event.kind != "requeued" {
        say("what is finished stays finished", format!("{} made it {}", change.event.kind, after.state.name()));
    }
    match change.event.kind.as_str() {
        "claimed" => {
            match before.state {
                State::Pending { ready_at } if ready_at > at => {
                    say("nothing is claimed before its time", format!("{at} is before {ready_at}"));
                }
                State::Pending { .. } => {}
                _ => say("one claim at a time", format!("it was {state}")),
            }
            if after.fence != before.fence.next() {
                say("fences only grow", format!("claimed with {} after {}", after.fence, before.fence));
            }
        }
        "decided" if state != StateName::AwaitingPerson => {
            say("a gate is decided once", format!("it was {state}"));
        }
        "decided" if before.has_files && after.state.name() == StateName::Completed => {
            say("approved files are looked at again", "it was completed at once".to_owned());
        }
        "refused" if after.state != before.state => {
            say("what is refused has no effect", format!("{state} became {}", after.state.name()));
        }
        "expired" => expired(writer, before, change, &mut say),
        "reported" | "failed" | "verified" => counted(before, change, &mut say),
        _ => {}
    }
    found
}

/// A lease ends only when its time is over, and nobody ends their own.
fn expired(writer: &str, before: &Handoff, change: &RowChange, say: &mut impl FnMut(&'static str, String)) {
    let at = change.event.at;
    let Some(lease) = before.lease() else { return };
    let others = [before.times_out_at(), before.acknowledge_by(), before.deadline];
    let by_time = others.into_iter().flatten().any(|end| end <= at);
    if !by_time && lease.until > at {
        say("a lease holds until its end", format!("it was to end at {}", lease.until));
    }
    if !by_time && lease.claimant == writer && is_driver(writer) {
        say("nobody ends their own lease", format!("{writer} did"));
    }
}

/// A report counts once, and only with the latest token.
fn counted(before: &Handoff, change: &RowChange, say: &mut impl FnMut(&'static str, String)) {
    let Ok(Fact::Happened(command)) = change.event.fact() else {
        return say("the journal can be read", "it cannot".to_owned());
    };
    let (fence, expected) = match &command {
        Command::Report(report) => (report.fence, StateName::Claimed),
        Command::Fail(fail) => (fail.fence, StateName::Claimed),
        Command::Verify(verify) => (verify.fence, StateName::Verifying),
        _ => return,
    };
    if fence != before.fence || before.state.name() != expected {
        let state = before.state.name();
        say(
            "a report counts once",
            format!("{} with {fence} while it was {state} with {}", command.name(), before.fence),
        );
    }
    if let Command::Verify(verify) = &command {
        let next = change.after.state.name();
        let refuted = matches!(verify.verdict, Verdict::Refuted { .. });
        if refuted && !matches!(next, StateName::Pending | StateName::Failed) {
            say("what is refuted does not count", format!("it is {next}"));
        }
        if !refuted && (verify.review || before.review_owed) && next != StateName::AwaitingPerson {
            say("what a person must see is seen", format!("it is {next}"));
        }
    }
    // Whoever repairs a report goes on with the same attempt, and what has died with its driver need not wait.
    let goes_on = match &command {
        Command::Fail(fail) => !matches!(fail.again, Again::Policy | Again::NotBefore(_)),
        Command::Verify(verify) => verify.repair,
        _ => false,
    };
    let is_retry = change.event.kind != "reported" && !goes_on;
    if let (State::Pending { ready_at }, true) = (&change.after.state, is_retry) {
        let waits = u64::try_from(ready_at.duration_since(change.event.at).as_millis()).unwrap_or_default();
        let policy = &before.terms.retry;
        let refused = change.after.last_failure.as_ref().is_some_and(|why| why.code == Code::validation_failed());
        let waits = if policy.at_once_if_refused && refused { policy.delay_ms } else { waits };
        if policy.jitter == 0.0 && policy.multiplier >= 1.0 && waits < policy.delay_ms {
            say("retries wait as agreed", format!("{waits} ms instead of {} ms", policy.delay_ms));
        }
    }
    // Whoever ends an agent itself when its time is up may write later what it said before.
    let times_itself = before.lease().is_some_and(|lease| lease.times_itself);
    let too_late = !times_itself && before.times_out_at().is_some_and(|end| end <= change.event.at);
    if too_late && matches!(command, Command::Report(_)) {
        say("what took too long does not count", "its time was over".to_owned());
    }
}

/// Who takes something takes all of it, and only from those who are dead or have not been heard of.
fn taken(transaction: &MemoryTransaction<'_>, dead: &HashSet<String>, change: &RowChange) -> Option<BrokenPromise> {
    let before = change.before.as_ref()?;
    let lease = before.lease()?;
    let is_root = change.event.handoff.as_str() == change.event.run.as_str();
    if change.event.kind == "released" && is_root && lease.claimant != transaction.writer {
        if !dead.contains(&lease.claimant) {
            let what = format!("{} took it from {}", transaction.writer, lease.claimant);
            return Some(violation(change, "nobody takes a run from a living driver", what));
        }
        let left = transaction.model.unfinished().find(|other| {
            other.run == before.run && other.lease().is_some_and(|theirs| theirs.claimant == lease.claimant)
        })?;
        return Some(violation(change, "a take-over takes everything", format!("{} was left", left.id)));
    }
    None
}

/// Counts the heartbeats of runs: whoever extends a run again and again extends what it holds in it, too.
#[derive(Debug, Default)]
struct Beats {
    /// Who has each run, and how often they have extended it.
    of_runs: BTreeMap<RunId, (String, u64)>,
    /// How often that was when a handoff in it was last claimed or extended.
    of_handoffs: BTreeMap<HandoffId, u64>,
}

impl Beats {
    fn take(&mut self, change: &RowChange) -> Option<BrokenPromise> {
        let (run, handoff, kind) = (&change.event.run, &change.event.handoff, change.event.kind.as_str());
        let is_root = handoff.as_str() == run.as_str();
        let (holder, beats) = self.of_runs.entry(run.clone()).or_default();
        match kind {
            "extended" if is_root => *beats += 1,
            "claimed" if is_root => (*holder, *beats) = (change.after.lease()?.claimant.clone(), 0),
            "claimed" | "extended" => drop(self.of_handoffs.insert(handoff.clone(), *beats)),
            "expired" if !is_root => {
                let lease = change.before.as_ref()?.lease()?;
                let missed = beats.saturating_sub(self.of_handoffs.get(handoff).copied().unwrap_or_default());
                // What somebody else holds ends by itself: whoever lost the run extends it no more.
                if missed > 1 && *holder == lease.claimant && lease.until <= change.event.at {
                    let what = format!("{handoff} was not extended, and the run was {missed} times");
                    return Some(violation(change, "heartbeats keep everything that is held", what));
                }
            }
            _ => {}
        }
        None
    }
}

/// A driver writes into a run only while it holds it.
fn intruder(transaction: &MemoryTransaction<'_>) -> Option<BrokenPromise> {
    if !is_driver(transaction.writer) || transaction.verb != "carry_out" {
        return None;
    }
    let first = transaction.changes.first()?;
    let root = HandoffId::parse(first.event.run.as_str()).ok()?;
    let own = transaction.changes.iter().find(|change| change.event.handoff == root);
    let before = match own {
        Some(change) => change.before.clone(),
        None => transaction.model.find(&root),
    }?;
    let holds = |handoff: &Handoff| handoff.lease().is_some_and(|lease| lease.claimant == transaction.writer);
    let takes = transaction.changes.iter().any(|change| change.event.handoff == root && holds(&change.after));
    let cleans = matches!(before.state, State::Cancelled { .. });
    if holds(&before) || takes || cleans {
        return None;
    }
    let holder = before.lease().map_or(before.state.name().to_string(), |lease| lease.claimant.clone());
    let what = format!("{} wrote {} although {holder} has the run", transaction.writer, first.event.kind);
    Some(violation(first, "one driver per run", what))
}
