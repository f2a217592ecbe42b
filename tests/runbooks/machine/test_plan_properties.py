"""Random plans, random order, random ends, against a model that looks at the whole plan every time."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import Rejection
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.dag_progress import base_of, hangs_on
from perdure.runbooks.machine.state import ENDED, STEP_STATES, links_of
from tests.runbooks.machine.replayed_runbook import ID, Board, choice, hash_of, pin, step

SEEDS = st.integers(0, 2**32 - 1)


def random_plan(chance: random.Random) -> list[e.Added]:
    """Steps and choices, each hanging on some of those before it."""
    steps: list[e.Added] = []
    for number in range(1, chance.randrange(2, 14)):
        earlier = list(range(1, number))
        needs = tuple(chance.sample(earlier, chance.randrange(0, min(3, len(earlier)) + 1)))
        choices = [each for each in earlier if not steps[each - 1].verb]
        needs = tuple(each for each in needs if each not in choices)
        if needs and chance.random() < 0.25:
            steps.append(choice(f"if{number}", *needs))
            continue
        after = tuple(each for each in earlier if each not in needs and chance.random() < 0.1)
        sides = tuple((each, chance.random() < 0.5) for each in choices if each not in after and chance.random() < 0.4)
        on_failure: Any = chance.choice(["stop", "continue", "ask", "decide"])
        links: dict[str, Any] = {"alternative": pin("decide")} if on_failure == "decide" else {}
        if chance.random() < 0.3:
            links["compensate"] = pin("undo")
        steps.append(step(f"s{number}", needs=needs, after=after, sides=sides, on_failure=on_failure, **links))
    return steps


class Model:
    """What each step should be, from how those before it ended, without counting anything."""

    def __init__(self, board: Board) -> None:
        self.board = board

    def wanted(self, number: int) -> str:
        """pending, skipped or free to run, for a step that has not begun."""
        links = links_of(self.board.runbook.steps[number - 1])
        for other, side in links.sides:
            if self._is_over(other) and (self._status(other) != "completed" or self._side(other) != side):
                return "skipped"
        if any(self._is_over(each) and self._status(each) != "completed" for each in links.needs):
            return "skipped"
        return "free" if all(self._is_over(each) for each in hangs_on(links)) else "pending"

    def _status(self, number: int) -> str:
        return self.board.runbook.steps[number - 1].status

    def _side(self, number: int) -> bool | None:
        return links_of(self.board.runbook.steps[number - 1]).side

    def _is_over(self, number: int) -> bool:
        one = self.board.runbook.steps[number - 1]
        return one.status in ("completed", "skipped", "cancelled") or links_of(one).is_passed

    def check(self) -> None:
        course = self.board.course
        steps = self.board.runbook.steps
        counted = tuple(sum(each.status == status for each in steps) for status in STEP_STATES)
        assert course.counts == counted
        assert sorted(course.ready) == [n for n, each in enumerate(steps, 1) if each.status == "ready"]
        for number, each in enumerate(steps, 1):
            if each.status == "pending" and not each.retry_at and self.board.status != "cancelled":
                wanted = self.wanted(number)
                assert wanted == ("free" if number in course.held else "pending"), (number, wanted)
            if each.status == "ready" and not links_of(each).round:
                assert self.wanted(number) == "free"
            if each.status == "pending":
                unmet = sum(not self._is_over(other) for other in hangs_on(links_of(each)))
                assert links_of(each).unmet == unmet
        if self.board.status in ("completed", "failed"):
            assert not any(each.status in ("ready", "running", "parked") for each in steps)


def move(board: Board, chance: random.Random) -> None:
    """Something that may happen now."""
    steps = board.runbook.steps
    ready, running = board.of("ready"), board.of("running")
    parked, failed = board.of("parked"), board.of("failed")
    kind = chance.random()
    if ready and kind < 0.45:
        name = chance.choice(ready)
        if not board.step(name).verb:
            board.choose(name, chance.random() < 0.5)
        elif chance.random() < 0.3:
            board.park(name)
        else:
            board.launch(name)
    elif running and kind < 0.8:
        name = chance.choice(running)
        board.done(name) if chance.random() < 0.7 else board.fails(name)
    elif parked and kind < 0.9:
        board.completes(chance.choice(parked))
    elif kind < 0.94:
        board.ask(c.SkipStep(chance.randrange(1, len(steps) + 1), "chance"))
    elif kind < 0.96:
        board.ask(c.Cancel("chance", step=chance.randrange(1, len(steps) + 1)))
    elif kind < 0.97:
        extra = step(f"x{len(steps)}", needs=(chance.randrange(1, len(steps) + 1),))
        extra = extra if steps[extra.needs[0] - 1].verb else step(extra.name)
        plan, document = hash_of(extra.name), hash_of(f"document {extra.name}")
        board.ask(c.ExtendPlan(base_of(board.runbook), plan, document, (extra,)))
    elif failed:
        board.ask(c.RetryStep(board.number(chance.choice(failed))))


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_whatever_happens_the_counts_and_the_ready_steps_are_those_a_look_at_the_whole_plan_finds(seed: int) -> None:
    chance = random.Random(seed)
    board = Board(*random_plan(chance))
    model = Model(board)
    model.check()
    for _ in range(60):
        move(board, chance)
        model.check()
    _rest(board, chance)
    model.check()
    assert board.status in ("completed", "failed", "cancelled")


def _rest(board: Board, chance: random.Random) -> None:
    """Let everything come to its end."""
    for _ in range(500):
        if board.status in ENDED:
            return
        if ready := board.of("ready"):
            name = ready[0]
            board.launch(name) if board.step(name).verb else board.choose(name, chance.random() < 0.5)
        elif running := board.of("running"):
            board.done(running[0])
        elif parked := board.of("parked"):
            board.completes(parked[0])
        else:
            board.ask(c.SkipStep(board.number(board.of("failed")[0]), "given up"))
            for name in board.of("failed"):
                board.ask(c.SkipStep(board.number(name), "given up"))
    raise AssertionError(f"it never ends: {board.states}")


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_every_step_that_can_run_runs_once_when_nothing_fails(seed: int) -> None:
    chance = random.Random(seed)
    board = Board(*random_plan(chance))
    begun: list[str] = []
    while board.status not in ENDED:
        name = chance.choice(board.of("ready") + board.of("running"))
        if board.states[name] == "running":
            board.done(name)
        elif board.step(name).verb:
            begun.append(name)
            board.launch(name)
        else:
            board.choose(name, chance.random() < 0.5)
    assert board.status == "completed" and len(begun) == len(set(begun))
    ran = {name for name in board.of("completed") if board.step(name).verb}
    assert ran == set(begun) and not board.of("pending")


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_compensation_undoes_what_completed_in_reverse_whatever_had_happened(seed: int) -> None:
    chance = random.Random(seed)
    board = Board(*random_plan(chance))
    for _ in range(chance.randrange(0, 50)):
        move(board, chance)
    completed = [
        entry.step for entry in board.entries
        if isinstance(entry, e.StepCompleted) and links_of(board.runbook.steps[entry.step - 1]).compensate is not None
    ]  # fmt: skip
    if isinstance(board.ask(c.Cancel("enough", compensates=True)), Rejection):
        board.ask(c.Compensate("enough"))
    undone: list[int] = []
    while board.status not in ENDED:
        (name,) = board.of("ready")
        undone.append(links_of(board.step(name)).undoes)
        board.launch(name)
        board.done(name) if chance.random() < 0.7 else board.fails(name)
    assert undone == completed[::-1]
    assert board.machine.rows(ID, board.runbook).jobs == ()
