"""The eight models of `examples/contract`, their verbs, and a sandbox that carries them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from perdure import Call, Transient
from perdure.app.instances.views import InstanceView
from perdure.bpmn.contract import read_contract
from perdure.bpmn.xml import read_model_file
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Catalogue, load_text

MODELS = Path(__file__).resolve().parents[2] / "examples" / "contract"
Handler = Callable[[Call], dict[str, Any]]


class Seen:
    """What handlers were given, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any], str, dict[str, str]]] = []

    def of(self, verb: str) -> list[dict[str, Any]]:
        return [args for name, args, _, _ in self.calls if name == verb]

    def keys(self, verb: str) -> list[str]:
        return [key for name, _, key, _ in self.calls if name == verb]


def verbs_of(*files: str) -> Catalogue:
    """A verb for every type of work in the models, that takes and gives whatever there is."""
    types = {
        work.definition.type for file in files for work in read_contract(read_model_file(MODELS / file)).work.values()
    }
    return load_text("".join(
        f"- name: {type}\n  description: {type}\n  execution: {{kind: sync}}\n" for type in sorted(types)
    ))  # fmt: skip


@asynccontextmanager
async def carrying(
    url: str, results: Mapping[str, Any], *files: str, seen: Seen | None = None
) -> AsyncIterator[Sandbox]:
    """A sandbox with models deployed. `results` are what verbs give: a dict, or a function of the call."""
    told, catalogue = seen or Seen(), verbs_of(*files)

    def handler(type: str) -> Handler:
        def run(call: Call) -> dict[str, Any]:
            told.calls.append((type, dict(call.args), call.idempotency_key, dict(call.headers)))
            given = results.get(type, {})
            found: dict[str, Any] = given(call) if callable(given) else given
            return found

        return run

    handlers = {verb.name: handler(verb.name) for verb in catalogue}
    async with Sandbox.open(url, definitions=catalogue, handlers=handlers) as sandbox:
        for file in files:
            await sandbox.processes.deploy(MODELS / file, profile="contract")
        yield sandbox


async def begun(sandbox: Sandbox, process: str, **data: Any) -> InstanceView:
    made = await sandbox.instances.start(process, data)
    return await settled(sandbox, made.id)


async def settled(sandbox: Sandbox, id: str) -> InstanceView:
    await sandbox.run_until_idle()
    return await sandbox.instances.get(id)


async def decide(sandbox: Sandbox, id: str, decision: str, reason: str = "") -> InstanceView:
    """Answer the task that is open."""
    tasks = [each for each in await sandbox.tasks.list() if each.instance == id]
    assert len(tasks) == 1, tasks
    await sandbox.complete(tasks[0].key, {"decision": decision, "reason": reason})
    return await settled(sandbox, id)


async def tell(
    sandbox: Sandbox, id: str, name: str, key: str, data: dict[str, Any], message_id: str
) -> InstanceView:  # fmt: skip
    await sandbox.publish(name, key, data, message_id=message_id, ttl_seconds=3600)
    return await settled(sandbox, id)


def failing(times: int, then: dict[str, Any]) -> Handler:
    """Fails so often, then gives something."""
    left = [times]

    def run(call: Call) -> dict[str, Any]:
        if left[0] > 0:
            left[0] -= 1
            raise Transient("not now")
        return then

    return run
