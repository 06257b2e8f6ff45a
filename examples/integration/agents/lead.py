#!/usr/bin/env python3
"""Designs the integration. One thing is not in the requirements: how ownership is checked. A person must say."""

from handoff import OUTPUT, given, report, seen, told

SKILLS = ["gateway-integrations", "writing-plans", "persisting-agent-outputs"]
vendor = given("vendor", "shodan")
answers = told("answer", "resolution")
remarks = told("feedback")

if not answers:
    report(
        f"Architecture of {vendor}: a question",
        "The requirements ask for check_affiliation, and do not say which endpoint answers it.",
        output_type="architecture",
        skills_invoked=SKILLS,
        source_files_verified=[seen("requirements.md"), seen("integrations/wiz.py")],
        status="blocked",
        blocked_reason="missing_requirements",
        attempted=[
            "Read requirements.md: check_affiliation is wanted, no endpoint is named",
            "Read integrations/wiz.py: Wiz has an endpoint for one resource, /resource",
        ],
        questions=[f"Does {vendor} have an endpoint that tells whether an address still belongs to the customer?"],
        handoff={
            "next_agent": None,
            "context": f"Which {vendor} endpoint tells whether an address still belongs to the customer, and by which"
            " member of its answer? Without one, all hosts must be listed again for every check.",
        },
    )

changes = "".join(f"\n- {remark}" for remark in remarks)
# The output file is the handoff: it ends with the block, and the next agent is told its path.
report(
    f"Architecture: {vendor}",
    f"""1. `integrations/{vendor}.py` holds the class `{vendor.capitalize()}`, a subclass of `Integration`.
2. `validate_credentials` asks `/api-info`; the answer has `plan` if the key is good.
3. `discover` reads `/api/v1/hosts` page by page until `total` hosts have come, as Wiz does.
4. `check_affiliation` is decided by a person: {answers[-1]}
{changes}""",
    to=OUTPUT / "architecture.md",
    output_type="architecture",
    skills_invoked=SKILLS,
    source_files_verified=[seen("requirements.md"), seen("integrations/wiz.py"), seen("integrations/base.py")],
    status="complete",
    handoff={
        "next_agent": "integration-developer",
        "context": f"Implement sections 1 to 4 of architecture.md in integrations/{vendor}.py. discover() reads"
        " /api/v1/hosts until `total` hosts have come; check_affiliation() asks /api/v1/host/{ip} and looks at"
        " org_ips; validate_credentials() asks /api-info.",
    },
)
