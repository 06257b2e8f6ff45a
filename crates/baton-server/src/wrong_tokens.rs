//! How often a wrong token is simply refused: ten times in a minute from one address. Whoever goes on is told to wait.
//!
//! A right token is never refused, however many wrong ones come from the same address: it is looked at first, and only failures
//! are counted. Otherwise somebody behind the same proxy could lock everybody else out. Nobody guesses 256 bits, however often
//! they try; the limit tells a program whose token has ended to stop asking. Each server counts for itself: a counter in the
//! store would let strangers write into it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// How long a wrong token counts.
const WINDOW: Duration = Duration::from_mins(1);

/// How many addresses are remembered.
const ADDRESSES_MAX: usize = 10_000;

/// Remembers wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct WrongTokens(Mutex<BTreeMap<IpAddr, VecDeque<Timestamp>>>);

impl WrongTokens {
    /// Remembers that an address has sent a wrong token. Returns after how many seconds it may send another one, if `most` were
    /// there already.
    pub(crate) fn sent_from(&self, address: IpAddr, most: u32, now: Timestamp) -> Option<u64> {
        let mut failures = self.lock();
        if failures.len() >= ADDRESSES_MAX {
            failures.retain(|_, times| times.back().is_some_and(|at| left(*at, now).is_some()));
        }
        if failures.len() >= ADDRESSES_MAX {
            // So many at once are one stranger with many addresses, who need not be remembered one by one.
            failures.pop_first();
        }
        let times = failures.entry(whole(address)).or_default();
        times.retain(|at| left(*at, now).is_some());
        if times.len() >= most as usize {
            return Some(times.front().and_then(|first| left(*first, now)).unwrap_or(1));
        }
        times.push_back(now);
        None
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
        let wrong = WrongTokens::default();
        let (one, other): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        assert!((0..10).all(|second| wrong.sent_from(one, 10, at(second)).is_none()));
        assert_eq!(wrong.sent_from(one, 10, at(9)), Some(51), "until the first is a minute old");
        assert_eq!(wrong.sent_from(other, 10, at(9)), None);
        assert_eq!(wrong.sent_from(one, 10, at(60)), None);
        assert_eq!(wrong.sent_from(one, 10, at(60)), Some(1), "the second is a minute old then");
    }

    #[test]
    fn network_of_ipv6_counts_as_one_address() {
        let wrong = WrongTokens::default();
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        (0..10).for_each(|_| _ = wrong.sent_from(address("2001:db8::1"), 10, at(0)));
        assert!(wrong.sent_from(address("2001:db8::ffff"), 10, at(1)).is_some());
        assert!(wrong.sent_from(address("2001:db8:0:1::1"), 10, at(1)).is_none());
    }

    #[test]
    fn only_so_many_addresses_are_remembered() {
        let wrong = WrongTokens::default();
        let count = u32::try_from(ADDRESSES_MAX).expect("few");
        (0..count + 10).for_each(|number| _ = wrong.sent_from(std::net::Ipv4Addr::from_bits(number).into(), 10, at(0)));
        assert!(wrong.lock().len() <= ADDRESSES_MAX);
    }
}
