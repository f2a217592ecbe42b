"""Versions, rollout, migration and starts by messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perdure import orchestration
from perdure.errors import DefinitionError, RejectedError
from perdure.orchestration import (
    MessageBus,
    ServiceTask,
    Timer,
    Workflow,
    WorkflowEngine,
    WorkflowMigration,
    WorkflowRegistry,
)
from perdure.testing import Sandbox
from perdure.workflows.versions import Version, VersionError, parse_version

CLASSES = (
    "Workflow WorkflowEngine WorkflowInstance ServiceTask UserTask ScriptTask ExclusiveGateway ParallelGateway "
    "EventBasedGateway TimerEvent MessageEvent SignalEvent CompensationHandler WorkflowTransaction WorkflowRegistry "
    "Timer EndEvent RetryPolicy WorkflowMigration MessageBus"
)


def greeting(version: str, says: str = "", id: str = "greeting") -> Workflow:
    """Waits a day, and says by which version it was done."""
    workflow = Workflow(id, version)
    step = ServiceTask("step", function=lambda inputs: {"by": says or version}, output_variables=["by"])
    workflow.start().then(Timer("day", duration="P1D")).then(step).end()
    return workflow


def registry_of(*versions: str) -> WorkflowRegistry:
    registry = WorkflowRegistry()
    for version in versions:
        registry.register(greeting(version))
    return registry


def test_every_class_can_be_imported_from_one_place() -> None:
    assert [name for name in CLASSES.split() if getattr(orchestration, name, None) is None] == []
    assert set(CLASSES.split()) <= set(orchestration.__all__)


@pytest.mark.req("O9")
def test_versions_are_compared_with_their_suffixes() -> None:
    written = ["1.10", "2.0-strict", "1.9", "2.0", "1.10.1", "2.0-alpha"]
    assert sorted(written, key=parse_version) == ["1.9", "1.10", "1.10.1", "2.0-alpha", "2.0-strict", "2.0"]
    numbers = [parse_version(each).number for each in sorted(written, key=parse_version)]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) == parse_version("2.0").number
    assert all(0 < parse_version(each).number < 10**10 for each in ("0.0-a", "0.0.1-b", "9999.999.999"))
    assert parse_version("1.0") == Version(1, 0, 0, True)
    for wrong in ("one", "1.x", "", "1..2"):
        with pytest.raises(VersionError):
            parse_version(wrong)


@pytest.mark.req("O9")
def test_latest_is_the_highest_active_version() -> None:
    registry = registry_of("1.0", "2.0", "1.5", "3.0-beta")
    assert registry.get("greeting").version == "3.0-beta"
    registry.set_status("greeting", "3.0-beta", "deprecated")
    assert registry.get("greeting", "latest").version == "2.0"
    assert registry.get("greeting", "3.0-beta").version == "3.0-beta"
    assert registry.list_versions("greeting") == ["1.0", "1.5", "2.0", "3.0-beta"]
    with pytest.raises(DefinitionError, match=r"Known: 1\.0, 1\.5, 2\.0, 3\.0-beta"):
        registry.get("greeting", "9.0")


@pytest.mark.req("O9")
def test_a_rollout_is_stable_by_key_and_near_its_weights() -> None:
    registry = registry_of("1.0", "1.1")
    registry.rollout("greeting", weights={"1.1": 10, "1.0": 90}, segments={"segment": {"enterprise": "1.0"}})
    arms = [registry.choose("greeting", f"customer-{number}").version for number in range(2000)]
    assert arms == [registry.choose("greeting", f"customer-{number}").version for number in range(2000)]
    assert 140 < arms.count("1.1") < 260
    lucky = f"customer-{arms.index('1.1')}"
    chosen = registry.choose("greeting", lucky, {"segment": "enterprise"})
    assert (chosen.version, chosen.rule) == ("1.0", "segment=enterprise")


@pytest.mark.req("O9")
async def test_instances_run_the_code_of_their_version_and_say_which_arm_they_are_of(store_url: str) -> None:
    registry = registry_of("1.0", "1.1")
    registry.rollout("greeting", weights={"1.1": 50, "1.0": 50})
    engine = WorkflowEngine(store=store_url, registry=registry, open=Sandbox.open)
    async with engine:
        sandbox = await engine.open()
        assert isinstance(sandbox, Sandbox)
        started = [await engine.start_workflow("greeting", business_key=f"k{number}") for number in range(8)]
        again = await engine.start_workflow("greeting", business_key="k0", idempotency_key="once")
        repeated = await engine.start_workflow("greeting", business_key="k0", idempotency_key="once")
        assert again.instance_id == repeated.instance_id
        await sandbox.advance("P1D")
        for each in [*started, again]:
            assert each.arm.startswith(f"{each.workflow_version}: weight")
            assert await each.get_variable("by") == each.workflow_version
        assert {each.workflow_version for each in started} == {"1.0", "1.1"}


@pytest.mark.req("O9")
async def test_a_deprecated_version_is_begun_by_name_only_and_a_retired_one_not_at_all(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    for _ in range(2):  # what was decided holds after a restart
        registry = registry_of("1.0", "1.1", "1.2")
        registry.set_status("greeting", "1.2", "deprecated")
        registry.set_status("greeting", "1.0", "retired")
        async with WorkflowEngine(store=url, registry=registry, open=Sandbox.open) as engine:
            assert (await engine.start_workflow("greeting")).workflow_version == "1.1"
            assert (await engine.start_workflow("greeting", version="1.2")).workflow_version == "1.2"
            with pytest.raises(RejectedError, match="retired"):
                await engine.start_workflow("greeting", version="1.0")
            perdure = await engine.open()
            assert [(each.version, each.status) for each in await perdure.workflows.versions("greeting")] == [
                ("1.0", "retired"), ("1.1", "active"), ("1.2", "deprecated"),
            ]  # fmt: skip


@pytest.mark.req("O10")
async def test_a_running_instance_moves_to_another_version_and_back(store_url: str) -> None:
    async with WorkflowEngine(store=store_url, registry=registry_of("1.0", "1.1"), open=Sandbox.open) as engine:
        sandbox = await engine.open()
        assert isinstance(sandbox, Sandbox)
        moved, stays, back = [await engine.start_workflow("greeting", version="1.0") for _ in range(3)]
        migration = WorkflowMigration(engine)
        plan = await migration.migrate_instance(moved.instance_id, "1.1", dry_run=True)
        assert (plan.version, (await engine.instance(moved.instance_id)).workflow_version) == (2, "1.0")
        await migration.migrate_instance(moved.instance_id, "1.1")
        await migration.migrate_instance(back.instance_id, "1.1")
        await migration.migrate_back(back.instance_id)
        await sandbox.advance("P1D")
        assert [await each.get_variable("by") for each in (moved, stays, back)] == ["1.1", "1.0", "1.0"]


@pytest.mark.req("O11")
async def test_one_message_begins_one_instance_however_often_it_comes(store_url: str) -> None:
    bus = MessageBus()
    engine = WorkflowEngine(bus, store_url, registry=registry_of("1.0"), open=Sandbox.open)
    await engine.start_workflow_on_event(trigger_pattern="github.pull_request.*", workflow_id="greeting")
    for topic, id in (("opened", "d1"), ("opened", "d1"), ("closed", "d2"), ("review.asked", "d3")):
        await bus.publish(f"github.pull_request.{topic}", {"number": 42}, message_id=id)
    perdure = await engine.open()
    found = await perdure.instances.list(process="greeting")
    assert sorted(each.business_key for each in found) == ["d1", "d2"]
    assert [(await perdure.instances.get(each.id)).data for each in found] == [{"number": 42}] * 2
    await engine.close()


def test_topics_match_by_whole_words() -> None:
    async def heard(pattern: str, topics: list[str]) -> list[str]:
        bus, told = MessageBus(), []

        async def hear(message: Any) -> None:
            told.append(message.topic)

        await bus.subscribe(pattern, hear)
        for topic in topics:
            await bus.publish(topic)
        return told

    topics = ["a.b", "a.b.c", "a", "ab", "x.a.b"]
    cases = {"a.*": ["a.b"], "a.#": ["a.b", "a.b.c"], "a.b": ["a.b"], "#": topics}
    for pattern, expected in cases.items():
        assert asyncio.run(heard(pattern, topics)) == expected


@pytest.mark.parametrize("refuse", [lambda: MessageBus().publish("a.*"), lambda: MessageBus().publish("a b")])
def test_what_is_no_topic_is_refused(refuse: Callable[[], Any]) -> None:
    with pytest.raises(RejectedError, match="no topic"):
        asyncio.run(refuse())


async def test_workflows_are_loaded_from_the_folders_of_the_engine_alone(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "hello.py").write_text(
        "from perdure.orchestration import Workflow, ScriptTask\n"
        "hello = Workflow('hello')\n"
        "hello.start().then(ScriptTask('say', script=lambda ctx: 'hello', output_variable='said')).end()\n"
    )
    (tmp_path / "other.py").write_text("raise SystemExit('never imported')\n")
    engine = WorkflowEngine(folders=[tmp_path / "flows"], open=Sandbox.open)
    with pytest.raises(RejectedError, match="none of the folders"):
        engine.load_workflow(tmp_path / "other.py")
    (loaded,) = engine.load_workflow(tmp_path / "flows" / "hello.py")
    assert loaded.place.file == str(tmp_path / "flows" / "hello.py")
    async with engine:
        instance = await engine.start_workflow("hello")
        sandbox = await engine.open()
        assert isinstance(sandbox, Sandbox)
        await sandbox.run_until_idle()
        assert await instance.get_variable("said") == "hello"
        with pytest.raises(RejectedError, match="before the first start"):
            engine.register(greeting("1.0"))
