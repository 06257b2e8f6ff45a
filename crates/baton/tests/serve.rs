//! The server from end to end: the real program on a real store, spoken to over loopback as any client would.

#[path = "serve/access.rs"]
mod access;
#[path = "serve/client.rs"]
mod client;
#[path = "serve/described.rs"]
mod described;
#[path = "serve/draining.rs"]
mod draining;
#[path = "serve/fetched.rs"]
mod fetched;
#[path = "serve/figures.rs"]
mod figures;
#[path = "serve/guarding.rs"]
mod guarding;
#[path = "serve/handoffs.rs"]
mod handoffs;
#[path = "serve/hooked.rs"]
mod hooked;
#[path = "serve/limits.rs"]
mod limits;
#[path = "run/listener.rs"]
mod listener;
#[path = "serve/notified.rs"]
mod notified;
#[path = "serve/remote.rs"]
mod remote;
#[path = "serve/remote_access.rs"]
mod remote_access;
#[path = "serve/remote_lost.rs"]
mod remote_lost;
#[path = "serve/remote_machine.rs"]
mod remote_machine;
#[path = "serve/remote_runs.rs"]
mod remote_runs;
#[path = "serve/remote_worker.rs"]
mod remote_worker;
#[path = "serve/runs.rs"]
mod runs;
#[path = "serve/signatures.rs"]
mod signatures;
#[path = "serve/starting.rs"]
mod starting;
#[path = "serve/streams.rs"]
mod streams;
#[path = "serve/survival.rs"]
mod survival;
#[path = "serve/traced.rs"]
mod traced;
