//! Tables are aligned on a terminal, whatever is written in them.

use unicode_width::UnicodeWidthStr as _;

use crate::documents::REQUEST;
use crate::sandbox::Sandbox;

/// Returns at which column of a terminal a word begins in each line that has it.
fn columns_of(table: &str, word: &str) -> Vec<usize> {
    table.lines().filter_map(|line| line.find(word).map(|at| line[..at].width())).collect()
}

#[test]
fn chinese_names_and_emoji_do_not_push_the_columns_apart() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("task.json", "{}");
    sandbox.baton(&["dir", "init", "work"]);
    for (id, agent) in [("one", "設計レビュー"), ("two", "builder"), ("three", "🚀launch")] {
        assert_eq!(sandbox.baton(&["send", "request.json", "--to", agent, "--id", id]).code, Some(0));
        let create = ["dir", "create", "work", "--from", agent, "--to", agent, "--input", "task.json", "--id", id];
        assert_eq!(sandbox.baton(&create).code, Some(0));
    }
    for listing in [sandbox.baton(&["list"]), sandbox.baton(&["dir", "status", "work"])] {
        let mut columns = columns_of(&listing.stdout, "pending");
        columns.truncate(3);
        assert!(columns.len() == 3 && columns.iter().all(|column| *column == columns[0]), "{columns:?}\n{listing}");
    }
}
