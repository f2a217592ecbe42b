"""Graphs whose process is killed go on where they were: finished nodes are not run again, and cost counts once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import ormsgpack
import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel
from typing_extensions import TypedDict

from perdure.agent_usage import Meter, ModelUse
from perdure.errors import ContractError, FencedError, PayloadIntegrityError
from perdure.store.store import Store
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from perdure.work.agents import checkpoint_saver
from perdure.work.agents.checkpoint_saver import CheckpointSaver
from perdure.work.agents.graph_serialiser import GraphSerialiser
from perdure.work.agents.ports import GraphThread, Progress, StoredCheckpoint
from tests.conformance.stores import Raw
from tests.conftest import ROOT
from tests.crash.audit import assert_audit_passes
from tests.work.agents.killed_graph import NODES, VERBS

PATIENCE_SECONDS = 240
THREAD = GraphThread("default", "call:1", "call")


def live(url: str, folder: Path, kind: str) -> int:
    words = [sys.executable, "-m", "tests.work.agents.killed_graph", url, str(folder), kind]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr[-4000:]
    return done.returncode


@pytest.mark.req("O13", "V14")
@pytest.mark.parametrize("kind", ["call", "process"])
async def test_a_graph_killed_in_the_middle_goes_on_and_asks_nothing_twice(
    store_url: str, tmp_path: Path, kind: str
) -> None:
    assert live(store_url, tmp_path, kind) == -signal.SIGKILL
    assert (tmp_path / "asked.txt").read_text().split("\n")[:-1] == ["find Allianz"]
    assert live(store_url, tmp_path, kind) == 0
    assert (tmp_path / "asked.txt").read_text().split("\n")[:-1] == [f"{name} Allianz" for name in NODES]
    async with Sandbox.open(store_url, definitions=load_text(VERBS), handlers={"ubo.judge": lambda call: {}}) as found:
        if kind == "call":
            call = await found.call("ubo.judge", {"entity": "Allianz"}, idempotency_key="one")
            assert (call.state, call.result) == ("completed", {"verdict": "good"})
            usage = call.usage
        else:
            (view,) = await found.instances.list()
            shown = await found.instances.get(view.id)
            assert (shown.state, shown.data["verdict"]) == ("completed", "good")
            usage = shown.usage
        # Three questions of 0.0004: what the first life asked is neither lost nor counted again.
        assert (usage.tokens, usage.requests, usage.cost, usage.attempts) == (360, 3, "0.0012", 1)


class State(TypedDict, total=False):
    """Of the graphs below."""

    entity: str
    verdict: str
    found: str
    value: Any


RETRIED = VERBS.replace("kind: sync\n", "kind: sync\n    retry: {max_attempts: 3, base_delay: PT1S}\n")


class Nodes:
    """A graph in which two nodes run beside each other before the last; what ran is remembered."""

    def __init__(self, *, fails: int = 0, value: Any = "text", verdict: Any = "good") -> None:
        self.ran: list[str] = []
        self.fails, self.value, self.verdict = fails, value, verdict

    def graph(self) -> Any:
        async def find(state: State) -> State:
            self.ran.append("find")
            return {"found": "three"}

        async def read(state: State) -> State:
            self.ran.append("read")
            if self.fails:
                self.fails -= 1
                raise ConnectionError("away")
            return {"value": self.value}

        async def judge(state: State) -> State:
            self.ran.append("judge")
            return {"verdict": self.verdict}

        made = StateGraph(State)
        for name, node in (("find", find), ("read", read), ("judge", judge)):
            made.add_node(name, node)
        made.add_edge(START, "find")
        made.add_edge(START, "read")
        made.add_edge(["find", "read"], "judge")
        made.add_edge("judge", END)
        return made.compile()


def opened(url: str, nodes: Nodes, **options: Any) -> Any:
    handlers = {"ubo.judge": nodes.graph()}
    return Sandbox.open(url, definitions=load_text(RETRIED), handlers=handlers, **options)


@pytest.mark.req("O13")
async def test_a_node_that_fails_is_run_again_and_one_beside_it_that_ended_is_not(store_url: str) -> None:
    nodes = Nodes(fails=1)
    async with opened(store_url, nodes) as sandbox:
        call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
        await sandbox.advance("PT5S")
        await sandbox.run_until_idle()
        assert (await sandbox.status(call.id)).result == {"verdict": "good"}
    assert sorted(nodes.ran) == ["find", "judge", "read", "read"]
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_a_graph_whose_result_was_refused_begins_anew(sqlite_url: str) -> None:
    nodes = Nodes(verdict=7)
    async with opened(sqlite_url, nodes) as sandbox:
        call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
        assert (await sandbox.status(call.id)).attempt.error.code == "payload.schema"
        nodes.verdict = "good"
        await sandbox.retry(call.id)
        await sandbox.run_until_idle()
        assert (await sandbox.status(call.id)).result == {"verdict": "good"}
    assert sorted(nodes.ran) == ["find", "find", "judge", "judge", "read", "read"]


class Own(BaseModel):
    """A class that a state must not hold."""

    text: str


@pytest.mark.req("O13")
@pytest.mark.parametrize("value", [Own(text="x"), object(), lambda: 1], ids=["model", "object", "function"])
async def test_a_state_that_only_pickle_or_an_import_could_read_back_is_refused(sqlite_url: str, value: Any) -> None:
    async with opened(sqlite_url, Nodes(value=value)) as sandbox:
        call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
        error = (await sandbox.status(call.id)).attempt.error
        assert "A state of the graph" in error.message, error


@pytest.mark.req("O13")
async def test_a_state_that_is_too_large_is_refused_with_its_size(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_saver, "MAX_STATE_BYTES", 10_000)
    async with opened(sqlite_url, Nodes(value="x" * 20_000)) as sandbox:
        call = await sandbox.call("ubo.judge", {"entity": "Allianz"})
        error = (await sandbox.status(call.id)).attempt.error
        assert "may have 10,000" in error.message


@pytest.mark.req("O13")
async def test_states_of_a_graph_are_erased_with_their_call_and_with_no_other(store_url: str) -> None:
    async with opened(store_url, Nodes()) as sandbox:
        calls = [await sandbox.call("ubo.judge", {"entity": name}) for name in ("Allianz", "Munich Re")]
        threads = sandbox.runtime.store.agent_threads
        places = [GraphThread("default", f"{call.id}:1", call.id) for call in calls]
        assert [await threads.size(each) > 0 for each in places] == [True, True]
        await sandbox.erase(calls[0].id, "asked for")
        assert [await threads.size(each) > 0 for each in places] == [False, True]
    await assert_audit_passes(store_url)
    with Raw(store_url) as raw:
        assert raw("SELECT count(*) FROM agent_thread")[0][0] == 1


@asynccontextmanager
async def store_at(url: str) -> AsyncIterator[Store]:
    driver = quiet_driver(url)
    await driver.open()
    yield Store(driver, VirtualSources())
    await driver.close()


def state(id: str, body: bytes = b"") -> StoredCheckpoint:
    return StoredCheckpoint(id, "", "msgpack", body, "msgpack", b"")


async def test_a_run_that_was_overtaken_writes_nothing(store_url: str) -> None:
    async with store_at(store_url) as store:
        threads = store.agent_threads
        first = await threads.claim(THREAD, 1, 0)
        await threads.put(THREAD, "", state("1"), Progress(first.number, 1, b"used", 0), prunes=True)
        second = await threads.claim(THREAD, 1, 0)
        assert (second.number, second.attempt, second.used) == (2, 1, b"used")
        with pytest.raises(FencedError, match="another run of it has begun"):
            await threads.put(THREAD, "", state("2"), Progress(first.number, 1, b"late", 0), prunes=True)
        found = await threads.read(THREAD, "")
        assert found is not None and found.id == "1"
        assert (await threads.claim(THREAD, 1, 0)).used == b"used"


async def test_a_thread_is_its_tenants_own(store_url: str) -> None:
    async with store_at(store_url) as store:
        run = await store.agent_threads.claim(THREAD, 1, 0)
        await store.agent_threads.put(THREAD, "", state("1", b"x"), Progress(run.number, 1, b"", 0), prunes=True)
        other = THREAD._replace(tenant="other")
        assert await store.agent_threads.read(other, "") is None
        assert await store.agent_threads.size(other) == 0
        await store.agent_threads.forget(other)
        assert await store.agent_threads.size(THREAD) == 1


async def test_a_state_that_was_changed_in_the_store_is_not_gone_on_with(store_url: str) -> None:
    async with store_at(store_url) as store:
        run = await store.agent_threads.claim(THREAD, 1, 0)
        await store.agent_threads.put(THREAD, "", state("1", b"one"), Progress(run.number, 1, b"", 0), prunes=True)
        with Raw(store_url) as raw:
            raw(
                "UPDATE agent_checkpoint SET body = '\\x00'"
                if raw.is_postgres
                else "UPDATE agent_checkpoint SET body = x'00'"
            )
        with pytest.raises(PayloadIntegrityError, match="is not what was written"):
            await store.agent_threads.read(THREAD, "")


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (0, ("os", "system", "true")), (1, ("subprocess", "run", (["true"],))), (2, ("builtins", "dict", {})),
        (3, ("datetime", "datetime", "x", "utcfromtimestamp")), (5, ("tests.any", "Own", {}, "x")),
        (6, ("<f8", [], "C", b"")), (1, ("re", "compile", ("(a+)+$", 0))), (99, ("x", "y")),
    ],
)  # fmt: skip
def test_stored_bytes_that_name_anything_else_are_refused_and_nothing_is_called(code: int, parts: Any) -> None:
    body = ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))
    for hidden in (body, ormsgpack.packb({"deep": [ormsgpack.Ext(code, ormsgpack.packb(parts))]})):
        with pytest.raises(ContractError, match="A state of the graph holds"):
            GraphSerialiser().loads_typed(("msgpack", hidden))


@pytest.mark.parametrize("kind", ["pickle", "json", "msgpack+aes", ""])
def test_another_format_is_never_read(kind: str) -> None:
    with pytest.raises(ContractError, match="is never read"):
        GraphSerialiser().loads_typed((kind, b"\x80\x04N."))


def test_what_states_may_hold_is_read_back_as_it_was() -> None:
    serialiser = GraphSerialiser()
    for value in (
        None, b"bytes", {"a": [1, 2.5, "text", None, True]}, {1: {2, 3}}, AIMessage("good", id="1"),
        Send("node", {"a": 1}),
    ):  # fmt: skip
        assert serialiser.loads_typed(serialiser.dumps_typed(value)) == value


async def test_what_an_attempt_used_is_carried_over_to_its_next_run_and_to_no_other_attempt(store_url: str) -> None:
    async with store_at(store_url) as store:
        use = ModelUse("judge-1", 100, 20, 1)
        run = await store.agent_threads.claim(THREAD, 1, 0)
        used = msgspec.msgpack.encode((use,))
        await store.agent_threads.put(THREAD, "", state("1"), Progress(run.number, 1, used, 0), prunes=True)
        for attempt, expected in ((1, (use,)), (2, ())):
            meter = Meter()
            saver = CheckpointSaver(store.agent_threads, THREAD, meter, lambda: 0, keeps=False)
            assert await saver.begin(attempt) == (attempt == 1)
            assert meter.uses == expected
