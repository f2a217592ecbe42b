"""How much Python one instance of the benchmark's process runs: bytecodes and calls, by function.

Clocks differ by a third from run to run on a shared machine; these counts hardly differ at all. They leave out what C
does (SQLite, hashes, allocations), so they say where to look, not how fast something is.

    python -m bench.bytecodes [--instances 640] [--most 60]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from bench.contenders.perdure_processes import opened
from bench.load import Load, drain_all
from perdure import Perdure

AT_ONCE = 64
Where = tuple[bool, CodeType]


class Counting:
    """Counts in the event loop's thread and, from the first line on, in every thread that is started."""

    def __init__(self) -> None:
        self.bytecodes: Counter[Where] = Counter()
        self.calls: Counter[Where] = Counter()
        self.is_on = False
        self._loop = threading.get_ident()

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.is_on:
            return self._resting
        where = (threading.get_ident() == self._loop, frame.f_code)
        self.calls[where] += 1
        return self._follow(frame, where)

    def _resting(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A frame that began before counting did: a thread's main loop, say."""
        if not self.is_on:
            return self._resting
        return self._follow(frame, (threading.get_ident() == self._loop, frame.f_code))

    def _follow(self, frame: FrameType, where: Where) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        bytecodes = self.bytecodes

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "opcode" and self.is_on:
                bytecodes[where] += 1
            return follow

        return follow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=640)
    parser.add_argument("--most", type=int, default=60, help="how many functions are listed")
    given = parser.parse_args()
    counting = Counting()
    threading.settrace(counting.trace)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_count(counting, f"sqlite:///{folder}/bench.db", given.instances))
    _tell(counting, given.instances, given.most)


async def _count(counting: Counting, url: str, instances: int) -> None:
    load = Load(contender="perdure", workload="process", store="sqlite", url=url, concurrency=AT_ONCE)
    async with opened(load) as perdure:
        await drain_all(AT_ONCE, lambda number: _one(perdure, number), instances)
        counting.is_on = True
        sys.settrace(counting.trace)
        await drain_all(AT_ONCE, lambda number: _one(perdure, number), instances)
        sys.settrace(None)
        counting.is_on = False


async def _one(perdure: Perdure, number: int) -> None:
    view = await perdure.instances.start("bench", {"reference": f"order {number}"}, until="rest")
    await perdure.tasks.complete(f"{view.id}:{view.tokens[0].number}", {"approved": True}, until="end")


def _tell(counting: Counting, instances: int, most: int) -> None:
    for is_loop, title in ((True, "loop"), (False, "other threads")):
        bytecodes = sum(count for where, count in counting.bytecodes.items() if where[0] is is_loop)
        calls = sum(count for where, count in counting.calls.items() if where[0] is is_loop)
        print(f"{title}: {bytecodes / instances:,.0f} bytecodes and {calls / instances:,.0f} calls an instance")
    rooms: Counter[str] = Counter()
    for (_, code), count in counting.bytecodes.items():
        rooms[_file(code)] += count
    print("\nbytecodes  file")
    for file, count in rooms.most_common(most // 2):
        print(f"{count / instances:9,.0f}  {file}")
    print("\nbytecodes    calls  function")
    for where, count in counting.bytecodes.most_common(most):
        calls = counting.calls[where] / instances
        print(f"{count / instances:9,.0f} {calls:8.2f}  {_file(where[1])} {where[1].co_qualname}")


def _file(code: CodeType) -> str:
    parts = Path(code.co_filename).parts
    for name in ("perdure", "bench", "asyncio"):
        if name in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(name) :])
    return parts[-1]


if __name__ == "__main__":
    main()
