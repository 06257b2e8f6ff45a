//! The crowd: processes that send and work, the places of those that were killed taken by new ones.

use std::time::{Duration, Instant};

use baton_testbed::{Dice, Process, Silence};
use rustix::process::Signal;

use crate::ledger::Ledger;
use crate::role::Role;

/// How many bundles a sender sends before another takes its place.
const BUNDLES: u64 = 40;

/// How long a process may take to end when it has nothing more to do.
const END_MAX: Duration = Duration::from_secs(90);

/// Makes the roles of a crowd.
pub(crate) struct Casting {
    /// The role of a sender: its name, the first bundle and how many.
    pub(crate) sender: Box<dyn Fn(String, u64, u64) -> Role>,
    /// The role of a worker: its name, its seed and whether it is calm.
    pub(crate) worker: Box<dyn Fn(String, u64, bool) -> Role>,
    /// How many senders there are at the same time.
    pub(crate) senders: usize,
    /// How many workers there are at the same time.
    pub(crate) workers: usize,
    /// How many open handoffs are enough: no sender is started while there are more.
    pub(crate) open_max: usize,
}

/// Processes that send and work.
pub(crate) struct Crowd {
    casting: Casting,
    senders: Vec<Sender>,
    workers: Vec<Worker>,
    /// What senders that were killed have left to send: their name and the bundles.
    unsent: Vec<(String, u64, u64)>,
    count: u64,
}

struct Sender {
    process: Process,
    name: String,
    next: u64,
    end: u64,
}

struct Worker {
    process: Process,
    stopped_until: Option<Instant>,
}

impl Crowd {
    pub(crate) fn new(casting: Casting) -> Crowd {
        Crowd { casting, senders: Vec::new(), workers: Vec::new(), unsent: Vec::new(), count: 0 }
    }

    /// Listens until the time is over.
    pub(crate) fn listen(&mut self, ledger: &mut Ledger, time: Duration) {
        let end = Instant::now() + time;
        loop {
            for sender in &mut self.senders {
                while let Ok(line) = sender.process.stdout.next(Duration::ZERO) {
                    sender.hear(ledger, &line);
                }
            }
            for worker in &mut self.workers {
                while let Ok(line) = worker.process.stdout.next(Duration::ZERO) {
                    ledger.hear(&line);
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            // Somebody says something soon, or not; both is fine.
            if let Some(worker) = self.workers.first()
                && let Ok(line) = worker.process.stdout.next(left.min(Duration::from_millis(5)))
            {
                ledger.hear(&line);
            }
        }
    }

    /// Lets new processes take the places of those that are gone, and those go on whose pause is over.
    pub(crate) fn revive(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        for worker in &mut self.workers {
            if worker.stopped_until.is_some_and(|until| until <= Instant::now()) {
                worker.process.signal(Signal::CONT);
                worker.stopped_until = None;
            }
        }
        let mut at = 0;
        while at < self.senders.len() {
            match self.senders[at].process.wait(Duration::ZERO) {
                Some(status) => {
                    let sender = self.senders.swap_remove(at);
                    self.bury(sender, ledger);
                    if !status.success() {
                        ledger.broken.push(format!("a sender ended by itself: {status}"));
                    }
                }
                None => at += 1,
            }
        }
        if let Some(status) = self.workers.iter_mut().find_map(|worker| worker.process.wait(Duration::ZERO)) {
            ledger.broken.push(format!("a worker ended by itself: {status}"));
        }
        while self.senders.len() < self.casting.senders && ledger.open() < self.casting.open_max {
            let (name, from, count) = self.unsent.pop().unwrap_or_else(|| {
                self.count += 1;
                (format!("s{}", self.count), 0, BUNDLES)
            });
            let process = (self.casting.sender)(name.clone(), from, count).start();
            self.senders.push(Sender { process, name, next: from, end: from + count });
        }
        while self.workers.len() < self.casting.workers {
            self.count += 1;
            let process = (self.casting.worker)(format!("w{}", self.count), dice.number(), false).start();
            self.workers.push(Worker { process, stopped_until: None });
        }
    }

    /// Kills a sender at whatever it does.
    pub(crate) fn kill_sender(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        if self.senders.is_empty() {
            return;
        }
        let at = usize::try_from(dice.below(self.senders.len() as u64)).expect("an index");
        let mut sender = self.senders.swap_remove(at);
        sender.process.kill();
        ledger.kill("sender");
        self.bury(sender, ledger);
    }

    /// Kills a worker at whatever it does.
    pub(crate) fn kill_worker(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        if self.workers.is_empty() {
            return;
        }
        let at = usize::try_from(dice.below(self.workers.len() as u64)).expect("an index");
        let mut worker = self.workers.swap_remove(at);
        worker.process.kill();
        ledger.kill("worker");
        last_words(&worker.process, ledger).for_each(drop);
    }

    /// Stops a worker for a while, as a machine does that hibernates.
    pub(crate) fn stop_worker(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        let time = Duration::from_millis(50 + dice.below(900));
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.stopped_until.is_none()) {
            worker.process.signal(Signal::STOP);
            worker.stopped_until = Some(Instant::now() + time);
            ledger.kill("stopped");
        }
    }

    /// Kills everybody.
    pub(crate) fn kill_all(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        while !self.senders.is_empty() {
            self.kill_sender(ledger, dice);
        }
        while !self.workers.is_empty() {
            self.kill_worker(ledger, dice);
        }
    }

    /// Lets calm workers do what is left, and waits for their end.
    pub(crate) fn drain(&mut self, ledger: &mut Ledger, dice: &mut Dice) {
        let role = |number: u64, dice: &mut Dice| (self.casting.worker)(format!("calm{number}"), dice.number(), true);
        let mut calm: Vec<Process> = (0..3).map(|number| role(number, dice).start()).collect();
        for process in &mut calm {
            let status = process.wait(END_MAX);
            let said = process.stdout.rest(Duration::from_secs(5)).unwrap_or_default();
            for line in &said {
                ledger.hear(line);
            }
            if !status.is_some_and(|status| status.success()) {
                ledger.broken.push(format!("a calm worker ended with {status:?}"));
            }
        }
    }

    /// Takes the last words of a sender, and remembers what it has left to send.
    fn bury(&mut self, mut sender: Sender, ledger: &mut Ledger) {
        let words: Vec<Option<u64>> = last_words(&sender.process, ledger).collect();
        sender.next = words.into_iter().flatten().last().map_or(sender.next, |number| number + 1);
        if sender.next < sender.end {
            self.unsent.push((sender.name, sender.next, sender.end - sender.next));
        }
    }
}

impl Sender {
    fn hear(&mut self, ledger: &mut Ledger, line: &str) {
        if let Some(number) = ledger.hear(line) {
            self.next = number + 1;
        }
    }
}

/// Hears everything that a dead process has said.
fn last_words<'a>(process: &'a Process, ledger: &'a mut Ledger) -> impl Iterator<Item = Option<u64>> + 'a {
    std::iter::from_fn(move || match process.stdout.next(Duration::from_secs(10)) {
        Ok(line) => Some(ledger.hear(&line)),
        Err(Silence::Ended) => None,
        Err(Silence::Late) => panic!("somebody else holds the pipe of a dead process"),
    })
}
