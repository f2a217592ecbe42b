"""Facts that were read before something else was decided decide nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import RejectedError
from perdure.kernel.kernel import Prepared
from perdure.lifecycles.instances import KIND, LifecycleInstances
from perdure.lifecycles.machine import commands as c
from perdure.testing.sandbox import Sandbox
from tests.lifecycles.onboarding import LIFECYCLE, ME, Handlers, catalogue, lifecycles_of, state_of, written

pytestmark = pytest.mark.both_stores

REVOCABLE = LIFECYCLE.replace("auto: true", "auto: false")
GATED = """
workflow: gated
states:
  OPEN:
    requirements:
      - {type: field_value, record: client, field: passport, equals: verified}
      - {type: document_exists, document_type: passport, id: paper}
      - not: {type: document_exists, document_type: form, status: received}
      - {type: lifecycle_state, lifecycle: screening, in: [CLEAR]}
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: DONE, manual: true, guard: requirements}
---
workflow: screening
states:
  CLEAR: {}
  HIT: {}
  OVER: {terminal: true}
transitions:
  - {from: CLEAR, to: HIT, manual: true}
  - {from: HIT, to: OVER, manual: true}
"""
Change = Callable[[Sandbox], Awaitable[object]]


async def test_a_gate_that_closed_again_is_not_passed_by_facts_from_before(store_url: str, tmp_path: Path) -> None:
    file = written(tmp_path, REVOCABLE)
    async with Sandbox.open(
        store_url, definitions=catalogue(), lifecycles=[file], handlers=Handlers().bound()
    ) as sandbox:
        lifecycles = lifecycles_of(sandbox)
        begun = await lifecycles.start("onboarding", "c1", {}, ME)
        id = begun.aggregate.id
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        read = await lifecycles.view(await lifecycles.read(id, ME))
        await sandbox.call("client.update", {"id": "c1", "passport": "revoked"})
        await sandbox.run_until_idle()
        assert (await state_of(sandbox, id)).state == "INTAKE"
        with pytest.raises(RejectedError, match="it went on while its facts were read"):
            await sandbox.runtime.kernel.ask(KIND, id, ME, Prepared(c.Evaluate(view=read)))
        assert (await state_of(sandbox, id)).state == "INTAKE"


async def revoke_record(sandbox: Sandbox) -> object:
    return await sandbox.call("client.update", {"id": "c1", "passport": "revoked"})


async def reject_document(sandbox: Sandbox) -> object:
    (held,) = await sandbox.documents.find(subject="c1", type="passport")
    return await sandbox.documents.reject(held.id, 1, "SUSPECTED_FORGERY")


async def hand_in_another(sandbox: Sandbox) -> object:
    return await sandbox.documents.create("form", "c1", data={"name": "late"})


async def hit_on_screening(sandbox: Sandbox) -> object:
    (other,) = await sandbox.lifecycles.list("screening", subject="c1")
    return await sandbox.lifecycles.transit(other.id, "HIT")


def after_the_facts(lifecycles: LifecycleInstances, act: Callable[[], Awaitable[object]]) -> None:
    """Let something happen once, after the facts of a decision were read and before it is committed."""
    view, is_done = lifecycles.view, False

    async def viewed(aggregate: Any) -> c.View:
        nonlocal is_done
        found = await view(aggregate)
        if not is_done:
            is_done = True
            await act()
        return found

    lifecycles.view = viewed  # type: ignore[method-assign]


@pytest.mark.req("T9")
@pytest.mark.parametrize("change", [revoke_record, reject_document, hand_in_another, hit_on_screening])
async def test_what_changes_between_the_look_and_the_commit_keeps_the_gate_closed(
    store_url: str, tmp_path: Path, change: Change
) -> None:
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[written(tmp_path, GATED)]) as sandbox:
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        made = await sandbox.documents.create("passport", "c1", data={"name": "Ada"})
        await sandbox.documents.verify(made.id, 1)
        await sandbox.lifecycles.start("screening", "c1")
        id = (await sandbox.lifecycles.start("gated", "c1")).instance.id
        await sandbox.run_until_idle()
        (way,) = (await sandbox.lifecycles.get(id)).transitions
        assert way.is_open, way.missing
        after_the_facts(lifecycles_of(sandbox), lambda: change(sandbox))
        with pytest.raises(RejectedError, match="something is missing"):
            await sandbox.lifecycles.transit(id, "DONE")
        assert (await sandbox.lifecycles.get(id)).state == "OPEN"
