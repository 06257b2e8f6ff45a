#!/usr/bin/env python3
"""Implements the integration. Where the key is kept is not for the developer to decide: backend-security must say."""

from handoff import OUTPUT, WORKSPACE, given, handed_over, report, run_tests, seen, told, write

SKILLS = ["developing-with-tdd", "persisting-agent-outputs"]
vendor = given("vendor", "shodan")
module = WORKSPACE / "integrations" / f"{vendor}.py"
decision = OUTPUT / "security-review.md"
architecture = handed_over("architecture.md").read_text()
assert f"class `{vendor.capitalize()}`" in architecture, "the architecture is about something else"

HEAD = f'''"""Assets from {vendor.capitalize()}."""

from integrations.base import Asset, Integration


class {vendor.capitalize()}(Integration):
    """Lists the hosts that {vendor.capitalize()} knows. The key travels in a header, never in a path."""
'''

METHODS = [
    (
        "validate_credentials(self)",
        "Asks for the plan: an answer means that the key is good.",
        'return "plan" in self.ask("/api-info", {})',
    ),
    (
        "discover(self)",
        "Reads page after page until as many hosts have come as were announced.",
        """page, seen = 1, 0
while True:
    answer = self.ask("/api/v1/hosts", {"page": page})
    for host in answer["hosts"]:
        seen += 1
        yield Asset(host["ip"], "%s")
    if seen >= answer["total"] or not answer["hosts"]:
        return
    page += 1"""
        % vendor,
    ),
    (
        "check_affiliation(self, asset)",
        "Asks for the one host and looks whether the customer still has it.",
        'return asset.address in self.ask(f"/api/v1/host/{asset.address}", {}).get("org_ips", [])',
    ),
    (
        "ask(self, path, parameters)",
        "Sends a question with the key in its header.",
        'return self.fetch(path, {**parameters, "header": {"Authorization": f"Bearer {self.secret}"}})',
    ),
]


def source(documented):
    """Returns the module, with or without the sentences that the quality review asks for."""
    text = HEAD
    for name, sentence, body in METHODS:
        text += f"\n    def {name}:\n"
        if documented:
            text += f'        """{sentence}"""\n'
        text += "".join(f"        {line}\n" for line in body.splitlines())
    return text


if not decision.exists():
    write(module, HEAD)
    report(
        f"Implementation of {vendor}: security first",
        "The class is there; before the first request is sent, somebody must say how the key travels.",
        output_type="implementation-log",
        skills_invoked=SKILLS,
        source_files_verified=[seen("integrations/wiz.py")],
        status="blocked",
        blocked_reason="security_concern",
        attempted=[
            f"Wrote the class in integrations/{vendor}.py, without its methods",
            "Looked at integrations/wiz.py: it sends the token as a parameter, which ends up in access logs",
        ],
        handoff={
            "next_agent": None,
            "context": f"May the {vendor} key be a parameter of the request, as in integrations/wiz.py line 12, or must"
            " it travel in a header?",
        },
    )

feedback = told("feedback")
write(module, source(documented=bool(feedback)))
passed, last = run_tests()
report(
    f"Implementation of {vendor}",
    f"integrations/{vendor}.py has {len(METHODS)} methods; the key travels as {decision.name} says. Tests: {last}.",
    output_type="implementation-log",
    skills_invoked=SKILLS,
    source_files_verified=[seen(f"integrations/{vendor}.py"), seen("integrations/base.py")],
    status="complete" if passed else "needs_review",
    handoff={
        "next_agent": "backend-reviewer",
        "context": f"integrations/{vendor}.py implements sections 1 to 4 of architecture.md: pages until `total`,"
        " affiliation by org_ips, the key in the Authorization header. "
        + ("Every method now says what it does, as the review asked." if feedback else "Ready for the P0 check."),
    },
)
