//! The verbs of the engine, one file each: once right, once refused, and where it is easy to get them wrong. They stand on
//! the store in memory; that the doors say the same is for the door suite to show.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bed;
mod documents;

mod acknowledge;
mod apply;
mod cancel;
mod claim;
mod decide;
mod fail;
mod file;
mod follow;
mod heartbeat;
mod inbox;
mod judge;
mod look;
mod report;
mod requeue;
mod resolve;
mod runs;
mod send;
mod wait;
