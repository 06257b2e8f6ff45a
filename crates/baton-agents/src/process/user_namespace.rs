//! Whether the operating system knows who we are. In a user namespace it does not: whoever makes one is anybody in it.

use std::fs;

/// The map of the namespace that the machine starts with: everybody is who they are.
const EVERYBODY: [u32; 3] = [0, 0, u32::MAX];

/// A user namespace that we are in, other than the one that the machine starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserNamespace {
    /// Who we are outside of it, by number; `None` if that is unknown.
    pub outside: Option<u32>,
}

impl UserNamespace {
    /// Returns the namespace that we are in; `None` if it is the one that the machine starts with.
    pub fn current() -> Option<UserNamespace> {
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let rows = rows(&map);
        if rows == [EVERYBODY] {
            return None;
        }
        let outside = outside(&rows, rustix::process::getuid().as_raw());
        Some(UserNamespace { outside })
    }
}

/// Reads a map: the first number inside, the first outside, and how many.
fn rows(map: &str) -> Vec<[u32; 3]> {
    let row = |line: &str| {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        numbers.try_into().ok()
    };
    map.lines().filter_map(row).collect()
}

fn outside(rows: &[[u32; 3]], user: u32) -> Option<u32> {
    rows.iter().find_map(|[inside, outside, count]| {
        let offset = user.checked_sub(*inside).filter(|offset| offset < count)?;
        outside.checked_add(offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_outside_follows_from_the_map() {
        let map = rows("         0       1000          1\n         1     100000      65536\n");
        assert_eq!(
            [outside(&map, 0), outside(&map, 1), outside(&map, 1000)],
            [Some(1000), Some(100_000), Some(100_999)]
        );
        assert_eq!([outside(&map, 65_537), outside(&rows(""), 0)], [None, None]);
        assert_eq!(rows("         0          0 4294967295\n"), [EVERYBODY]);
    }
}
