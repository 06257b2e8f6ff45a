"""What every agent of this example needs: what it was told, and a way to report."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

sys.stdin.read()  # The prompt. These agents know their task; a model would read it.

WORKSPACE = Path(os.environ.get("BATON_WORKSPACE", "."))
OUTPUT = Path(os.environ.get("BATON_OUTPUT_DIRECTORY", ".output"))
sys.path.insert(0, str(WORKSPACE))
os.chdir(WORKSPACE)


def given(name, default=None):
    """Returns one of the inputs of the phase."""
    path = os.environ.get("BATON_REQUEST_FILE")
    request = json.loads(Path(path).read_text()) if path else {}
    return ((request.get("input") or {}).get("data") or {}).get(name, default)


def told(*about):
    """Returns what was said about earlier attempts: answers, resolutions, feedback, refuted claims."""
    path = os.environ.get("BATON_NOTES_FILE")
    notes = json.loads(Path(path).read_text()) if path and Path(path).exists() else []
    return [note["text"] for note in notes if note["about"] in about]


def write(path, text):
    """Writes a file whole or not at all, so that being killed leaves no half of it; returns its path for reports."""
    path = WORKSPACE / path
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)
    return relative(path)


def relative(path):
    """Returns a path as seen from the workspace."""
    return os.path.relpath(path, WORKSPACE)


def tokens(value):
    """Guesses how many tokens a value takes: four characters each."""
    return len(json.dumps(value)) // 4


def run_tests(name):
    """Runs the tests in one file; returns whether they pass and the last line."""
    command = [sys.executable, "-B", "-m", "unittest", name]
    ended = subprocess.run(command, capture_output=True, text=True)
    return ended.returncode == 0, ended.stderr.strip().splitlines()[-1]


def seen(name):
    """Names a file of the workspace with all its lines, as one that was read."""
    return f"{name}:1-{len((WORKSPACE / name).read_text().splitlines())}"


def report(title, **block):
    """Ends the attempt: a line for people, and the block."""
    block = {
        "agent": os.environ.get("BATON_AGENT", "agent"),
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "feature_directory": relative(OUTPUT),
        "skills_invoked": [],
        "library_skills_read": [],
        "source_files_verified": [],
        "files_modified": [],
        "artifacts": [],
        "verification": {},
        **block,
    }
    text = f"# {title}\n\n{block['summary']}\n\n```json\n{json.dumps(block, indent=2)}\n```\n"
    path = os.environ.get("BATON_REPORT_FILE")
    if path:
        write(Path(path), text)
    else:
        print(text)
    sys.exit(0)
