#!/usr/bin/env python3
"""Implements the wrapper of one tool after its design, with tests, and runs them."""

import json

from handoff import OUTPUT, given, relative, report, run_tests, seen, write

tool = given("tool")
design = json.loads((OUTPUT / "tools" / tool / "design.json").read_text())
name = tool.replace("-", "_")
WRAPPER = f'''"""Wrapper of {tool}: short answers."""

from wrappers.client import call, keep

REQUIRED = {design["required"]!r}
FIELDS = {design["fields"]!r}


def {name}(**arguments):
    """Calls {tool}; returns its answer without what nobody needs, or what went wrong."""
    missing = [each for each in REQUIRED if not isinstance(arguments.get(each), str)]
    if missing:
        return {{"error": f"missing: {{', '.join(missing)}}"}}
    try:
        return {{"value": keep(call("{tool}", arguments), FIELDS)}}
    except (RuntimeError, OSError) as error:
        return {{"error": str(error)}}
'''
TESTS = f'''"""Tests of the wrapper of {tool}."""

import unittest

from wrappers.{name} import FIELDS, REQUIRED, {name}


class WrapperTest(unittest.TestCase):
    def test_keeps_the_fields_of_the_design(self):
        value = {name}(**{design["sample"]!r})["value"]
        for each in value if isinstance(value, list) else [value]:
            self.assertEqual(list(each), FIELDS)

    def test_checks_what_is_required(self):
        self.assertEqual("error" in {name}(), bool(REQUIRED))
'''
files = [write(f"wrappers/{name}.py", WRAPPER), write(f"tests/test_{name}.py", TESTS)]
passed, last = run_tests(f"tests.test_{name}")
report(
    f"Implementation of {tool}",
    output_type="implementation",
    skills_invoked=["developing-with-tdd"],
    source_files_verified=[seen(relative(OUTPUT / "tools" / tool / "architecture.md")), seen("wrappers/client.py")],
    status="complete" if passed else "needs_review",
    phase="implementation",
    summary=f"Implemented {name}() in wrappers/{name}.py with {len(design['fields'])} fields and 2 tests ({last})",
    files_modified=files,
    verification={"tests_passed": passed, "command_output": last},
    handoff={
        "next_phase": "review",
        "next_agent": "tool-reviewer",
        "context": f"wrappers/{name}.py keeps {', '.join(design['fields'])} with keep() and returns value or error."
        f" tests/test_{name}.py calls the real server. Please measure what it saves.",
        "blockers": [],
    },
)
