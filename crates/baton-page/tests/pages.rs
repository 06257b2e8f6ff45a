//! Every page with harmless and with hostile text: what a browser would make of it.

mod samples;

use baton_engine::queue::QueueHold;
use baton_page::assets;
use baton_page::layout::Theme;
use baton_page::run_state::RunState;
use samples::{pages, texts};

/// Text that wants to be markup, to leave an attribute, to write to a terminal, to turn around, and to end a text.
const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>' onclick='x' \u{1b}[31m\u{202e}gnp.exe\u{2066}\0</textarea></title></pre>&lt;";

/// One tag of a page: its name and its attributes, as a browser reads them.
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// Reads the tags of a page as a browser does: a name, attributes with quoted values, nothing else.
fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with(['/', '!']) {
            continue;
        }
        let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(!name.is_empty(), "a tag without a name: {}", &rest[..rest.floor_char_boundary(60)]);
        rest = &rest[name.len()..];
        let mut attributes = Vec::new();
        while !rest.trim_start().trim_start_matches('/').starts_with('>') {
            rest = rest.trim_start().trim_start_matches('/');
            let key: String = rest.chars().take_while(|letter| !" =>/".contains(*letter)).collect();
            rest = &rest[key.len()..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').expect("a value ends");
                value = quoted[..end].to_owned();
                rest = &quoted[end + 1..];
            }
            attributes.push((key, value));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

#[test]
fn pages_keep_to_the_policy_whatever_stands_in_documents() {
    for poison in ["", HOSTILE] {
        for (name, page) in pages(Theme::Dark, poison) {
            let page = page.into_string();
            for form in page
                .split("<form ")
                .skip(1)
                .filter(|form| form.split('>').next().is_some_and(|tag| tag.contains("post")))
            {
                let form = form.split("</form>").next().unwrap_or_default();
                assert!(
                    form.contains("name=\"csrf\" value=\"c5rf-t0ken\""),
                    "{name}: a form without its token: {form}"
                );
            }
            for tag in tags(&page) {
                for (key, value) in &tag.attributes {
                    assert!(
                        key.chars().all(|letter| letter.is_ascii_lowercase()
                            || letter == '-'
                            || ["viewBox", "refX", "refY", "markerWidth", "markerHeight", "markerUnits"]
                                .contains(&key.as_str())),
                        "{name}: attribute {key:?} of {}",
                        tag.name
                    );
                    assert!(key != "style" && !key.starts_with("on"), "{name}: {key} of {}", tag.name);
                    assert!(!value.trim_start().to_lowercase().starts_with("javascript:"), "{name}: {value}");
                }
                let has = |wanted: &str| tag.attributes.iter().any(|(key, _)| key == wanted);
                assert!(tag.name != "script" || has("src"), "{name}: inline script");
                assert!(
                    !["style", "img", "iframe", "object", "embed", "base"].contains(&tag.name.as_str()),
                    "{name}: {}",
                    tag.name
                );
            }
        }
    }
}

#[test]
fn hostile_text_is_text_in_every_page() {
    for (name, page) in pages(Theme::System, HOSTILE) {
        let page = page.into_string();
        assert!(!page.contains("<script>") && !page.contains("<img"), "{name}");
        let bad = page.chars().find(|letter| {
            (letter.is_control() && *letter != '\n' && *letter != '\t')
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(bad, None, "{name}");
        let has_documents = [
            "run",
            "runs",
            "start",
            "question",
            "handoff",
            "inbox",
            "agents",
            "check-findings",
            "compare",
            "log-in",
            "not-found",
        ];
        let is_empty = name.ends_with("empty") || name == "rules" || name == "rule" || name == "check";
        if has_documents.iter().any(|kind| name.starts_with(kind)) && !is_empty {
            assert!(page.contains("&lt;script&gt;"), "{name} has no hostile text: the sample proves nothing");
        }
    }
    for (name, text) in texts(HOSTILE) {
        assert!(!text.contains('\u{1b}') && !text.contains('\0') && !text.contains('\u{202e}'), "{name}");
        assert!(text.contains("<script>"), "{name}: plain text stays as it is");
    }
}

#[test]
fn pages_are_small_and_well_formed() {
    for (name, page) in pages(Theme::System, "") {
        let page = page.into_string();
        assert!(page.len() < 60_000, "{name} has {} bytes", page.len());
        let open = page.matches("<details").count();
        assert_eq!(open, page.matches("</details>").count(), "{name}");
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{name}: two elements share an id: {ids:?}");
        assert!(page.contains("<html lang=\"en\"") && page.contains("<h1") && page.contains("<title>"), "{name}");
        for tag in tags(&page).iter().filter(|tag| ["textarea", "select"].contains(&tag.name.as_str())) {
            assert!(tag.attributes.iter().any(|(key, _)| key == "name"), "{name}: a field without a name");
        }
    }
}

#[test]
fn run_in_which_nobody_works_says_what_it_waits_for() {
    let flow = "name: w\nagents: {dev: {queue: true, retry: {max_retries: 2, delay: 20m}}}\nphases: [{id: build, agent: dev}]\n";
    let mut stage = samples::stage::Stage::begin("w-1", flow, "2026-05-04T15:30:00Z", "");
    let viewer = samples::viewer(0, Theme::System);
    let why = |stage: &samples::stage::Stage| samples::with_run(stage, None, |page| page.why(&viewer));
    assert_eq!(why(&stage), "build waits for a worker of w/dev, sent 12m ago");
    let queue = || "w/dev".to_owned();
    stage.holds = [(queue(), QueueHold::Paused)].into();
    assert_eq!(why(&stage), "build waits because the queue w/dev is paused, sent 12m ago");
    stage.holds = [(queue(), QueueHold::Full(1))].into();
    assert_eq!(why(&stage), "build waits because w/dev works on 1 handoff already, its limit; sent 12m ago");
    let state = |stage: &samples::stage::Stage| samples::with_run(stage, None, |page| page.state(&viewer));
    assert_eq!(state(&stage), RunState::Queued);
    stage.claim("build", None);
    assert!(why(&stage).contains(" works on build; its lease ends "), "{}", why(&stage));
    assert_eq!(state(&stage), RunState::Running);
    stage.fail("build", 600, "quota exceeded");
    assert_eq!(why(&stage), "build is tried again in 18m: quota exceeded");
    assert_eq!(state(&stage), RunState::Parked);
}

#[test]
fn pages_say_only_what_is_true_of_them() {
    for (name, page) in pages(Theme::System, "") {
        let page = page.into_string();
        assert_eq!(
            page.contains("</kbd> approve"),
            page.contains("id=\"decide-approve\""),
            "{name}: keys that do nothing"
        );
        assert_eq!(page.contains("class=\"away\""), page.contains("data-events="), "{name}: a stream that can break");
        assert!(!page.contains("event-extended") && !page.contains("Leads to end."), "{name}");
        let answered = page.contains("<li>ana answered “Which store?”: SQLite</li>");
        assert_eq!(answered, name == "question-clarification", "{name}: what was answered before");
        if name == "log-in" {
            assert!(page.contains("name=\"back\" value=\"/login?back="), "the theme leads back to the whole address");
        }
        if name == "rules" {
            let sentences = page.split("<span class=\"soft\">").skip(1).filter_map(|rest| rest.split("</span>").next());
            sentences.for_each(|sentence| {
                assert!(sentence.ends_with('.') && !sentence.ends_with(",."), "half a sentence: {sentence}")
            });
        }
    }
}

#[test]
fn question_that_is_asked_again_leads_with_what_has_changed() {
    let pages = pages(Theme::System, "");
    let page = |wanted: &str| pages.iter().find(|(name, _)| *name == wanted).expect("it is one of them").1.0.as_str();
    assert!(!page("question-gate").contains("id=\"since\""), "nobody has decided before");
    let again = page("question-since");
    let since =
        again.split_once("<section class=\"news\" id=\"since\">").and_then(|(_, rest)| rest.split_once("</section>"));
    let (since, rest) = since.expect("what has changed");
    for later in ["<h2>So far</h2>", "<h2>Files</h2>", "<h2>Evidence"] {
        assert!(rest.contains(later), "{later} stands behind it: {again}");
    }
    insta::assert_snapshot!(since.replace("><", ">\n<"), @r##"
    <h2>Since ana rejected it <span class="quiet">
    <time class="ago" datetime="2026-05-04T14:35:26Z" title="2026-05-04 14:35:26 UTC">1h6m ago</time>
    </span>
    </h2>
    <h3>Before</h3>
    <ul>
    <li>ana rejected it: Name the separator.</li>
    </ul>
    <h3>Changed files</h3>
    <details class="exhibit" id="since-0" open>
    <summary>
    <code>docs/research.md</code> <span class="quiet">+1 −1</span>
    </summary>
    <pre class="lines" tabindex="0">
    <span class="hunk">--- last decision</span>
    <span class="hunk">+++ now</span>
    <span class="hunk">@@ -1,3 +1,3 @@</span>
     # Research
     
    <span class="minus">-Which separator?</span>
    <span class="plus">+The separator is a semicolon.</span>
    </pre>
    <p class="quiet">
    </p>
    </details>
    <ul class="exhibits">
    <li class="quiet">and <a href="/inbox/csv-export-10.approve-plan.2/since">2 more files</a>
    </li>
    </ul>
    <h3>What is said about it</h3>
    <pre class="lines" tabindex="0">
    <span class="minus">- summary: Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV writer fits beside it without touching callers.</span>
    <span class="minus">- context: Implement RowWriter for a CsvWriter; quote fields with separators.</span>
    <span class="minus">- decisions:</span>
    <span class="minus">- - D1: A new file src/export/csv.rs beside xlsx.rs (because: RowWriter is a trait already; callers stay as they are.)</span>
    <span class="minus">- open questions:</span>
    <span class="minus">- - Which separator do German spreadsheets expect? [high]</span>
    <span class="minus">- whole report: .baton/runs/csv-export-10/handed/research.1.1.json</span>
    <span class="plus">+ summary: The separator is a semicolon; a CSV writer fits beside xlsx.rs.</span>
    <span class="plus">+ whole report: .baton/runs/csv-export-10/handed/research.2.1.json</span>
    </pre>
    "##);
}

#[test]
fn long_runs_have_small_pages() {
    let stage = samples::long("long-1", 400);
    let viewer = samples::viewer(0, Theme::System);
    let page = samples::with_run(&stage, Some(1), |page| baton_page::run::page(&viewer, page).into_string());
    assert!(page.len() < 60_000, "{} bytes", page.len());
    assert!(page.contains("bar-several"));
    let journal = samples::journal(&viewer, &stage).into_string();
    assert!(journal.len() < 60_000, "{} bytes", journal.len());
    assert!(journal.contains(&format!("of {}", stage.run.seq)));
}

#[test]
fn pages_without_documents_look_like_this() {
    for (name, page) in pages(Theme::System, "") {
        if ["runs-empty", "already-decided", "not-found"].contains(&name) {
            let page = page.into_string();
            let content = page
                .split("<main id=\"content\" tabindex=\"-1\">")
                .nth(1)
                .and_then(|rest| rest.split("</main>").next());
            insta::assert_snapshot!(name, content.expect("a page has content").replace("><", ">\n<"));
        }
    }
}

#[test]
fn plain_texts_look_like_this() {
    for (name, text) in texts("") {
        insta::assert_snapshot!(format!("text-{name}"), text);
    }
}

/// Returns the relative luminance of a colour such as `#1d2026`, as WCAG 2 has it.
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("two hexadecimal digits")) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn text_has_enough_contrast_in_both_themes() {
    let colour = |name: &str, theme: usize| {
        let start = format!("--{name}: light-dark(");
        let pair = assets::STYLE.text.split(&start).nth(1).and_then(|rest| rest.split(')').next()).expect("a pair");
        pair.split(", ").nth(theme).expect("two colours").to_owned()
    };
    let pairs = [
        ("ink", "paper"),
        ("ink", "sheet"),
        ("ink", "sunk"),
        ("soft", "paper"),
        ("soft", "sheet"),
        ("soft", "sunk"),
        ("quiet", "paper"),
        ("quiet", "sheet"),
        ("quiet", "sunk"),
        ("link", "paper"),
        ("link", "sheet"),
        ("good", "good-back"),
        ("bad", "bad-back"),
        ("open", "open-back"),
        ("busy", "busy-back"),
        ("other", "other-back"),
        ("on-accent", "accent"),
        ("good", "sheet"),
        ("bad", "sheet"),
        ("open", "paper"),
        ("link", "bad-back"),
        ("quiet", "bad-back"),
        ("paper", "ink"),
        ("quiet", "open-back"),
        ("ink", "open-back"),
    ];
    for (front, back) in pairs {
        for theme in [0, 1] {
            let (one, other) = (luminance(&colour(front, theme)), luminance(&colour(back, theme)));
            let ratio = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            assert!(ratio >= 4.5, "{front} on {back} has {ratio:.2} in theme {theme}");
        }
    }
}
