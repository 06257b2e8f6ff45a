//! Ring 1: the examples, with every single fault at every call of the store.

use baton_simulation::fault::Fault;
use baton_simulation::flows::{EXAMPLES, definition};
use baton_simulation::single::{PAUSE, run};

#[test]
fn look() {
    for (name, text) in EXAMPLES {
        let began = std::time::Instant::now();
        let course = run(&definition(text, &[]), None);
        println!("{name}: {} calls, {:?}\n{:#?}\n{}", course.calls, began.elapsed(), course.steps, course.wrong);
    }
}
