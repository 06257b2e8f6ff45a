//! The server from end to end: the real program on a real store, spoken to over loopback as any client would.

#[path = "serve/access.rs"]
mod access;
#[path = "serve/client.rs"]
mod client;
#[path = "serve/handoffs.rs"]
mod handoffs;
#[path = "serve/runs.rs"]
mod runs;
#[path = "serve/starting.rs"]
mod starting;
#[path = "serve/streams.rs"]
mod streams;
#[path = "serve/survival.rs"]
mod survival;
