//! `baton man-pages`: the manual of each command, for packages.

use crate::sandbox::Sandbox;

#[test]
fn every_command_that_help_names_has_a_page() {
    let sandbox = Sandbox::new();
    let written = sandbox.baton(&["man-pages", "share/man1"]);
    assert_eq!(written.code, Some(0), "{written}");
    for page in ["baton", "baton-run", "baton-audit-verify", "baton-completions", "baton-man-pages"] {
        let text = sandbox.read(&format!("share/man1/{page}.1"));
        assert!(text.contains(".SH SYNOPSIS"), "{page}:\n{text}");
    }
    assert!(!sandbox.path("share/man1/baton-help-markdown.1").exists(), "what help hides has no page");
}

#[test]
fn folder_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("taken", "a file");
    let refused = sandbox.baton(&["man-pages", "taken"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("man pages cannot be written to taken"), "{refused}");
}
