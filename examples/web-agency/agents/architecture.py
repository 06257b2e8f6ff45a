#!/usr/bin/env python3
"""Designs the pages. Before it is finished, security-check must look at it: a delegation, and its return."""

import json

from handoff import PROJECT, acknowledge, hand_over, state, told, write

acknowledge(
    "specification",
    understood={"task": "Pages for every user story, checked for risks", "constraints": "No critical risk is left"},
    questions=[],
    starting=True,
)
folder = PROJECT / "03-architecture"
stories = sorted((PROJECT / "02-requirements" / "user-stories").glob("US-*.md"))
pages = []
for path, name in zip(stories, ["index", "days", "order"]):
    wish = path.read_text().split("I can ", 1)[1].split(".\n", 1)[0]
    fields = ["name", "telephone"] if "form" in wish else []
    pages.append({"file": f"{name}.html", "story": path.stem, "title": wish.capitalize(), "fields": fields})
review = PROJECT / "05-quality" / "security" / "review.md"

if not told("resolution"):
    draft = write(folder / "draft.json", json.dumps(pages, indent=2) + "\n", "spec", "The pages, not yet checked")
    hand_over(
        "delegation",
        "architecture",
        "security-check",
        "The order form takes personal data: it must be checked before the design is finished",
        {
            "summary": f"{len(pages)} pages designed; one has a form that takes {' and '.join(pages[-1]['fields'])}."
            " What is open is how long orders may be kept.",
            "artifacts": [draft],
        },
        expectations={
            "deliverable": "Risk report on the order form",
            "constraints": ["Only the fields of .project/03-architecture/draft.json"],
            "success_criteria": ["No unaddressed critical risks"],
        },
    )

remarks = "".join(f"\nThe client says: {each}\n" for each in told("feedback"))
days = 30 if review.exists() and "30 days" in review.read_text() else 0
for page in pages:
    page["keep_days"] = days if page["fields"] else None
artifacts = [
    write(folder / "pages.json", json.dumps(pages, indent=2) + "\n", "spec", "The pages that are to be built"),
    write(
        folder / "architecture.md",
        f"# Architecture\n\n{len(pages)} static pages. Orders are deleted after {days} days.\n{remarks}",
        "doc",
        "Why the pages are as they are",
    ),
]
hand_over(
    "sequential",
    "architecture",
    "builder",
    "The design is checked, ready to be built",
    {
        "summary": f"{len(pages)} pages designed, one for each user story; 2 risks of the order form are addressed:"
        f" orders are deleted after {days} days, and the form is sent by POST.",
        "decisions": [
            {"id": "D-002", "decision": f"Orders are kept for {days} days", "rationale": "The risk report asks for it"},
            {"id": "D-003", "decision": "Static pages without scripts", "rationale": "Nothing on them moves"},
        ],
        "artifacts": artifacts,
    },
    workflow_state=state("architecture"),
)
