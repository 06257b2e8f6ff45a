//! Real servers, folders and processes for tests and benchmarks. Reaches no user.
