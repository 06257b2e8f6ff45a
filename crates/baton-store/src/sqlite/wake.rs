//! Waking those who wait, also in other processes: whoever has changed something writes to a file that they watch, each to
//! its own place in it, so that nobody is woken by its own bell. Whoever listens says so in the same file; where nobody
//! does, nobody rings.
//!
//! That is a hint. Where no watching works (some network file systems) those who wait look again every second.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::store::StoreError;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use crate::boot_time::boot_time;

/// How long to believe that nothing has happened.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How many places the file has. Two processes that have drawn the same one may miss each other's bell, and look again.
const PLACES: usize = 512;

/// How long somebody is taken to listen after saying so. Whoever was killed is rung for in vain for that long.
const LISTENS: Duration = Duration::from_secs(60);

/// How often whoever waits says again that they listen.
const SAY_AGAIN: Duration = Duration::from_secs(10);

/// How many bytes the bells take, and then those who listen.
const HALF: usize = PLACES * size_of::<u64>();

/// Rings for those who wait, and waits.
pub(super) struct Wake {
    path: PathBuf,
    bell: Arc<Bell>,
    count: watch::Sender<u64>,
    /// Watches the file; made when somebody waits for the first time.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

/// The file, and our own place in it.
struct Bell {
    file: File,
    place: usize,
    /// The number there: another one after every ring.
    rung: AtomicU64,
    /// When this process said last that it listens, in seconds since the machine was started.
    said: AtomicU64,
}

/// The content of all places.
type Rung = Vec<u8>;

impl Bell {
    fn new(file: File) -> Bell {
        let chance = RandomState::new().hash_one(std::process::id());
        let place = usize::try_from(chance % PLACES as u64).unwrap_or_default();
        Bell { file, place, rung: AtomicU64::new(chance), said: AtomicU64::new(0) }
    }

    /// Rings if somebody else listens.
    fn ring(&self) {
        if !self.is_heard() {
            return;
        }
        let rung = self.rung.fetch_add(1, Ordering::Relaxed);
        // A hint that cannot be given is not a failure: those who wait look again by themselves.
        let _ = self.file.write_all_at(&rung.to_ne_bytes(), (self.place * size_of::<u64>()) as u64);
    }

    /// Returns whether another process listens, as far as the file tells.
    fn is_heard(&self) -> bool {
        let mut places = [0; HALF];
        if self.file.read_exact_at(&mut places, HALF as u64).is_err() {
            return true;
        }
        let now = boot_time().as_secs();
        let (places, _) = places.as_chunks();
        places.iter().enumerate().any(|(place, said)| {
            let said = u64::from_ne_bytes(*said);
            // What seems to be in the future was said before the machine was started: that place is used again some day.
            said != 0 && place != self.place && now < said.saturating_add(LISTENS.as_secs())
        })
    }

    /// Says that this process listens. Returns whether others could know that all the time.
    ///
    /// ```text
    /// whoever waits                         whoever writes
    /// looks at the store: nothing
    ///                                       commits, sees that nobody listens, does not ring
    /// says that it listens                  (what it waits for is there already)
    /// looks once more before it waits
    /// ```
    fn listen(&self) -> bool {
        let (now, said) = (boot_time().as_secs().max(1), self.said.load(Ordering::Relaxed));
        if said != 0 && now < said + SAY_AGAIN.as_secs() {
            return true;
        }
        let place = HALF + self.place * size_of::<u64>();
        // Who cannot say so looks again by itself.
        let _ = self.file.write_all_at(&now.to_ne_bytes(), place as u64);
        self.said.store(now, Ordering::Relaxed);
        said != 0 && now < said + LISTENS.as_secs()
    }

    /// Returns what others have rung, to be compared with what they ring later.
    fn others(&self) -> Rung {
        let mut rung = vec![0; HALF];
        // What cannot be read is as if it were new each time.
        if self.file.read_exact_at(&mut rung, 0).is_err() {
            return Rung::new();
        }
        rung[self.place * size_of::<u64>()..][..size_of::<u64>()].fill(0);
        rung
    }
}

impl Wake {
    pub(super) fn new(database: &Path) -> Result<Wake, StoreError> {
        let path = database.with_extension("wake");
        let unwritable = |error| StoreError::Unwritable(format!("{}: {error}", path.display()));
        let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path);
        let file = file.map_err(unwritable)?;
        // It never grows later: a commit would have to wait for its new size, too.
        file.set_len(2 * HALF as u64).map_err(unwritable)?;
        let (count, _) = watch::channel(0);
        Ok(Wake { bell: Arc::new(Bell::new(file)), path, count, watcher: Mutex::default() })
    }

    /// Wakes everybody because something has changed.
    pub(super) fn ring(&self) {
        self.count.send_modify(|count| *count += 1);
        self.bell.ring();
    }

    /// Returns how often something may have changed.
    pub(super) fn changes(&self) -> u64 {
        *self.count.borrow()
    }

    /// Waits until something may have changed since then.
    pub(super) async fn changed(&self, since: u64, limit: Duration) {
        let starts = self.starts_to_watch();
        if !self.bell.listen() || starts {
            // What happened before is not known.
            return;
        }
        let mut seen = self.count.subscribe();
        let changed = seen.wait_for(|count| *count != since);
        // A time that is over, and a change, are the same to the caller: look again.
        let _ = tokio::time::timeout(limit.min(LOOK_AGAIN), changed).await;
    }

    /// Begins to watch, the first time. Returns whether it did.
    fn starts_to_watch(&self) -> bool {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_some() {
            return false;
        }
        let (count, bell) = (self.count.clone(), Arc::clone(&self.bell));
        let mut heard = bell.others();
        let started = notify::recommended_watcher(move |_: notify::Result<notify::Event>| {
            let rung = bell.others();
            if rung.is_empty() || rung != heard {
                heard = rung;
                count.send_modify(|count| *count += 1);
            }
        });
        let started = started.and_then(|mut started| {
            started.watch(&self.path, RecursiveMode::NonRecursive)?;
            Ok(started)
        });
        // Without a watcher the waiting goes on by looking again.
        let watches = started.is_ok();
        *watcher = started.ok();
        watches
    }
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    /// A bell of another process, with a place of its own.
    fn other(wake: &Wake, place: usize) -> Bell {
        Bell { place, ..Bell::new(wake.bell.file.try_clone().expect("one more")) }
    }

    #[test]
    fn every_ring_is_heard_by_others_and_none_by_whoever_rings() {
        let scratch = Scratch::new();
        let wake = Wake::new(&scratch.path("store.db")).expect("a bell");
        let (other, own) = (other(&wake, 0), other(&wake, 1));
        assert!(!other.listen() && !own.listen(), "nobody knew before");
        let (mut heard_here, mut heard_there) = (own.others(), other.others());
        for _ in 0..3 {
            own.ring();
            assert_eq!(own.others(), heard_here);
            assert_ne!(std::mem::replace(&mut heard_there, other.others()), heard_there);
            other.ring();
            assert_eq!(other.others(), heard_there);
            assert_ne!(std::mem::replace(&mut heard_here, own.others()), heard_here);
        }
    }

    #[test]
    fn nobody_rings_while_nobody_else_listens() {
        let scratch = Scratch::new();
        let wake = Wake::new(&scratch.path("store.db")).expect("a bell");
        let (other, own) = (other(&wake, 0), other(&wake, 1));
        own.listen();
        let silence = other.others();
        own.ring();
        assert_eq!(other.others(), silence, "only we listen");
        other.listen();
        assert!(other.listen(), "it is known by now");
        own.ring();
        assert_ne!(other.others(), silence);
    }

    #[test]
    fn whoever_has_not_listened_for_long_is_not_rung_for_and_looks_again_before_waiting() {
        let scratch = Scratch::new();
        let wake = Wake::new(&scratch.path("store.db")).expect("a bell");
        let (other, own) = (other(&wake, 0), other(&wake, 1));
        let long_ago = boot_time().as_secs().saturating_sub(LISTENS.as_secs() + 1);
        other.said.store(long_ago, Ordering::Relaxed);
        let place = (HALF + other.place * size_of::<u64>()) as u64;
        other.file.write_all_at(&long_ago.to_ne_bytes(), place).expect("it can be written");
        let silence = other.others();
        own.ring();
        assert_eq!(other.others(), silence);
        assert!(!other.listen(), "something may have happened since");
        own.ring();
        assert_ne!(other.others(), silence);
    }
}
