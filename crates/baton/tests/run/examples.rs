//! The examples, from end to end.
