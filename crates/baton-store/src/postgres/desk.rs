//! Where callers of this process meet: what several want at the same time is done for all of them in one transaction.
//!
//! Nobody is waited for: whoever comes while a transaction is under way has a seat in the next one. The transactions run
//! in a task of their own, so that a caller who goes away takes nobody with it. What cannot be done together is handed
//! back as [`Fault::Crowded`], and its caller does it alone.

use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_engine::store::StoreError;
use tokio::sync::oneshot;

use super::Node;
use super::fault::Fault;
use super::memory::Memory;

/// How many callers share a transaction at most.
const SEATS_MAX: usize = 256;

/// How many transactions of a kind are under way at most.
const TRANSACTIONS_MAX: usize = 4;

/// How many callers must wait before another transaction begins beside one that is under way. A few of them cost a
/// transaction of their own more than they gain by not waiting.
const CROWD: usize = 16;

/// Work that can be done for many in one transaction.
pub(super) trait Shared: Sized + Send + Sync + 'static {
    /// What each of them is told.
    type Answer: Send + 'static;

    /// Returns the desk for this kind of work.
    fn desk(node: &Node) -> &Desk<Self>;

    /// Does it for all of them. What is decided is put into the attempts, which are as many as the pieces; the fault
    /// is for those that are not decided.
    fn together(
        node: &Node,
        pieces: &[Self],
        attempts: &mut [Attempt<Self::Answer>],
    ) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// What came of an attempt.
#[derive(Debug)]
pub(super) struct Attempt<T> {
    /// The answer, or why there is none.
    pub(super) result: Result<Result<T, StoreError>, Fault>,
    /// What was sent.
    pub(super) memory: Memory<T>,
}

impl<T> Attempt<T> {
    fn undecided() -> Attempt<T> {
        Attempt { result: Err(Fault::Crowded), memory: Memory::default() }
    }

    fn is_undecided(&self) -> bool {
        matches!(self.result, Err(Fault::Crowded))
    }
}

/// Where callers queue up.
pub(super) struct Desk<W: Shared>(Mutex<Line<W>>);

struct Line<W: Shared> {
    waiting: VecDeque<Seat<W>>,
    /// How many transactions are under way.
    busy: usize,
}

type Seat<W> = (W, oneshot::Sender<Attempt<<W as Shared>::Answer>>);

impl<W: Shared> Default for Desk<W> {
    fn default() -> Self {
        Desk(Mutex::new(Line { waiting: VecDeque::new(), busy: 0 }))
    }
}

impl<W: Shared> Desk<W> {
    fn line(&self) -> MutexGuard<'_, Line<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes those who wait, as many as there are seats. If nobody does, one transaction fewer is under way.
    fn next(&self) -> Option<Vec<Seat<W>>> {
        let mut line = self.line();
        // Whoever has gone away meanwhile does not want it any more.
        line.waiting.retain(|(_, asker)| !asker.is_closed());
        if line.waiting.is_empty() {
            line.busy -= 1;
            return None;
        }
        let count = line.waiting.len().min(SEATS_MAX);
        Some(line.waiting.drain(..count).collect())
    }
}

/// Does a piece of work, together with what others want at the same time.
pub(super) async fn share<W: Shared>(node: &Arc<Node>, piece: W) -> Attempt<W::Answer> {
    let (asker, answer) = oneshot::channel();
    let begins = {
        let mut line = W::desk(node).line();
        line.waiting.push_back((piece, asker));
        let begins = line.busy == 0 || line.busy < TRANSACTIONS_MAX && line.waiting.len() >= CROWD;
        line.busy += usize::from(begins);
        begins
    };
    if begins {
        tokio::spawn(serve::<W>(Busy { node: Arc::clone(node), over: false, kind: PhantomData }));
    }
    let gone = |_| {
        let why = "the transaction was given up, because its runtime ends".to_owned();
        Attempt { result: Err(Fault::Lost(why)), memory: Memory::default() }
    };
    answer.await.unwrap_or_else(gone)
}

/// A place among the transactions that are under way; it is free again however the task ends.
struct Busy<W: Shared> {
    node: Arc<Node>,
    over: bool,
    kind: PhantomData<W>,
}

impl<W: Shared> Drop for Busy<W> {
    fn drop(&mut self) {
        if !self.over {
            W::desk(&self.node).line().busy -= 1;
        }
    }
}

/// Works until nobody waits.
async fn serve<W: Shared>(mut busy: Busy<W>) {
    while let Some(seats) = W::desk(&busy.node).next() {
        let (pieces, askers): (Vec<W>, Vec<_>) = seats.into_iter().unzip();
        for (attempt, asker) in attempt(&busy.node, &pieces).await.into_iter().zip(askers) {
            // A caller who has gone away does not want the answer.
            drop(asker.send(attempt));
        }
    }
    busy.over = true;
}

async fn attempt<W: Shared>(node: &Node, pieces: &[W]) -> Vec<Attempt<W::Answer>> {
    let mut attempts: Vec<Attempt<W::Answer>> = pieces.iter().map(|_| Attempt::undecided()).collect();
    let Err(fault) = W::together(node, pieces, &mut attempts).await else { return attempts };
    // Nobody fails because of somebody else: unless the connection is lost, each is tried alone.
    if pieces.len() == 1 || matches!(fault, Fault::Lost(_)) {
        for attempt in attempts.iter_mut().filter(|attempt| attempt.is_undecided()) {
            attempt.result = Err(fault.clone());
        }
    }
    attempts
}
