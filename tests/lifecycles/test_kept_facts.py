"""Facts may be personal data: the journal has their hash, a payload what guards ask about, and erasure takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw
from tests.lifecycles.onboarding import ME, Handlers, catalogue, letters_of, lifecycles_of, state_of, written
from tests.lifecycles.test_lifecycle_audit import codes

pytestmark = pytest.mark.both_stores
SECRET, ASKED = "born-1815-in-london", "lost-on-the-way"


def kept_in(url: str, table: str, column: str, id: bytes) -> bytes:
    with Raw(url) as raw:
        return b"".join(bytes(row[0]) for row in raw(f"SELECT {column} FROM {table} WHERE aggregate = ?", id))


async def test_facts_are_a_payload_of_guarded_fields_and_go_when_the_instance_is_erased(
    store_url: str, tmp_path: Path
) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as sandbox:
        id = (await lifecycles_of(sandbox).start("onboarding", "c1", {}, ME)).aggregate.id
        await sandbox.call("client.create", {"id": "c1", "passport": ASKED, "risk": SECRET})
        await sandbox.run_until_idle()
        judged = [each for each in await sandbox.lifecycles.history(letters_of(id)) if each.entry == "FactsJudged"]
        fact = {"key": "record/client/c1", "value": {"version": 1, "fields": ["passport"]}}
        assert judged[-1].data["facts"] == [fact]
        await sandbox.lifecycles.cancel(letters_of(id), reason="it is enough")
        journal = kept_in(store_url, "journal", "body", id)
        assert len(journal) > 0
        assert SECRET.encode() not in journal
        assert ASKED.encode() not in journal
        payloads = kept_in(store_url, "payload", "stored", id)
        assert ASKED.encode() in payloads
        assert SECRET.encode() not in payloads
        assert await codes(sandbox) == set()
        await sandbox.advance("P31D")
        assert await sandbox.runtime.upkeep.erase_old(0) > 0
        assert (await state_of(sandbox, id)).is_erased
        assert kept_in(store_url, "payload", "stored", id) == b""
        again = [each for each in await sandbox.lifecycles.history(letters_of(id)) if each.entry == "FactsJudged"]
        assert [each.data["facts"] for each in again] == [[]] * len(judged)
        assert await codes(sandbox) == set()


async def test_facts_that_let_an_instance_move_cannot_vanish_unseen(store_url: str, tmp_path: Path) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as sandbox:
        id = (await lifecycles_of(sandbox).start("onboarding", "c1", {}, ME)).aggregate.id
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        await sandbox.run_until_idle()
        state = await state_of(sandbox, id)
        assert [each.target for each in state.history] == ["INTAKE", "REVIEW"]
        assert await codes(sandbox) == set()
        with Raw(store_url) as raw:
            raw("DELETE FROM payload WHERE aggregate = ? AND hash = ?", id, state.history[1].facts)
        assert await codes(sandbox) == {"AUD011"}
