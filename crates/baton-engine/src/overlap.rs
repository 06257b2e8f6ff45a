//! Whether two patterns of paths can mean the same file.
//!
//! In doubt they can: two agents that might change the same file do not work at the same time.

/// Returns whether some path fits both patterns. `*` and `?` stay within a folder, `**` does not.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    folders(&everything_in(one), &everything_in(other))
}

/// Returns whether a file fits a pattern.
pub(crate) fn covers(pattern: &str, file: &str) -> bool {
    folders(&everything_in(pattern), &parts(file))
}

/// A folder means everything in it.
fn everything_in(pattern: &str) -> Vec<String> {
    let mut parts = parts(pattern);
    parts.push("**".to_owned());
    parts
}

fn parts(path: &str) -> Vec<String> {
    path.trim_start_matches("./").trim_matches('/').split('/').map(str::to_owned).collect()
}

fn folders(one: &[String], other: &[String]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([any, rest @ ..], rest_other) if any == "**" => {
            folders(rest, rest_other) || rest_other.split_first().is_some_and(|(_, behind)| folders(one, behind))
        }
        (_, [any, _rest @ ..]) if any == "**" => folders(other, one),
        ([], _) | (_, []) => false,
        ([first, rest @ ..], [first_other, rest_other @ ..]) => names(first, first_other) && folders(rest, rest_other),
    }
}

/// Returns whether some name fits both patterns; sets and alternatives count as anything.
fn names(one: &str, other: &str) -> bool {
    let special = |pattern: &str| pattern.contains(['[', '{', '\\', '!']);
    if special(one) || special(other) {
        return true;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    letters(&one, &other)
}

fn letters(one: &[char], other: &[char]) -> bool {
    match (one, other) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            letters(rest, other) || other.split_first().is_some_and(|(_, behind)| letters(one, behind))
        }
        (_, ['*', ..]) => letters(other, one),
        (['?', rest @ ..], [_, behind @ ..]) | ([_, rest @ ..], ['?', behind @ ..]) => letters(rest, behind),
        ([first, rest @ ..], [second, behind @ ..]) => first == second && letters(rest, behind),
        ([], _) | (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_where_a_path_fits_both() {
        for (one, other) in [
            ("src/**", "src/a.rs"),
            ("src", "src/deep/a.rs"),
            ("**/*.md", "docs/a.*"),
            ("a/*/c", "a/b/**"),
            ("*.rs", "m?in.rs"),
            ("src/{a,b}.rs", "src/c.rs"),
            ("**", "anything"),
        ] {
            assert!(overlap(one, other) && overlap(other, one), "{one} {other}");
        }
        for (one, other) in [("src/**", "docs/**"), ("a/*.rs", "a/*.py"), ("a/b/c", "a/x/**"), ("lib.rs", "main.rs")] {
            assert!(!overlap(one, other) && !overlap(other, one), "{one} {other}");
        }
        assert!(covers("src/**", "src/a/b.rs") && covers("src", "src/a.rs") && covers("**/*.md", "a/b.md"));
        assert!(!covers("src/**/*.rs", "src/a.md") && overlap("src/**/*.rs", "src/a.md"), "that may be a folder");
    }
}
