//! Any text can be judged as prose and counted in tokens.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baton_fuzz::prose_tokens(bytes));
