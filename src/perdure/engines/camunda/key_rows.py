"""Key rows: Camunda's keys beside what they stand for here, each written once and never changed.

| row | names | its key |
|---|---|---|
| `instance/ID` | an instance of ours | its process instance in Camunda: whoever is second is a twin |
| `process/KEY` | a process instance there | ours |
| `head/HASH` | the payload of a start that was sent | the instance: its first job binds it when the answer was lost |
| `job/KEY` | a job there | the frame: instance, token and run |
| `frame/ID/TOKEN/RUN` | a frame | the job there |
| `task/ID/TOKEN`, `incident/ID/TOKEN/KEY` | a user task, an incident | its key there |
| `definition/HASH/RELEASE` | a deployed process | its definition there |
| `sent/HASH` | a process, whatever it was written as when it was sent | its first definition there |
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from perdure.engine.bridge_rows import beginning
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import InvariantBroken
from perdure.kernel.ports import APPLIED, Attachments, InboxRow, Unit
from perdure.sources import Id, Sources, id_text, parse_id

PLATFORM = "perdure"
KIND = "key"
MAX_REMEMBERED = 20_000


class Frame(NamedTuple):
    """One execution of a job, or a user task that our journal holds (`run` 0)."""

    instance: Id
    node: int
    run: int

    @property
    def text(self) -> str:
        return f"{id_text(self.instance)}/{self.node}/{self.run}"


def frame_of(text: str) -> Frame:
    letters, node, run = text.split("/")
    return Frame(parse_id(letters, "instance"), int(node), int(run))


class KeyRows:
    """One per engine of a process; what was read once is remembered, because it never changes."""

    def __init__(self, store: EngineStore, sources: Sources, engine: str) -> None:
        self.engine = engine
        self.begins = beginning("camunda", engine)
        self._store = store
        self._sources = sources
        self._known: OrderedDict[str, str] = OrderedDict()

    def name(self, name: str) -> str:
        """The id of a row in our inbox: clusters count their keys each by itself."""
        return f"{self.begins}/{name}"

    def row(self, name: str, key: str, now: int) -> InboxRow:
        return InboxRow(PLATFORM, self.name(name), KIND, key, now, APPLIED, "", None, None)

    async def read(self, name: str) -> str:
        """What a row says; empty when there is none."""
        known = self._known.get(name)
        if known is not None:
            return known
        message = await self._store.message(PLATFORM, self.name(name))
        return self._keep(name, message.key) if message is not None else ""

    async def write(self, *rows: tuple[str, str]) -> bool:
        """Write rows together; False when one of them is there already, and then none is written."""
        now = self._sources.now()
        attached = [Attachments(inbox=self.row(name, key, now)) for name, key in rows]
        if await self._store.commit(Unit(PLATFORM, None, attachments=attached, at=now)) is not None:
            return False
        for name, key in rows:
            self._keep(name, key)
        return True

    def _keep(self, name: str, key: str) -> str:
        self._known[name] = key
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return key

    # --- instances -----------------------------------------------------------------------------------------------

    async def bind(self, id: Id, key: str) -> str:
        """Bind an instance to a process instance there; the key it is bound to, which is another one for a twin."""
        if await self.write((f"instance/{id_text(id)}", key), (f"process/{key}", id_text(id))):
            return key
        if bound := await self.key_of(id):
            return bound
        fact = f"process instance {key} stands for another instance already"
        hint = "Is it the same cluster, with the same data? Give another one another name."
        raise InvariantBroken("bind", "instance", id_text(id), fact, hint)

    async def key_of(self, id: Id) -> str:
        return await self.read(f"instance/{id_text(id)}")

    async def instance_of(self, key: str) -> Id | None:
        found = await self.read(f"process/{key}")
        return parse_id(found, "instance") if found else None

    async def instance_of_head(self, hash: str) -> Id | None:
        found = await self.read(f"head/{hash}")
        return parse_id(found, "instance") if found else None

    # --- frames --------------------------------------------------------------------------------------------------

    async def bind_job(self, key: str, frame: Frame) -> bool:
        """Bind a job there to a frame; False when that is bound to another job."""
        if await self.job_of(frame):
            return await self.frame_of(key) == frame
        return await self.write((f"job/{key}", frame.text), (f"frame/{frame.text}", key)) or (
            await self.frame_of(key) == frame
        )

    async def frame_of(self, job: str) -> Frame | None:
        found = await self.read(f"job/{job}")
        return frame_of(found) if found else None

    async def job_of(self, frame: Frame) -> str:
        return await self.read(f"frame/{frame.text}")
