"""The verdict on a parked state is true: what migrates comes to its end, what must stay pinned gets stuck or cannot."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from perdure.app.deployments import check, running_work
from perdure.app.deployments.views import StateImpact
from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.model import (
    Event,
    Gateway,
    Model,
    MultiInstance,
    Scope,
    StandardLoop,
    SubProcess,
    Task,
    Value,
)
from perdure.errors import DefinitionError, QuarantinedError, RejectedError
from perdure.sources import id_text
from tests.app.deployments.shift_world import driven, impact, only_state
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import (
    END,
    START,
    after,
    boundary,
    call,
    flow,
    fork,
    line,
    message,
    model,
    pause,
    service,
    user,
    wait,
)

pytestmark = pytest.mark.both_stores(one_in=6)

KEY = (message("answer", key="C-7"),)


def part(id: str, *nodes: Task) -> SubProcess:
    """A subprocess with elements one after the other."""
    start, end = Event(id=f"begin-{id}", position="start"), Event(id=f"finish-{id}", position="end")
    chain = (start, *nodes, end)
    flows = tuple(flow(one.id, other.id) for one, other in pairwise(chain))
    return SubProcess(id=id, body=Scope(nodes=chain, flows=flows))


def side_by_side() -> Model:
    """What stood behind each other stands beside each other, until both meet."""
    return model(
        "p", (START, fork("fork"), user("one"), user("two"), fork("join"), END),
        (flow("start", "fork"), flow("fork", "one"), flow("fork", "two"), flow("one", "join"), flow("two", "join"),
         flow("join", "end")),
    )  # fmt: skip


class Change(NamedTuple):
    """Two versions of a process, where instances are when the second one comes, and what is to be found out."""

    old: Model
    new: Model
    parked: str
    mapping: dict[str, str]


MIGRATES = {
    "an element behind it": Change(
        line("p", user("one"), user("two")), line("p", user("one"), service("file", "t.one"), user("two")), "one", {}
    ),
    "another id, the same message": Change(
        line("p", wait("wait", "answer"), messages=KEY),
        line("p", wait("wait_for_answer", "answer"), service("file", "t.one"), messages=KEY), "wait",
        {"wait": "wait_for_answer"},
    ),
    "another id, the same name": Change(
        line("p", user("one", name="Review"), user("two")), line("p", user("review", name="Review"), user("two")),
        "one", {"one": "review"},
    ),
    "another id between the same neighbours": Change(
        line("p", user("one"), user("two"), user("three")), line("p", user("one"), user("second"), user("three")),
        "two", {"two": "second"},
    ),
    "a timer on it is gone": Change(
        line("p", user("one"), more=(boundary("late", "one", after("P1D")), service("hurry", "t.one")),
             flows=(flow("late", "hurry"), flow("hurry", "end"))),
        line("p", user("one")), "one", {},
    ),
    "another id inside another id": Change(
        line("p", part("part", user("one"))), line("p", part("section", user("first"))),
        "one", {"part": "section", "one": "first"},
    ),
}  # fmt: skip


@pytest.mark.req("O10")
@pytest.mark.parametrize("change", MIGRATES.values(), ids=MIGRATES)
async def test_what_is_said_to_migrate_is_migrated_with_that_mapping_and_comes_to_its_end(
    store_url: str, change: Change
) -> None:
    async with opened(store_url) as world:
        begun = await parked(world, change)
        state = await only_state(world, change.new)
        assert (state.verdict, state.reason, state.mapping) == ("migrates", "", change.mapping)
        assert (state.instances, state.examples) == (1, [id_text(begun)])
        assert (await world.instances.read(begun, ORIGIN)).state.process_version == 1, "nothing was changed"
        assert len(await world.sandbox.processes.versions("p")) == 1, "nothing was deployed"
        await world.deploy(change.new, profile="open")
        await world.engine.migrate(begun, ORIGIN, mapping=state.mapping)
        ended = await driven(world, await world.instances.read(begun, ORIGIN))
        assert (ended.state.status, ended.state.process_version) == ("completed", 2)


STUCK = {
    "beside what it came after": (Change(
        line("p", user("one"), user("two")), side_by_side(), "two", {}), "SND001", "join"),
}  # fmt: skip


@pytest.mark.req("O10")
@pytest.mark.parametrize(("change", "code", "element"), STUCK.values(), ids=STUCK)
async def test_what_is_said_to_get_stuck_there_does(
    store_url: str, change: Change, code: str, element: str
) -> None:  # fmt: skip
    async with opened(store_url) as world:
        begun = await parked(world, change)
        state = await only_state(world, change.new)
        assert (state.verdict, state.code, state.element) == ("stays_pinned", code, element)
        assert state.steps == [f"the person completes '{change.parked}'"]
        await world.deploy(change.new, profile="open")
        await world.engine.migrate(begun, ORIGIN, mapping=state.mapping)
        stuck = await driven(world, await world.instances.read(begun, ORIGIN))
        assert (stuck.state.status, world.standing(stuck)) == ("active", [element])


REFUSED = {
    "its element is gone": (Change(
        line("p", user("one"), user("two")), line("p", user("two"), service("file", "t.one")), "one", {}), "one"),
    "its element is another kind of thing": (Change(
        line("p", user("one")), line("p", service("one", "t.one")), "one", {}), ""),
    "its element stands elsewhere": (Change(
        line("p", user("one"), user("two")),
        line("p", user("two"), part("part", user("one"))), "one", {}), ""),
}  # fmt: skip


@pytest.mark.req("O10")
@pytest.mark.parametrize(("change", "element"), REFUSED.values(), ids=REFUSED)
async def test_what_is_said_to_be_no_migration_is_refused_as_one(
    store_url: str, change: Change, element: str
) -> None:  # fmt: skip
    async with opened(store_url) as world:
        begun = await parked(world, change)
        state = await only_state(world, change.new)
        assert (state.verdict, state.element) == ("stays_pinned", element)
        await world.deploy(change.new, profile="open")
        with pytest.raises(RejectedError) as refused:
            await world.engine.migrate(begun, ORIGIN, mapping=state.mapping)
        assert state.reason == refused.value.rejection.fact
        ended = await driven(world, await world.instances.read(begun, ORIGIN))
        assert (ended.state.status, ended.state.process_version) == ("completed", 1)


async def parked(world: World, change: Change) -> bytes:
    """The instance of the old version once it has come to the place."""
    await world.deploy(change.old, profile="open")
    begun = await world.start("p")
    while change.parked not in world.standing(begun):
        (task,) = await world.sandbox.tasks.list()
        await world.sandbox.tasks.complete(task.key)
        begun = await world.now(begun)
    return begun.id


@pytest.mark.req("O10")
async def test_a_mapping_that_is_given_decides_where_none_can_be_found(store_url: str) -> None:
    old = line("p", user("one"), user("two"))
    new = line("p", user("first"), user("second"), user("third"))
    async with opened(store_url) as world:
        await world.deploy(old, profile="open")
        begun = await world.start("p")
        assert (await only_state(world, new)).verdict == "stays_pinned"
        state = await only_state(world, new, mapping={"one": "third", "two": "second"})
        assert (state.verdict, state.mapping) == ("migrates", {"one": "third"})
        await world.deploy(new, profile="open")
        await world.engine.migrate(begun.id, ORIGIN, mapping=state.mapping)
        assert (await driven(world, begun)).state.status == "completed"


def meeting(*more: str) -> Model:
    """Two people until they meet; the way of the first leads through others."""
    way = ("one", *more, "join")
    return model(
        "p", (START, fork("fork"), user("one"), user("two"), *map(user, more), fork("join"), user("last"), END),
        (flow("start", "fork"), flow("fork", "one"), flow("fork", "two"), flow("two", "join"),
         *(flow(*pair) for pair in pairwise(way)), flow("join", "last"), flow("last", "end")),
    )  # fmt: skip


@pytest.mark.req("O10")
async def test_each_state_of_a_process_has_its_own_verdict_the_gravest_first(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(meeting(), profile="open")
        begun = [await world.start("p") for _ in range(4)]
        for instance, answered in zip(begun, ((), (), ("one",), ("one", "two")), strict=True):
            for element in answered:
                await answer(world, instance.id, element)
        (process,) = (await impact(world, meeting("extra"))).processes
        told = [(each.verdict, each.instances, standing_of(each)) for each in process.states]
        assert told == [
            ("stays_pinned", 1, ["two", "join"]),
            ("migrates", 2, ["one", "two"]),
            ("migrates", 1, ["last"]),
        ]
        assert (process.verdict, process.instances, process.version, process.is_deployed) == (
            "stays_pinned", 4, 0, False,
        )  # fmt: skip
        assert "map it to one of extra-join" in process.states[0].reason
        (process,) = (await impact(world, meeting("extra"), mapping={"one-join": "extra-join"})).processes
        assert [each.verdict for each in process.states] == ["migrates"] * 3
        await world.deploy(meeting("extra"), profile="open")
        for instance in begun:
            state = next(each for each in process.states if id_text(instance.id) in each.examples)
            await world.engine.migrate(instance.id, ORIGIN, mapping=state.mapping)
            assert (await driven(world, instance)).state.status == "completed"


async def answer(world: World, instance: bytes, element: str) -> None:
    tasks = await world.sandbox.tasks.list()
    (task,) = [each for each in tasks if each.element == element and each.instance == id_text(instance)]
    await world.sandbox.tasks.complete(task.key)
    await world.sandbox.run_until_idle()


def standing_of(state: StateImpact) -> list[str]:
    return [each.element for each in state.standing]


@pytest.mark.req("O10")
async def test_the_same_content_goes_on_and_without_models_the_latest_versions_are_asked_about(store_url: str) -> None:
    one, two = line("p", user("one")), line("p", user("one"), service("file", "t.one"))
    async with opened(store_url) as world:
        await world.deploy(one, profile="open")
        await world.start("p")
        state = await only_state(world, one)
        assert (state.verdict, state.mapping, state.version) == ("goes_on", {}, 1)
        assert [each.verdict for each in (await impact(world)).processes] == ["goes_on"]
        await world.deploy(two, profile="open")
        await world.start("p")
        (process,) = (await impact(world)).processes
        assert [(each.verdict, each.version) for each in process.states] == [("migrates", 1), ("goes_on", 2)]
        assert (process.version, process.is_deployed, process.instances) == (2, True, 2)


def decided(*, has_other_way: bool) -> Model:
    """What was written before decides which way is taken behind the task; there may be none for `refused`."""
    ways = ("yes", "no") if has_other_way else ("yes",)
    return model(
        "p", (START, service("ask", "t.one"), user("one"), Gateway(id="which", kind="exclusive"),
              *(service(way, "t.two") for way in ways), END),
        (flow("start", "ask"), flow("ask", "one"), flow("one", "which"),
         *(flow("which", way, Compare("orch_answer", "=", way)) for way in ways),
         *(flow(way, "end") for way in ways)),
    )  # fmt: skip


DECIDED = """
verbs:
- name: t.carried
  execution:
    kind: durable
    process: p
    sub_verbs: [t.one, t.two]
    flags:
      orch_answer: {type: enum, values: ["yes", "no"], initial: "yes", writers: [t.one]}
      orch_name: {type: string}
- {name: t.one, execution: {kind: sync}, contract: {writes_flags: [orch_answer, orch_name], may_raise: []}}
- {name: t.two, execution: {kind: sync}, contract: {writes_flags: [], may_raise: []}}
"""


@pytest.mark.req("O10")
async def test_instances_are_told_apart_by_what_conditions_read_and_by_nothing_else(store_url: str) -> None:
    async with opened(store_url, verbs=DECIDED) as world:
        await world.deploy(decided(has_other_way=True))
        begun = {}
        for number, said in enumerate(("yes", "no", "no")):
            world.handlers.flags["t.one"] = {"orch_answer": said, "orch_name": f"name {number}"}
            begun[said] = await world.start("p")
        (process,) = (await impact(world, decided(has_other_way=False), profile="open")).processes
        told = [(each.verdict, each.flags, each.instances, each.code) for each in process.states]
        assert told == [
            ("stays_pinned", {"orch_answer": "no"}, 2, "SND004"),
            ("migrates", {"orch_answer": "yes"}, 1, ""),
        ]
        await world.deploy(decided(has_other_way=False), profile="open")
        ends = {}
        for said, instance in begun.items():
            await world.engine.migrate(instance.id, ORIGIN)
            ends[said] = (await driven(world, instance)).state.status
        assert ends == {"yes": "completed", "no": "active"}


CASES = (message("answer", flag="orch_case"),)


@pytest.mark.req("O10")
async def test_a_wait_whose_key_an_earlier_step_was_to_set_is_known_to_fail(store_url: str) -> None:
    old = line("p", user("two"), service("file", "t.two"))
    new = line("p", service("ask", "t.one"), user("two"), wait("wait", "answer"), messages=CASES)
    async with opened(
        store_url,
        verbs=DECIDED.replace("orch_name: {type: string}", "orch_case: {type: string, once: true}").replace(
            "orch_name", "orch_case"
        ),
    ) as world:
        await world.deploy(old)
        begun = await world.start("p")
        state = await only_state(world, new, profile="hollow")
        assert (state.verdict, state.code, state.element) == ("stays_pinned", "SND009", "wait")
        await world.deploy(new)
        await world.engine.migrate(begun.id, ORIGIN)
        stuck = await driven(world, begun)
        (token,) = [each for each in stuck.state.nodes.values() if each.incident is not None]
        assert (stuck.state.status, token.element) == ("active", "wait")


@pytest.mark.req("O10")
async def test_what_could_get_stuck_before_as_well_is_not_introduced_by_the_deployment() -> None:
    def never(*more: str) -> Model:
        way = ("join", *more, "end")
        return model(
            "p", (START, Gateway(id="either", kind="exclusive"), user("one"), user("two"), fork("join"),
                  *(service(each, "t.one") for each in more), END),
            (flow("start", "either"), flow("either", "one", Compare("orch_x", "=", "a")),
             flow("either", "two", Compare("orch_x", "!=", "a")), flow("one", "join"), flow("two", "join"),
             *(flow(*pair) for pair in pairwise(way))),
        )  # fmt: skip

    async with opened() as world:
        await world.deploy(never(), profile="open")
        await world.start("p", flags={"orch_x": "a"})
        assert (await only_state(world, never("more"))).verdict == "migrates"


@pytest.mark.req("O10")
async def test_a_bound_that_is_reached_leaves_a_state_pinned_and_is_told() -> None:
    branches = [user(f"task{number}") for number in range(6)]

    def wide(last: str) -> Model:
        return model(
            "p", (START, user("one"), fork("fork"), *branches, fork("join"), service(last, "t.one"), END),
            (flow("start", "one"), flow("one", "fork"),
             *(flow("fork", each.id) for each in branches), *(flow(each.id, "join") for each in branches),
             flow("join", last), flow(last, "end")),
        )  # fmt: skip

    async with opened() as world:
        await world.deploy(wide("a"), profile="open")
        await world.start("p")
        found = await impact(world, wide("b"), states=1)
        (state,) = found.processes[0].states
        assert (state.verdict, state.bound) == ("stays_pinned", "states")
        assert "not decided" in state.reason
        assert (found.is_decided, found.bounds) == (False, ["of 1 instances of 'p' a bound left it undecided"])
        assert (await impact(world, wide("b"))).is_decided


@pytest.mark.req("O10")
async def test_suspended_failed_and_repeated_work_is_judged_as_it_will_go_on(store_url: str) -> None:
    many = MultiInstance(cardinality=Value("17"))
    old = line("p", user("one", repeat=many), service("bad", "t.refused"), user("two"))
    new = line("p", user("one", repeat=many), service("bad", "t.refused"), user("two"), service("file", "t.one"))
    async with opened(store_url) as world:
        await world.deploy(old, profile="open")
        first, second, third = [await world.start("p") for _ in range(3)]
        for task in [each for each in await world.sandbox.tasks.list() if each.instance == id_text(second.id)][:3]:
            await world.sandbox.tasks.complete(task.key)
        for task in [each for each in await world.sandbox.tasks.list() if each.instance == id_text(third.id)]:
            await world.sandbox.tasks.complete(task.key)
        await world.sandbox.run_until_idle()
        await world.engine.suspend(first.id, ORIGIN)
        (process,) = (await impact(world, new)).processes
        told = {each.examples[0]: each for each in process.states}
        assert [told[id_text(each.id)].verdict for each in (first, second, third)] == ["migrates"] * 3
        assert [told[id_text(each.id)].is_suspended for each in (first, second, third)] == [True, False, False]
        (stopped,) = told[id_text(third.id)].standing
        assert (stopped.element, stopped.kind, stopped.incident) == ("bad", "job", "error.uncaught")


@pytest.mark.req("O10")
async def test_a_model_that_would_not_be_deployed_is_refused_by_the_check_as_well() -> None:
    broken = model(
        "p", (START, fork("join"), user("one"), END), (flow("start", "join"), flow("one", "join"), flow("join", "end"))
    )
    async with opened() as world:
        with pytest.raises(DefinitionError):
            await impact(world, broken, profile="hollow")
        assert await world.sandbox.processes.list() == []


@pytest.mark.req("O10")
async def test_what_an_instance_is_asked_after_waits_for_time_and_messages(store_url: str) -> None:
    old = line("p", pause("pause", "PT1H"), wait("wait", "answer"), messages=KEY)
    new = line("p", pause("longer", "PT1H"), wait("wait", "answer"), user("check"), messages=KEY)
    async with opened(store_url) as world:
        await world.deploy(old, profile="open")
        begun = await world.start("p")
        state = await only_state(world, new)
        assert [(each.event, each.kind) for each in state.awaited] == [("pause", "timer")]
        assert (state.verdict, state.mapping) == ("migrates", {"pause": "longer"})
        await world.deploy(new, profile="open")
        await world.engine.migrate(begun.id, ORIGIN, mapping=state.mapping)
        assert (await driven(world, begun)).state.status == "completed"


@pytest.mark.req("O10")
async def test_a_loop_that_is_under_way_is_judged_from_where_it_is() -> None:
    loop = StandardLoop(maximum=100)
    async with opened() as world:
        await world.deploy(line("p", user("one", repeat=loop)), profile="open")
        begun = await world.start("p")
        for _ in range(5):
            await answer(world, begun.id, "one")
        state = await only_state(world, line("p", user("one", repeat=loop), service("file", "t.one")))
        assert state.verdict == "migrates"


@pytest.mark.req("O10")
async def test_models_that_call_each_other_are_judged_together_and_callers_stand_at_their_call(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("child", user("ask")), profile="open")
        await world.deploy(line("parent", call("call", "child")), profile="open")
        await world.start("parent")
        parent = line("parent", call("call", "other-child"), user("two"))
        found = await impact(world, parent, line("other-child", user("ask")), line("child", user("asked")))
        told = {
            each.process: [(state.verdict, standing_of(state)) for state in each.states] for each in found.processes
        }
        assert told == {
            "parent": [("migrates", ["call"])], "other-child": [], "child": [("migrates", ["ask"])],
        }  # fmt: skip
        assert len(await world.sandbox.processes.list()) == 2


@pytest.mark.req("O10")
async def test_instances_and_states_beyond_the_bound_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    new = line("p", user("one"), user("two"), service("file", "t.one"))
    async with opened() as world:
        await world.deploy(line("p", user("one"), user("two")), profile="open")
        begun = [await world.start("p") for _ in range(5)]
        await answer(world, begun[-1].id, "one")
        monkeypatch.setattr(check, "MAX_STATES_SHOWN", 1)
        found = await impact(world, new)
        assert (found.processes[0].instances, len(found.processes[0].states), found.is_decided) == (5, 1, False)
        assert found.bounds == ["of the 2 states of 'p' the first 1 are shown"]
        monkeypatch.setattr(check, "MAX_STATES_SHOWN", 2)
        monkeypatch.setattr(running_work, "MAX_INSTANCES", 3)
        found = await impact(world, new)
        assert (found.processes[0].instances, found.is_decided) == (3, False)
        assert found.bounds == ["only the newest 3 running instances were looked at"]


@pytest.mark.req("O10")
async def test_damaged_instances_are_told_of_and_hide_nothing_else(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("one")), profile="open")
        first, _ = [await world.start("p") for _ in range(2)]
        world.sandbox.runtime.kernel.forget()
        read = world.sandbox.runtime.kernel.read

        async def damaged(id: Any, *args: Any, **more: Any) -> Any:
            if id == first.id:
                raise QuarantinedError("read", "instance", id_text(id), "its checksum is another")
            return await read(id, *args, **more)

        world.sandbox.runtime.kernel.read = damaged
        found = await impact(world, line("p", user("one"), user("two")))
        assert (found.processes[0].instances, found.is_decided) == (1, False)
        assert found.bounds == ["damaged: 1 instances, not read"]
