"""What every agent of this example needs: what it was told, and a way to report."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

PROMPT = sys.stdin.read()

WORKSPACE = Path(os.environ.get("BATON_WORKSPACE", "."))
OUTPUT = Path(os.environ.get("BATON_OUTPUT_DIRECTORY", ".output"))
OUTPUT.mkdir(parents=True, exist_ok=True)


def request():
    """Returns what is asked, as a document."""
    path = os.environ.get("BATON_REQUEST_FILE")
    return json.loads(Path(path).read_text()) if path else {}


def given(name, default):
    """Returns one of the inputs of the phase."""
    return ((request().get("input") or {}).get("data") or {}).get(name, default)


def told(*about):
    """Returns what was said about earlier attempts: answers, resolutions, feedback, refuted claims."""
    path = os.environ.get("BATON_NOTES_FILE")
    notes = json.loads(Path(path).read_text()) if path and Path(path).exists() else []
    return [note["text"] for note in notes if note["about"] in about]


def write(path, text):
    """Writes a file whole or not at all, so that being killed leaves no half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def run_tests():
    """Runs the tests of the project; returns whether they pass and the last line."""
    command = [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    ended = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True)
    return ended.returncode == 0, ended.stderr.strip().splitlines()[-1]


def seen(name):
    """Names a file of the workspace with all its lines, as one that was read."""
    return f"{name}:1-{len((WORKSPACE / name).read_text().splitlines())}"


def handed_over(name):
    """Returns the file of that name that an agent before handed over, as the request names it."""
    files = [each.get("file") or "" for each in (request().get("context") or {}).get("handed_over", [])]
    return next(WORKSPACE / file for file in files if file.endswith(name))


def report(title, prose, to=None, **block):
    """Ends the attempt: prose for people, and the metadata block; in an output file of its own, if one is named."""
    block = {
        "agent": os.environ.get("BATON_AGENT", "agent"),
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "feature_directory": os.path.relpath(OUTPUT, WORKSPACE),
        **block,
    }
    text = f"# {title}\n\n{prose}\n\n```json\n{json.dumps(block, indent=2)}\n```\n"
    path = to or os.environ.get("BATON_REPORT_FILE")
    if path:
        write(Path(path), text)
    else:
        print(text)
    sys.exit(0)
