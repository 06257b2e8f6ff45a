#!/usr/bin/env python3
"""Writes a user story for each wish of the brief."""

import re

from handoff import PROJECT, WORKSPACE, acknowledge, hand_over, state, write

acknowledge(
    "orchestrator",
    understood={"task": "One user story with a criterion for each bullet of brief.md", "constraints": "none"},
    questions=[],
    starting=True,
)
wishes = re.findall(r"^- (\w+): (.+)$", (WORKSPACE / "brief.md").read_text(), re.MULTILINE)
artifacts = []
for number, (who, wish) in enumerate(wishes, 1):
    story = f"# US-{number:03}\n\nAs a {who.lower()} I can {wish}.\n\n- [ ] One page lets a {who.lower()} {wish}\n"
    path = PROJECT / "02-requirements" / "user-stories" / f"US-{number:03}.md"
    artifacts.append(write(path, story, "spec", f"User story: {wish}"))
hand_over(
    "sequential",
    "specification",
    "architecture",
    "Every wish of the brief has a story, moving on to the design",
    {
        "summary": f"{len(wishes)} user stories written from brief.md, one for each wish, each with an acceptance"
        " criterion.",
        "decisions": [
            {"id": "D-001", "decision": "One story for each bullet", "rationale": "The client can strike each of them"}
        ],
        "artifacts": artifacts,
        "open_questions": [
            {
                "question": "What does it mean that pages load quickly?",
                "priority": "medium",
                "context": "brief.md gives no number",
            }
        ],
    },
    workflow_state=state("specification"),
)
