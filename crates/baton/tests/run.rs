//! Runs of workflows from end to end: the real program, real processes, real files.
//!
//! Agents are small scripts that a test writes. What happened is read from the journal, and what people see of it from
//! the program itself. `cargo xtask torture --minutes N [--seed S]` kills runs of the examples for longer.
#![expect(clippy::print_stdout, reason = "killing runs prints its seed and what it has counted")]

#[path = "run/acknowledging.rs"]
mod acknowledging;
#[path = "run/again.rs"]
mod again;
#[path = "run/anchors.rs"]
mod anchors;
#[path = "run/approved_files.rs"]
mod approved_files;
#[path = "run/behind_gates.rs"]
mod behind_gates;
#[path = "run/blocks.rs"]
mod blocks;
#[path = "run/bound_files.rs"]
mod bound_files;
#[path = "run/cage.rs"]
mod cage;
#[path = "run/cheats.rs"]
mod cheats;
#[path = "run/deciders.rs"]
mod deciders;
#[path = "run/den.rs"]
mod den;
#[path = "run/disk.rs"]
mod disk;
#[path = "run/doors.rs"]
mod doors;
#[path = "run/driver_seen.rs"]
mod driver_seen;
#[path = "run/earlier_work.rs"]
mod earlier_work;
#[path = "run/elsewhere.rs"]
mod elsewhere;
#[path = "run/environment.rs"]
mod environment;
#[path = "run/faults.rs"]
mod faults;
#[path = "run/folder_agents.rs"]
mod folder_agents;
#[path = "run/gates.rs"]
mod gates;
#[path = "run/gone_store.rs"]
mod gone_store;
#[path = "run/handovers.rs"]
mod handovers;
#[path = "run/held_store.rs"]
mod held_store;
#[path = "run/hooks.rs"]
mod hooks;
#[path = "run/hostile.rs"]
mod hostile;
#[path = "run/judged.rs"]
mod judged;
#[path = "run/kept_files.rs"]
mod kept_files;
#[path = "run/keys.rs"]
mod keys;
#[path = "run/killed.rs"]
mod killed;
#[path = "run/liars.rs"]
mod liars;
#[path = "run/links.rs"]
mod links;
#[path = "run/listener.rs"]
mod listener;
#[path = "run/measured.rs"]
mod measured;
#[path = "run/moved.rs"]
mod moved;
#[path = "run/namespaces.rs"]
mod namespaces;
#[path = "run/output_files.rs"]
mod output_files;
#[path = "run/own_tests.rs"]
mod own_tests;
#[path = "run/packages.rs"]
mod packages;
#[path = "run/planted.rs"]
mod planted;
#[path = "run/profiles.rs"]
mod profiles;
#[path = "run/questions.rs"]
mod questions;
#[path = "run/queue.rs"]
mod queue;
#[path = "run/reach.rs"]
mod reach;
#[path = "run/record.rs"]
mod record;
#[path = "run/shown.rs"]
mod shown;
#[path = "run/signatures.rs"]
mod signatures;
#[path = "run/site.rs"]
mod site;
#[path = "run/spending.rs"]
mod spending;
#[path = "run/tasks.rs"]
mod tasks;
#[path = "run/terminal.rs"]
mod terminal;
#[path = "run/traces.rs"]
mod traces;
#[path = "run/unseen.rs"]
mod unseen;
#[path = "run/views.rs"]
mod views;
#[path = "run/waiting.rs"]
mod waiting;
#[path = "run/webhooks.rs"]
mod webhooks;
#[path = "run/writers.rs"]
mod writers;
