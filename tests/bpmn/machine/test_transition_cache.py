"""Known moves: a machine that remembers decides what one decides that plays every time, byte for byte."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.agent_usage import Budget, Used
from perdure.app.instances.history_cache import empty_history
from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import transition_cache
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.opaque_command_values import READERS
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.bpmn.machine.transition_templates import standing, template_of
from perdure.human_tasks import Person
from perdure.journal import Decision, Entries, Origin
from perdure.processes.instance_waiters import is_at_rest
from tests.bpmn.machine.play import HASH, ID, ORIGIN, SECOND, Player, random_plan
from tests.bpmn.machine.test_compensation import scope, service

TURNS = 200


class Comparing(Player):
    """Asks a machine that remembers, and holds every answer against the game."""

    def __init__(self, plan: Plan, seed: int, machine: InstanceMachine, number: int) -> None:
        super().__init__(plan, seed)
        self.machine = machine
        self.now = SECOND * (1 + number * 10_000_000)
        self.origin = Origin("acme", f"person {number}" if number else "", "trace" * (number % 2))
        self.other = random.Random(number)
        self.known = 0
        self.past, self.played_past = empty_history(), empty_history()

    def ask(self, command: c.Command) -> str:
        command = self._opaque(command)
        played = self.machine.play(ID, self.state, command, self.origin, self.now, 0.5)
        made = self.machine.decide(ID, self.state, command, self.origin, self.now, 0.5)
        assert isinstance(played, Decision) and isinstance(made, Decision)
        assert (tuple(made.entries), made.answer, made.keeps) == (played.entries, played.answer, played.keeps)
        self._compare_pasts(made, played)
        if made.written is not None:
            self.known += 1
            self._compare(command, made, played.state)
        if made.entries:
            self.state = made.state if made.state is not None else self._applied(made)
            self.journal.extend(made.entries)
        return made.answer

    def _compare(self, command: c.Command, made: Decision, state: Instance) -> None:
        machine, written = self.machine, made.written
        assert written is not None and made.state == state
        assert is_at_rest(made.state) == is_at_rest(state)
        assert written.state == machine.encode(state)
        assert written.record == machine.records.encode(self.now, type(command).__name__, self.origin, made.entries)
        assert written.rows is None or written.rows == machine.rows(ID, state)
        assert written.is_notable or not machine.notices(ID, state, made.entries)

    def _compare_pasts(self, made: Decision, played: Decision) -> None:
        """What is told without making entries is what they tell."""
        alike = made.entries.alike if isinstance(made.entries, Entries) else made.entries
        self.past.add(alike)
        self.played_past.add(tuple(played.entries))
        assert self.past == self.played_past
        assert [*map(type, alike)] == [*map(type, played.entries)]

    def _opaque(self, command: c.Command) -> c.Command:
        """Payloads and people as they are nowhere else."""
        head = self.other.randbytes(32)
        if isinstance(command, c.RecordJob) and isinstance(command.outcome, c.JobDone):
            return transition_cache.given(command, (0, "", "", head))[0]
        if isinstance(command, c.CompleteTask) and not command.flags:
            return transition_cache.given(command, (0, "", "", f"someone {self.now}", head))[0]
        return command

    def _flags(self, is_kind: bool) -> dict[str, Any]:
        return {} if self.chance.random() < 0.5 else super()._flags(is_kind)


@pytest.mark.req("O6")
@pytest.mark.parametrize("block", range(4))
def test_what_is_remembered_is_what_the_game_gives_byte_for_byte(block: int) -> None:
    remembered = 0
    for seed in range(block, 120, 4):
        plan = random_plan(seed)
        machine = InstanceMachine({HASH: plan}, remembers=True)
        for number in range(20):
            player = Comparing(plan, seed + number // 14, machine, number)
            player.start()
            assert player.state is not None
            for _ in range(TURNS):
                if player.state.status in ENDED or not player.step(is_kind=False):
                    break
            player.reopen()
            remembered += player.known
    assert remembered > 200, "hardly anything was remembered: nothing was compared"


def plan_of(*nodes: m.Task | m.Event) -> Plan:
    return Plan(Deployed(process=m.Process(id="p", body=scope(nodes)), is_loose=True), HASH)


def started(machine: InstanceMachine, now: int = 5, **more: Any) -> Decision:
    command = c.StartInstance(definition=HASH, process="p", process_version=1, head=b"h" * 32, worker=1, **more)
    made = machine.decide(ID, None, command, Origin("acme", "ana"), now, 0.5)
    assert isinstance(made, Decision)
    return made


def remembering(*nodes: m.Task | m.Event) -> InstanceMachine:
    return InstanceMachine({HASH: plan_of(*nodes)}, remembers=True)


@pytest.mark.req("O6")
def test_a_move_is_known_from_the_second_time_on() -> None:
    machine = remembering(service("a"))
    assert [started(machine, now).written is not None for now in (5, 6, 7)] == [False, True, True]


@pytest.mark.req("O6")
@pytest.mark.parametrize(
    ("kind", "text", "after"),
    [
        ("duration", "PT1S", SECOND),
        ("duration", "P1M", 31 * 86_400 * SECOND),
        ("cycle", "R3/P1Y", 365 * 86_400 * SECOND),
    ],
)
def test_a_move_that_sets_a_timer_is_never_remembered(kind: m.TimerKind, text: str, after: int) -> None:
    timer = m.Event(id="t", position="catch", triggers=(m.TimerTrigger(kind, m.Value(text)),))
    machine = remembering(timer)
    dues = []
    for now in (5, 6, 7, 8):
        made = started(machine, now)
        assert made.written is None
        dues.append(next(iter(made.state.watches.values())).due - now)
    assert dues == [after] * 4


@pytest.mark.req("O8")
def test_who_asked_is_still_compared_with_who_answers() -> None:
    task = m.Task(id="t", kind="user", properties={"perdure:fourEyes": "true"})
    machine = remembering(task)
    for _ in range(3):
        state = started(machine).state
    assert standing(state) is not None, "the start itself is known"
    node = next(node for node in state.nodes.values() if node.kind == "task")
    assert node.task is not None and node.task.requester == "ana"
    for name in ("ben", "ben", "ben", "ana", "ben", "ana"):
        command = c.CompleteTask(node=node.number, who=Person(name), worker=1)
        made = machine.decide(ID, state, command, Origin("acme", name), 9, 0.5)
        assert isinstance(made, Decision) is (name != "ana")


@pytest.mark.req("O6")
def test_true_and_one_are_not_the_same_flag() -> None:
    machine = remembering(service("a"))
    for value in (True, 1) * 3:
        made = started(machine, flags={"orch_a": value})
        assert made.state.flags["orch_a"] is value and made.entries[0].flags["orch_a"] is value


@pytest.mark.req("O6")
def test_a_game_that_looks_at_a_blank_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = remembering(service("a"))
    play = machine.play

    def partial(
        id: bytes, state: Instance | None, command: Any, origin: Origin, now: int, chance: float
    ) -> Any:  # fmt: skip
        made = play(id, state, command, origin, now, chance)
        assert isinstance(made, Decision)
        return Decision(made.entries * (2 if origin.trace else 1), made.answer, True, made.state)

    monkeypatch.setattr(machine, "play", partial)
    assert all(started(machine, now).written is None for now in range(5, 9))


@pytest.mark.req("O6")
def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition_cache, "MOST_MOVES", 8)
    monkeypatch.setattr(transition_cache, "MOST_TRIED", 4)
    machine = remembering(service("a"))
    for value in range(50):
        for _ in range(2):
            started(machine, flags={"orch_n": value})
    memory = machine._known
    assert memory is not None and len(memory._shapes) <= 8
    shapes = memory._beginnings.values()
    assert all(len(each.moves) <= 8 and len(each.tried) <= 4 for each in shapes)


@pytest.mark.req("O6")
def test_what_is_large_is_not_remembered() -> None:
    machine = remembering(service("a" * transition_cache.MOST_BYTES))
    assert all(started(machine, now).written is None for now in range(5, 9))


START = c.StartInstance(definition=HASH, process="p", process_version=1, head=b"h" * 32)
RECORD = c.RecordJob(node=2, attempt=1, job_worker=1, outcome=c.JobDone(b"h" * 32))
COMPLETE = c.CompleteTask(node=2, who=Person("ana"))
OTHERWISE: tuple[tuple[Any, dict[str, Any]], ...] = (
    (START, {
        "process": "q", "process_version": 2, "head": b"i" * 32, "flags": {"orch_a": True}, "start": "s",
        "parent": "step:x:1", "business_key": "b", "idempotency_key": "i", "worker": 1, "agreed": "benign",
    }),
    (RECORD, {
        "node": 3, "attempt": 2, "job_worker": 2, "outcome": c.JobDone(b"h" * 32, {"orch_a": True}), "worker": 1,
        "used": Used((), 1), "budget": Budget(),
    }),
    (COMPLETE, {
        "node": 3, "who": Person("ana", ("g",)), "head": b"h" * 32, "message": b"m" * 32, "seen": "sha256:00",
        "flags": {"orch_a": True},
        "writer": "w", "worker": 1, "answer": b"a" * 32, "documents": b"d" * 32,
    }),
)  # fmt: skip
UNREAD = {"definition", "message_id", "wanted"}
"""A beginning is looked for by its definition; a message's id is for the inbox alone; what an attempt may use is read
with a budget only, and no command with one is remembered.
"""


@pytest.mark.req("O6")
@pytest.mark.parametrize(("command", "otherwise"), OTHERWISE, ids=lambda each: type(each).__name__)
def test_nothing_that_a_remembered_command_says_is_overlooked(command: Any, otherwise: dict[str, Any]) -> None:
    """A field that a decision reads and a key leaves out would make one command pass for another."""
    read = READERS[type(command)]
    assert {*otherwise} == {*command.__struct_fields__} - UNREAD, "say here what a new field means"
    for name, value in otherwise.items():
        assert read(replace(command, **{name: value}), ORIGIN, 5) != read(command, ORIGIN, 5), name
    assert READERS.keys() == {type(each) for each, _ in OTHERWISE}


def test_entries_that_are_made_when_looked_at_are_a_sequence_like_any_other() -> None:
    machine = remembering(service("a"))
    for now in range(5, 9):
        entries = started(machine, now, flags={"orch_a": True}).entries
    played = started(remembering(service("a")), 8, flags={"orch_a": True}).entries
    assert isinstance(entries, Entries) and isinstance(played, tuple)
    assert entries == played and played == entries and repr(entries) == repr(played) and len(entries) == len(played)
    assert [entries[at] for at in range(len(entries))] == [*played] and entries[1:] == played[1:]
    entries[0].flags["orch_a"] = False
    assert entries == played, "nobody changes what others see"


@pytest.mark.req("O6")
def test_a_template_keeps_signs_that_mean_something_when_filling() -> None:
    template = template_of(b"100%s%%A%bB", (b"A", b"B"))
    assert template.filled((b"%d", b"")) == b"100%s%%%d%b"


@pytest.mark.req("O6")
def test_a_state_that_is_changed_is_no_longer_noted_to_have_a_shape() -> None:
    machine = remembering(service("a"))
    for _ in range(3):
        state = started(machine).state
    assert standing(state) is not None
    assert standing(state.copy()) is None
