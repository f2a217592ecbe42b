"""The real engine as a world: a store, a lease, frames and payloads, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from perdure.app.processes.deployment_gates import gates
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.bpmn.model import Model
from perdure.engine import Check, Engine
from perdure.errors import (
    BusinessError,
    ContractError,
    DefinitionError,
    PerdureError,
    RejectedError,
    Rejection,
    Transient,
    TransientInfrastructure,
)
from perdure.human_tasks import awaited_groups
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.instance_reader import InstanceReader
from perdure.sources import SystemSources, id_text
from perdure.store.audit import verify
from perdure.testing.fault_injection import FaultyDriver, Side
from perdure.testing.memory_folder import memory_folder
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.deployment_gates import refusal_of
from perdure.testing.scenarios.execution_trail import Trail
from perdure.testing.scenarios.flag_writers import Intakes
from perdure.testing.scenarios.livelock import Unrest
from perdure.testing.scenarios.stub_deployment import coming, contracts_of, deployed_from, misfits, stub_verbs
from perdure.testing.scenarios.verb_stubs import Stubs
from perdure.testing.scenarios.world import Refusal
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Call, Catalogue, Result

TENANT = "scenario-"
FOR_EVER = 2**62
MAX_INSTANCES = 1000


class EmbeddedWorld:
    """One scenario in one store; everything in memory may be dropped at any step."""

    def __init__(
        self, scenario: v.Scenario, url: str, catalogue: Catalogue, types: dict[str, str], seed: int = 0
    ) -> None:
        self._scenario = scenario
        self._url = url
        self._catalogue = catalogue
        self._types = types
        self._clock = VirtualSources(seed)
        self._stubs = Stubs(scenario.verbs)
        self._trail = Trail(Unrest(self._clock.now))
        self._acting: asyncio.Task[Any] | None = None
        self.origin = Origin(f"{TENANT}{id_text(SystemSources().new_id())}", "scenario")
        self._sandbox: Sandbox | None = None
        self.driver: FaultyDriver | None = None
        self._others = asyncio.all_tasks()
        self._deployed: dict[str, int] = {}
        self._intakes = Intakes()
        self._misfits: dict[str, v.Flags] = {}
        self._keys: dict[int, tuple[v.Start, str]] = {}
        self._carrier = "embedded"
        self.crash_at: tuple[int, Side] = (0, "before")
        """The commit, counted from opening, at which the process dies of itself; 0: it does not."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls, scenario: v.Scenario, store: str = "", crash_at: tuple[int, Side] = (0, "before")
    ) -> AsyncIterator[EmbeddedWorld]:
        """In a SQLite file of its own, or as a tenant of its own in the store named."""
        with TemporaryDirectory(prefix="perdure-scenario-", dir=memory_folder()) as folder:
            catalogue, types = stub_verbs(scenario)
            own = f"sqlite:///{Path(folder) / 'scenario.db'}"
            # Where others left their instances, ids must be new ones.
            seed = int(SystemSources().random() * 2**53) if store else 0
            world = cls(scenario, store or own, catalogue, types, seed)
            world.crash_at = crash_at
            await world._begin()
            world.crash_at = (0, "before")
            try:
                if store:
                    await world._refuse_other_work()
                yield world
                if store:
                    await world._leave_nothing()
            finally:
                await world.close()

    # --- a world ------------------------------------------------------------------------------------------------

    @property
    def trail(self) -> Trail:
        return self._trail

    async def deploy(self, model: Model) -> Refusal | None:
        refusal = refusal_of(model, self._scenario, self._deployed)
        if refusal is not None:
            return refusal
        contracts = contracts_of(model, self._scenario)
        self._intakes.learn(model.definitions)
        self._misfits |= misfits(self._scenario, model, contracts)
        along = coming(self._scenario)
        for process in model.definitions.executable():
            deployed = deployed_from(model.definitions, process, self._scenario, contracts)
            try:
                judged = await self.engine.judge(
                    model, self.origin, process=process.id, profile=self._scenario.profile, deployed=deployed,
                    along=along,
                )  # fmt: skip
                made = await self.engine.enter(judged, self.origin)
            except DefinitionError as error:
                codes = tuple(problem.code for problem in error.problems)
                return Refusal(codes, tuple(problem.sentence() for problem in error.problems))
            except PerdureError as error:
                return Refusal((error.code,), (str(error),))
            self._deployed[process.id] = made.version
        await self.idle()
        return None

    async def start(self, process: str, step: v.Start) -> None:
        """The same step asked for again, as after a crash, is the same start."""
        # The step is kept with its key: another one in the same place in memory would pass for it.
        _, key = self._keys.setdefault(id(step), (step, f"start-{len(self._keys) + 1}"))
        await self._do(
            self.engine.start(
                process, self.origin, data=step.data, flags={**self._misfits.get(process, {}), **step.flags},
                business_key=step.business_key, idempotency_key=key,
            )
        )  # fmt: skip

    async def publish(self, message: v.Message) -> None:
        await self._do(
            self.engine.publish(
                message.name, message.key, self.origin, message_id=message.id, ttl_seconds=message.ttl_seconds,
                data=message.data or None, flags=message.flags or None, writer=self._intakes.of_message(message.name),
            )
        )  # fmt: skip

    async def signal(self, signal: v.Signal) -> None:
        await self._do(
            self.engine.signal(
                signal.name, self.origin, message_id=signal.id, data=signal.data or None, flags=signal.flags or None,
                writer=self._intakes.of_signal(signal.name),
            )
        )  # fmt: skip

    async def complete_task(self, id: bytes, node: int, step: v.Task) -> None:
        """One answer by whom the scenario names; else as many as the groups that the task asks."""
        state = (await self.instances.read(id_text(id), self.origin)).state
        task = state.nodes[node].task if node in state.nodes else None
        for _ in (awaited_groups(task) if task is not None and not step.by else ()) or ("",):
            await self._answer_task(id, node, step)

    async def _answer_task(self, id: bytes, node: int, step: v.Task) -> None:
        who = v.actor((await self.instances.read(id_text(id), self.origin)).state, node, step)
        origin = Origin(self.origin.tenant, who.name, groups=who.groups)
        await self._do(
            self.engine.complete_task(
                id_text(id), node, origin, data=step.data or None, flags=step.flags or None,
                writer=self._intakes.of_task(step.element),
            )
        )  # fmt: skip

    async def cancel(self, id: bytes, step: v.Cancel) -> None:
        name = id_text(id)
        await self._do(self.engine.cancel(name, self.origin, reason=step.reason, compensate=step.compensates))

    async def suspend(self, id: bytes) -> None:
        await self._do(self.engine.suspend(id_text(id), self.origin))

    async def resume(self, id: bytes, step: v.Resume) -> None:
        await self._do(self.engine.resume(id_text(id), self.origin, shift_timers=step.timers == "shift"))

    async def retry(self, id: bytes, node: int, step: v.Retry) -> None:
        await self._do(self.engine.retry_incident(id_text(id), node, self.origin, flags=step.flags or None))

    async def resolve(self, id: bytes, node: int, step: v.Resolve) -> None:
        await self._do(
            self.engine.resolve_incident(
                id_text(id), node, self.origin, data=step.data or None, flags=step.flags or None, error=step.error
            )
        )

    async def modify(self, id: bytes, cancels: tuple[int, ...], step: v.Modify) -> None:
        await self._do(
            self.engine.modify(id_text(id), self.origin, cancel=cancels, start=step.start, flags=step.flags or None)
        )

    async def migrate(self, id: bytes, step: v.Migrate) -> None:
        await self._do(self.engine.migrate(id_text(id), self.origin, mapping=step.mapping))

    async def advance(self, seconds: float, months: int = 0) -> None:
        days, rest = divmod(seconds, 86_400)
        with self._until_rest():
            await self.sandbox.advance(f"P{months}M{days:.0f}DT{rest:.6f}S")

    async def crash(self) -> None:
        """No lease is given back and nothing is flushed: what comes next has only what was committed."""
        assert self.driver is not None
        self.driver.is_dead = True
        mine = {*self._others, asyncio.current_task()}
        lost = [task for task in asyncio.all_tasks() if task not in mine]
        for task in lost:
            task.cancel()
        await asyncio.gather(*lost, return_exceptions=True)
        self.sandbox.runtime.router.close()
        await self.driver.drop()
        await self._begin()
        await self._catch_up()
        await self.idle()

    async def states(self) -> dict[bytes, Instance]:
        return {id: (await self.instances.read(id_text(id), self.origin)).state for id in tuple(self._trail.started)}

    async def data(self, id: bytes) -> dict[str, Any]:
        found: dict[str, Any] = await self.instances.data(await self.instances.read(id_text(id), self.origin))
        return found

    async def audit(self) -> list[str]:
        """What is wrong with the store: everything is replayed, every row derived again, every step looked up."""
        runtime = self.sandbox.runtime
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        wrong = [str(finding) for finding in report.findings]
        for id, seen in self._trail.entries.items():
            told = [entry for each in await self.instances.history(id_text(id), self.origin) for entry in each.entries]
            if told != seen:
                wrong.append(f"the journal of {id_text(id)} is not what was seen to happen")
        return wrong

    async def close(self) -> None:
        if self._sandbox is not None:
            for task in list(self._clock.asleep):
                task.cancel()
            await self._sandbox.runtime.stop()
            self._sandbox = None

    # --- how it is kept going -----------------------------------------------------------------------------------

    @property
    def sandbox(self) -> Sandbox:
        """The platform as it runs now; another one after every crash."""
        assert self._sandbox is not None
        return self._sandbox

    @property
    def engine(self) -> Engine:
        return self.sandbox.runtime.engine

    @property
    def instances(self) -> InstanceReader:
        """Instances as our journal tells of them."""
        return self.sandbox.runtime.instances

    async def _begin(self) -> None:
        self.driver = FaultyDriver(quiet_driver(self._url), *self.crash_at)
        handlers = {verb: self._handler(type) for verb, type in self._types.items()}
        self._sandbox = await Sandbox.start(
            self._url, definitions=self._catalogue, handlers=handlers, tenant=self.origin.tenant,
            principal=self.origin.principal, clock=self._clock, driver=self.driver, checks=self._checks(),
            engine=self._carrier,
        )  # fmt: skip
        self._sandbox.runtime.kernel.listen(self._saw)

    def _checks(self) -> tuple[Check, ...]:
        """In the open profile a proof only warns, and nobody reads it here: large models would wait seconds for it."""
        lints, proves = gates(self._catalogue)
        return (lints,) if self._scenario.profile == "open" else (lints, proves)

    async def _catch_up(self) -> None:
        """What was committed by a process that died before it could say so."""
        listed = await self.instances.newest(self.origin, most=MAX_INSTANCES)
        for id in dict.fromkeys([*self._trail.started, *(each.id for each in reversed(listed))]):
            told = [entry for each in await self.instances.history(id_text(id), self.origin) for entry in each.entries]
            self._trail.saw(id, told[len(self._trail.entries.get(id, ())) :])

    def _saw(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        if aggregate.kind == InstanceMachine.kind and aggregate.tenant == self.origin.tenant:
            self._trail.saw(aggregate.id, entries)
            if self._trail.unrest.found and self._acting is not None:
                self._acting.cancel()
                self._acting = None

    @contextmanager
    def _until_rest(self) -> Iterator[None]:
        """Whoever waits for the engine to be idle waits no longer when it will never be: Endless."""
        self._acting = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._trail.unrest.found or task is None or task.uncancel():
                raise
        finally:
            self._acting = None
        self._trail.unrest.check()

    def _handler(self, type: str) -> Callable[[Call], Awaitable[Result]]:
        async def stub(call: Call) -> Result:
            about = (type, call.idempotency_key, self._trail.execution(call.idempotency_key))
            does = self._stubs.take(*about)
            if self._trail.unrest.found:
                await self._clock.sleep_until(FOR_EVER)
            if does.takes_seconds:
                await self._clock.sleep_until(self._stubs.ends_at(*about, self._clock.now()))
            return _done(does)

        return stub

    async def _do(self, asked: Awaitable[Any]) -> None:
        with self._until_rest():
            await asked
        await self.idle()

    async def idle(self) -> None:
        with self._until_rest():
            await self.sandbox.run_until_idle()

    async def _refuse_other_work(self) -> None:
        """Time is moved here, and whatever waits in the store would live through years."""
        for timer in await self.sandbox.runtime.store.due_timers(0, b"", FOR_EVER, 1000):
            if not timer.tenant.startswith(TENANT):
                fact = f"the tenant '{timer.tenant}' has work in it, and a scenario moves the clock"
                raise RejectedError(
                    Rejection("blocked", "run scenarios in", "store", self._url.partition("@")[2] or self._url, fact)
                )

    async def _leave_nothing(self) -> None:
        """So that the next scenario in this store is not disturbed by this one's timers."""
        for process, newest in self._deployed.items():
            for version in range(1, newest + 1):
                await self.engine.retire(process, version, self.origin, reason="the scenario is over")
        for id, state in (await self.states()).items():
            if state.status not in ENDED:
                await self.engine.cancel(id_text(id), self.origin, reason="the scenario is over")


def _done(does: v.Behaviour) -> Result:
    if does.business_error:
        raise BusinessError(does.business_error, does.text)
    match does.fail:
        case None:
            return Result(does.data, does.flags)
        case "transient_external":
            raise Transient(does.text or "the stub fails")
        case "permanent_contract":
            raise ContractError(does.text or "it breaks its contract")
        case "permanent_business":
            raise BusinessError(v.UNNAMED, does.text)
        case _:
            raise TransientInfrastructure(does.text or "the stub fails")
