//! The order of the rows of a summary: phases in the order of their first visits, each with what is beside it, and groups
//! with what is inside them. Takes the same time for each row, however many there are: a group may have thousands.

use std::collections::HashMap;

/// Where rows stand below phases and groups.
pub(crate) struct RunOutline {
    places: Vec<Place>,
    /// Which place belongs to the path of a phase or group.
    by_path: HashMap<String, usize>,
}

/// A phase or group with what is in it, in order. The first place is the run.
#[derive(Default)]
struct Place {
    content: Vec<Entry>,
}

enum Entry {
    Row(usize),
    Inside(usize),
}

impl RunOutline {
    pub(crate) fn new() -> RunOutline {
        RunOutline { places: vec![Place::default()], by_path: HashMap::new() }
    }

    /// Puts a row behind everything that is in the same phase already.
    pub(crate) fn add(&mut self, row: usize, phase: &str) {
        let place = self.place(phase);
        self.places[place].content.push(Entry::Row(row));
    }

    /// Finds the place of a phase. One that is new comes last in its group.
    fn place(&mut self, path: &str) -> usize {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        let group = path.rsplit_once('/').map_or(0, |(group, _)| self.place(group));
        let place = self.places.len();
        self.places.push(Place::default());
        self.places[group].content.push(Entry::Inside(place));
        self.by_path.insert(path.to_owned(), place);
        place
    }

    /// Returns the rows in their order.
    pub(crate) fn rows(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        let mut open = vec![self.places[0].content.iter()];
        while let Some(content) = open.last_mut() {
            match content.next() {
                Some(Entry::Row(row)) => rows.push(*row),
                Some(Entry::Inside(place)) => open.push(self.places[*place].content.iter()),
                None => drop(open.pop()),
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_their_groups_in_the_order_of_their_first_visits() {
        let mut outline = RunOutline::new();
        let phases =
            ["plan", "tools", "tools/get/build", "tools/put/build", "ship", "tools/get/review", "plan", "tools"];
        for (row, phase) in phases.iter().enumerate() {
            outline.add(row, phase);
        }
        let ordered: Vec<(usize, &str)> = outline.rows().into_iter().map(|row| (row, phases[row])).collect();
        let expected = [
            (0, "plan"),
            (6, "plan"),
            (1, "tools"),
            (2, "tools/get/build"),
            (5, "tools/get/review"),
            (3, "tools/put/build"),
            (7, "tools"),
            (4, "ship"),
        ];
        assert_eq!(ordered, expected);
    }
}
