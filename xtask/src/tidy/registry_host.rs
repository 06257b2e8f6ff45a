//! No host name of a package registry: where packages come from is the machine's own setting.

use super::Violation;
use crate::text_file::TextFile;

/// The names are put together here, so that this file may be checked like any other.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npmjs", ".com"),
    concat!("npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("rubygems", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Reports every line that names a registry.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    let named = |line: &str| HOSTS.iter().find(|host| line.to_lowercase().contains(**host));
    let violation = |(number, line)| {
        let message = format!("names the package registry {}; leave it out", named(line)?);
        Some(Violation::new(file, number, message))
    };
    file.numbered_lines().filter_map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registry_is_reported_in_any_file() {
        for host in HOSTS {
            let text = format!("One.\nSee https://static.{}/x.\n", host.to_uppercase());
            let found = check(&TextFile::new("docs/install.md", text));
            let reported: Vec<String> = found.iter().map(Violation::to_string).collect();
            assert_eq!(reported.len(), 1);
            assert!(reported.iter().all(|line| line.starts_with("docs/install.md:2: ")));
        }
    }

    #[test]
    fn crates_folder_and_patch_section_pass() {
        let text = "crates/io/src\n[patch.crates-io]\ncargo install cargo-fuzz\n";
        assert!(check(&TextFile::new("Cargo.toml", text)).is_empty());
    }
}
