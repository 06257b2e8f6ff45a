//! What a page shows a part of is whole at an address of its own, and the page leads there.

use serde_json::json;

use crate::person::Person;
use crate::stage::Stage;

/// A phase whose work is reviewed.
const REVIEWED: &str = "name: gates\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
    phases: [{id: build, agent: dev, task: 'Build many tables', review: blocking}]\n";

/// An agent that makes `count` files of `lines` lines, and reports them with this beside them.
fn makes(count: usize, lines: usize, beside: &str) -> String {
    format!(
        "python3 - <<'END'\nimport json, os\nfiles = [f'o/f{{i:02}}.txt' for i in range({count})]\nos.makedirs('o', exist_ok=True)\n\
        for name in files: open(name, 'w').write(''.join(f'{{name}} <row> {{i}} ' + 'x' * 80 + '\\n' for i in range({lines})))\n\
        report = {{'baton': 1, 'document': 'report', 'id': os.environ['BATON_HANDOFF_ID'], 'outcome': 'complete',\n\
        'summary': 'Wrote the tables, and decided many things about them.', 'files_modified': files}}\n{beside}\n\
        json.dump(report, open(os.environ['BATON_REPORT_FILE'], 'w'))\nEND"
    )
}

/// Returns where the first link with these words leads.
fn link(page: &str, words: &str) -> String {
    let before = page.split_once(&format!(">{words}</a>")).unwrap_or_else(|| panic!("no {words:?}: {page}")).0;
    before.rsplit_once("href=\"").and_then(|(_, rest)| rest.split('"').next()).expect("a link").to_owned()
}

#[test]
fn everything_that_is_decided_about_is_shown_or_a_link_away() {
    let beside = "report['decisions'] = [{'id': f'D{i}', 'decision': f'Decision number {i}.', 'rationale': f'Because of reason {i}.'} for i in range(45)]\n\
        report['artifacts'] = [{'path': 'o/f00.txt', 'type': 'table', 'description': 'What the rows mean'}]\n\
        report['next_steps'] = ['Load them into the ledger']\nreport['verification'] = {'rows': 'counted twice'}\n\
        report['execution_notes'] = 'an own member'";
    let stage = Stage::with(REVIEWED, &makes(71, 1, beside));
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    let page = person.get("/inbox/t.build.1").text;
    assert!(page.len() < 60_000, "{} bytes", page.len());
    for shown in ["(table): What the rows mean", "Load them into the ledger", "rows: counted twice", "an own member"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    for left_out in ["15 more</a>", "31 more files</a>", "more claims</a>"] {
        assert!(page.contains(left_out), "{left_out}: {page}");
    }
    let whole = link(&page, "The whole document");
    let text = person.get(&whole);
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    for number in 0..71 {
        assert!(text.text.contains(&format!("o/f{number:02}.txt")), "file {number}");
        assert!(number >= 45 || text.text.contains(&format!("Because of reason {number}.")), "decision {number}");
    }
    assert!(text.text.contains("digest  "), "what it counts for: {}", text.text);
    let file = person.get("/inbox/t.build.1/file?path=o%2Ff03.txt");
    assert!(file.text.contains("o/f03.txt <row> 0"), "{}", file.text);
    assert_eq!(person.get("/inbox/t.build.1/file?path=..%2F..%2Fbaton.db").status, 404);
    assert_eq!(person.get("/inbox/t.build.1/nonsense").status, 404);
}

#[test]
fn page_stays_small_however_large_the_files_are() {
    let stage = Stage::with(REVIEWED, &makes(40, 120, ""));
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    for path in ["/inbox/t.build.1", "/runs/t/handoffs/t.build.1"] {
        let page = person.get(path).text;
        assert!(page.len() < 60_000, "{path} has {} bytes", page.len());
        let changes = link(&page, "<code>o/f00.txt</code>");
        let whole = person.get(&changes).text;
        assert!(whole.contains("<row> 119 "), "{changes}: {whole}");
    }
}

#[test]
fn prompt_and_output_of_every_attempt_are_whole() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 1, delay: 1ms}}}\n\
        phases: [{id: build, agent: dev, task: 'Build it well', on_failure: stop}]\n";
    let agent = "if [ -e tried ]; then n=2; else n=1; touch tried; fi\n\
        echo \"first line of attempt $n\"; seq 1 300 | sed \"s/^/line $n-/\"; printf '\\033[31mno luck\\033[0m\\n'; exit 3";
    let stage = Stage::with(flow, agent);
    stage.start("t");
    stage.until_run_is("t", "failed");
    let mut person = Person::at(&stage.server);
    let run = person.get("/runs/t").text;
    assert_eq!(person.get(&link(&run, "All that it wrote")).text.lines().next(), Some("first line of attempt 2"));
    assert!(!run.contains("/.baton/runs/"), "no path of the server: {run}");
    let handoff = "/runs/t/handoffs/t.build.1";
    let page = person.get(handoff).text;
    assert!(page.contains("lines before</a>") && page.contains(&format!("{handoff}/log?attempt=2")), "{page}");
    assert!(page.contains(&format!("href=\"{handoff}?attempt=1\"")), "the other attempt: {page}");
    let earlier = person.get(&format!("{handoff}?attempt=1")).text;
    assert!(earlier.contains("Attempt 1") && earlier.contains("line 1-300"), "{earlier}");
    for attempt in [1, 2] {
        let log = person.get(&format!("{handoff}/log?attempt={attempt}"));
        assert_eq!(log.header("content-type"), Some("text/plain; charset=utf-8"));
        let lines: Vec<&str> = log.text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (302, &*format!("first line of attempt {attempt}")));
        assert_eq!(lines[301], "no luck", "without what only a terminal understands");
        let prompt = person.get(&format!("{handoff}/prompt?attempt={attempt}")).text;
        assert!(prompt.contains("Build it well"), "{prompt}");
        let path = format!("/api/v1/handoffs/t.build.1/attempts/{attempt}");
        assert_eq!(stage.server.get(&format!("{path}/log")).text, log.text, "programs get the same");
        assert_eq!(stage.server.get(&format!("{path}/prompt")).text, prompt);
    }
    assert_eq!(person.get(&format!("{handoff}/log?attempt=3")).status, 404);
    assert_eq!(stage.server.get("/api/v1/handoffs/t.build.1/attempts/9/log").problem(404), "unknown");
}

#[test]
fn long_documents_are_whole() {
    let stage = Stage::new();
    let instructions = format!("Read this: {} and stop at MARKER-END.", "word ".repeat(3_000));
    let document = json!({ "baton": 1, "document": "request", "id": "long", "instructions": instructions });
    stage
        .server
        .post("/api/v1/handoffs", &json!({ "from": "orchestrator", "to": "finder", "document": document }))
        .expect(201);
    let mut person = Person::at(&stage.server);
    let page = person.get("/runs/long/handoffs/long").text;
    assert!(!page.contains("MARKER-END") && page.len() < 60_000, "{} bytes", page.len());
    let whole = link(&page, "All of it");
    assert!(person.get(&whole).text.contains("MARKER-END"), "{whole}");
}
