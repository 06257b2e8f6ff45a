#!/usr/bin/env python3
"""Checks the site: every page is there and small, has no script, and links only to pages."""

import json
import os
import re
import sys
from pathlib import Path

workspace = Path(os.environ.get("BATON_WORKSPACE", "."))
site = workspace / "site"
pages = json.loads((workspace / ".project" / "03-architecture" / "pages.json").read_text())
budget = json.loads((workspace / ".project" / "04-build" / "budget.json").read_text())["page_bytes_max"]
problems = []
for page in pages:
    path = site / page["file"]
    if not path.exists():
        problems.append(f"{page['file']} is missing")
        continue
    text = path.read_text()
    if len(text.encode()) > budget:
        problems.append(f"{page['file']} has {len(text.encode())} bytes, {budget} are allowed")
    if "<script" in text:
        problems.append(f"{page['file']} has a script")
    lost = [to for to in re.findall(r'href="([^"]+)"', text) if not (site / to).exists()]
    problems += [f"{page['file']} links to {to}, which is not there" for to in lost]
print("\n".join(problems) or f"{len(pages)} pages, nothing wrong")
sys.exit(1 if problems else 0)
