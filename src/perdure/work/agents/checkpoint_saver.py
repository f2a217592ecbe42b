"""The checkpoint saver: states of a LangGraph graph in our store, of one run, bound to its tenant and step."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NoReturn

import msgspec
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from perdure.agent_usage import Meter, ModelUse
from perdure.errors import ContractError
from perdure.typed_reading import read_msgpack
from perdure.work.agents.graph_serialiser import GraphSerialiser
from perdure.work.agents.ports import GraphThread, GraphThreads, Progress, StoredCheckpoint, StoredWrite

MAX_STATE_BYTES = 4 * 1024 * 1024
"""Of one state, and of what one task writes."""
MAX_THREAD_BYTES = 64 * 1024 * 1024
"""Of everything a graph keeps."""
PAGE = 100
INTERRUPT, RESUME = "__interrupt__", "__resume__"
"""The channels in which LangGraph keeps what a task asks and what it was answered."""


class CheckpointSaver(BaseCheckpointSaver[str]):
    """Of one run of one graph. What was used so far is stored with every state, so that a new run counts it once."""

    def __init__(
        self, threads: GraphThreads, thread: GraphThread, meter: Meter, now: Callable[[], int], *, keeps: bool
    ) -> None:
        """`keeps` when older states are needed to make the newest."""
        super().__init__(serde=GraphSerialiser())
        self._threads, self._thread, self._meter, self._now, self._keeps = threads, thread, meter, now, keeps
        self._run = self._attempt = self._bytes = 0

    @property
    def config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self._thread.name, "checkpoint_ns": ""}}

    async def begin(self, attempt: int) -> bool:
        """Claim the thread for this attempt; whether an earlier run of the same attempt is gone on with."""
        run = await self._threads.claim(self._thread, attempt, self._now())
        self._run, self._attempt = run.number, attempt
        is_same = run.number > 1 and run.attempt == attempt
        for use in read_msgpack(run.used, tuple[ModelUse, ...]) if is_same and run.used else ():
            self._meter.add(use)
        self._bytes = await self._threads.size(self._thread)
        return is_same

    async def restart(self) -> None:
        """Forget every state."""
        await self._threads.forget(self._thread)
        self._bytes = 0

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        space = _space(config)
        found = await self._threads.read(self._thread, space, get_checkpoint_id(config) or "")
        return None if found is None else await self._tuple(space, found)

    async def alist(
        self, config: RunnableConfig | None, *, filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None, limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:  # fmt: skip
        """Newest first; those of this step only, whatever the configuration names."""
        space, given, last = _space(config), 0, (get_checkpoint_id(before) if before is not None else "") or ""
        while rows := await self._threads.before(self._thread, space, last, PAGE):
            for row in rows:
                last, made = row.id, await self._tuple(space, row)
                if all(dict(made.metadata).get(name) == value for name, value in (filter or {}).items()):
                    yield made
                    given += 1
                    if limit is not None and given >= limit:
                        return

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:  # fmt: skip
        space = _space(config)
        kind, body = self.serde.dumps_typed(checkpoint)
        told = self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))
        self._measure(len(body) + len(told[1]))
        row = StoredCheckpoint(checkpoint["id"], get_checkpoint_id(config) or "", kind, body, *told)
        await self._threads.put(self._thread, space, row, self._progress(), prunes=not self._keeps)
        return _config(self._thread.name, space, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        channels = {channel for channel, _ in writes}
        if RESUME in channels and INTERRUPT not in channels:
            # The task has its answer and failed later: it is not given the same one again, for its next question.
            writes = [*writes, (INTERRUPT, ())]
        rows = [
            StoredWrite(task_id, WRITES_IDX_MAP.get(channel, place), task_path, channel, *self.serde.dumps_typed(value))
            for place, (channel, value) in enumerate(writes)
        ]
        self._measure(sum(len(row.body) for row in rows))
        id = get_checkpoint_id(config) or ""
        await self._threads.put_writes(self._thread, _space(config), id, rows, self._progress())

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A number that sorts as text; nothing but the run's own tasks writes, so nothing needs chance."""
        return f"{int(current or 0) + 1:032}"

    async def adelete_thread(self, thread_id: str) -> None:
        raise _not_here("delete a thread")

    def get_tuple(self, config: RunnableConfig) -> NoReturn:
        raise _not_here("be read outside the event loop")

    def put(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _not_here("write outside the event loop")

    def put_writes(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _not_here("write outside the event loop")

    def _measure(self, size: int) -> None:
        """Refuse what is too large before it is written: a graph that grows without end ends here."""
        self._bytes += size
        if size > MAX_STATE_BYTES:
            fact = f"A state of the graph has {size:,} bytes and may have {MAX_STATE_BYTES:,}."
        elif self._keeps and self._bytes > MAX_THREAD_BYTES:
            fact = f"The states of the graph have {self._bytes:,} bytes and may have {MAX_THREAD_BYTES:,}."
        else:
            return
        raise ContractError(f"{fact} Keep big data elsewhere and a reference in the state.")

    def _progress(self) -> Progress:
        return Progress(self._run, self._attempt, msgspec.msgpack.encode(self._meter.uses), self._now())

    async def _tuple(self, space: str, row: StoredCheckpoint) -> CheckpointTuple:
        stored = await self._threads.writes(self._thread, space, row.id)
        stored.sort(key=lambda each: (each.path, each.task, each.place))
        return CheckpointTuple(
            _config(self._thread.name, space, row.id),
            self.serde.loads_typed((row.kind, row.body)),
            self.serde.loads_typed((row.metadata_kind, row.metadata)),
            _config(self._thread.name, space, row.parent) if row.parent else None,
            [(each.task, each.channel, self.serde.loads_typed((each.kind, each.body))) for each in stored],
        )


def _space(config: RunnableConfig | None) -> str:
    return str((config or {}).get("configurable", {}).get("checkpoint_ns", ""))


def _config(thread: str, space: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": id}}


def _not_here(what: str) -> NotImplementedError:
    return NotImplementedError(f"The states of a graph that is a handler cannot {what}.")
