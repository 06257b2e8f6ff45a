//! How often somebody may log in with a wrong token: ten times in a minute from one address.
//!
//! It is counted by each server for itself. Nobody guesses 256 bits, however often they try; the limit keeps strangers from
//! making the store work, and a counter in the store would let them write into it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// So many wrong tokens are taken from one address in [`WINDOW`].
const FAILURES_MAX: usize = 10;

/// How long a wrong token counts.
const WINDOW: Duration = Duration::from_mins(1);

/// So many addresses are remembered.
const ADDRESSES_MAX: usize = 10_000;

/// Remembers wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct LoginLimit(Mutex<BTreeMap<IpAddr, VecDeque<Timestamp>>>);

impl LoginLimit {
    /// Returns after how many seconds an address may try again; `None` if it may now.
    pub(super) fn wait(&self, address: IpAddr, now: Timestamp) -> Option<u64> {
        let failures = self.lock();
        let of_address = failures.get(&whole(address))?;
        let recent: Vec<u64> = of_address.iter().filter_map(|at| left(*at, now)).collect();
        (recent.len() >= FAILURES_MAX).then(|| recent.first().copied().unwrap_or(1))
    }

    /// Remembers that an address has sent a wrong token.
    pub(super) fn failed(&self, address: IpAddr, now: Timestamp) {
        let mut failures = self.lock();
        if failures.len() >= ADDRESSES_MAX {
            failures.retain(|_, times| times.back().is_some_and(|at| left(*at, now).is_some()));
        }
        if failures.len() >= ADDRESSES_MAX {
            // So many at once are one stranger with many addresses, who need not be remembered one by one.
            failures.pop_first();
        }
        let times = failures.entry(whole(address)).or_default();
        times.push_back(now);
        if times.len() > FAILURES_MAX {
            times.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, VecDeque<Timestamp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns for how many seconds something still counts.
fn left(at: Timestamp, now: Timestamp) -> Option<u64> {
    let passed = now.duration_since(at).unsigned_abs();
    WINDOW.checked_sub(passed).filter(|left| !left.is_zero()).map(|left| left.as_secs().max(1))
}

/// Whoever has one address of IPv6 has the other 2⁶⁴ of their network, too.
fn whole(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn address_waits_after_ten_wrong_tokens_and_others_do_not() {
        let limit = LoginLimit::default();
        let (one, other): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        (0..9).for_each(|second| limit.failed(one, at(second)));
        assert_eq!(limit.wait(one, at(9)), None);
        limit.failed(one, at(9));
        assert_eq!(limit.wait(one, at(9)), Some(51), "until the first is a minute old");
        assert_eq!(limit.wait(other, at(9)), None);
        assert_eq!(limit.wait(one, at(60)), None);
    }

    #[test]
    fn network_of_ipv6_counts_as_one_address() {
        let limit = LoginLimit::default();
        let host = |last| IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 0, 0, 0, last));
        (0..10).for_each(|last| limit.failed(host(last), at(0)));
        assert_eq!(limit.wait(host(99), at(0)), Some(60));
    }
}
