#!/usr/bin/env python3
"""Implements the feature. Its first summary tells everything it did, which is more than 500 tokens, and its first
function does not say what it does, which the validator sends back."""

import re

from handoff import PROMPT, previous, respond, run, sources, told, write

found = re.search(r"separator: '(.)'", previous())
separator = found.group(1) if found else ","
issues = "\n".join(told("feedback"))
DOCSTRING = '''    """Returns bookings as CSV text: a line with names, then one line for each."""
'''
EXPORT = f'''"""Bookings as CSV, for spreadsheets."""

import csv
import io

SEPARATOR = "{separator}"


def export(bookings):
{DOCSTRING if "docstring" in issues else ""}    text = io.StringIO()
    rows = csv.writer(text, delimiter=SEPARATOR, lineterminator="\\n")
    rows.writerow(["day", "text", "cents"])
    rows.writerows([booking.day, booking.text, booking.cents] for booking in bookings)
    return text.getvalue()
'''
TESTS = '''"""Tests of the export."""

import unittest

from ledger import Booking, export
from ledger.export import SEPARATOR


class ExportTest(unittest.TestCase):
    def test_names_come_first(self):
        self.assertEqual(export([]), SEPARATOR.join(["day", "text", "cents"]) + "\\n")

    def test_one_line_for_each(self):
        lines = export([Booking("2026-01-01", "Bread", -350)]).splitlines()
        self.assertEqual(lines[1], SEPARATOR.join(["2026-01-01", "Bread", "-350"]))

    def test_quotes_the_separator(self):
        self.assertIn(f'"a{SEPARATOR}b"', export([Booking("2026-01-01", f"a{SEPARATOR}b", 1)]))


if __name__ == "__main__":
    unittest.main()
'''
IMPORT = "from ledger.export import export\n"

write("tests/test_export.py", TESTS)
write("ledger/export.py", EXPORT)
start = sources()["ledger/__init__.py"]
modified = []
if IMPORT not in start:
    write("ledger/__init__.py", start + IMPORT)
    modified = [{"path": "ledger/__init__.py", "changes": "Exports export()"}]
if issues:
    modified = [{"path": "ledger/export.py", "changes": "export() says what it does"}]
passed, output = run("-m", "unittest", "discover", "-s", "tests", "-t", ".")
summary = (
    f"ledger/export.py has export(bookings): CSV text with the separator '{separator}', names first, quoting by the csv"
    " module. It can be imported from ledger. tests/test_export.py has 3 tests (names, one line each, quoting); all 4"
    " tests of the project pass. Nothing else was changed."
)
if not issues and "summary-over-budget" not in PROMPT:  # Nobody has complained yet.
    steps = [
        f"step {number}: I looked at {name}, thought about what it means for the export, and went on to the next file"
        for number, name in enumerate(list(sources()) * 6, 1)
    ]
    summary += " This is how I did it, one thing after the other; " + "; ".join(steps) + "."
respond(
    summary,
    {
        "files_created": [] if issues else [{"path": "ledger/export.py", "purpose": "Bookings as CSV text"}],
        "files_modified": modified,
        "tests_written": [
            {"path": "tests/test_export.py", "test_count": 3, "coverage_areas": ["names", "lines", "quoting"]}
        ],
        "implementation_notes": [f"Separator '{separator}', as a person decided"],
    },
    status="complete" if passed else "partial",
    decision="PROCEED" if passed else "STOP",
    issues=[] if passed else [output.strip().splitlines()[-1]],
)
