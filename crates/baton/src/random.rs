//! What nobody can foresee: ids, the jitter of retries, the words that fence prompts, and secrets.

use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

use baton_engine::engine::Random;
use baton_engine::{Clock as _, HandoffId};
use uuid::{ContextV7, Uuid};

use crate::clock::SteadyClock;
use crate::command_error::CommandError;

/// The randomness of the machine.
pub(crate) struct MachineRandom {
    clock: Arc<SteadyClock>,
    order: Mutex<ContextV7>,
}

impl MachineRandom {
    /// Makes ids that sort by the time of this clock.
    pub(crate) fn new(clock: Arc<SteadyClock>) -> MachineRandom {
        MachineRandom { clock, order: Mutex::new(ContextV7::new()) }
    }
}

impl Random for MachineRandom {
    fn number(&self) -> f64 {
        number()
    }

    fn word(&self) -> String {
        word()
    }

    fn id(&self) -> HandoffId {
        let now = self.clock.now();
        let (seconds, nanoseconds) = (now.as_second().max(0) as u64, now.subsec_nanosecond().max(0) as u32);
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        HandoffId::from_unique(Uuid::new_v7(uuid::Timestamp::from_unix(&*order, seconds, nanoseconds)))
    }
}

/// Returns a word.
pub(crate) fn word() -> String {
    let random = Uuid::now_v7().simple().to_string();
    // The first half of such an id is mostly the time.
    random[14..].to_owned()
}

/// Returns a number from 0 to 1.
pub(crate) fn number() -> f64 {
    const BITS: u32 = 53;
    // The last bits of such an id are random; the time in its first bits does not matter here.
    let random = Uuid::now_v7().as_u128() & ((1 << BITS) - 1);
    random as f64 / (1_u64 << BITS) as f64
}

/// Returns 256 bits that nobody can guess: what tokens and sessions are made of.
pub(crate) fn secret() -> Result<[u8; 32], CommandError> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| CommandError::internal(format!("no random numbers: {error}")))?;
    Ok(bytes)
}
