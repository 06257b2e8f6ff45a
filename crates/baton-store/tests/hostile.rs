//! Hostile conditions: full disks, forbidden folders, strangers' files, damage, clocks that jump, and crowds.
//!
//! Either it simply works, or the error says what happened and names the file. Nothing that was accepted is lost, and
//! damage is never a wrong answer. Where a process of its own is needed, this program is started again with a role.
#![expect(clippy::print_stdout, reason = "a crowd prints how long it took")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "hostile/bed.rs"]
mod bed;
#[path = "hostile/clocks.rs"]
mod clocks;
#[path = "hostile/crowds.rs"]
mod crowds;
#[path = "hostile/damage.rs"]
mod damage;
#[path = "hostile/forbidden.rs"]
mod forbidden;
#[path = "hostile/full_disk.rs"]
mod full_disk;
#[path = "hostile/role.rs"]
mod role;
#[path = "hostile/strangers.rs"]
mod strangers;
#[path = "hostile/write_ahead_log.rs"]
mod write_ahead_log;

#[test]
fn process_plays_the_role_that_it_was_started_for() {
    role::play();
}
