#!/usr/bin/env python3
"""Designs the wrappers: what they share, or, if a tool is given, one of them."""

import json

from handoff import OUTPUT, given, relative, report, seen, write

BUDGET = 10  # A field that takes more tokens is left out.
tools = json.loads((OUTPUT / "tools.json").read_text())
tool = given("tool")

if tool is None:
    artifacts = [
        write(
            OUTPUT / "architecture-shared.md",
            f"# What {len(tools)} wrappers share\n\n"
            "1. A wrapper returns {'value': …} or {'error': …}; it never raises.\n"
            "2. Required inputs are checked before the server is called.\n"
            f"3. Fields of more than {BUDGET} tokens are left out with wrappers.client.keep.\n",
        ),
        write(
            OUTPUT / "security-assessment.md",
            "# Security\n\nText of an issue comes from strangers. Wrappers pass it on as data and never run it.\n",
        ),
    ]
    report(
        "Shared architecture",
        output_type="shared-architecture",
        skills_invoked=["writing-plans"],
        source_files_verified=[seen("wrappers/client.py"), seen("server/tracker.py")],
        status="complete",
        phase="architecture",
        summary=f"Designed what {len(tools)} wrappers share: results as value or error, inputs checked first, fields of"
        f" more than {BUDGET} tokens left out",
        artifacts=artifacts,
        verification={
            "patterns_referenced": True,
            "decisions_documented": True,
            "shared_utilities_identified": True,
            "token_strategy_defined": True,
        },
        handoff={
            "next_phase": "architecture",
            "next_agent": "tool-lead",
            "context": "Follow architecture-shared.md: {'value': …} or {'error': …}, required inputs first, keep() for"
            f" fields of at most {BUDGET} tokens. Each tool now needs its list of fields.",
            "blockers": [],
        },
    )

kept = [field for field, size in tools[tool]["fields"].items() if size <= BUDGET]
design = {"tool": tool, "required": tools[tool]["required"], "fields": kept, "sample": tools[tool]["sample"]}
artifacts = [
    write(OUTPUT / "tools" / tool / "architecture.md", f"# {tool}\n\nKeeps {', '.join(kept)}.\n"),
    write(OUTPUT / "tools" / tool / "design.json", json.dumps(design, indent=2) + "\n"),
]
report(
    f"Architecture of {tool}",
    output_type="tool-architecture",
    skills_invoked=["writing-plans"],
    source_files_verified=[seen(relative(OUTPUT / "architecture-shared.md"))],
    status="complete",
    phase="architecture",
    summary=f"Designed the wrapper of {tool}: {len(kept)} of {len(tools[tool]['fields'])} fields are kept"
    f" ({', '.join(kept)})",
    artifacts=artifacts,
    verification={
        "patterns_referenced": True,
        "shared_patterns_applied": True,
        "tool_specific_decisions": True,
        "token_target_calculated": True,
    },
    handoff={
        "next_phase": "implementation",
        "next_agent": "tool-developer",
        "context": f"Implement wrappers/{tool.replace('-', '_')}.py after {artifacts[1]}: keep {', '.join(kept)}, check"
        f" {', '.join(design['required']) or 'no inputs'} first, return {{'value': …}} or {{'error': …}}.",
        "blockers": [],
    },
)
