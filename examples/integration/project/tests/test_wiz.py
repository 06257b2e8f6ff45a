"""Tests of the Wiz integration."""

import unittest

from integrations.base import Asset
from integrations.wiz import Wiz

PAGES = {1: ["10.0.0.1", "10.0.0.2"], 2: ["10.0.0.3"]}


def fetch(path, parameters):
    """Answers like the vendor."""
    if path == "/auth":
        return {"tenant": "acme"} if parameters["token"] == "good" else {}
    if path == "/resource":
        return {"active": parameters["address"] == "10.0.0.1"}
    return {"total": 3, "resources": [{"address": each} for each in PAGES[parameters["page"]]]}


class WizTest(unittest.TestCase):
    def test_reads_all_pages(self):
        self.assertEqual(len(list(Wiz(fetch, "good").discover())), 3)

    def test_knows_a_bad_secret(self):
        self.assertFalse(Wiz(fetch, "bad").validate_credentials())

    def test_asks_for_the_owner(self):
        self.assertTrue(Wiz(fetch, "good").check_affiliation(Asset("10.0.0.1", "wiz")))


if __name__ == "__main__":
    unittest.main()
