"""The process stops before and after every commit of an instance's life: nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.bpmn.model import Value
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.crash.audit import assert_audit_passes
from tests.depth import killed_commits, some_kills
from tests.engines.embedded.engine_world import ORIGIN, VERBS, Handlers
from tests.engines.embedded.process_models import (
    END,
    START,
    call,
    flow,
    fork,
    line,
    message,
    model,
    pause,
    service,
    throw,
    user,
    wait,
)

pytestmark = pytest.mark.both_stores

MAX_COMMITS = 60
FLEETING = {"JobStarted", "JobDiscarded", "MessageIgnored"}

Act = Callable[["Trial", Sandbox], Awaitable[None]]


async def begin(trial: Trial, sandbox: Sandbox) -> None:
    view = await sandbox.instances.start(trial.name, {"given": 1}, idempotency_key=trial.name)
    trial.id = view.id
    await sandbox.run_until_idle()


async def ask_for(trial: Trial, sandbox: Sandbox) -> None:
    view = await sandbox.call("t.carried", {"given": 1}, idempotency_key=trial.name)
    trial.call = view.id
    await sandbox.run_until_idle()


async def send(trial: Trial, sandbox: Sandbox) -> None:
    await sandbox.publish("m", "k", {"note": 1}, message_id="m-1", ttl_seconds=3600)
    await sandbox.run_until_idle()


async def two_days(trial: Trial, sandbox: Sandbox) -> None:
    await sandbox.advance("P2D")


async def answer(trial: Trial, sandbox: Sandbox) -> None:
    for task in await sandbox.tasks.list():
        await sandbox.tasks.complete(task.key, {"verdict": "yes"}, message_id=f"t-{task.element}")
    await sandbox.run_until_idle()


async def claim_and_hand_on(trial: Trial, sandbox: Sandbox) -> None:
    (task,) = await sandbox.tasks.list()
    if task.assignee == "june":
        return  # it was done before the crash
    junior = sandbox.acting(principal="jack", groups=["juniors"])
    await junior.tasks.claim(task.key)
    await junior.tasks.delegate(task.key, "june")


async def answer_as_senior(trial: Trial, sandbox: Sandbox) -> None:
    senior = sandbox.acting(principal="sue", groups=["seniors"])
    for task in await sandbox.tasks.list():
        await senior.tasks.complete(task.key, {"verdict": "yes"}, message_id="t-1")
    await sandbox.run_until_idle()


async def cancel(trial: Trial, sandbox: Sandbox) -> None:
    await sandbox.cancel(trial.call)
    await sandbox.run_until_idle()


async def look(trial: Trial, sandbox: Sandbox) -> None:
    if trial.call:
        call = await sandbox.status(trial.call)
        assert call.state == STORIES[trial.name][2]
        trial.id = call.carrier.instance if call.carrier is not None else ""
    trial.view = await sandbox.instances.get(trial.id)
    trial.entries = [event.entry async for event in sandbox.instances.events(trial.id)]


LADDER = {"perdure:remind": "P1D, PT30H", "perdure:reassign": "PT36H seniors", "perdure:fourEyes": "true"}
MESSAGES = (message("m", key="k"),)
BOTH = model(
    "both",
    (START, fork("split"), service("a", "t.one"), service("b", "t.two"), fork("join"), END),
    (flow("start", "split"), flow("split", "a"), flow("split", "b"), flow("a", "join"), flow("b", "join"),
     flow("join", "end")),
)  # fmt: skip
STORIES: dict[str, tuple[tuple[Any, ...], tuple[Act, ...], str, dict[str, Any]]] = {
    "line": ((line("line", service("a", "t.one"), service("b", "t.two")),), (begin,), "completed",
             {"given": 1, "t_one": 1, "t_two": 1}),
    "both": ((BOTH,), (begin,), "completed", {"given": 1, "t_one": 1, "t_two": 1}),
    "waits": ((line("waits", wait("w", "m"), pause("p", "P1D"), user("u"), service("a", "t.one"), messages=MESSAGES),),
              (begin, send, two_days, answer), "completed", {"given": 1, "note": 1, "verdict": "yes", "t_one": 1}),
    "early": ((line("early", wait("w", "m"), service("a", "t.one"), messages=MESSAGES),), (send, begin), "completed",
              {"given": 1, "note": 1, "t_one": 1}),
    "flaky": ((line("flaky", service("a", "t.flaky")),), (begin, two_days), "completed", {"given": 1, "attempt": 3}),
    "parent": ((line("child", service("c", "t.two")), line("parent", call("in", "child"), service("a", "t.one"))),
               (begin,), "completed", {"given": 1, "t_one": 1, "t_two": 1}),
    "ladder": ((line("ladder", user("u", groups=Value("juniors"), properties=LADDER), service("a", "t.one")),),
               (begin, claim_and_hand_on, two_days, answer_as_senior), "completed",
               {"given": 1, "verdict": "yes", "t_one": 1}),
    "told": ((line("told", throw("say", "m"), wait("w", "m"), service("a", "t.one"), messages=MESSAGES),), (begin,),
             "completed", {"given": 1, "t_one": 1}),
    "carried": ((line("carried", service("a", "t.one"), service("b", "t.two")),), (ask_for,), "completed",
                {"given": 1, "t_one": 1, "t_two": 1}),
    "given up": ((line("carried", service("a", "t.one"), user("u")),), (ask_for, cancel), "cancelled",
                 {"given": 1, "t_one": 1}),
}  # fmt: skip


class Trial:
    """One story with one crash, repeated by its client until everything is acknowledged."""

    def __init__(self, url: str, name: str, crash_at: int, side: Side, tenant: str, clock: VirtualSources) -> None:
        self.url, self.name, self.clock, self.tenant = url, name, clock, tenant
        self.crash_at, self.side = crash_at, side
        self.handlers = Handlers()
        self.id = self.call = ""
        self.crashes = 0
        self.seen: list[str] = []
        self.view: Any = None
        self.entries: list[str] = []

    async def run(self) -> None:
        models, acts, *_ = STORIES[self.name]
        sandbox, faulty = await self._open(0)
        for each in models:
            await sandbox.processes.deploy(each, profile="open")
        await sandbox.runtime.stop()
        sandbox, faulty = await self._open(self.crash_at)
        for act in (*acts, look):
            while True:
                try:
                    await act(self, sandbox)
                    break
                except (Crash, asyncio.CancelledError):
                    assert faulty.is_dead
                    self.crashes += 1
                    self.seen = faulty.commits_seen
                    await faulty.abandon()
                    sandbox, faulty = await self._open(0)
        await sandbox.runtime.stop()

    async def _open(self, crash_at: int) -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, self.side)
        catalogue = load_text(VERBS.replace("required: [t_one], ", ""))
        sandbox = await Sandbox.start(
            self.url, definitions=catalogue, handlers=self.handlers.bound(catalogue), clock=self.clock, driver=faulty,
            tenant=self.tenant, principal=ORIGIN.principal,
        )  # fmt: skip
        if not crash_at:
            await sandbox.runtime.look_after()
        return sandbox, faulty


@pytest.mark.req("V14")
@pytest.mark.req("V15")
@pytest.mark.req("V17")
@pytest.mark.req("X6")
@pytest.mark.parametrize("name", STORIES)
@some_kills
async def test_a_crash_at_any_commit_of_an_instance_loses_nothing_and_repeats_nothing(
    name: str, store_url: str, every: int
) -> None:
    clock = VirtualSources(seed=1)
    _, _, status, data = STORIES[name]
    expected: Counter[str] | None = None
    for side in ("before", "after"):
        for crash_at in killed_commits(every, name + side, MAX_COMMITS):
            trial = Trial(store_url, name, crash_at, side, f"{side}-{crash_at}", clock)  # type: ignore[arg-type]
            await trial.run()
            where = (crash_at, side, trial.seen)
            assert (trial.view.state, _plain(trial.view.data)) == (status, data), where
            lasting = Counter(entry for entry in trial.entries if entry not in FLEETING)
            expected = expected or lasting
            assert lasting == expected, where
            for verb, keys in trial.handlers.keys.items():
                # What ran and was not recorded runs again, always under the same key.
                assert len(keys) == 1, (where, verb, keys)
                assert trial.handlers.runs[verb] <= (4 if verb == "t.flaky" else 2), (where, trial.handlers.runs)
            if trial.crashes == 0:
                break
        else:
            pytest.fail("the story never ran through without reaching the crash")
    await assert_audit_passes(store_url)


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """What a handler counts differs when it had to run again; that it ran is what counts here."""
    return {name: 1 if name.startswith("t_") else value for name, value in data.items()}
