"""A story for each of the eight models: what happens to one instance, and what became of it on whatever engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from perdure import Call, Perdure
from perdure.bpmn.contract import read_contract
from perdure.bpmn.xml import read_model
from perdure.scaffold.identifiers import pascal, snake
from perdure.verbs import Catalogue, load_text
from tests.contract.contract_world import MODELS
from tests.scaffold.example_bodies import BODIES

PATIENCE_SECONDS = 120


class Tell(msgspec.Struct, frozen=True):
    """A message comes for the wait that is open under its key."""

    name: str
    key: str
    payload: dict[str, Any] = {}


class Decide(msgspec.Struct, frozen=True):
    """A person answers a user task, by its element and by the name of its Update."""

    element: str
    update: str
    decision: str
    reason: str = ""


class Story(msgspec.Struct, frozen=True):
    process: str
    state: dict[str, Any]
    acts: tuple[Tell | Decide, ...] = ()
    shortened: dict[str, str] = {}
    """Timers that are not waited for as long as the model says."""


class Ended(msgspec.Struct, frozen=True):
    """How an instance ended: its state without what is unset, and the keys its work was counted by, without its id."""

    data: Any
    keys: tuple[str, ...]


def work(type: str, count: str, findings: str) -> Tell:
    """The answer to a request: its key is what the body of the request gave."""
    return Tell("WorkCompleted", f"{type}_request_{count}", {"findings": findings})


STORIES: dict[str, Story] = {
    "linear": Story("ship_order", {"order": {"id": 7, "quantity": 2}, "customer": "Ann"}),
    "request-and-wait": Story(
        "render_film", {"film": "f"}, (Tell("RenderingCompleted", "job-f", {"frames": 24, "location": "/f"}),)
    ),
    "gate": Story("approve_claim", {"claim": {"id": "c"}}, (Decide("approve", "DecideClaim", "approved", "fine"),)),
    "loop": Story("write_article", {"topic": "birds"}, (
        Decide("review", "Update_review", "bad", "longer"), Decide("review", "Update_review", "good", "yes"),
    )),
    "parallel": Story("check_order", {"order": "o", "customer": "Ann"}),
    "boundary-timer": Story(
        "sign_contract", {"contract": "c", "client": "Ann"}, shortened={">P7D<": ">PT1S<", ">P14D<": ">PT6S<"}
    ),
    "subprocess": Story("fulfil_order", {"order": "o"}),
    "delivery": Story("deliver_change", {"change": "ch"}, (
        work("requirements", "start-collect/1", "r"), work("specification", "start-specify/1", "s"),
        Decide("accept_specification", "Update_accept_specification", "approved", "a"),
        work("implementation", "start-implement/1", "i"), work("verification", "start-verify/1", "broken"),
        work("implementation", "start-implement/2", "i"), work("verification", "start-verify/2", "none"),
        work("acceptance", "start-prepare/1", "a"),
        Decide("accept_change", "AcceptChange", "approved", "b"),
        Decide("approve_release", "Update_approve_release", "approved", "c"),
        work("release", "start-roll_out/1", "out"), work("release", "watch-watch/1", "quiet"),
    )),
}  # fmt: skip


def model_text(name: str) -> str:
    """The model of a story, its timers shortened."""
    text = (MODELS / f"{name}.bpmn").read_text("utf-8")
    for long, short in STORIES[name].shortened.items():
        assert long in text
        text = text.replace(long, short)
    return text


def types_of(name: str) -> set[str]:
    return {each.definition.type for each in read_contract(read_model(model_text(name).encode(), name)).work.values()}


def verbs(*names: str) -> Catalogue:
    types = sorted({type for name in names for type in types_of(name)})
    return load_text("".join(f"- {{name: {type}, description: Do it, execution: {{kind: sync}}}}\n" for type in types))


def handlers(folder: Path, keys: dict[str, list[str]], *names: str) -> dict[str, Callable[[Call], Any]]:
    """The bodies that a scaffolded project has, as handlers; `keys` are told by the instance.

    The bodies know nothing of Temporal: each reads a request and a step, and makes a result.
    """
    found = {type: BODIES[name][snake(type)] for name in names for type in types_of(name)}
    lines: list[str] = []
    for type, body in found.items():
        lines += [f"def {pascal(type)}Result(**values):", "    return values", ""]
        lines += [f"def {snake(type)}(request, step):", *(f"    {line}" for line in body.splitlines()), ""]
    file = folder / "bodies.py"
    file.write_text("\n".join(lines), "utf-8")
    spec = spec_from_file_location("bodies", file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {type: _handler(getattr(module, snake(type)), keys) for type in found}


def _handler(body: Callable[[Any, Any], Any], keys: dict[str, list[str]]) -> Callable[[Call], Any]:
    def handler(call: Call) -> dict[str, Any]:
        keys.setdefault(call.call_id, []).append(call.idempotency_key.replace(call.call_id, "INSTANCE"))
        step_instance = "/".join(call.idempotency_key.rsplit("/", 2)[1:])
        return body(_Request(call.args), SimpleNamespace(headers=call.headers, step_instance_id=step_instance)) or {}

    return handler


class _Request:
    """Fields by their names; one that is unset is None, as in a scaffolded project."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        self._args = args

    def __getattr__(self, name: str) -> Any:
        return self._args.get(name)


async def play(url: str, engine: str, folder: Path, *names: str) -> dict[str, Ended]:
    """Every story on one engine, one after the other."""
    keys: dict[str, list[str]] = {}
    (folder / "policies.yaml").write_text((MODELS / "policies.yaml").read_text("utf-8"), "utf-8")
    given = handlers(folder, keys, *names)
    async with Perdure.open(url, definitions=verbs(*names), handlers=given, engine=engine) as perdure:
        found: dict[str, Ended] = {}
        for name in names:
            file = folder / f"{name}.bpmn"
            file.write_text(model_text(name), "utf-8")
            await perdure.processes.deploy(file, profile="contract")
            async with asyncio.timeout(PATIENCE_SECONDS):
                id = await _played(perdure, STORIES[name])
            done = await perdure.instances.get(id)
            assert (done.state, list(done.incidents)) == ("completed", []), (name, done)
            found[name] = Ended(bare(done.data), tuple(sorted(keys[id])))
        return found


async def _played(perdure: Perdure, story: Story) -> str:
    id = (await perdure.instances.start(story.process, story.state)).id
    for number, act in enumerate(story.acts):
        match act:
            case Tell():
                while not await _awaits(perdure, id, act):
                    await asyncio.sleep(0.05)
                await perdure.publish(act.name, act.key, act.payload, message_id=f"m-{number}-{id}")
            case Decide():
                while (task := await _open_task(perdure, id, act.element)) is None:
                    await asyncio.sleep(0.05)
                await perdure.complete(task, {"decision": act.decision, "reason": act.reason})
    while not (await perdure.instances.get(id)).is_ended:
        await asyncio.sleep(0.05)
    return id


async def _awaits(perdure: Perdure, id: str, act: Tell) -> bool:
    return any((each.name, each.key) == (act.name, act.key) for each in (await perdure.instances.get(id)).waits)


async def _open_task(perdure: Perdure, id: str, element: str) -> str | None:
    found = [each for each in await perdure.tasks.list() if (each.instance, each.element) == (id, element)]
    return found[0].key if found else None


def bare(value: Any) -> Any:
    """A value without what is unset."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if each is not None}
    return [bare(each) for each in value] if isinstance(value, list) else value
