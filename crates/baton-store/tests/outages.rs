//! Many runs on PostgreSQL while the server is away again and again, and while a standby takes its place: nothing that
//! was accepted is lost, no report counts twice, and every run ends.
//!
//! Short and with a fixed seed by default; `cargo xtask torture` runs it for as long as asked.
#![expect(clippy::print_stdout, reason = "a torture prints its figures")]

#[path = "outages/fleet.rs"]
mod fleet;
#[expect(dead_code, reason = "benchmarks use more of it")]
#[path = "../benches/runs/instant.rs"]
mod instant;

use std::time::{Duration, Instant};

use baton_testbed::{Dice, PostgresServer};

use fleet::{Fleet, dawdle};

/// How much there is of everything.
struct Settings {
    time: Duration,
    seed: u64,
    runs_at_once: usize,
    /// The longest that the server is away.
    outage_ms_max: u64,
    /// The shortest and the longest time between two outages.
    calm_ms: (u64, u64),
    /// The longest that an agent works.
    work_ms_max: u64,
}

impl Settings {
    /// Reads the environment: without minutes it is short, with the seed given here.
    fn read(what: &str, short_seed: u64) -> Settings {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let seed = number("BATON_TORTURE_SEED");
        let settings = match number("BATON_TORTURE_MINUTES") {
            Some(minutes) => Settings {
                time: Duration::from_secs(60 * minutes),
                seed: seed.unwrap_or_else(|| Dice::fresh().seed()),
                runs_at_once: 200,
                outage_ms_max: 30_000,
                calm_ms: (5_000, 40_000),
                work_ms_max: 4_000,
            },
            None => Settings {
                time: Duration::from_secs(5),
                seed: seed.unwrap_or(short_seed),
                runs_at_once: 20,
                outage_ms_max: 1_500,
                calm_ms: (500, 1_500),
                work_ms_max: 300,
            },
        };
        println!("{what}: torture for {} s with seed {}", settings.time.as_secs(), settings.seed);
        settings
    }

    fn calm(&self, dice: &mut Dice) -> Duration {
        Duration::from_millis(self.calm_ms.0 + dice.below(self.calm_ms.1 - self.calm_ms.0))
    }

    fn outage(&self, dice: &mut Dice) -> Duration {
        Duration::from_millis(dice.below(self.outage_ms_max))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_run_ends_although_the_server_is_away_again_and_again() {
    let settings = Settings::read("outages", 4);
    let mut dice = Dice::new(settings.seed);
    let server = PostgresServer::start();
    let fleet = Fleet::start(&server.new_database(), settings.runs_at_once, settings.work_ms_max, dice.number()).await;
    let (start, mut outages, mut away) = (Instant::now(), 0, Duration::ZERO);
    while start.elapsed() < settings.time {
        dawdle(settings.calm(&mut dice)).await;
        // As an administrator does, or as a power cut.
        let in_order = dice.chance(0.5);
        tokio::task::block_in_place(|| if in_order { server.stop() } else { server.kill() });
        let outage = settings.outage(&mut dice);
        dawdle(outage).await;
        tokio::task::block_in_place(|| server.restart());
        (outages, away) = (outages + 1, away + outage);
    }
    let ended = fleet.end().await;
    println!("outages: {ended}; the server was away {outages} times, for {:.0} s in all", away.as_secs_f64());
    assert!(outages > 0 && ended.runs > 0, "too little happened to mean anything");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_run_ends_although_a_standby_takes_over() {
    let settings = Settings::read("fail-overs", 5);
    let mut dice = Dice::new(settings.seed);
    let mut primary = PostgresServer::start();
    let mut standby = primary.start_standby(None);
    let database = primary.new_database();
    let (_, name) = database.rsplit_once('/').expect("a URL");
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port(), standby.port());
    let url = format!("postgres://baton@{hosts}/{name}?target_session_attrs=read-write");
    let fleet = Fleet::start(&url, settings.runs_at_once, settings.work_ms_max, dice.number()).await;
    let (start, mut takeovers) = (Instant::now(), 0);
    while start.elapsed() < settings.time {
        dawdle(settings.calm(&mut dice)).await;
        tokio::task::block_in_place(|| primary.kill());
        dawdle(settings.outage(&mut dice)).await;
        tokio::task::block_in_place(|| {
            standby.promote();
            // Its commits wait until there is a standby again, which takes the place of the server that is gone.
            let port = primary.port();
            std::mem::swap(&mut primary, &mut standby);
            standby = primary.start_standby(Some(port));
        });
        takeovers += 1;
    }
    let ended = fleet.end().await;
    println!("fail-overs: {ended}; a standby took over {takeovers} times");
    assert!(takeovers > 0 && ended.runs > 0, "too little happened to mean anything");
}
