//! The program from outside: what each command prints, where it prints it, and how it exits.
//!
//! One test program, so that it is linked once. Every test has a folder of its own and runs the real executable.

#[path = "cli/audit_export.rs"]
mod audit_export;
#[path = "cli/audit_verify.rs"]
mod audit_verify;
#[path = "cli/bad_documents.rs"]
mod bad_documents;
#[path = "cli/bad_usage.rs"]
mod bad_usage;
#[path = "cli/check_inputs.rs"]
mod check_inputs;
#[path = "cli/check_output.rs"]
mod check_output;
#[cfg(unix)]
#[path = "cli/check_staged.rs"]
mod check_staged;
#[path = "cli/check_surroundings.rs"]
mod check_surroundings;
#[path = "serve/client.rs"]
#[expect(dead_code, reason = "the tests of the server use the rest")]
mod client;
#[path = "cli/configuration.rs"]
mod configuration;
#[path = "cli/convert.rs"]
mod convert;
#[path = "cli/dir_bad_input.rs"]
mod dir_bad_input;
#[path = "cli/dir_concurrency.rs"]
mod dir_concurrency;
#[path = "cli/dir_members.rs"]
mod dir_members;
#[path = "cli/dir_python.rs"]
mod dir_python;
#[path = "cli/dir_schemas.rs"]
mod dir_schemas;
#[path = "cli/dir_verbs.rs"]
mod dir_verbs;
#[path = "cli/doctor_agents.rs"]
mod doctor_agents;
#[path = "cli/doctor_signs.rs"]
mod doctor_signs;
#[path = "cli/documents.rs"]
mod documents;
#[path = "cli/door_direct.rs"]
mod door_direct;
#[path = "cli/door_over_http.rs"]
mod door_over_http;
#[path = "cli/door_suite.rs"]
mod door_suite;
#[path = "cli/durations.rs"]
mod durations;
#[path = "cli/examples.rs"]
mod examples;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/gate_answers.rs"]
mod gate_answers;
#[path = "cli/gate_decisions.rs"]
mod gate_decisions;
#[path = "cli/gate_inbox.rs"]
mod gate_inbox;
#[path = "cli/gate_terminal.rs"]
mod gate_terminal;
#[path = "cli/gates.rs"]
mod gates;
#[path = "cli/graph_runs.rs"]
mod graph_runs;
#[path = "cli/held_store.rs"]
mod held_store;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/hook_bench.rs"]
mod hook_bench;
#[path = "cli/hook_filing.rs"]
mod hook_filing;
#[path = "cli/hook_limits.rs"]
mod hook_limits;
#[path = "cli/hook_vendors.rs"]
mod hook_vendors;
#[path = "cli/hook_verdicts.rs"]
mod hook_verdicts;
#[path = "cli/hostile_store.rs"]
mod hostile_store;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/init_again.rs"]
mod init_again;
#[path = "cli/init_start.rs"]
mod init_start;
#[path = "cli/init_whole.rs"]
mod init_whole;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/man_pages.rs"]
mod man_pages;
#[cfg(unix)]
#[path = "cli/narrow_terminal.rs"]
mod narrow_terminal;
#[path = "cli/old_store.rs"]
mod old_store;
#[path = "cli/pages.rs"]
mod pages;
#[path = "cli/permissions.rs"]
mod permissions;
#[path = "cli/prune_runs.rs"]
mod prune_runs;
#[path = "cli/queue_acknowledge.rs"]
mod queue_acknowledge;
#[path = "cli/queue_answers.rs"]
mod queue_answers;
#[path = "cli/queue_artifacts.rs"]
mod queue_artifacts;
#[path = "cli/queue_bad_usage.rs"]
mod queue_bad_usage;
#[path = "cli/queue_json.rs"]
mod queue_json;
#[path = "cli/queue_life.rs"]
mod queue_life;
#[path = "cli/queue_next.rs"]
mod queue_next;
#[path = "cli/queue_packages.rs"]
mod queue_packages;
#[path = "cli/queue_people.rs"]
mod queue_people;
#[path = "cli/queue_processes.rs"]
mod queue_processes;
#[path = "cli/queue_prompts.rs"]
mod queue_prompts;
#[path = "cli/queue_store.rs"]
mod queue_store;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/regressions.rs"]
mod regressions;
#[cfg(unix)]
#[path = "cli/resized_terminal.rs"]
mod resized_terminal;
#[cfg(unix)]
#[path = "cli/route.rs"]
mod route;
#[cfg(unix)]
#[path = "cli/run_letter.rs"]
mod run_letter;
#[cfg(unix)]
#[path = "cli/run_looked_at.rs"]
mod run_looked_at;
#[cfg(unix)]
#[path = "cli/run_shown.rs"]
mod run_shown;
#[cfg(unix)]
#[path = "cli/run_terminal.rs"]
mod run_terminal;
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "cli/sarif.rs"]
mod sarif;
#[path = "cli/schema.rs"]
mod schema;
#[path = "cli/shell.rs"]
mod shell;
#[path = "cli/stocked.rs"]
mod stocked;
#[path = "cli/store_moves.rs"]
mod store_moves;
#[path = "cli/store_places.rs"]
mod store_places;
#[path = "cli/tables.rs"]
mod tables;
#[path = "cli/worker_outage.rs"]
mod worker_outage;
#[path = "cli/worker_reports.rs"]
mod worker_reports;
#[path = "cli/worker_stops.rs"]
mod worker_stops;
#[path = "cli/workflow_files.rs"]
mod workflow_files;
#[path = "cli/workflow_mistakes.rs"]
mod workflow_mistakes;
#[path = "cli/workspace.rs"]
mod workspace;
