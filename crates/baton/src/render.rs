//! How results are written: a check in each of its formats, and handoffs.

pub(crate) mod columns;
pub(crate) mod document;
pub(crate) mod github;
pub(crate) mod handoff;
pub(crate) mod human;
pub(crate) mod inbox;
pub(crate) mod json;
pub(crate) mod question;
pub(crate) mod recorded;
pub(crate) mod run;
pub(crate) mod sarif;
pub(crate) mod sheet;
pub(crate) mod standing;
pub(crate) mod timeline;

/// Writes a number with what it counts: `1 run`, `2 runs`.
pub(crate) fn counted(number: impl TryInto<u64>, thing: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "run")), ["0 runs", "1 run", "2 runs"]);
    }
}
