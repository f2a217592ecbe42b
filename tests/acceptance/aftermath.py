"""What must hold after all the killing: acknowledgements, single endings, counted effects, a clean audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.app.calls.views import CallView, EventView
from perdure.sources import id_text
from perdure.store.audit import verify
from perdure.store.signing_keys import load_public_keys
from tests.acceptance.load import Effects, Note, catalogue, effects_path, notes_path, read_notes, unanswered

ENDINGS = ("StepCompleted", "StepFailed", "CallCancelled")
ONCE = (*ENDINGS, "CallStarted", "StepParked", "TimedOut", "Escalated", "CompletionReceived")
PATIENCE_SECONDS = 60.0
PAGE = 500


class Aftermath:
    """Opens the store once more, lets everything come to rest, and looks at all of it."""

    def __init__(self, perdure: Perdure, folder: Path, lives: int) -> None:
        self.perdure = perdure
        self.folder = folder
        self.per_life = [read_notes(notes_path(str(folder), life)) for life in range(1, lives + 1)]
        self.notes = [note for notes in self.per_life for note in notes]
        self.views: dict[str, CallView] = {}
        self.events: dict[str, list[EventView]] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, folder: Path, lives: int) -> AsyncIterator[Aftermath]:
        handlers = Effects(str(folder)).bound()
        key_file = folder / "seal.key"
        async with Perdure.open(url, definitions=catalogue(), handlers=handlers, seal_key_file=key_file) as perdure:
            yield cls(perdure, folder, lives)

    async def settle(self) -> None:
        """A client asks again what it was not told, a person looks at incidents, time does the rest."""
        for note in unanswered(self.per_life[-1]):
            view = await self.perdure.call(note.verb, {"n": note.key}, idempotency_key=note.key)
            self.notes.append(Note("acked", note.verb, note.key, view.id, view.state, view.result))
        await self.perdure.runtime.look_after()
        for id in await self._ids():
            await self._settle(id)
        for id in await self._ids():
            self.views[id] = await self.perdure.status(id)
            self.events[id] = [event async for event in self.perdure.events(id)]

    async def _ids(self) -> list[str]:
        ids: list[str] = []
        after = b""
        while rows := await self.perdure.runtime.driver.fetch("scan_ids", after=after, most=PAGE):
            ids += [id_text(bytes(row[0])) for row in rows]
            after = bytes(rows[-1][0])
        return ids

    async def _settle(self, id: str) -> None:
        view = await self.perdure.status(id)
        while not view.is_ended and not _waits_for_a_client(view):
            waiting = view.waiting_for
            if waiting is None or waiting.kind != "incident":
                view = await self.perdure.wait(id, PATIENCE_SECONDS)
                assert view.is_ended or (view.waiting_for is not None and view.waiting_for.kind == "incident"), view
            elif view.verb == "k.cautious":
                view = await self.perdure.resolve(id, {"n": "looked"}, reason="looked outside")
            else:
                view = await self.perdure.retry(id)

    # --- what must hold ------------------------------------------------------------------------------------------

    def assert_clients_had_no_trouble(self) -> None:
        trouble = [note for note in self.notes if note.what == "trouble"]
        assert not trouble, trouble[:5]
        # Two clients may meet at one call, as when a wait is cancelled that another is about to complete.
        refused = [note for note in self.notes if note.what == "refused" and note.key != "wrong_state"]
        assert not refused, refused[:5]

    def assert_acknowledgements_hold(self) -> int:
        for note in self.notes:
            if note.what in ("acked", "completed", "cancelled"):
                view = self.views.get(note.id)
                assert view is not None, f"an acknowledged call is gone: {note}"
                if note.state in ("completed", "failed", "cancelled"):
                    assert (view.state, view.result) == (note.state, note.result), (note, view)
            elif note.what == "progress":
                posted = [event.data["text"] for event in self.events[note.id] if event.entry == "ProgressPosted"]
                assert note.key in posted, note
        return len(self.notes)

    def assert_nothing_is_stuck(self) -> None:
        stuck = [view for view in self.views.values() if not view.is_ended and not _waits_for_a_client(view)]
        assert not stuck, stuck[:5]

    def assert_nothing_happened_twice(self) -> None:
        for id, events in self.events.items():
            counts = Counter(event.entry for event in events)
            assert all(counts[entry] <= 1 for entry in ONCE), (id, counts)
            assert sum(counts[entry] for entry in ENDINGS) == self.views[id].is_ended, (id, counts)
            tokens = Counter(event.data["token"] for event in events if event.entry == "CompletionReceived")
            assert all(count == 1 for count in tokens.values()), (id, tokens)
        keys = Counter(note.key for note in self.notes if note.what == "asked")
        started = Counter(view.args["n"] for view in self.views.values() if not view.parent)
        assert all(started[key] == 1 for key in keys), [key for key in keys if started[key] != 1][:5]

    def assert_effects_are_as_promised(self) -> None:
        runs = Counter(tuple(line.split()) for line in effects_path(str(self.folder)).read_text().splitlines())
        for id, view in self.views.items():
            count = runs[(view.verb, f"{id}:1")]
            has_run = view.state == "completed" and view.result is not None and view.result.get("n") == view.args["n"]
            if view.verb == "k.cautious":
                assert count <= 1, (count, view)
            if view.verb in ("k.external", "k.cautious", "k.rescue") and has_run:
                assert count >= 1, (count, view)
            if view.verb == "k.flaky" and view.state == "completed":
                assert count >= 3, (count, view)

    async def assert_one_record_per_store_call(self) -> None:
        for id, view in self.views.items():
            if view.verb == "k.store":
                rows = await self.perdure.runtime.driver.fetch(
                    "entity_history", tenant="default", entity="ledger", key=view.args["n"], after=0, most=10
                )
                assert [id_text(bytes(row[4])) for row in rows] == [id], (view, rows)

    async def assert_audit_passes(self) -> None:
        runtime = self.perdure.runtime
        if runtime.sealer is not None:
            await runtime.sealer.seal_all()
        keys = load_public_keys([self.folder])
        report = await verify(runtime.store, runtime.machines, keys, dry=True)
        assert report.is_clean, report.findings[:5]
        assert report.aggregates == len(self.views)

    async def assert_all(self) -> dict[str, Any]:
        await self.settle()
        self.assert_clients_had_no_trouble()
        notes = self.assert_acknowledgements_hold()
        self.assert_nothing_is_stuck()
        self.assert_nothing_happened_twice()
        self.assert_effects_are_as_promised()
        await self.assert_audit_passes()
        await self.assert_one_record_per_store_call()
        return {"calls": len(self.views), "notes": notes}


def _waits_for_a_client(view: CallView) -> bool:
    """A wait without a timeout that no client came back to: deliberate, and still completable."""
    waiting = view.waiting_for
    return view.verb in ("k.wait", "k.spawn") and waiting is not None and waiting.kind == "completion"
