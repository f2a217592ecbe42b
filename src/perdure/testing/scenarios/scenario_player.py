"""Plays a scenario in a world: deploys, does one step after the other, looks at what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

from perdure.bpmn.machine.state import ENDED, ROOT, Instance, Node
from perdure.bpmn.model import Model, nodes
from perdure.bpmn.xml import read_model_file
from perdure.errors import (
    DefinitionError,
    InvariantBroken,
    MergeConflictError,
    PayloadTooLargeError,
    PerdureError,
    RejectedError,
    SchemaViolationError,
)
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.expectation_checks import failures
from perdure.testing.scenarios.world import Refusal, World
from perdure.verbs.near_names import did_you_mean

_WAITS = frozenset({"task", "wait", "gate"})


class Late(Exception):
    """What a step is about was there and is gone: as in life, that is said and changes nothing."""


class Refused(Exception):
    """What a step is about is not there yet: said, and expectations decide whether that is right."""


class Impossible(Exception):
    """A step about something that can never be."""


REFUSALS = (Refused, RejectedError, SchemaViolationError, PayloadTooLargeError, MergeConflictError)


async def play(scenario: v.Scenario, world: World) -> v.Outcome:
    """How the scenario goes in this world."""
    play = _Play(scenario, world)
    refusal = await play.deploy(scenario.model)
    if refusal is None:
        for number, step in enumerate(scenario.steps):
            if not await play.take(number, step):
                break
    actual = await play.actual(refusal)
    wrong = [*play.failures, *failures(scenario.expect, actual)]
    if refusal is not None and wrong:
        wrong += refusal.sentences
    return v.Outcome(file=scenario.file, passed=not wrong, failures=wrong, actual=actual)


class _Play:
    def __init__(self, scenario: v.Scenario, world: World) -> None:
        self._scenario = scenario
        self._world = world
        self._processes: dict[str, None] = {}
        self._own: tuple[str, ...] = ()
        """The processes of the scenario's own model, as opposed to those of models deployed on the way."""
        self._elements: set[str] = set()
        self._names: dict[str, bytes] = {}
        self._remarks = [*scenario.remarks]
        self.failures: list[str] = []

    async def deploy(self, path: Any) -> Refusal | None:
        try:
            model: Model = read_model_file(path)
        except DefinitionError as error:
            problems = error.problems
            return Refusal(tuple(each.code for each in problems), tuple(each.sentence() for each in problems))
        except PerdureError as error:
            return Refusal((error.code,), (str(error),))
        self._own = self._own or tuple(process.id for process in model.definitions.executable())
        for process in model.definitions.executable():
            self._processes[process.id] = None
            self._elements.update(node.id for node in nodes(process.body))
        return await self._world.deploy(model)

    async def take(self, number: int, step: v.Step) -> bool:
        """One step; unless it never ends, the next ones are taken however it went, so that all of it can be told."""
        where = f"Step {number + 1}{self._line(number)}, {type(step).__name__.lower()}"
        try:
            self._check(step)
            await self._do(step)
        except Late as error:
            self._remarks.append(f"{where}: {error}")
        except REFUSALS as error:
            self._remarks.append(f"{where}: {error}")
            if self._scenario.expect is None:
                self.failures.append(f"{where}: {error}")
        except (Impossible, InvariantBroken) as error:
            self.failures.append(f"{where}: {error}")
            return isinstance(error, Impossible)
        return True

    def _line(self, number: int) -> str:
        return f" (line {self._scenario.lines[number]})" if number < len(self._scenario.lines) else ""

    def _check(self, step: v.Step) -> None:
        """What no model and no step has, nothing that happens can bring."""
        if missing := [each for each in _elements_of(step) if each not in self._elements]:
            raise Impossible(f"the model has no element '{missing[0]}'{_near(missing[0], self._elements)}")
        name = getattr(step, "to", "")
        if name and name not in (named := [each.name for each in self._scenario.steps if isinstance(each, v.Start)]):
            raise Impossible(f"no step starts an instance as '{name}'{_near(name, named)}")

    async def _do(self, step: v.Step) -> None:
        match step:
            case v.Start():
                await self._start(step)
            case v.Advance():
                await self._world.advance(step.seconds, step.months)
            case v.Message():
                await self._world.publish(step)
            case v.Signal():
                await self._world.signal(step)
            case v.Crash():
                await self._world.crash()
            case v.Deploy():
                await self._redeploy(step)
            case _:
                await self._to_instance(step)

    async def _redeploy(self, step: v.Deploy) -> None:
        refusal = await self.deploy(step.model)
        if refusal is not None:
            raise Refused(f"the model was refused: {' '.join(refusal.sentences) or ', '.join(refusal.codes)}")

    async def _to_instance(self, step: Any) -> None:
        match step:
            case v.Task():
                await self._world.complete_task(*await self._find(step, step.element, _is_task), step)
            case v.Retry():
                await self._world.retry(*await self._find(step, step.element, _is_stuck), step)
            case v.Resolve():
                await self._world.resolve(*await self._find(step, step.element, _is_stuck), step)
            case v.Cancel():
                await self._world.cancel(await self._running(step), step)
            case v.Suspend():
                await self._world.suspend(await self._running(step))
            case v.Resume():
                await self._world.resume(await self._running(step), step)
            case v.Migrate():
                await self._world.migrate(await self._running(step), step)
            case v.Modify():
                await self._modify(step)
            case _:
                assert_never(step)

    async def _start(self, step: v.Start) -> None:
        before = len(self._world.trail.roots)
        if step.message is not None:
            await self._world.publish(step.message)
        elif step.signal is not None:
            await self._world.signal(step.signal)
        else:
            await self._world.start(self._process(step), step)
        made = self._world.trail.roots[before:]
        if not made:
            raise Refused("no instance was started")
        if step.name:
            self._names[step.name] = made[0]

    def _process(self, step: v.Start) -> str:
        named = step.process or self._scenario.process
        if named:
            if named not in self._processes:
                raise Impossible(f"the file has no executable process '{named}', only {', '.join(self._processes)}")
            return named
        if len(self._own) != 1:
            raise Impossible(f"the file has {len(self._own)} executable processes: say which with process:")
        return self._own[0]

    async def _modify(self, step: v.Modify) -> None:
        id = await self._running(step)
        state = (await self._world.states())[id]
        missing = [each for each in step.cancel if each not in {node.element for node in state.nodes.values()}]
        if missing:
            raise Refused(f"no token stands on {', '.join(missing)}")
        cancels = tuple(number for number, node in state.nodes.items() if node.element in step.cancel)
        await self._world.modify(id, cancels, step)

    async def _running(self, step: Any) -> bytes:
        """The instance a step names, or the first that still runs: to resume one that is held, else one that is not."""
        named, states = self._named(step.to), await self._world.states()
        asked = [named] if named is not None else self._world.trail.roots
        if not asked:
            raise Refused("no instance was started before")
        running = [id for id in asked if states[id].status not in ENDED]
        if not running:
            raise Late("the instance has ended" if len(asked) == 1 else "all instances have ended")
        is_held = isinstance(step, v.Resume)
        return next((id for id in running if (states[id].status == "suspended") == is_held), running[0])

    def _named(self, name: str) -> bytes | None:
        if name and name not in self._names:
            raise Refused(f"no instance was started as '{name}' yet")
        return self._names.get(name)

    async def _find(self, step: Any, element: str, fits: Callable[[Node], bool]) -> tuple[bytes, int]:
        """Where something waits for this step: in the instance named, or in the first where it does."""
        named = self._named(step.to)
        for id, state in (await self._world.states()).items():
            if state.status in ENDED or named not in (None, id):
                continue
            for node in state.nodes.values():
                if element in ("", node.element) and fits(node):
                    return id, node.number
        if self._world.trail.has_reached(element, named) or (not element and self._world.trail.visited):
            raise Late(f"nothing waits at '{element}' any more" if element else "nothing is stuck any more")
        raise Refused(f"nothing has waited at '{element}' yet" if element else "nothing has been stuck yet")

    async def actual(self, refusal: Refusal | None) -> v.Actual:
        trail = self._world.trail
        states = {} if refusal is not None else await self._world.states()
        first = trail.roots[0] if trail.roots else None
        return v.Actual(
            deploy="accepted" if refusal is None else "refused", codes=list(refusal.codes) if refusal else [],
            state=states[first].status if first is not None else None, ran=list(trail.ran),
            visited=list(trail.visited), parked=[name for state in states.values() for name in _parked(state)],
            incidents=sum(_incidents(state) for state in states.values()),
            states={name: states[id].status for name, id in self._names.items()},
            flags=states[first].flags if first is not None else {},
            data=await self._world.data(first) if first is not None else {},
            remarks=[*self._remarks, *(each for state in states.values() for each in _troubles(state))],
        )  # fmt: skip


def _elements_of(step: v.Step) -> Iterator[str]:
    """The elements a step names."""
    match step:
        case v.Task() | v.Retry() | v.Resolve():
            yield from filter(None, (step.element,))
        case v.Modify():
            yield from (*step.cancel, *step.start)
        case v.Migrate():
            yield from (*step.mapping, *step.mapping.values())
        case _:
            return


def _near(name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f". {hint}" if hint else ""


def _is_task(node: Node) -> bool:
    return node.kind == "task"


def _is_stuck(node: Node) -> bool:
    return node.incident is not None


def _parked(state: Instance) -> Iterator[str]:
    """Elements that wait for the outside: people, messages, signals, time, conditions."""
    if state.status in ENDED:
        return
    for node in state.nodes.values():
        if node.kind in _WAITS and node.incident is None and node.number != ROOT:
            yield node.element


def _troubles(state: Instance) -> Iterator[str]:
    """What open incidents say."""
    for node in state.nodes.values() if state.status not in ENDED else ():
        if node.incident is not None:
            yield f"Incident at '{node.element}' ({node.incident.code}): {node.incident.text}"


def _incidents(state: Instance) -> int:
    return 0 if state.status in ENDED else sum(node.incident is not None for node in state.nodes.values())
