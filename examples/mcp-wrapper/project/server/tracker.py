"""An issue tracker as an MCP server on stdio: one JSON-RPC message per line. Answers far more than anybody needs."""

import json
import sys

TEXT = {"type": "string"}
TOOLS = {
    "get-issue": {"properties": {"id": TEXT}, "required": ["id"]},
    "list-issues": {"properties": {"state": TEXT}, "required": []},
    "create-issue": {"properties": {"title": TEXT}, "required": ["title"]},
}


def issue(number):
    """Returns an issue with its whole history."""
    history = [{"at": f"2026-01-{day:02}", "by": "ana", "what": f"moved to column {day % 4}"} for day in range(1, 29)]
    return {
        "id": f"T-{number}",
        "title": f"Issue number {number}",
        "state": "open" if number % 2 else "closed",
        "assignee": "ana",
        "description": "A long description. " * 20,
        "history": history,
    }


def call(name, arguments):
    """Answers a call of a tool."""
    if name == "get-issue":
        return issue(int(arguments["id"].removeprefix("T-")))
    if name == "list-issues":
        issues = [issue(number) for number in range(1, 11)]
        return [each for each in issues if arguments.get("state") in (None, each["state"])]
    if name == "create-issue":
        return {**issue(11), "title": arguments["title"]}
    raise ValueError(f"no tool {name}")


def answer(method, parameters):
    """Answers a request."""
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "serverInfo": {"name": "tracker", "version": "1.0"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object", **each}} for name, each in TOOLS.items()]}
    if method == "tools/call":
        text = json.dumps(call(parameters["name"], parameters["arguments"]))
        return {"content": [{"type": "text", "text": text}]}
    raise ValueError(f"no method {method}")


for line in sys.stdin:
    message = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    try:
        reply["result"] = answer(message["method"], message.get("params", {}))
    except Exception as error:
        reply["error"] = {"code": -32000, "message": str(error)}
    print(json.dumps(reply), flush=True)
