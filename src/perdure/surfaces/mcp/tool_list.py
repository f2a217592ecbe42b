"""Every tool, and which of them a principal is shown."""

from __future__ import annotations

from perdure.access.principal import Principal
from perdure.access.roles import OPERATIONS, refusal
from perdure.errors import InvariantBroken
from perdure.surfaces.mcp import (
    contract_tools,
    deployment_tools,
    document_tools,
    engine_tools,
    lifecycle_tools,
    outcome_tools,
    pending_work_tools,
    runbook_tools,
    status_tools,
    verb_tools,
)
from perdure.surfaces.mcp.tool import Tool


def every_tool() -> dict[str, Tool]:
    """All tools by name, in the order a reader wants them; one without a known operation is refused."""
    found = (
        *verb_tools.TOOLS,
        *runbook_tools.TOOLS,
        *status_tools.TOOLS,
        *engine_tools.TOOLS,
        *outcome_tools.TOOLS,
        *pending_work_tools.TOOLS,
        *contract_tools.TOOLS,
        *lifecycle_tools.TOOLS,
        *document_tools.TOOLS,
        *deployment_tools.TOOLS,
    )
    for tool in found:
        if tool.operation not in OPERATIONS:
            raise InvariantBroken("offer", "tool", tool.name, "it names no known operation")
    return {tool.name: tool for tool in found}


def is_offered(tool: Tool, principal: Principal) -> bool:
    """Whether the principal may ever use it; what they may not is not listed."""
    return refusal(principal, tool.operation) is None
