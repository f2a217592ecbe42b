"""The job worker: it polls Camunda for the jobs that this process serves, checks what comes with them, and leases them here.

| a job that comes | becomes |
|---|---|
| of a frame that is ready here | leased: its handler runs, and what it returns is asked of Camunda |
| of a frame that waits for its next attempt | the same: Camunda's pause is over |
| of a frame that is under way | nothing: it is known already, and its completion is on its way |
| of a frame that was completed | completed again with the payload and the flags that were kept; nothing runs |
| for a user task that our journal holds | its key is kept, and the task is answered here |
| of an instance that another one stands for, or that was moved away | refused, and that process instance is cancelled |
| of an instance that is none of ours | an incident in Camunda |
| with a payload that is altered, foreign or older than its token, or with a flag that nobody wrote | an incident in both |
"""  # noqa: E501

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import ENDED, Instance, Node
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.carried_model import TASK_JOB
from perdure.engines.camunda.instance_turns import LOOK, RACE_SECONDS
from perdure.engines.camunda.key_rows import PLATFORM, Frame, KeyRows
from perdure.engines.camunda.payload_check import payload_fault
from perdure.engines.camunda.rest_client import Gone, Refused, RestClient, WrongState
from perdure.engines.camunda.wire import LOOP, PAYLOAD, PAYLOAD_HASH, ActivatedJob, Request
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_leases import JobLeases
from perdure.errors import EngineUnavailableError, PerdureError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.payload import digest_text
from perdure.sources import SECOND, Id, Sources, id_text
from perdure.work.ports import JobFound

MAX_JOBS = 32
PAUSE = SECOND
MAX_TYPES = 200
MAX_WORDS = 2_000
MAX_TAKEN = 20_000
MAX_LAG_SECONDS = 600
"""How far Camunda's exporter may be behind before a job that our journal cannot explain is an incident."""
log = logging.getLogger("perdure")


class JobWorker:
    """One per process. A poll is open for each type of job that it serves."""

    def __init__(
        self, instances: Instances, leases: JobLeases, commands: CarriedCommands, keys: KeyRows, client: RestClient,
        sources: Sources,
    ) -> None:  # fmt: skip
        self._instances = instances
        self._leases = leases
        self._commands = commands
        self._keys = keys
        self._client = client
        self._sources = sources
        self._origin = Origin(client.address.tenant, PLATFORM)
        self._polls: dict[str, asyncio.Task[None]] = {}
        self._taking: set[asyncio.Task[None]] = set()
        self._taken: OrderedDict[str, str] = OrderedDict()
        """The latest activation of each job that was taken, by its deadline."""
        self._flags: dict[str, set[str]] = {}
        self._waited: dict[str, int] = {}
        """Since when a job waits for our journal."""
        self._is_open = False
        self._name = f"perdure-{id_text(sources.new_id())[-8:].lower()}"

    def open(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        self._is_open = False
        tasks = [*self._polls.values(), *self._taking]
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._polls.clear()

    def serve(self, types: Sequence[str], flags: Iterable[str] = ()) -> None:
        """Poll for jobs of these types from now on; `flags` are those of the process that has them."""
        for type in types:
            self._flags.setdefault(type, set()).update(flags)
            if not self._is_open or type in self._polls:
                continue
            if len(self._polls) >= MAX_TYPES:
                log.error(
                    "Jobs of type '%s' are not polled for: %s types are the most of one process.", type, MAX_TYPES
                )
                continue
            self._polls[type] = asyncio.create_task(self._poll(type))

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(self._polls)

    async def _poll(self, type: str) -> None:
        while True:
            names = [PAYLOAD, PAYLOAD_HASH, LOOP, *sorted(self._flags[type])]
            most = min(MAX_JOBS, max(0, self._instances.conductor.room))
            try:
                if most:
                    for job in await self._client.activate(type, names, most, self._name):
                        self._spawn(job)
                    continue
            except EngineUnavailableError as error:
                log.debug("%s", error)
            except Exception as error:
                log.warning("Jobs of type '%s' cannot be asked for: %s", type, error)
            await self._sources.sleep(PAUSE)

    def _spawn(self, job: ActivatedJob) -> None:
        task = asyncio.create_task(self.tried(job))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    async def tried(self, job: ActivatedJob) -> None:
        """Take a job; what hinders it is logged, and Camunda gives it again."""
        try:
            await self.take(job)
        except EngineUnavailableError as error:
            log.debug("%s", error)  # Camunda gives the job again when its lock ends
        except (Gone, WrongState) as lost:
            log.info("Job %s is not there any more: %s", job.key, lost)
        except (Refused, PerdureError) as error:
            log.warning("Job %s of type '%s' cannot be taken: %s", job.key, job.type, error)
            await self._give_back(job, str(error))
        except Exception:
            log.exception("Job %s of type '%s' cannot be taken", job.key, job.type)

    # --- taking --------------------------------------------------------------------------------------------------

    async def take(self, job: ActivatedJob) -> None:
        """One delivery of a job; it may be the second."""
        id = await self._bound(job)
        if id is None:
            await self._refuse(job, f"Perdure did not begin process instance {job.instance}.")
            return
        if await self._keys.key_of(id) != job.instance or await self._commands.is_foreign(id):
            await self._commands.cancel_twin(job.instance)
            return
        origin = self._origin
        if await self._state(id, origin) is None and await self._commands.is_given_up(id, origin):
            await self._commands.cancel_twin(job.instance)
            return
        frame = await self._keys.frame_of(job.key)
        if frame is not None and frame.instance != id:
            words = f"Perdure knows job {job.key} as one of instance {id_text(frame.instance)}: is it the same cluster?"
            await self._refuse(job, words)
            return
        node = await self._standing(id, job, frame, origin)
        if node is not None:
            if self._is_new(job):
                await self._take_up(id, job, node, origin)
        elif frame is not None:
            await self._replay(job, frame, origin)

    def _is_new(self, job: ActivatedJob) -> bool:
        """Whether it is the first delivery of an activation."""
        if job.deadline and self._taken.get(job.key) == job.deadline:
            return False
        self._taken[job.key] = job.deadline
        if len(self._taken) > MAX_TAKEN:
            self._taken.popitem(last=False)
        return True

    async def _bound(self, job: ActivatedJob) -> Id | None:
        """The instance that a job is of. A start whose answer was lost is bound by its first job."""
        until = self._sources.monotonic() + int(RACE_SECONDS * SECOND)
        while True:
            if (id := await self._keys.instance_of(job.instance)) is not None:
                return id
            if job.payload_hash and (id := await self._keys.instance_of_head(job.payload_hash)) is not None:
                await self._keys.bind(id, job.instance)
                return id
            if self._sources.monotonic() >= until:
                return None
            await self._sources.sleep(LOOK)

    async def _standing(self, id: Id, job: ActivatedJob, frame: Frame | None, origin: Origin) -> Node | None:
        """The token that a job is of, once our journal has come there; None when it is past that.

        What led there may have to be exported first: a job that nothing explains is given back when its lock ends, and
        refused only when it came before `MAX_LAG_SECONDS`.
        """
        now = self._sources.monotonic()
        since = self._waited.setdefault(job.key, now)
        until = now + self._client.address.lock_seconds * SECOND * 3 // 4
        while True:
            state = await self._state(id, origin)
            if state is not None:
                node = await self._found(id, state, job, frame)
                if node is not None or frame is not None or state.status in ENDED:
                    self._waited.pop(job.key, None)
                    return node
            now = self._sources.monotonic()
            if now - since > MAX_LAG_SECONDS * SECOND:
                self._waited.pop(job.key, None)
                await self._refuse(job, f"Perdure's journal has no token at '{job.element}' for it.")
                return None
            if now >= until:
                return None
            await self._sources.sleep(LOOK)

    async def _state(self, id: Id, origin: Origin) -> Instance | None:
        """An instance as it is; None when its start is about to be appended."""
        try:
            state: Instance = (await self._instances.read(id, origin)).state
        except RejectedError:
            return None
        return state

    async def _found(self, id: Id, state: Instance, job: ActivatedJob, frame: Frame | None) -> Node | None:
        if frame is not None:
            node = state.nodes.get(frame.node)
            return node if node is not None and _run(node) == frame.run else None
        for node in sorted(state.nodes.values(), key=lambda each: each.number):
            # Jobs of iterations come together: the one that is bound to a token second looks for another.
            if _fits(node, job) and await self._keys.bind_job(job.key, Frame(id, node.number, _run(node))):
                return node
        return None

    async def _take_up(self, id: Id, job: ActivatedJob, node: Node, origin: Origin) -> None:
        if job.type == TASK_JOB and node.job is None:
            return
        aggregate = await self._instances.read(id, origin)
        node = aggregate.state.nodes.get(node.number) or node
        if node.job is None or node.job.status == "leased":
            return
        fault = await payload_fault(self._instances, aggregate, node, job)
        if fault:
            await self._raise(id, node, fault, origin)
            return
        if node.incident is not None:
            await self._commands.resolved_there(id, origin, node.number)
        if node.job.status == "pending":
            retry = c.FireTimer(number=node.number, kind="retry", due=node.job.retry_at)
            await self._instances.ask(id, origin, Prepared(retry))
        if not await self._leases.lease(JobFound(id, node.number, origin.tenant, 0, node.job.definition)):
            await self._give_back(job, "No worker of Perdure could take it.")

    async def _give_back(self, job: ActivatedJob, words: str) -> None:
        """Camunda gives the job again in a moment, and none of its attempts is used; not one that is under way here."""
        if not await self._is_idle(job):
            return
        body = {"retries": max(1, job.retries), "errorMessage": words[:MAX_WORDS], "retryBackOff": PAUSE // 1000}
        try:
            await self._client.send(Request("POST", f"/jobs/{job.key}/failure", body))
        except (Gone, WrongState, Refused, PerdureError) as error:
            log.debug("Job %s cannot be given back: %s", job.key, error)

    async def _is_idle(self, job: ActivatedJob) -> bool:
        """Whether the frame of a job waits for a worker."""
        frame = await self._keys.frame_of(job.key)
        state = await self._state(frame.instance, self._origin) if frame is not None else None
        node = state.nodes.get(frame.node) if state is not None and frame is not None else None
        return node is not None and node.job is not None and node.job.status in ("ready", "pending")

    async def _raise(self, id: Id, node: Node, fault: str, origin: Origin) -> None:
        command = c.RaiseIncident(node=node.number, code="payload.refused", text=fault)
        await self._instances.ask(id, origin, Prepared(command))

    async def _refuse(self, job: ActivatedJob, words: str) -> None:
        """An incident in Camunda: nothing here is about it."""
        log.warning("Job %s of type '%s' is refused: %s", job.key, job.type, words)
        body = {"retries": 0, "errorMessage": words, "retryBackOff": 0}
        await self._client.send(Request("POST", f"/jobs/{job.key}/failure", body))

    # --- replaying -----------------------------------------------------------------------------------------------

    async def _replay(self, job: ActivatedJob, frame: Frame, origin: Origin) -> None:
        """A frame that was completed: the same payload and flags again; one that was left otherwise is left."""
        aggregate = await self._instances.read(frame.instance, origin)
        found = await self._completion(aggregate, frame, origin)
        if found is not None:
            await self._client.send(Request("POST", f"/jobs/{job.key}/completion", {"variables": found}))

    async def _completion(self, aggregate: Aggregate, frame: Frame, origin: Origin) -> dict[str, Any] | None:
        for told in reversed(await self._instances.history(frame.instance, origin)):
            done = next((x for x in told.entries if isinstance(x, e.JobCompleted) and x.number == frame.node), None)
            if done is None:
                continue
            flags: dict[str, Any] = {}
            for entry in told.entries:
                if isinstance(entry, e.FlagsWritten) and entry.verb == done.verb:
                    flags.update(entry.flags)
            text = await self._instances.store.payload(aggregate.id, done.head)
            if text is None:
                return flags
            return {PAYLOAD: text.decode("utf-8", "surrogateescape"), PAYLOAD_HASH: digest_text(done.head), **flags}
        return None


def _run(node: Node) -> int:
    return node.job.run if node.job is not None else 0


def _fits(node: Node, job: ActivatedJob) -> bool:
    if node.element != job.element or (job.iteration and node.iteration and node.iteration != job.iteration):
        return False
    if job.type == TASK_JOB:
        return node.kind == "task"
    return node.job is not None and node.job.type == job.type
