"""What every agent of this example needs: its request, what it was told, and a way to respond."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROMPT = sys.stdin.read()
WORKSPACE = Path(os.environ.get("BATON_WORKSPACE", "."))
REQUEST = json.loads(Path(os.environ["BATON_REQUEST_FILE"]).read_text())


def previous():
    """Returns what the phase before found."""
    return (REQUEST.get("context") or {}).get("previous_findings") or ""


def told(*about):
    """Returns what was said about earlier attempts: answers, resolutions, feedback, refuted claims."""
    path = os.environ.get("BATON_NOTES_FILE")
    notes = json.loads(Path(path).read_text()) if path and Path(path).exists() else []
    return [note["text"] for note in notes if note["about"] in about]


def write(name, text):
    """Writes a file whole or not at all, so that being killed leaves no half of it."""
    path = WORKSPACE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def sources():
    """Returns the Python files of the project, by name."""
    paths = [*WORKSPACE.glob("ledger/*.py"), *WORKSPACE.glob("tests/*.py")]
    return {str(path.relative_to(WORKSPACE)): path.read_text() for path in sorted(paths)}


def run(*arguments):
    """Runs Python in the workspace; returns whether it ended well and what it wrote."""
    command = [sys.executable, "-B", *arguments]
    ended = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True)
    return ended.returncode == 0, ended.stdout + ended.stderr


def respond(summary, findings, status="complete", decision="PROCEED", issues=()):
    """Ends the attempt with a response to the request."""
    response = {
        "task_id": REQUEST["task_id"],
        "phase": REQUEST["phase"],
        "status": status,
        "decision": decision,
        "findings": findings,
        "context_summary": summary,
        "issues": list(issues),
    }
    text = json.dumps(response, indent=2) + "\n"
    path = os.environ.get("BATON_REPORT_FILE")
    if path:
        Path(path).write_text(text)
    else:
        print(text)
    sys.exit(0)
