"""Lives of the load, each ended by SIGKILL: a prepared process forks them, so that a life begins in milliseconds."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from tests.acceptance.load import KINDS, Order
from tests.conftest import ROOT

READY_SECONDS = 60.0
SEEN_SECONDS = 10.0
MAX_NTH = 4
MAX_LINES = 4000
"""How much a life may say before its target is given up."""
LEAVING = {"LeaseJob:AttemptStarted": "k.external", "LeaseJob:IncidentRaised": "k.cautious"}
"""What is taken over must have been left behind: by a life killed while a handler of this verb ran."""


class Target(NamedTuple):
    """Where to kill: exactly before or after a commit of a kind, while one is under way, while a handler of a verb
    is running, or anywhere (no kind)."""

    kind: str
    side: str


def each_once(anywhere: int, chance: random.Random) -> list[Target]:
    """Every kind once, its side in turn, and some anywhere, in a seeded order."""
    sides = ("before", "during", "after")
    listed = [Target(kind, sides[number % len(sides)]) for number, kind in enumerate(KINDS)]
    listed += [Target("", "")] * anywhere
    chance.shuffle(listed)
    return listed


def targets(rounds: int, anywhere: int, chance: random.Random) -> list[Target]:
    """Every kind on every side so many times, and some anywhere, in a seeded order."""
    sides = ("before", "during", "after")
    listed = [Target(kind, side) for kind in KINDS for side in sides for _ in range(rounds)]
    listed += [Target("", "")] * anywhere
    chance.shuffle(listed)
    return listed


class Lives:
    """Starts lives on one store and kills them; counts where."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        self.url, self.folder = url, folder
        self.chance = random.Random(seed)
        self.kills = 0
        self.hits: Counter[str] = Counter()
        self.life = 0
        self._pid = 0
        self._rest = b""

    def __enter__(self) -> Lives:
        self._events, events = os.pipe()
        self._errors = (self.folder / "errors.txt").open("wb")
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.load", str(events)], cwd=ROOT, pass_fds=[events],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        os.close(events)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
        self._nursery.communicate()
        self._errors.close()
        os.close(self._events)

    def kill_all(self, planned: list[Target]) -> None:
        """One life for each target; one that did not come by within its time is tried again later, once."""
        missed = [target for target in planned if not self.live(target)]
        for target in missed:
            self.live(target)

    def live(self, target: Target) -> bool:
        """One life, killed at its target; False when the target never came by and it was killed for that."""
        if target.kind in LEAVING:
            self.live(Target(LEAVING[target.kind], "running"))
        is_exact = target.side in ("before", "after", "running")
        nth = 1 if target.kind in LEAVING else self.chance.randint(1, MAX_NTH)
        self.begin(target.kind if is_exact else "", target.side if is_exact else "", nth)
        if target.kind:
            has_hit = self.wait_for("stopped" if is_exact else f"before {target.kind}", 1 if is_exact else nth)
        else:
            has_hit = self.wait_for("acked", self.chance.randint(1, 60))
        self.kill()
        if has_hit and target.kind:
            self.hits[target.kind] += 1
        return has_hit

    def begin(self, kind: str = "", side: str = "", nth: int = 1) -> None:
        self.life += 1
        order = Order(self.url, str(self.folder), self.life, self.chance.getrandbits(32), kind, side, nth)
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(msgspec.json.encode(order) + b"\n")
        self._nursery.stdin.flush()
        self._pid = int(self._said())
        for line in self.seen(READY_SECONDS):
            if line == "ready":
                return
        raise AssertionError(f"life {self.life} did not begin: {self.errors()[-4000:]}")

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self._pid = 0
        assert self._said() == b"ended"
        self.kills += 1
        self.forget()

    def forget(self) -> None:
        """What was said until now."""
        while select.select([self._events], [], [], 0)[0]:
            os.read(self._events, 1 << 16)
        self._rest = b""

    def wait_for(self, wanted: str, times: int = 1, seconds: float = SEEN_SECONDS) -> bool:
        """Whether the life says something so many times before it has said too much, or nothing for so long."""
        for line, _ in zip(self.seen(seconds), range(MAX_LINES), strict=False):
            times -= line == wanted
            if not times:
                return True
        return False

    def seen(self, seconds: float) -> Iterator[str]:
        """What the life says, until it says nothing for so long."""
        while True:
            while b"\n" in self._rest:
                line, _, self._rest = self._rest.partition(b"\n")
                yield line.decode()
            if not select.select([self._events], [], [], seconds)[0]:
                return
            self._rest += os.read(self._events, 1 << 16)

    def _said(self) -> bytes:
        assert self._nursery.stdout is not None
        line = self._nursery.stdout.readline().strip()
        assert line, f"the process that forks lives is gone: {self.errors()[-4000:]}"
        return line

    def errors(self) -> str:
        return (self.folder / "errors.txt").read_text(errors="replace")
