"""Lifecycles and documents as a conversation shows them, and what a person decides about them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, assert_never

from perdure.errors import RejectedError, Rejection
from perdure.surfaces.repl.conversation_messages import (
    DecideDocument,
    ListDocuments,
    Listed,
    ListLifecycles,
    News,
    Papers,
    ResolveBlocker,
    Rows,
    ShowDocument,
    ShowLifecycle,
    Told,
    TransitLifecycle,
)

if TYPE_CHECKING:
    from perdure.app.lifecycles.views import LifecycleStatus
    from perdure.app.perdure import Perdure

MOST_LISTED = 50
MOST_NUMBERED = 4
"""A longer word is an id, also where it is all digits."""
Thing = Literal["lifecycle", "document"]


class ClientPapers:
    """Asks the operations; a number stands for a row of the list that was shown last."""

    def __init__(self, perdure: Perdure) -> None:
        self._perdure = perdure
        self._listed: dict[Thing, Sequence[str]] = {"lifecycle": (), "document": ()}

    async def answer(self, wish: Papers) -> News:
        """What came of a wish about a lifecycle or a document."""
        match wish:
            case ListLifecycles(lifecycle):
                return Listed(await self._lifecycles(lifecycle))
            case ShowLifecycle(id):
                return Listed(_standing(await self._perdure.lifecycles.get(self._named("lifecycle", id))))
            case ResolveBlocker(id, key):
                return await self._resolved(self._named("lifecycle", id), key)
            case TransitLifecycle(id, target, reason):
                return await self._moved(self._named("lifecycle", id), target, reason)
            case ListDocuments(text):
                return Listed(await self._documents(text))
            case ShowDocument(id):
                return Listed(await self._document(self._named("document", id)))
            case DecideDocument():
                return await self._decided(wish)
            case _:
                assert_never(wish)

    def _named(self, thing: Thing, word: str) -> str:
        if not word.isdecimal() or len(word) > MOST_NUMBERED:
            return word
        listed, number = self._listed[thing], int(word)
        if not 1 <= number <= len(listed):
            fact, hint = "the list that was shown last has no such row", f"Say '{thing}s' to see one, or name its id."
            raise RejectedError(Rejection("not_found", "find", thing, word, fact, hint))
        return listed[number - 1]

    async def _lifecycles(self, lifecycle: str) -> Rows:
        found = await self._perdure.lifecycles.list(lifecycle, limit=MOST_LISTED)
        self._listed["lifecycle"] = [each.id for each in found]
        rows = tuple(
            (str(number), each.subject, each.lifecycle, each.state, ", ".join(each.blockers) or _ended(each.status))
            for number, each in enumerate(found, 1)
        )
        return Rows("Lifecycles", ("", "subject", "lifecycle", "state", "blocked by"), rows, "No lifecycles run here.")

    async def _resolved(self, id: str, key: str) -> Told:
        status = await self._perdure.lifecycles.resolve(id, key)
        task = next((each for each in reversed(status.tasks) if each.key == key), None)
        return Told(f"Asked for; it waits under {task.correlation_id}." if task is not None else "Called.")

    async def _moved(self, id: str, target: str, reason: str) -> Told:
        answer = await self._perdure.lifecycles.transit(id, target, reason=reason)
        if answer.answer == "moved":
            return Told(f"{answer.instance.subject} is in {answer.instance.state} now.")
        changed = f" Since the first proposal changed: {', '.join(answer.changed)}." if answer.changed else ""
        return Told(f"Proposed; another person has to agree.{changed}")

    async def _documents(self, text: str) -> Rows:
        found = await self._perdure.documents.find(text=text, limit=MOST_LISTED)
        self._listed["document"] = [each.id for each in found]
        rows = tuple(
            (str(number), each.type, each.subject, each.status, str(each.version or ""), each.valid_to or each.reason)
            for number, each in enumerate(found, 1)
        )
        columns = ("", "type", "subject", "status", "version", "valid to, or why not")
        return Rows("Documents", columns, rows, "No documents fit." if text else "There are no documents.")

    async def _document(self, id: str) -> Rows:
        view = await self._perdure.documents.get(id)
        rows = tuple(
            (str(each.number), each.status, each.received_by, each.valid_to or "",
             f"{each.reason.code}: {each.reason.operator}" if each.reason is not None else "")
            for each in view.versions
        )  # fmt: skip
        title = f"{view.type} about {view.subject or 'nobody'}: {view.status} ({view.id})"
        columns = ("version", "status", "handed in by", "valid to", "why not")
        return Rows(title, columns, rows, "It has no version yet.")

    async def _decided(self, wish: DecideDocument) -> Told:
        id = self._named("document", wish.id)
        if wish.reason:
            view = await self._perdure.documents.reject(id, wish.version, wish.reason, wish.note)
        else:
            view = await self._perdure.documents.verify(id, wish.version, wish.note)
        return Told(
            f"Version {wish.version} is {view.versions[wish.version - 1].status}; the document is {view.status}."
        )


def _standing(status: LifecycleStatus) -> Rows:
    """Where an instance stands: what it misses, with the calls that bring it, what it waits for, and its ways out."""
    rows = [
        ("requirement", each.key, "met" if each.is_met else "; ".join(each.missing)) for each in status.requirements
    ]
    for each in status.blockers:
        call = each.resolution.text if each.resolution is not None else ""
        rows.append(("blocker", each.key, " ".join(filter(None, ("; ".join(each.missing), call, each.reason)))))
    rows += [
        ("asked for", task.key, f"attempt {task.attempt}, until {(task.expires_at or 'it comes')[:16]}")
        for task in status.tasks
        if task.status in ("pending", "partial")
    ]
    rows += [
        ("way out", way.target, f"{way.mode}{', open' if way.is_open else ', closed: ' + '; '.join(way.missing)}")
        for way in status.transitions
    ]
    title = f"{status.lifecycle} of {status.subject}: {status.state}, {status.progress} % ({status.id})"
    return Rows(title, ("what", "name", "how it stands"), tuple(rows), "It is over.")


def _ended(status: str) -> str:
    return "" if status == "active" else status
