//! Ring 2: worlds of chance. Everything can go wrong in them; what is promised must hold all the same, and everything
//! that can go wrong must have gone wrong somewhere.
//!
//! `BATON_SIMULATION_SEED=S BATON_SIMULATION_WORLDS=N` lets other worlds live.

use baton_simulation::figures::Figures;
use baton_simulation::world::live;

/// The first seed, unless somebody asks for another one.
const SEED: u64 = 40;

/// How many worlds live.
const WORLDS: u64 = 84;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn same_seed_gives_the_same_journals_byte_for_byte() {
    for seed in [8, 24, 44, 58] {
        let (one, other) = (live(seed), live(seed));
        let differs = one.journals.iter().zip(&other.journals).position(|(one, other)| one != other);
        if let Some(line) = differs {
            panic!("seed {seed} differs at line {line}:\n{}\n{}", one.journals[line], other.journals[line]);
        }
        assert_eq!((one.journals.len(), one.tally), (other.journals.len(), other.tally), "seed {seed}");
    }
}

#[test]
fn promises_hold_whatever_goes_wrong() {
    let (first, count) = (number("BATON_SIMULATION_SEED", SEED), number("BATON_SIMULATION_WORLDS", WORLDS));
    let halves: Vec<_> = (0..2)
        .map(|half| {
            std::thread::spawn(move || {
                let (mut figures, mut wrong) = (Figures::default(), Vec::new());
                for seed in (first..first + count).filter(|seed| seed % 2 == half) {
                    let ended = live(seed);
                    figures.add(&ended);
                    if !ended.wrong.is_empty() {
                        wrong.push(format!("seed {seed}: {}", ended.told));
                    }
                }
                (figures, wrong)
            })
        })
        .collect();
    let mut all = Figures::default();
    let mut wrong = Vec::new();
    for half in halves {
        let (figures, found) = half.join().expect("a world does not panic");
        all.merge(&figures);
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} worlds went wrong:\n{}", wrong.len(), wrong.join("\n"));
    if count >= WORLDS {
        assert_eq!(all.missing(), Vec::<String>::new(), "this has never happened");
        assert!(all.hours() >= 1_000, "{} hours", all.hours());
        assert!(all.kills() >= 5_000, "{} kills", all.kills());
    }
}
