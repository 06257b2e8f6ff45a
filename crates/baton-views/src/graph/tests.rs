//! What the formats look like, and that nothing in a workflow breaks out of them.

use std::path::Path;

use baton_protocol::workflow;

use super::{Graph, NodeMark, NodeProgress, dot, mermaid, of_run, shorten, svg};

const TEAM: &str = "name: team
agents: {developer: {queue: true}, reviewer: {queue: true}, security: {queue: true}}
phases:
  - {id: design, agent: developer, review: blocking, timeout: 30m}
  - {id: build, check: cargo build, on_failure: gate}
  - {id: vote, parallel: [{id: one, agent: reviewer}, {id: two, agent: security}], pass_when: any_pass}
  - {id: each, foreach: phases.design.tools, as: tool, phases: [{id: make, agent: developer}, {id: try, check: make test, on_failure: make}]}
  - {id: inner, workflow: other.yaml, when: phases.vote.passed}
  - {id: ship, gate: {items: [It is good], choices: {go: next, again: design, never: stop}}}
routes:
  - {agent: developer, reason: security_concern, to: security}
  - {agent: developer, reason: legal, to: human}
  - {agent: reviewer, status: complete, verdict: CHANGES_REQUESTED, phase: design}
";

const INNER: &str = "name: inner\nphases: [{id: first, check: 'true'}, {id: second, workflow: other.yaml}]\n";

fn graph(text: &str) -> Graph {
    let read = |text: &str| workflow::read(text.as_bytes()).workflow.expect("readable");
    // A workflow that contains itself ends all the same.
    let nested = |folder: &Path, _: &str| Some((read(INNER), folder.to_owned()));
    Graph::of(&read(text), Path::new("."), &nested)
}

#[test]
fn as_mermaid() {
    insta::assert_snapshot!(mermaid::render(&graph(TEAM)), @r##"
    ---
    title: "team"
    ---
    flowchart TD
      n0(["start"])
      n1(["end"])
      n2["<b>design</b><br>developer<br><i>blocking review · at most 30m</i>"]
      n3[/"<b>build</b><br>cargo build"/]
      subgraph n4["<b>vote</b><br>any pass"]
        direction LR
        n5["<b>one</b><br>reviewer"]
        n6["<b>two</b><br>security"]
      end
      subgraph n7["<b>each</b><br>tool in phases.design.tools"]
        direction TB
        n8["<b>make</b><br>developer"]
        n9[/"<b>try</b><br>make test"/]
      end
      subgraph n10["<b>inner</b><br>other.yaml"]
        direction TB
        n11[/"<b>first</b><br>true"/]
        subgraph n12["<b>second</b><br>other.yaml"]
          direction TB
          n13[/"<b>first</b><br>true"/]
          subgraph n14["<b>second</b><br>other.yaml"]
            direction TB
            n15[/"<b>first</b><br>true"/]
            n16[["<b>second</b><br>other.yaml"]]
          end
        end
      end
      n17{{"<b>ship</b><br>blocking, 1 point"}}
      class n17 gate
      n18(("a person"))
      class n18 beside
      n19(["stopped"])
      n20["<b>security</b>"]
      class n20 beside
      n8 --> n9
      n9 ==>|"on failure"| n8
      n15 --> n16
      n13 --> n14
      n11 --> n12
      n0 --> n2
      n2 --> n3
      n3 --> n4
      n3 ==>|"on failure"| n18
      n4 --> n7
      n4 ==>|"on failure"| n2
      n7 -->|"when phases.vote.passed"| n10
      n7 ==>|"on failure"| n2
      n10 --> n17
      n10 ==>|"on failure"| n2
      n17 -->|"go"| n1
      n17 -->|"again"| n2
      n17 -->|"never"| n19
      n2 -.->|"security_concern"| n20
      n2 -.->|"legal"| n18
      n5 -.->|"CHANGES_REQUESTED"| n2
      n8 -.->|"security_concern"| n20
      n8 -.->|"legal"| n18
      classDef gate fill:#fff4d6,stroke:#b7791f,color:#3d2c00
      classDef beside fill:#f3ecfd,stroke:#7c4dbd,color:#2b1150,stroke-dasharray:4 3
    "##);
}

#[test]
fn as_dot() {
    insta::assert_snapshot!(dot::render(&graph(TEAM)), @r##"
    digraph workflow {
      label="team";
      labelloc=t;
      compound=true;
      rankdir=TB;
      node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];
      edge [fontname="sans-serif", fontsize=10];
      n0 [label="start", shape=oval, color="#444444"];
      n1 [label="end", shape=oval, color="#444444"];
      n2 [label="design\ndeveloper\nblocking review · at most 30m", shape=box, color="#444444"];
      n3 [label="build\ncargo build", shape=parallelogram, color="#444444"];
      subgraph cluster_4 {
        label="vote\nany pass";
        style="rounded";
        color="#444444";
        n5 [label="one\nreviewer", shape=box, color="#444444"];
        n6 [label="two\nsecurity", shape=box, color="#444444"];
      }
      subgraph cluster_7 {
        label="each\ntool in phases.design.tools";
        style="rounded";
        color="#444444";
        n8 [label="make\ndeveloper", shape=box, color="#444444"];
        n9 [label="try\nmake test", shape=parallelogram, color="#444444"];
      }
      subgraph cluster_10 {
        label="inner\nother.yaml";
        style="rounded";
        color="#444444";
        n11 [label="first\ntrue", shape=parallelogram, color="#444444"];
        subgraph cluster_12 {
          label="second\nother.yaml";
          style="rounded";
          color="#444444";
          n13 [label="first\ntrue", shape=parallelogram, color="#444444"];
          subgraph cluster_14 {
            label="second\nother.yaml";
            style="rounded";
            color="#444444";
            n15 [label="first\ntrue", shape=parallelogram, color="#444444"];
            n16 [label="second\nother.yaml", shape=folder, color="#444444"];
          }
        }
      }
      n17 [label="ship\nblocking, 1 point", shape=hexagon, color="#b7791f"];
      n18 [label="a person", shape=circle, color="#7c4dbd", style="rounded,dashed"];
      n19 [label="stopped", shape=oval, color="#444444"];
      n20 [label="security", shape=box, color="#7c4dbd", style="rounded,dashed"];
      n8 -> n9;
      n9 -> n8 [label="on failure", color="#c53030", constraint=false];
      n15 -> n16;
      n13 -> n15 [lhead=cluster_14];
      n11 -> n13 [lhead=cluster_12];
      n0 -> n2;
      n2 -> n3;
      n3 -> n5 [lhead=cluster_4];
      n3 -> n18 [label="on failure", color="#c53030", constraint=false];
      n6 -> n8 [ltail=cluster_4, lhead=cluster_7];
      n6 -> n2 [ltail=cluster_4, label="on failure", color="#c53030", constraint=false];
      n9 -> n11 [ltail=cluster_7, lhead=cluster_10, label="when phases.vote.passed"];
      n9 -> n2 [ltail=cluster_7, label="on failure", color="#c53030", constraint=false];
      n16 -> n17 [ltail=cluster_10];
      n16 -> n2 [ltail=cluster_10, label="on failure", color="#c53030", constraint=false];
      n17 -> n1 [label="go"];
      n17 -> n2 [label="again"];
      n17 -> n19 [label="never"];
      n2 -> n20 [label="security_concern", style=dashed, constraint=false];
      n2 -> n18 [label="legal", style=dashed, constraint=false];
      n5 -> n2 [label="CHANGES_REQUESTED", style=dashed, constraint=false];
      n8 -> n20 [label="security_concern", style=dashed, constraint=false];
      n8 -> n18 [label="legal", style=dashed, constraint=false];
    }
    "##);
}

/// Returns the texts of a picture, in their order.
fn texts(picture: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(picture).unwrap_or_else(|error| panic!("{error}\n{picture}"));
    let is_text = |node: &roxmltree::Node<'_, '_>| node.has_tag_name(("http://www.w3.org/2000/svg", "text"));
    document.descendants().filter(is_text).filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn a_picture_has_everything_and_is_well_formed() {
    let shown = texts(&svg::render(&graph(TEAM)));
    for wanted in [
        "team",
        "start",
        "design",
        "developer",
        "blocking review · at most 30m",
        "build",
        "on failure",
        "vote",
        "any pass",
        "tool in phases.design.tools",
        "when phases.vote.passed",
        "other.yaml",
        "first",
        "go",
        "again",
        "never",
        "security_concern",
        "one: CHANGES_REQUESTED",
        "make: legal",
        "a person",
        "security",
        "end",
    ] {
        assert!(shown.iter().any(|text| text == wanted), "{wanted} is missing in {shown:#?}");
    }
}

#[test]
fn boxes_do_not_cover_each_other() {
    let picture = svg::render(&graph(TEAM));
    let document = roxmltree::Document::parse(&picture).expect("well-formed");
    let boxes: Vec<[f64; 4]> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("box"))
        .map(|node| {
            ["x", "y", "width", "height"].map(|name| node.attribute(name).expect(name).parse().expect("a number"))
        })
        .collect();
    assert_eq!(boxes.len(), 13);
    let size = ["width", "height"]
        .map(|name| document.root_element().attribute(name).expect(name).parse::<f64>().expect("a number"));
    for (index, [x, y, width, height]) in boxes.iter().enumerate() {
        assert!(*x >= 0.0 && x + width <= size[0] && *y >= 0.0 && y + height <= size[1], "outside of the picture");
        for [other_x, other_y, other_width, other_height] in &boxes[index + 1..] {
            let apart = x + width <= *other_x
                || other_x + other_width <= *x
                || y + height <= *other_y
                || other_y + other_height <= *y;
            assert!(apart, "two boxes at {x},{y} and {other_x},{other_y}");
        }
    }
}

/// Returns the heights at which the ways of a kind begin and end, and the lane that they go along.
fn around(picture: &str, class: &str) -> Vec<(f64, f64, f64)> {
    let document = roxmltree::Document::parse(picture).expect("well-formed");
    let numbers = |path: &str| -> Vec<f64> {
        let parts = path.split(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
        parts.filter(|part| !part.is_empty()).map(|part| part.parse().expect("a number")).collect()
    };
    let ways = document.descendants().filter(|node| node.attribute("class") == Some(&format!("way {class}")));
    let points = |node: roxmltree::Node<'_, '_>| numbers(node.attribute("d").expect("a path"));
    // M x y H … Q lane y …, and back: Q lane back x back H x.
    ways.map(points).map(|points| (points[1], points[points.len() - 2], points[3])).collect()
}

#[test]
fn a_loop_around_another_one_does_not_cross_it() {
    let text = "name: loops\nagents: {a: {queue: true}}\nphases:\n  - {id: build, agent: a}\n  \
- {id: tests, check: 'true', on_failure: build}\n  - {id: review, agent: a, on_failure: build}\n";
    let ways = around(&svg::render(&graph(text)), "failure");
    let [(_, inner, inner_lane), (_, outer, outer_lane)] = ways[..] else { panic!("two loops: {ways:?}") };
    assert!(outer_lane < inner_lane, "the longer one goes around: {ways:?}");
    assert!(outer < inner, "and arrives above the shorter one: {ways:?}");
}

#[test]
fn four_at_the_same_time_stand_two_and_two() {
    let text = "name: four\nagents: {a: {queue: true}}\nphases:\n  - {id: all, parallel: [{id: one, agent: a}, \
{id: two, agent: a}, {id: three, agent: a}, {id: four, agent: a}]}\n";
    let picture = svg::render(&graph(text));
    let document = roxmltree::Document::parse(&picture).expect("well-formed");
    let boxes = document.descendants().filter(|node| node.attribute("class") == Some("box"));
    let mut columns: Vec<&str> = boxes.filter_map(|node| node.attribute("x")).collect();
    columns.sort_unstable();
    assert!(columns.len() == 4 && columns[0] == columns[1] && columns[2] == columns[3], "{columns:?}");
}

#[test]
fn a_run_adds_its_marks() {
    let mut graph = graph(TEAM);
    let mark = |progress, text: &str| NodeMark { progress, text: text.to_owned() };
    graph.mark("design", mark(NodeProgress::Done, "2 visits, 3.1 s"));
    graph.mark("each/make", mark(NodeProgress::Running, ""));
    graph.mark("ship", mark(NodeProgress::Waiting, "since 12:03"));
    graph.mark("vote/one", mark(NodeProgress::Failed, "no report"));
    graph.mark("inner", mark(NodeProgress::Skipped, ""));
    let shown = texts(&svg::render(&graph));
    for wanted in ["done · 2 visits, 3.1 s", "running", "waiting · since 12:03", "failed · no report", "skipped"] {
        assert!(shown.iter().any(|text| text == wanted), "{wanted} is missing in {shown:#?}");
    }
    assert!(mermaid::render(&graph).contains("class n2 done"));
    assert!(dot::render(&graph).contains("done: 2 visits, 3.1 s"));
}

#[test]
fn what_a_run_without_a_driver_was_at_is_not_running() {
    let mut graph = graph(TEAM);
    graph.mark("design", NodeMark { progress: NodeProgress::Done, text: String::new() });
    graph.mark("each/make", NodeMark { progress: NodeProgress::Running, text: "3.1 s".to_owned() });
    let graph = of_run::without_driver(graph);
    let shown = texts(&svg::render(&graph));
    assert!(shown.contains(&"not running · 3.1 s".to_owned()) && shown.contains(&"done".to_owned()), "{shown:#?}");
    assert!(mermaid::render(&graph).contains("classDef left ") && !dot::render(&graph).contains("\nrunning"));
}

#[test]
fn names_do_not_break_out() {
    let nasty = "name: \"</title><script>alert(1)</script> \\\" ]]> & \\u0007 -->\"\nagents: {}\nphases:\n  \
- {id: \"a\\\"]; <b> | x\", check: \"echo '</text>' \\\\ && \\\"\\n; n1\", when: \"a < 'b' | c --> d\"}\n  \
- {id: \"\", gate: {items: [x], choices: {\"</g>\\\"|\": stop}}}\n";
    let graph = graph(nasty);
    let shown = texts(&svg::render(&graph));
    assert!(shown.iter().any(|text| text.starts_with("</title><script>")), "{shown:?}");
    let mermaid = mermaid::render(&graph);
    for line in mermaid.lines().skip(4).filter(|line| !line.contains("classDef")) {
        let quoted = line.split('"').nth(1).unwrap_or_default();
        assert!(line.matches('"').count() % 2 == 0 && !quoted.contains('|') && !quoted.contains("-->"), "{line}");
    }
    let dot = dot::render(&graph);
    for line in dot.lines() {
        let plain = line.replace("\\\\", "").replace("\\\"", "");
        assert!(plain.matches('"').count() % 2 == 0, "{line}");
    }
}

#[test]
fn a_workflow_without_phases_can_be_drawn() {
    let graph = graph("name: nothing\nphases: []\n");
    assert_eq!(texts(&svg::render(&graph)), ["nothing", "start", "end"]);
}

#[test]
fn long_texts_are_cut_on_one_line() {
    assert_eq!(shorten("a\n  b\u{7}c", 10), "a bc");
    assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
    assert_eq!(shorten("abcdefghijk", 10), "abcdefghi…");
}
