#!/usr/bin/env python3
"""Builds the pages. "Quickly" cannot be measured, so it says that it understood only in part, and waits."""

import html
import json
import re
import sys

from handoff import PROJECT, WORKSPACE, acknowledge, hand_over, state, told, write

answers = told("answer", "resolution")
if not answers:
    acknowledge(
        "architecture",
        understood="partial",
        blockers=["Constraint 'Pages must load quickly' is not measurable: how large may a page be?"],
        action="request_clarification",
    )
    print("I have not started: one constraint cannot be measured. The acknowledgment says which.")
    sys.exit(0)

sizes = re.findall(r"(\d+) ?KB", answers[-1])
budget = int(sizes[0]) if sizes else 20
acknowledge(
    "architecture",
    understood={"task": "Build the pages of pages.json in site", "constraints": f"No page over {budget} KB"},
    questions=[],
    starting=True,
)
pages = json.loads((PROJECT / "03-architecture" / "pages.json").read_text())
links = "".join(f'<a href="{page["file"]}">{html.escape(page["title"])}</a> ' for page in pages)
artifacts = [
    write(
        PROJECT / "04-build" / "budget.json",
        json.dumps({"page_bytes_max": budget * 1024}) + "\n",
        "config",
        "How large a page may be",
    )
]
for page in pages:
    fields = "".join(f'<label>{name} <input name="{name}" required></label>' for name in page["fields"])
    form = f'<form method="post" action="order.html">{fields}<button>Order</button></form>' if fields else ""
    kept = f"<p>Orders are deleted after {page['keep_days']} days.</p>" if page["keep_days"] else ""
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(page["title"])}</title>'
        f"<nav>{links}</nav><h1>{html.escape(page['title'])}</h1>{form}{kept}</html>\n"
    )
    artifacts.append(write(WORKSPACE / "site" / page["file"], text, "code", page["title"]))
largest = max((WORKSPACE / "site" / page["file"]).stat().st_size for page in pages)
hand_over(
    "sequential",
    "build",
    "quality",
    "All pages are built, ready to be compared with the stories",
    {
        "summary": f"{len(pages)} pages built in site, the largest has {largest} bytes of {budget * 1024}; no scripts,"
        " the order form is sent by POST.",
        "decisions": [
            {"id": "D-004", "decision": f"No page over {budget} KB", "rationale": "A person said what quickly means"}
        ],
        "artifacts": artifacts,
    },
    workflow_state=state("build"),
)
