//! How long the machine has been up: a clock that nobody can set, and that goes on while the machine is suspended.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns how long the machine has been up, suspended or not.
///
/// The clock of [`std::time::Instant`] stands still while a machine is suspended: after a night it would be a night late.
pub fn boot_time() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
