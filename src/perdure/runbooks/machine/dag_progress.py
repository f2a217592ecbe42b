"""How a plan's course changes when one of its steps does: counted, never searched."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from msgspec.structs import replace

from perdure.human_tasks import seen_of
from perdure.runbooks.machine.state import (
    PARKED,
    READY,
    RUNNING,
    STEP_STATES,
    WAITING,
    Course,
    Links,
    Runbook,
    RunbookState,
    Step,
    links_of,
    with_step,
)

INDEX: dict[str, int] = {state: position for position, state in enumerate(STEP_STATES)}
DONE = frozenset({"completed", "skipped", "cancelled"})
HOLDING = frozenset({"running", "pending"})
"""States in which a step keeps its locks: it runs, or waits for its next attempt."""


def put(state: Runbook, number: int, step: Step) -> Runbook:
    """The runbook with one step changed: its course counted anew, and what hung on the step a little freer."""
    before = state.steps[number - 1]
    step = _left(step)
    course = _counted(course_of(state), number, before, step)
    steps = with_step(state.steps, number, step)
    if _releases(before, step):
        for dependent in links_of(step).dependents:
            steps = with_step(steps, dependent, _freed(steps[dependent - 1]))
    return replace(state, steps=steps, course=course, status=status_of(course), ended_at=0)


def course_of(state: Runbook) -> Course:
    """The course of a runbook that is known to have one."""
    assert state.course is not None
    return state.course


def status_of(course: Course) -> RunbookState:
    """What a runbook is that has not ended."""
    counts = course.counts
    if counts[RUNNING] or counts[READY] or course.retrying:
        return "executing"
    if course.escalated:
        return "escalated"
    return "parked" if counts[PARKED] or course.asks or not course.is_sealed else "executing"


def is_active(course: Course) -> bool:
    """Whether anything of it runs, can run, or waits for something that may still come."""
    counts = course.counts
    return bool(counts[RUNNING] or counts[READY] or counts[PARKED] or course.retrying or course.asks)


def is_untouched(step: Step) -> bool:
    """Whether a step waits for what it hangs on, and for nothing else."""
    return step.status == "pending" and not step.retry_at


def is_not_begun(step: Step) -> bool:
    """Whether a step can still be skipped without stopping anything: it waits for others, its turn or its gate."""
    return is_untouched(step) or step.status == "ready" or bool(links_of(step).gated_at)


def begun_state(state: Runbook, numbers: Iterable[int]) -> str:
    """The state of steps of one name of which none can be skipped any more; empty when one can, or was skipped."""
    steps = [state.steps[number - 1] for number in numbers]
    if any(is_not_begun(step) or step.status == "skipped" for step in steps):
        return ""
    return next((step.status for step in steps), "")


def seen_at_gate(state: Runbook, number: int, documents: bytes = b"") -> str:
    """What somebody agrees to at a gate: the plan, and the results and documents the step's arguments are made of."""
    links = links_of(state.steps[number - 1])
    needs = (*links.needs, *(each for group in links.either for each in group))
    results = b"".join(sha256(state.steps[each - 1].result or b"").digest() for each in needs)
    return seen_of(course_of(state).plan, sha256(results).digest(), documents=documents)


def moved(counts: tuple[int, ...], before: str, after: str) -> tuple[int, ...]:
    changed = list(counts)
    changed[INDEX[before]] -= 1
    changed[INDEX[after]] += 1
    return tuple(changed)


def _left(step: Step) -> Step:
    """A step that stopped running holds no lock; one that stopped waiting stands at no gate."""
    links = links_of(step)
    if links.locks and step.status not in HOLDING:
        step = replace(step, links=replace(links, locks=()))
    if links.gated_at and step.status != "parked":
        step = replace(step, links=replace(links_of(step), gated_at=0))
    return step


def _counted(course: Course, number: int, before: Step, step: Step) -> Course:
    changes: dict[str, object] = {}
    if before.status != step.status:
        changes["counts"] = moved(course.counts, before.status, step.status)
        if before.status == "ready":
            place = course.ready.index(number)
            changes["ready"] = course.ready[:place] + course.ready[place + 1 :]
        elif step.status == "ready":
            changes["ready"] = (*course.ready, number)
        if number in course.held:
            changes["held"] = tuple(each for each in course.held if each != number)
    was, now = _marks(before), _marks(step)
    if was is not now:
        for place, name in enumerate(_MARKS):
            if was[place] != now[place]:
                changes[name] = getattr(course, name) + now[place] - was[place]
    if (old := links_of(before).locks) != (new := links_of(step).locks):
        changes["locks"] = tuple(sorted((*(each for each in course.locks if each not in old), *new)))
    return replace(course, **changes) if changes else course


_MARKS = ("retrying", "escalated", "stops", "asks", "unrecovered", "fails")
_NO_MARKS = (0, 0, 0, 0, 0, 0)
_UNMARKED = frozenset({"pending", "ready", "running", "completed", "skipped", "cancelled"})
"""States that are counted by themselves and by nothing else, unless the step waits for its next attempt."""


def _marks(step: Step) -> tuple[int, int, int, int, int, int]:
    if step.status in _UNMARKED and not step.retry_at:
        return _NO_MARKS
    links = links_of(step)
    is_failed = step.status == "failed"
    is_open = is_failed and not links.is_passed
    return (
        int(step.status == "pending" and step.retry_at != 0),
        int(step.status == "parked" and any(each.status == WAITING and each.escalates for each in step.tokens)),
        int(is_open and links.on_failure == "stop"),
        int(is_open and links.on_failure == "ask"),
        int(is_failed and links.undoes != 0),
        int(is_open and links.on_failure == "fail"),
    )


def _releases(before: Step, step: Step) -> bool:
    """Whether what hangs on the step need not wait for it any longer, from now on."""
    was, now = links_of(before), links_of(step)
    if now.is_passed:
        return not was.is_passed
    return step.status in DONE and before.status not in DONE


def _freed(step: Step) -> Step:
    links = links_of(step)
    return replace(step, links=replace(links, unmet=links.unmet - 1))


def hangs_on(links: Links) -> tuple[int, ...]:
    """Every step it hangs on, each once."""
    return tuple(dict.fromkeys((*links.after, *needed_by(links))))


def needed_by(links: Links) -> tuple[int, ...]:
    """The steps it cannot do without, or not without all of them."""
    if not links.sides and not links.either:
        return links.needs
    choices = (choice for choice, _ in links.sides)
    return (*links.needs, *choices, *(each for group in links.either for each in group))


def base_of(state: Runbook) -> bytes:
    """What a change is made onto: the plan, and how many steps there are, with those the runbook added by itself."""
    return course_of(state).plan + len(state.steps).to_bytes(4, "big")


def is_over(step: Step) -> bool:
    """Whether nothing that hangs on the step waits for it any longer."""
    return step.status in DONE or links_of(step).is_passed


def lost(state: Runbook, links: Links, by: int) -> str:
    """Why a step cannot run any more, a step that it hangs on being over; empty when it can."""
    other = state.steps[by - 1]
    for choice, side in links.sides:
        if choice == by and (other.status != "completed" or links_of(other).side != side):
            return "choice"
    if other.status == "completed":
        return ""
    group = next((each for each in links.either if by in each), ())
    is_without = by in links.needs or (group and all(_has_no_result(state.steps[each - 1]) for each in group))
    if not is_without:
        return ""
    return "failure" if other.status == "failed" else "input"


def _has_no_result(step: Step) -> bool:
    return step.status != "completed" and is_over(step)
