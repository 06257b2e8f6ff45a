//! Keeps handoffs and their journal: SQLite and PostgreSQL behind the port of `baton_engine::store`.
//!
//! `rows` says how a handoff is stored, for both; `sqlite` and `postgres` contain SQL and binding only.

mod rows;
pub mod sqlite;
