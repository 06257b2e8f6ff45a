//! A document in any dialect survives being written, read again and converted.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baton_fuzz::dialects(bytes));
