"""The onboarding process on each engine: one client process drives cases from their start to their decision.

python -m bench --only carriers        measures all, in alternating rounds, and writes CARRIERS.md and carriers.json
python -m bench.carriers drive STORE ENGINE CASES AT_ONCE     one measurement, as JSON
python -m bench.carriers work STORE ENGINE                    a further worker, until its input ends
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.load import Store
from bench.stores import FreshStores

HERE = Path(__file__).resolve().parent
KYC = HERE.parent / "examples" / "kyc"
CASES, AT_ONCE, ROUNDS = 40, 8, 3
EXTRACT = {"documents": [{"document": "register-extract", "reference": "document://extract-1"}]}
COLUMNS = ("start_p50", "start_p99", "completion_p50", "completion_p99")
SETTINGS = (
    "Temporal: `temporal server start-dev` with a file, `journal_mode=wal`, `synchronous=normal`, one process of ours\n"
    "with 1,000 cached workflows, its data in SQLite. SQLite: `synchronous=FULL`. Postgres: `synchronous_commit=on`."
)


async def drive(store: str, engine: str, cases: int, at_once: int) -> dict[str, float]:
    """Cases from their start to their decision, so many at once; seconds for latencies."""
    from perdure.app.perdure import Perdure  # noqa: PLC0415
    from perdure.journal import Origin  # noqa: PLC0415
    from perdure.sources import id_text  # noqa: PLC0415

    boss, rita = Origin("default", "local"), Origin("default", "rita", groups=("compliance",))
    turns, starts, ends = asyncio.Semaphore(at_once), list[float](), list[float]()
    opened = Perdure.open(
        store, definitions=[KYC / "verbs"], models=[KYC / "models"], handlers=["casework"], engine=engine
    )
    async with opened as perdure:
        runtime, carrier = perdure.runtime, perdure.runtime.engine
        follow = runtime.instances.followers.follow

        async def start(number: int) -> Any:
            async with turns:
                began = time.perf_counter()
                data = {"entity_ref": f"entity {number}", "case_type": "periodic-review"}
                begun = await carrier.start("kyc-open-case", boss, data=data, until="rest")
                starts.append(time.perf_counter() - began)
                return begun

        async def complete(begun: Any) -> None:
            async with turns:
                began, key = time.perf_counter(), str(begun.state.flags["orch_case_id"])
                await carrier.publish("docs_received", key, boss, message_id=f"m-{key}", data=EXTRACT)
                here = await follow(await runtime.instances.read(begun.id, boss), "rest")
                node = next(each.number for each in here.state.nodes.values() if each.kind == "task")
                await carrier.complete_task(id_text(begun.id), node, rita, data={"outcome": "approved"}, until="end")
                ends.append(time.perf_counter() - began)

        for number in range(at_once):  # warm: definitions, connections, caches
            await complete(await start(-number))
        starts.clear()
        ends.clear()
        began = time.perf_counter()
        begun = await asyncio.gather(*(start(number) for number in range(cases)))
        started = time.perf_counter()
        await asyncio.gather(*map(complete, begun))
        ended = time.perf_counter()
    return {
        "starts_per_second": cases / (started - began), "completions_per_second": cases / (ended - started),
        "start_p50": _part(starts, 50), "start_p99": _part(starts, 99),
        "completion_p50": _part(ends, 50), "completion_p99": _part(ends, 99),
        "worker_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def _part(samples: list[float], percent: int) -> float:
    found = sorted(samples)
    return found[min(len(found) - 1, len(found) * percent // 100)]


async def work(store: str, engine: str) -> None:
    from perdure.app.perdure import Perdure  # noqa: PLC0415

    opened = Perdure.open(
        store, definitions=[KYC / "verbs"], models=[KYC / "models"], handlers=["casework"], engine=engine
    )
    async with opened:
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def measured(store: str, engine: str, workers: int) -> dict[str, float]:
    """One measurement in processes of their own."""
    more = [_child("work", store, engine, stdin=subprocess.PIPE) for _ in range(workers - 1)]
    for each in more:
        assert each.stdout is not None
        each.stdout.readline()
    try:
        driver = _child("drive", store, engine, str(CASES), str(AT_ONCE))
        said, _ = driver.communicate()
    finally:
        for each in more:
            assert each.stdin is not None
            each.stdin.close()
            each.wait()
    answers = [line for line in said.splitlines() if line.startswith("{")]
    if not answers:
        raise RuntimeError(f"the measurement on {engine} ended without an answer")
    found: dict[str, float] = json.loads(answers[-1])
    return found


def _child(*words: str, **how: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.carriers", *words]
    environment = {**os.environ, "PYTHONPATH": f"{HERE.parent}:{KYC}"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=HERE.parent, **how)


@contextmanager
def temporal() -> Iterator[tuple[str, int]]:
    """A real server and the id of its process."""
    from perdure.testing.temporal_server import real_server  # noqa: PLC0415

    server = real_server()
    try:
        server.start()
        assert server._process is not None
        yield server.url, server._process.pid
    finally:
        server.remove()


def measure(stores: dict[Store, FreshStores], rounds: int = ROUNDS) -> dict[str, list[dict[str, float]]]:
    """All engines in turn, round after round: other work on the machine falls on each of them."""
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        if "sqlite" in stores:
            found.setdefault("embedded, SQLite", []).append(measured(stores["sqlite"].create(), "embedded", 1))
        for workers in (1, 2, 3) if "postgres" in stores else ():
            name = f"embedded, Postgres, {workers} worker{'s' * (workers > 1)}"
            found.setdefault(name, []).append(measured(stores["postgres"].create(), "embedded", workers))
        with temporal() as (url, process), tempfile.TemporaryDirectory() as folder:
            taken = measured(f"sqlite:///{folder}/t.db", url, 1)
            taken["server_mb"] = _resident_mb(process)
            found.setdefault("Temporal, SQLite for data", []).append(taken)
        print({name: round(each[-1]["completions_per_second"], 1) for name, each in found.items()}, flush=True)
    return found


def _resident_mb(process: int) -> float:
    text = Path(f"/proc/{process}/status").read_text()
    line = next(each for each in text.splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def report(found: dict[str, list[dict[str, float]]]) -> str:
    """A table of medians; ratios are medians over rounds, each against the same round's SQLite."""
    first = next(iter(found))
    lines = [
        "# The onboarding process on each engine", "",
        f"{CASES} cases of `kyc-open-case`, {AT_ONCE} at once: from the start to the wait for documents, then",
        "from these to a reviewer's decision: four jobs, two intakes, a message, a task. Medians of",
        f"{len(found[first])} alternating rounds on a machine of two cores that others used: compare the ratios, not",
        "the numbers. Made by `make bench ARGS='--only carriers'`.",
        "", SETTINGS, "",
        "| engine | starts/s | completions/s | of SQLite | start p50, p99 | completion p50, p99 | worker | server |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines[-2:-2] = [
        f"The machine's load was {os.getloadavg()[1]:.0f} at the end: further workers had no core of their own.",
        "",
    ]
    for name, rounds in found.items():
        ratio = statistics.median(
            mine["completions_per_second"] / base["completions_per_second"]
            for mine, base in zip(rounds, found[first], strict=True)
        )
        middle = {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}
        early, late, soon, slow = (f"{1000 * middle[key]:.0f} ms" for key in COLUMNS)
        server = f"{middle['server_mb']:.0f} MB" if "server_mb" in middle else "-"
        lines.append(
            f"| {name} | {middle['starts_per_second']:.1f} | {middle['completions_per_second']:.1f} | {ratio:.2f} "
            f"| {early}, {late} | {soon}, {slow} | {middle['worker_mb']:.0f} MB | {server} |"
        )
    return "\n".join(lines) + "\n"


def main(stores: dict[Store, FreshStores], rounds: int = ROUNDS) -> None:
    found = measure(stores, rounds)
    (HERE / "carriers.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "CARRIERS.md").write_text(report(found))
    print(report(found))


if __name__ == "__main__":
    do, *words = sys.argv[1:]
    if do == "drive":
        print(json.dumps(asyncio.run(drive(words[0], words[1], int(words[2]), int(words[3])))), flush=True)
    else:
        asyncio.run(work(*words))
    sys.stdout.flush()
    os._exit(0)
