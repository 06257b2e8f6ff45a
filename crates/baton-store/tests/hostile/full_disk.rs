//! A disk without room: what was accepted stays, what was not is refused aloud, and with room again it goes on.

use std::time::Duration;

use baton_testbed::{Process, Scratch};

use crate::bed::{id, open, replay, request, run, time};
use crate::role::Role;

const LIMIT: Duration = Duration::from_secs(60);

/// Without this the system kills a process whose file would grow too large.
const IGNORE_THE_SIGNAL: [&str; 3] = ["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];

#[test]
fn full_disk_refuses_new_work_keeps_the_old_and_goes_on_when_there_is_room() {
    for file_bytes_max in [250_000, 500_000, 1_500_000] {
        let scratch = Scratch::new();
        let path = scratch.path("store/baton.db");
        let role = Role::Filler { path: path.clone(), file_bytes_max };
        let mut process = Process::spawn(&mut role.command(&IGNORE_THE_SIGNAL));
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        loop {
            let line = process.stdout.next(LIMIT).expect("it goes on");
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("accepted", name) => accepted.push(name.to_owned()),
                ("unwritable", why) => refused.push(why.to_owned()),
                ("reading", works) => assert_eq!(works, "true", "what is there can be read from a full disk"),
                ("wrong", error) => panic!("{error}"),
                ("full", _) => break,
                _ => {}
            }
        }
        assert!(accepted.len() > 3, "{accepted:?}");
        assert_eq!(refused.len(), 3, "{refused:?}");
        let named = refused.iter().all(|why| why.contains("baton.db") && why.contains("disk"));
        assert!(named, "the error says that it is the disk, and which file: {refused:?}");

        process.send_line("there is room again");
        process.stdout.find("accepted after", LIMIT).expect("the same process goes on");
        assert!(process.wait(LIMIT).expect("it ends").success());
        accepted.push("after".to_owned());

        run(async {
            let store = open(&path).await.expect("the store is sound");
            for name in &accepted {
                let handoff = store.find(&id(name)).await.expect("it can be read").expect("it was accepted");
                assert_eq!(replay(&*store, &handoff.run).await, Ok(Some(handoff)));
            }
            assert_eq!(store.ids_beginning_with("", 10_000).await.unwrap().len(), accepted.len());
            assert_eq!(store.checkup().await.unwrap().faults, Vec::<String>::new());
            store.accept(vec![request("later", 8_000)], time(2)).await.expect("there is room");
        });
    }
}
