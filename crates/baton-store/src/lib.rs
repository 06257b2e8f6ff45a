//! Keeps handoffs: SQLite and PostgreSQL behind one port.
