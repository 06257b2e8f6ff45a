//! A process on strings: it can be killed between any two instructions, and paused while the world goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// What a process hangs on.
#[derive(Debug, Default)]
pub struct Strings(Mutex<Pulled>);

#[derive(Debug, Default)]
struct Pulled {
    killed: bool,
    asleep_until: Option<Instant>,
    waker: Option<Waker>,
}

impl Strings {
    /// Kills the process: it does nothing more, and nothing of it is cleaned up in order.
    pub fn kill(&self) {
        self.pull(|pulled| pulled.killed = true);
    }

    /// Stops the process for a while. What it has started goes on.
    pub fn pause(&self, time: Duration) {
        self.pull(|pulled| pulled.asleep_until = Some(Instant::now() + time));
    }

    /// Lets the process go on.
    pub fn wake(&self) {
        self.pull(|pulled| pulled.asleep_until = None);
    }

    /// Returns whether it was killed.
    pub fn is_cut(&self) -> bool {
        self.look(|pulled| pulled.killed)
    }

    fn pull(&self, pull: impl FnOnce(&mut Pulled)) {
        let waker = self.look(|pulled| {
            pull(pulled);
            pulled.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn look<T>(&self, look: impl FnOnce(&mut Pulled) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A process on strings; `None` comes out if it was killed.
pub struct Puppet<F> {
    process: Option<Pin<Box<F>>>,
    strings: Arc<Strings>,
    nap: Option<Pin<Box<Sleep>>>,
}

impl<F: Future> Puppet<F> {
    /// Hangs a process on strings.
    pub fn new(process: F, strings: Arc<Strings>) -> Puppet<F> {
        Puppet { process: Some(Box::pin(process)), strings, nap: None }
    }
}

impl<F: Future> Future for Puppet<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let (killed, until) = self.strings.look(|pulled| {
                pulled.waker = Some(context.waker().clone());
                (pulled.killed, pulled.asleep_until.filter(|until| *until > Instant::now()))
            });
            if killed {
                self.process = None;
                return Poll::Ready(None);
            }
            if let Some(until) = until {
                let mut nap = Box::pin(tokio::time::sleep_until(until));
                if nap.as_mut().poll(context).is_pending() {
                    self.nap = Some(nap);
                    return Poll::Pending;
                }
            }
            self.nap = None;
            let Some(process) = self.process.as_mut() else { return Poll::Ready(None) };
            if let Poll::Ready(end) = process.as_mut().poll(context) {
                self.process = None;
                return Poll::Ready(Some(end));
            }
            // A string that was pulled from inside is felt at once.
            let pulled = self
                .strings
                .look(|pulled| pulled.killed || pulled.asleep_until.is_some_and(|until| until > Instant::now()));
            if !pulled {
                return Poll::Pending;
            }
        }
    }
}
