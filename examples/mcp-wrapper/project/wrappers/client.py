"""Talks to an MCP server on stdio: starts it, asks, and reads the answers."""

import json
import subprocess
import sys

TRACKER = [sys.executable, "-B", "server/tracker.py"]


def ask(command, *requests):
    """Sends requests (method and parameters) to a server; returns their results."""
    messages = [("initialize", {}), *requests]
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n"
        for number, (method, parameters) in enumerate(messages)
    )
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=10, check=True)
    answers = [json.loads(line) for line in ended.stdout.splitlines()][1:]
    for answer in answers:
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
    return [answer["result"] for answer in answers]


def call(tool, arguments):
    """Calls a tool of the tracker; returns what it says, whole."""
    [result] = ask(TRACKER, ("tools/call", {"name": tool, "arguments": arguments}))
    return json.loads(result["content"][0]["text"])


def keep(answer, fields):
    """Keeps only some fields of an object, or of each object in a list."""
    if isinstance(answer, list):
        return [keep(each, fields) for each in answer]
    return {name: answer[name] for name in fields}
