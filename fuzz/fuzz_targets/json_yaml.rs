//! JSON and YAML give the same value, and every value is found in its text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| baton_fuzz::json_yaml(bytes));
