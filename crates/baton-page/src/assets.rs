//! The style sheet and the script, under names with the hash of their content: browsers may keep them forever.

use std::sync::LazyLock;

use baton_engine::handoff::Digest;

/// A file that pages refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticFile {
    /// Its address: `/static/baton-0123456789ab.css`.
    pub address: String,
    /// What kind of file it is, for the header `Content-Type`.
    pub content_type: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// The style sheet.
pub static STYLE: LazyLock<StaticFile> =
    LazyLock::new(|| named("css", "text/css; charset=utf-8", include_str!("../static/baton.css")));

/// The script, a module.
pub static SCRIPT: LazyLock<StaticFile> =
    LazyLock::new(|| named("js", "text/javascript; charset=utf-8", include_str!("../static/baton.js")));

/// The picture in the tab of the browser.
pub static ICON: LazyLock<StaticFile> =
    LazyLock::new(|| named("svg", "image/svg+xml", include_str!("../static/baton.svg")));

/// Returns all of them.
pub fn all() -> [&'static StaticFile; 3] {
    [&STYLE, &SCRIPT, &ICON]
}

/// Finds a file by its address.
pub fn find(address: &str) -> Option<&'static StaticFile> {
    all().into_iter().find(|file| file.address == address)
}

fn named(ending: &str, content_type: &'static str, text: &'static str) -> StaticFile {
    let Digest(digest) = Digest::of(text.as_bytes());
    StaticFile { address: format!("/static/baton-{}.{ending}", &digest[..12]), content_type, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_hash_only() {
        assert_eq!(find(&STYLE.address), Some(&*STYLE));
        assert_eq!(find("/static/baton.css"), None);
        assert!(SCRIPT.text.lines().count() <= 200, "the script stays small enough to be read");
    }
}
