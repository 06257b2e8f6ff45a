//! What waits to be written. It is taken away unwritten when another process holds the lock and does nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use baton_engine::store::StoreError;

use super::lock::{Held, Lock, Place};
use super::writer::Work;

/// The work of many callers for one writer.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    more: Condvar,
    /// How long another process may do nothing.
    patience: Duration,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Box<dyn Work>>,
    /// Whether nobody will want anything any more.
    closed: bool,
    /// Whether the writer waits for another process, and how often it has begun to.
    blocked: bool,
    turn: u64,
    /// Whether somebody looks that it does not wait for ever.
    watched: bool,
    /// What was found then: nothing gets written. It is the answer for everybody until that has changed.
    stuck: Option<StoreError>,
}

impl Queue {
    pub(super) fn new(patience: Duration) -> Queue {
        Queue { waiting: Mutex::default(), more: Condvar::new(), patience }
    }

    /// Adds work. While nothing gets written it is not even begun: whoever waits for somebody who does nothing need not
    /// wait as long again for each thing.
    pub(super) fn add(&self, work: Box<dyn Work>) {
        let mut waiting = self.lock();
        match waiting.stuck.clone() {
            Some(error) => {
                drop(waiting);
                work.answer(Err(error));
            }
            None => {
                waiting.work.push_back(work);
                drop(waiting);
                self.more.notify_one();
            }
        }
    }

    /// Returns whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().work.is_empty()
    }

    /// Ends the writer when everything is written.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    /// Waits until there is work. Returns whether there will be any.
    pub(super) fn wait(&self) -> bool {
        let is_idle = |waiting: &mut Waiting| waiting.work.is_empty() && !waiting.closed;
        let waited = self.more.wait_while(self.lock(), is_idle);
        !waited.unwrap_or_else(PoisonError::into_inner).work.is_empty()
    }

    /// Takes so much of the work, the oldest first.
    pub(super) fn take(&self, count: usize) -> Vec<Box<dyn Work>> {
        let mut waiting = self.lock();
        let count = count.min(waiting.work.len());
        waiting.work.drain(..count).collect()
    }

    /// Waits for the lock. Meanwhile somebody looks that the others get on with their work.
    pub(super) fn acquire<'l>(self: &Arc<Self>, lock: &'l Lock) -> Result<Held<'l>, StoreError> {
        if let Some(held) = lock.try_acquire() {
            return Ok(held);
        }
        self.block(lock.place());
        let held = lock.acquire();
        let mut waiting = self.lock();
        (waiting.blocked, waiting.stuck) = (false, None);
        held
    }

    fn block(self: &Arc<Self>, place: &Place) {
        let mut waiting = self.lock();
        waiting.blocked = true;
        waiting.turn += 1;
        if !waiting.watched {
            let (queue, place) = (Arc::clone(self), place.clone());
            let watcher = thread::Builder::new().name("baton-sqlite-lock".to_owned());
            // Without a thread for it the waiting has no end, as it would have with SQLite's own lock.
            waiting.watched = watcher.spawn(move || queue.watch(&place)).is_ok();
        }
    }

    /// Looks from time to time whether anything was written while the writer waits. If nothing was, those who wait get
    /// their answer; what they wanted is not done later.
    fn watch(&self, place: &Place) {
        let mut seen = (self.lock().turn, place.last_write());
        loop {
            thread::sleep(self.patience);
            let mut waiting = self.lock();
            if !waiting.blocked {
                waiting.watched = false;
                return;
            }
            let now = (waiting.turn, place.last_write());
            // In a crowd somebody may be overtaken for long.
            waiting.stuck = (now == seen).then(|| place.held(self.patience));
            seen = now;
            if let Some(error) = waiting.stuck.clone() {
                let given_up = std::mem::take(&mut waiting.work);
                drop(waiting);
                given_up.into_iter().for_each(|work| work.answer(Err(error.clone())));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
