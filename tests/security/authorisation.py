"""The authorisation matrix: operations by roles, by how far a key reaches and by roads, made from the table.

| key | is |
|---|---|
| wide | of the thing's tenant, for every verb |
| reaching | of the thing's tenant, for some verbs, every verb of the thing among them |
| narrow | of the thing's tenant, for some verbs, not those of the thing |
| foreign | of another tenant, for every verb |
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from perdure.access.principal import ROLES, Role
from perdure.app.operations.operation import Discovered, Operation, Reached, Redacted, Unscoped
from perdure.app.operations.operation_table import TABLE
from perdure.surfaces.mcp.tool_list import every_tool

Row = Operation[Any, Any]
Key = Literal["wide", "reaching", "narrow", "foreign"]
Outcome = Literal["allowed", "blank", "forbidden", "not found"]

KEYS: tuple[Key, ...] = get_args(Key)
ROADS = ("HTTP", "MCP", "token", "webhook", "REPL")
HOLDS_NO_DATA = frozenset({
    "list_verbs", "show_verb", "list_packs", "show_pack", "plan_runbook", "check_process",
    "list_engines", "list_agents", "close_agent", "list_keys", "create_key", "revoke_key",
})  # fmt: skip
"""Rows that concern no verb's data: definitions of the project, plans and models that the asker brings, and keys."""
OF_TOKENS = frozenset({"send_completion", "send_progress"})
OF_REQUESTS = frozenset({"show_request", "submit_data", "submit_content"})
OF_HOOKS = frozenset({"send_completion", "publish_message", "send_task_result"})
HOOKS = {
    "send_completion": "its verbs", "publish_message": "its message", "send_task_result": "tasks of its verbs",
}  # fmt: skip
ACTS_OF_HOOKS = {"complete": "send_completion", "publish": "publish_message", "count": "send_task_result"}
"""The acts of the platform that an incoming hook leads to, each with the operation that does the same."""
OWN_OF_EVERYBODY = frozenset({
    "call_verb", "list_document_types", "list_rejection_reasons", "list_documents", "create_document", "upload_blob",
    "collect_blobs", "begin_upload", "waive_document",
})  # fmt: skip
"""Rows that name no thing of a tenant: in another tenant they do the same with that tenant's own."""


def outcome(row: Row, role: Role, key: Key) -> Outcome:
    """What becomes of an operation over HTTP or MCP; `allowed` may still meet a rule about the thing itself."""
    if role not in row.roles:
        return "forbidden"
    if key in ("wide", "reaching"):
        return "allowed"
    match row.scope:
        case Unscoped():
            return "allowed"
        case Redacted():
            is_single = any("{" in each.path for each in row.routes)
            return "not found" if key == "foreign" and is_single else "blank"
        case Reached() | Discovered():
            if key == "narrow":
                return "forbidden"
            if row.id in OWN_OF_EVERYBODY:
                return "blank" if row.routes[0].method == "GET" else "allowed"
            return "not found" if isinstance(row.scope, Reached) else "blank"


def roads(row: Row) -> dict[str, str]:
    """How an operation is asked for by each road; empty where the road does not lead there."""
    tools = [f"`{tool.name}`" for tool in every_tool().values() if tool.operation == row.name]
    return {
        "HTTP": "<br>".join(f"`{each.method} /api{each.path}`" for each in row.routes),
        "MCP": ", ".join(tools),
        "token": "its own wait" if row.id in OF_TOKENS else "its own request" if row.id in OF_REQUESTS else "",
        "webhook": HOOKS.get(row.id, ""),
        "REPL": "the owner",
    }


def matrix() -> dict[tuple[str, Role, Key], Outcome]:
    """Every operation, role and key."""
    return {(row.id, role, key): outcome(row, role, key) for row in TABLE for role in ROLES for key in KEYS}
