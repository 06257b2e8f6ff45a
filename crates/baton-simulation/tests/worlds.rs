//! Ring 2: worlds of chance.

use baton_simulation::world::live;

#[test]
fn same_seed_gives_the_same_journals_byte_for_byte() {
    for seed in 1..=8 {
        let (one, other) = (live(seed), live(seed));
        let differs = one.journals.iter().zip(&other.journals).position(|(one, other)| one != other);
        if let Some(line) = differs {
            panic!("seed {seed} differs at line {line}:\n{}\n{}", one.journals[line], other.journals[line]);
        }
        assert_eq!((one.journals.len(), one.tally), (other.journals.len(), other.tally), "seed {seed}");
    }
}

#[test]
fn look() {
    let first: u64 = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let count: u64 = std::env::var("COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let (mut wrong, mut hours, mut kills) = (0, 0.0, 0);
    let mut met = baton_simulation::cells::Met::default();
    let all = baton_simulation::chance::Tally::default();
    for seed in first..first + count {
        let began = std::time::Instant::now();
        let ended = live(seed);
        let killed = ended.tally.get("driver killed").copied().unwrap_or_default();
        println!("{seed}: {:?} {:?} {} events, kills {killed}", ended.lasted, began.elapsed(), ended.journals.len());
        hours += ended.lasted.as_secs_f64() / 3600.0;
        kills += killed;
        met.add(&ended.met);
        for (name, times) in ended.tally {
            all.add(name, times);
        }
        if !ended.wrong.is_empty() {
            wrong += 1;
            println!("{}", ended.told);
        }
    }
    println!("{hours} hours, {kills} kills, {} cells, missing {:?}\n{:#?}", met.len(), met.missing(), all.all());
    assert_eq!(wrong, 0);
}
