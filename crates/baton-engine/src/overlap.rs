//! Whether two patterns of paths can mean the same file.
//!
//! In doubt they can: two agents that might change the same file do not work at the same time.

/// Returns whether some path fits both patterns. `*` and `?` stay within a folder, `**` does not.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    let split = |pattern: &str| -> Vec<String> {
        let pattern = pattern.trim_start_matches("./").trim_matches('/');
        let mut parts: Vec<String> = pattern.split('/').map(str::to_owned).collect();
        // A folder means everything in it.
        parts.push("**".to_owned());
        parts
    };
    folders(&split(one), &split(other))
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
    }
}
