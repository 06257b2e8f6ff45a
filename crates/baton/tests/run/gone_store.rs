//! A store whose file is removed while a run is driven: the driver says so, ends its agent and does not go on.

use crate::site::{LONG, RUN, Site, end, listen};

#[test]
fn driver_whose_store_was_removed_says_so_and_ends() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py], retry: {delay: 0s}}}\nphases: [{id: p, agent: dev}]";
    let site = Site::new().workflow(flow);
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let site = site.agent("dev", &format!("write({begun:?}, 'begun\\n')\nopen({go_on:?}).read()\nreport()"));
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"]);
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the agent begins");
    std::fs::remove_file(site.store()).expect("it is there");
    std::fs::write(&go_on, "").expect("the agent goes on");
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("the file was removed or renamed after it was opened"), "{ended:?}");
    assert!(!std::path::Path::new(&site.store()).exists(), "nobody makes an empty one in its place");
}
