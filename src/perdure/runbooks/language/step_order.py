"""The order of steps: what waits for what, in which waves they can run, and where they wait for one another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

Needs = Mapping[int, Sequence[int]]
"""What each step waits for, by number."""


def sorted_by_needs(needs: Needs) -> list[int]:
    """Every step after what it needs, otherwise as written; those in or behind a cycle are left out."""
    waiting = {name: len(set(needed)) for name, needed in needs.items()}
    followers = _followers(needs)
    ready = deque(name for name, count in waiting.items() if count == 0)
    found: list[int] = []
    while ready:
        name = ready.popleft()
        found.append(name)
        for follower in followers.get(name, ()):
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return found


def waves(needs: Needs) -> tuple[tuple[int, ...], ...]:
    """Steps that can run together, wave after wave, each as early as it can."""
    level: dict[int, int] = {}
    for name in sorted_by_needs(needs):
        level[name] = 1 + max((level[needed] for needed in needs[name]), default=-1)
    found: list[list[int]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for name in needs:
        if name in level:
            found[level[name]].append(name)
    return tuple(tuple(wave) for wave in found)


def cycles(needs: Needs) -> Iterator[list[int]]:
    """One way round for every knot of steps that wait for one another."""
    left = dict.fromkeys(name for name in needs)
    for name in sorted_by_needs(needs):
        del left[name]
    gone: set[int] = set()
    for start in left:
        if start not in gone:
            yield from _around(start, needs, left, gone)


def _around(start: int, needs: Needs, left: Mapping[int, None], gone: set[int]) -> Iterator[list[int]]:
    """Walk from need to need until a step comes again or the way was walked before; every walk ends so."""
    path: list[int] = []
    place: dict[int, int] = {}
    name = start
    while name not in place and name not in gone:
        place[name] = len(path)
        path.append(name)
        name = next(needed for needed in needs[name] if needed in left)
    if name in place:
        yield path[place[name] :]
    gone.update(path)


def _followers(needs: Needs) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for name, needed in needs.items():
        for each in dict.fromkeys(needed):
            found.setdefault(each, []).append(name)
    return found
