//! Reaching agents.
