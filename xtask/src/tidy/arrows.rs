//! The arrows between our crates point down only.
//!
//! ARCHITECTURE.md has the picture; [`ALLOWED`] is the same picture for the machine. Development
//! dependencies are free, their features included: they reach no user.

use super::Violation;
use super::package::Package;
use crate::text_file::TextFile;

/// Each crate, and the crates of this workspace that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("baton-host", &[]),
    ("baton-protocol", &[]),
    ("baton-engine", &["baton-protocol"]),
    ("baton-store", &["baton-engine", "baton-host", "baton-protocol"]),
    ("baton-agents", &["baton-engine", "baton-host", "baton-protocol"]),
    ("baton-views", &["baton-engine", "baton-protocol"]),
    ("baton-page", &["baton-engine", "baton-protocol", "baton-views"]),
    ("baton-server", &["baton-engine", "baton-page", "baton-protocol", "baton-views"]),
    (
        "baton",
        &["baton-agents", "baton-engine", "baton-host", "baton-protocol", "baton-server", "baton-store", "baton-views"],
    ),
    ("baton-testbed", &["baton-host"]),
    ("baton-simulation", &["baton-engine", "baton-protocol", "baton-testbed"]),
    ("xtask", &[]),
];

/// Reports every arrow that is not allowed, and every crate that nobody has placed.
pub(crate) fn check(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(|package| check_package(package, packages)).collect()
}

fn check_package(package: &Package, all: &[Package]) -> Vec<Violation> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        let message =
            format!("unknown crate `{}`; add it to ARCHITECTURE.md and to xtask/src/tidy/arrows.rs", package.name);
        return vec![Violation::new(&package.manifest, 1, message)];
    };
    let is_ours = |name: &&String| all.iter().any(|other| other.name == **name);
    let ours = package.dependencies.iter().filter(is_ours);
    let wrong = ours.filter(|name| !allowed.contains(&name.as_str()));
    wrong.map(|name| wrong_arrow(package, name)).collect()
}

fn wrong_arrow(package: &Package, dependency: &str) -> Violation {
    let line = line_of(&package.manifest, dependency);
    let message = format!("`{}` must not depend on `{dependency}`", package.name);
    Violation::new(&package.manifest, line, message)
}

/// Returns the line of the manifest that names the dependency, or the first.
fn line_of(manifest: &TextFile, dependency: &str) -> usize {
    let renamed = format!("package = \"{dependency}\"");
    let names = |line: &str| {
        let key = line.split(['.', '=', ' ']).next();
        key == Some(dependency) || line.contains(&renamed)
    };
    manifest.numbered_lines().find(|(_, line)| names(line)).map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let lines: String = dependencies.iter().map(|name| format!("{name}.workspace = true\n")).collect();
        let text = format!("[package]\nname = \"{name}\"\n\n[dependencies]\n{lines}");
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        let manifest = TextFile::new(format!("crates/{name}/Cargo.toml"), text);
        Package { name: name.to_owned(), manifest, dependencies }
    }

    fn reported(packages: &[Package]) -> Vec<String> {
        check(packages).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn arrows_that_point_down_pass() {
        let protocol = package("baton-protocol", &["serde"]);
        let engine = package("baton-engine", &["baton-protocol", "jiff"]);
        let program = package("baton", &["baton-engine", "baton-protocol", "clap"]);
        assert!(reported(&[protocol, engine, program, package("xtask", &["anyhow"])]).is_empty());
    }

    #[test]
    fn arrow_that_points_up_is_reported_where_it_is_written() {
        let packages = [package("baton-protocol", &["serde", "baton-engine"]), package("baton-engine", &[])];
        let expected = "crates/baton-protocol/Cargo.toml:6: \
                        `baton-protocol` must not depend on `baton-engine`";
        assert_eq!(reported(&packages), [expected]);
    }

    #[test]
    fn arrow_between_neighbours_is_reported() {
        let packages = [package("baton-store", &["baton-agents"]), package("baton-agents", &[])];
        assert_eq!(reported(&packages).len(), 1);
    }

    #[test]
    fn unknown_crate_is_reported() {
        let reported = reported(&[package("baton-extra", &[])]);
        assert!(reported.iter().any(|line| line.contains("add it to ARCHITECTURE.md")));
    }

    #[test]
    fn renamed_dependency_is_found_by_its_package() {
        let text = "[dependencies]\nengine = { package = \"baton-engine\", path = \"../e\" }\n";
        assert_eq!(line_of(&TextFile::new("Cargo.toml", text), "baton-engine"), 2);
    }
}
