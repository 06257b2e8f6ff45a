//! A file as it is and as it will be, and the difference for people.

/// How many lines around a difference are shown.
const CONTEXT: usize = 2;

/// Longer files are compared by their beginnings and ends only.
const LINES_MAX: usize = 2_000;

/// A file as it is and as it will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// Its path in the project.
    pub path: String,
    /// What is in it; `None` if it is not there.
    pub before: Option<String>,
    /// What will be in it; `None` if it will not be there.
    pub after: Option<String>,
    /// The folders that are made for it, or go with it, the outer ones first.
    pub folders: Vec<String>,
}

impl FileChange {
    /// Returns what happens to it, in a word.
    pub(crate) fn action(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, Some(_)) => "created",
            (Some(_), Some(_)) => "changed",
            (_, None) => "removed",
        }
    }

    /// Returns the lines that differ, each with a mark before it, and a few around them.
    pub(crate) fn difference(&self) -> String {
        let lines = |text: &Option<String>| -> Vec<String> {
            text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
        };
        let compared = compare(&lines(&self.before), &lines(&self.after));
        let near = |index: usize| {
            let around = index.saturating_sub(CONTEXT)..(index + CONTEXT + 1).min(compared.len());
            compared[around].iter().any(|(mark, _)| *mark != ' ')
        };
        let (mut text, mut last) = (String::new(), None);
        for (index, (mark, line)) in compared.iter().enumerate().filter(|(index, _)| near(*index)) {
            if last.is_some_and(|last| last + 1 < index) {
                text.push_str("  …\n");
            }
            text.push_str(&format!("{mark} {line}\n"));
            last = Some(index);
        }
        text
    }

    /// Returns whether it does anything.
    pub(crate) fn differs(&self) -> bool {
        self.before != self.after
    }

    /// Returns whether it changes a file that is there.
    pub(super) fn is_edit(&self) -> bool {
        self.before.is_some() && self.differs()
    }

    /// Returns what takes it back.
    pub(super) fn reversed(&self) -> FileChange {
        FileChange { before: self.after.clone(), after: self.before.clone(), ..self.clone() }
    }
}

/// Marks the lines of two texts: `-` only in the first, `+` only in the second.
fn compare(before: &[String], after: &[String]) -> Vec<(char, String)> {
    let same = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (rest, new) = (&before[same..], &after[same..]);
    let ending = rest.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (rest, tail) = rest.split_at(rest.len() - ending);
    let new = &new[..new.len() - ending];
    let marked = |mark: char, lines: &[String]| lines.iter().map(|line| (mark, line.clone())).collect::<Vec<_>>();
    let mut compared = marked(' ', &before[..same]);
    if rest.len() > LINES_MAX || new.len() > LINES_MAX {
        compared.extend(marked('-', rest).into_iter().chain(marked('+', new)));
    } else {
        compared.extend(longest_common(rest, new));
    }
    compared.extend(marked(' ', tail));
    compared
}

fn longest_common(before: &[String], after: &[String]) -> Vec<(char, String)> {
    let mut length = vec![vec![0_u16; after.len() + 1]; before.len() + 1];
    for (row, one) in before.iter().enumerate().rev() {
        for (column, other) in after.iter().enumerate().rev() {
            length[row][column] = match one == other {
                true => length[row + 1][column + 1] + 1,
                false => length[row + 1][column].max(length[row][column + 1]),
            };
        }
    }
    let (mut row, mut column, mut compared) = (0, 0, Vec::new());
    while row < before.len() || column < after.len() {
        let is_same = row < before.len() && column < after.len() && before[row] == after[column];
        let is_gone = column == after.len() || row < before.len() && length[row + 1][column] >= length[row][column + 1];
        if is_same {
            compared.push((' ', before[row].clone()));
            (row, column) = (row + 1, column + 1);
        } else if is_gone {
            compared.push(('-', before[row].clone()));
            row += 1;
        } else {
            compared.push(('+', after[column].clone()));
            column += 1;
        }
    }
    compared
}
