#!/usr/bin/env python3
"""Compares the pages with the stories, and asks the client for acceptance: a blocking gate with items and options."""

import json

from handoff import PROJECT, WORKSPACE, hand_over, write

pages = json.loads((PROJECT / "03-architecture" / "pages.json").read_text())
met = {
    page["story"]: (WORKSPACE / "site" / page["file"]).exists()
    and page["title"] in (WORKSPACE / "site" / page["file"]).read_text()
    for page in pages
}
artifact = write(
    PROJECT / "05-quality" / "acceptance.md",
    "# Acceptance\n\n" + "".join(f"- {story}: {'yes' if good else 'no'}\n" for story, good in met.items()),
    "doc",
    "Which stories are met",
)
hand_over(
    "gate",
    "acceptance",
    "human",
    "BLOCKING gate reached: the client accepts the site",
    {
        "summary": f"{sum(met.values())} of {len(met)} user stories are met by the pages in site; acceptance.md says"
        " which.",
        "artifacts": [artifact],
    },
    gate={"type": "blocking", "name": "acceptance", "step": 4},
    validation_request={
        "items": [f"{page['file']}: {page['title']}" for page in pages] + ["Orders are deleted after 30 days"],
        "options": {
            "approve": "The site goes online",
            "reject": "The quality agent looks again, with your remarks",
            "question": "The quality agent answers first",
        },
    },
)
