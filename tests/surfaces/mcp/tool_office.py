"""An office in one process: what its handlers did, and agents that use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from perdure.access.principal import Kind, Principal, Role
from perdure.app import Perdure
from perdure.surfaces.mcp.server import Protocol
from tests.surfaces.mcp.protocol_agent import Agent, verbs

EVERY_ROLE = frozenset[Role]({"author", "operator", "reviewer"})
READING = {
    "list_verbs", "describe_verb", "runbook_status", "list_runbooks", "workflow_status", "runbook_events", "read_value",
    "pending_work", "list_incidents", "outcome_events", "lifecycle_status", "list_lifecycles",
    "find_documents", "document_status", "list_engines", "process_contract",
}  # fmt: skip


def principal(
    name: str = "robot", kind: Kind = "agent", roles: frozenset[Role] = EVERY_ROLE, **more: Any
) -> Principal:  # fmt: skip
    return Principal(more.pop("tenant", "default"), name, kind, roles, **more)


class Office:
    """An open platform, what its handlers did, and agents that use it."""

    def __init__(self, perdure: Perdure, done: list[str], mended: list[bool]) -> None:
        self.perdure, self.done, self.mended = perdure, done, mended

    @asynccontextmanager
    async def agent(self, who: Principal | None = None) -> AsyncIterator[Agent]:
        asking = who or principal()
        async with Client(Protocol(self.perdure, lambda context: asking).server()) as client:
            yield Agent(client)


@asynccontextmanager
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    done: list[str] = []
    mended: list[bool] = []

    def said(word: str, answer: Any) -> Any:
        def handler(call: Any) -> Any:
            done.append(word)
            return answer(call) if callable(answer) else answer

        return handler

    handlers = {
        "desk.find": said("find", lambda call: {"id": "id of " + call.args["name"]}),
        "desk.letter": said("letter", {}),
        "desk.pay": said("pay", {}),
        "desk.close": said("close", {}),
        "desk.break": said("break", lambda call: {"done": True} if mended else {}),
        "desk.long": said("long", {"pages": ["x" * 1000] * 40}),
        "vault.open": said("vault", {"open": True}),
    }
    async with Perdure.open(
        f"sqlite:///{tmp_path / 'store.db'}", definitions=verbs(), handlers=handlers, principal="local"
    ) as perdure:
        yield Office(perdure, done, mended)
