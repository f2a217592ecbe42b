"""Completed activities, kept small: repetitions are counted instead of listed, and their order is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from perdure.bpmn.machine.state import Done, Place

MOST_IN_TURN = 8
"""How many different activities in a row are recognised as one turn of a cycle."""


def appended(done: tuple[Done, ...], new: Done) -> tuple[Done, ...]:
    """What was done and one thing more: counted when it repeats what came before it."""
    if done and _follows(done[-1], new):
        last = done[-1]
        return _folded((*done[:-1], replace(last, times=last.times + 1, iteration=new.iteration)))
    return _folded((*done, new))


def compact(done: Iterable[Done]) -> tuple[Done, ...]:
    kept: tuple[Done, ...] = ()
    for each in done:
        kept = appended(kept, each)
    return kept


def _follows(last: Done, new: Done) -> bool:
    """Whether it is the same activity once more: the next iteration, or again without any."""
    if new.times > 1 or (last.element, last.handler, last.verb) != (new.element, new.handler, new.verb):
        return False
    step = 1 if last.iteration else 0
    return new.iteration == last.iteration + step and (last.inner, last.base) == (new.inner, new.base)


def _folded(done: tuple[Done, ...]) -> tuple[Done, ...]:
    """A cycle of several activities that has turned once more is counted as well, under no name."""
    for length in range(2, min(MOST_IN_TURN, len(done) - 1) + 1):
        turn, before = done[-length:], done[:-length]
        if not before[-1].element and before[-1].inner == turn:
            return (*before[:-1], replace(before[-1], times=before[-1].times + 1))
        if before[-length:] == turn:
            return (*before[:-length], Done("", inner=turn, times=2))
    return done


def backwards(done: tuple[Done, ...]) -> tuple[Done, ...]:
    """The order of undoing; what is counted is turned round when its time comes."""
    return tuple(reversed(done))


def first(queue: tuple[Done, ...]) -> tuple[Done, tuple[Done, ...]]:
    """Of what is to be undone, last first: the one whose turn it is, and the rest."""
    head, rest = queue[0], queue[1:]
    if head.times > 1:
        earlier = replace(head, times=head.times - 1, iteration=max(0, head.iteration - 1) if head.element else 0)
        rest = (earlier, *rest)
    if head.element:
        return replace(head, times=1), rest
    return first((*backwards(head.inner), *rest))


def placed(done: tuple[Done, ...], place: Place) -> tuple[Done, ...]:
    """The same, done inside a place."""
    if not place:
        return done
    return tuple(
        replace(each, place=(*place, *each.place)) if each.element else replace(each, inner=placed(each.inner, place))
        for each in done
    )


def chosen(done: tuple[Done, ...], activities: tuple[str, ...], *, is_named: bool) -> tuple[Done, ...]:
    """Only what names stand for, or all but that."""
    kept: tuple[Done, ...] = ()
    for each in done:
        if each.element:
            kept = (*kept, each) if (each.element in activities) == is_named else kept
        elif inner := chosen(each.inner, activities, is_named=is_named):
            kept = (*kept, replace(each, inner=inner))
    return kept


def listed(done: tuple[Done, ...], most: int = 0) -> Iterator[Done]:
    """One by one, in the order of completion; at most so many of what is counted, 0 for all of them."""
    for each in done:
        times = min(each.times, most) if most else each.times
        for turn in range(times):
            if each.element:
                yield replace(each, times=1, iteration=max(0, each.iteration - times + 1 + turn))
            else:
                yield from listed(each.inner, most)
