//! Any bytes are read and judged without a panic, and every finding points into the file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baton_fuzz::read(bytes));
