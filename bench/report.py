"""RESULTS.md: ratios first, absolute rates second, what was promised last."""

from __future__ import annotations

from collections.abc import Iterator

from bench.load import Store
from bench.results import LISTS, Figure, Kept, Results, figure, kept_in, ratio
from bench.targets import verdicts
from bench.workloads import WORKLOADS, Workload

OTHERS = ("dbos", "langgraph", "raw")
TITLES = {
    "dbos": "DBOS",
    "langgraph": "LangGraph",
    "raw": "raw limit",
    "perdure": "Perdure",
    "spiff-every": "SpiffWorkflow saving after every task it runs",
    "spiff-task": "SpiffWorkflow saving after every activity",
    "spiff-wait": "SpiffWorkflow saving at waits",
    "spiff-memory": "SpiffWorkflow in memory",
    "bpmn-engine-task": "bpmn-engine saving after every activity",
    "bpmn-engine-wait": "bpmn-engine saving at waits",
    "bpmn-engine-memory": "bpmn-engine in memory",
}
DOORS = {
    "python": "Python API",
    "http": "HTTP",
    "verb": "verb",
    "sql": "SQL insert",
    "redis": "Redis Streams",
    "nats": "NATS JetStream",
    "kafka": "Kafka (mock of librdkafka)",
}
INTRODUCTION = """# Benchmark results

Read the ratios: every line was measured in one run, everyone on the same machine with the same durability
(SQLite in WAL mode with `synchronous=FULL`, Postgres with `fsync=on` and `synchronous_commit=on`, read back from
each peer's live connection). Absolute rates move by a third between machines and between runs; ratios taken in one
run move less.

Reproduce with `make bench`, or `python -m bench --full`; `--quick` takes minutes and shows the shape, `--only NAME`
runs one workload and `--merge` puts it in place among the figures of earlier runs; `--rounds 9` makes more of the
noise cancel.
"""
METHOD = """## How it was measured

- Each contender runs in a fresh interpreter of its own; rounds are interleaved and begin with another contender each
  time; figures are medians of the rounds, ratios are medians of each round's ratio.
- The first round tries every setting of a peer, the others repeat the one that was best for it.
- DBOS runs at its best of 8, 32 and 64 at once, with coroutine workflows and with threads, polling every 10 ms;
  SQLite is set to WAL and FULL on every connection it opens (it ships with the DELETE journal).
- LangGraph runs at its best of 8, 32 and 64 at once with its asynchronous savers and `durability="sync"`: each node
  is recorded before the next begins.
- The raw limit is the store's own driver with no product in between: 64 rows per commit when many run at once (one
  `unnest` statement on Postgres), one row per commit when one runs alone.
- Everyone's Python runs with its memory settled as `perdure worker` settles it (`gc.freeze`, rarer collections).
- Perdure runs through its public API with shipped defaults, 64 at once. The database is killed under load after each
  run (SIGKILL of the process that holds the SQLite file, SIGKILL of the Postgres server); then the audit must pass
  and every result that was acknowledged must be there.
- The process is a service task, an exclusive gateway, a service task, a person's task, a fork of two service tasks, a
  join and an end. Perdure runs it with everything on: each task's frame, payload and journal record is durable before
  the next begins, and seals are written every second. Its handlers do nothing.
- SpiffWorkflow and bpmn-engine run the same process with the same data and tasks that only add their result to it, one
  instance after another in one thread (running several at once gains them nothing), from a model parsed once. Saving is
  one row in SQLite per instance, WAL and FULL. *After every task it runs*: what SpiffWorkflow itself calls a task,
  every element, start, gateways, join and end among them. *After every activity*: where Perdure commits, when the
  instance has begun and after each of the five activities together with the gateways and ends behind it. *At waits*:
  at the person's task and the end. bpmn-engine runs under Node; where there is no Node it is not measured.
- The loop is one instance that goes round a service task and a gateway, each round durable with a payload of its own.
- Among many definitions and parked instances, starts and messages are timed one at a time after a restart, every
  definition having been used once.
- A case of a lifecycle waits for one document of its client; nine others lie beside it. Documents are verified one at a
  time; the time is from asking for it until a listener in the process heard of the case's move, after the commit was
  durable. A search asks for twenty documents by two words that an eighth of them hold.
- Results of pending tasks: instances wait, each for one result; the time is from sending the first until the last
  instance had moved, durably. The Python API, HTTP (the application in the same process, no socket) and the verb are
  asked 64 at once; rows are inserted in one transaction; messages lie at a real broker (of Kafka: at the mock cluster
  of librdkafka) before the time begins and the consumer with it.
- Lateness of a timer is from the time it was due until a listener in the process heard of its effect, after the
  commit was durable.
"""


def render(results: Results) -> str:
    """The whole page."""
    stores: list[Store] = [store for store in ("sqlite", "postgres") if store in results.machine]
    parts = [INTRODUCTION, f"Scale: {results.scale}. {results.note}".rstrip() + "\n"]
    parts += ["## Runs\n", _table(_run_rows(results))] if results.runs else []
    parts += ["## Ratios\n", _table(_ratio_rows(results, stores))]
    parts += ["## Rates\n", _table(_rate_rows(results, stores))]
    parts += ["## Processes\n", _table(_process_rows(results, stores))]
    parts += ["## Loops\n", _table(_loop_rows(results))]
    parts += ["## Many definitions and parked instances\n", _table(_crowd_rows(results))]
    parts += ["## Many parked calls\n", _table(_parked_rows(results))]
    parts += ["## Documents and waiting cases\n", _table(_paper_rows(results))]
    parts += ["## Results of pending tasks\n", _table(_door_rows(results))]
    parts += ["## The server\n", _table(_serving_rows(results))]
    parts += ["## Several workers on one Postgres\n", _table(_worker_rows(results))]
    parts += ["## Promised and measured\n", _table(_verdict_rows(results))]
    parts += [METHOD, "## Machine\n", _table(_machine_rows(results)), _failures(results)]
    return "\n".join(part for part in parts if part)


def _ratio_rows(results: Results, stores: list[Store]) -> Iterator[list[str]]:
    yield ["workload", "store", *(f"against {TITLES[other]}" for other in OTHERS), "after the kill"]
    for workload, store in _lines(results, stores):
        ours = figure(results.records, workload, store, "perdure")
        found = [ratio(ours, figure(results.records, workload, store, other)) for other in OTHERS]
        yield [workload.title, store, *(_times(one) for one in found), _kept(kept_in(results, workload.name, store))]


def _run_rows(results: Results) -> Iterator[list[str]]:
    yield ["run", "scale", "load average when started", "figures that are from it"]
    for run in results.runs:
        yield [run.at, run.scale, run.load, ", ".join(run.what)]


def _process_rows(results: Results, stores: list[Store]) -> Iterator[list[str]]:
    yield ["workload", "store", "engine", "instances per second", "Perdure against it", "after the kill"]
    for workload, store in _lines(results, stores, is_process=True):
        ours = figure(results.records, workload, store, "perdure")
        kept = _kept(kept_in(results, workload.name, store))
        yield [workload.title, store, "Perdure", _absolute(ours), "", kept]
        for peer in workload.entered(store)[:-1]:
            found = figure(results.records, workload, store, peer)
            yield [workload.title, store, TITLES[peer], _absolute(found), _times(ratio(ours, found)), ""]


def _loop_rows(results: Results) -> Iterator[list[str]]:
    yield ["store", "rounds", "time per round", "CPU per round", "state", "resident memory more after it"]
    for found in results.loops:
        for size in filter(None, (found.get("few"), found.get("many"))):
            memory = f"{size['resident_more_bytes'] / 2**20:.1f} MB"
            times = [f"{size[name]:.2f} ms" for name in ("ms_per_round", "cpu_ms_per_round")]
            yield [found["store"], f"{size['rounds']:,}", *times, f"{size['state_bytes']:,} bytes", memory]


def _crowd_rows(results: Results) -> Iterator[list[str]]:
    yield ["store", "definitions", "parked instances", "start, p50", "message, p50", "memory"]
    for found in results.crowds:
        for size in filter(None, (found.get("few"), found.get("many"))):
            times = [f"{size[what]['p50_ms']:.2f} ms" for what in ("start", "message")]
            memory = f"{size['resident_bytes'] / 2**20:.0f} MB"
            yield [found["store"], f"{size['definitions']:,}", f"{size['count']:,}", *times, memory]


def _paper_rows(results: Results) -> Iterator[list[str]]:
    yield ["store", "waiting cases", "documents", "verified to moved, p50", "p99", "search, p50", "p95", "written"]
    for found in results.papers:
        for size in filter(None, (found.get("few"), found.get("many"))):
            told = (("move", "p50_ms"), ("move", "p99_ms"), ("search", "p50_ms"), ("search", "p95_ms"))
            times = [f"{size[what][each]:.2f} ms" for what, each in told]
            written = f"{size['documents_per_second']:,.0f}/s"
            yield [found["store"], f"{size['cases']:,}", f"{size['documents']:,}", *times, written]


def _door_rows(results: Results) -> Iterator[list[str]]:
    yield ["store", "results", "door", "against the Python API", "results per second"]
    for found in results.doors:
        for door, title in DOORS.items():
            if door in found and found.get("python"):
                times = "" if door == "python" else f"{found[door] / found['python']:.2f}x"
                yield [found["store"], f"{found['count']:,}", title, times, f"{found[door]:,.0f}/s"]


def _serving_rows(results: Results) -> Iterator[list[str]]:
    yield [
        "store", "calls by the Python API", "through HTTP", "processor time of a call", "through HTTP",
        "status, p99, idle", "under load", "streams", "memory", "more after eight more rounds",
    ]  # fmt: skip
    for found in results.servings:
        if "streams" not in found:
            continue
        yield [
            found["store"], f"{found['direct_per_second']:,.0f}/s", f"{found['http_per_second']:,.0f}/s",
            f"{found['direct_cpu_us']:,.0f} µs", f"{found['http_cpu_us']:,.0f} µs", f"{found['idle_p99_ms']:.2f} ms",
            f"{found['busy_p99_ms']:.2f} ms", f"{found['streams']:,.0f}", f"{found['streams_mb']:.0f} MB",
            f"{found['streams_more_mb']:+.1f} MB",
        ]  # fmt: skip


def _kept(found: Kept | None) -> str:
    if found is None:
        return "–"
    troubles = [f"**{found.missing:,} of {found.checked:,} results lost**"] if found.missing else []
    troubles += [f"**{found.audits_failed} audits did not pass**"] if found.audits_failed else []
    return ", ".join(troubles) or f"all {found.checked:,} results there"


def _rate_rows(results: Results, stores: list[Store]) -> Iterator[list[str]]:
    yield ["workload", "store", "unit", "Perdure", *(TITLES[other] for other in OTHERS)]
    for workload, store in _lines(results, stores):
        figures = [figure(results.records, workload, store, name) for name in ("perdure", *OTHERS)]
        yield [workload.title, store, workload.unit, *map(_absolute, figures)]


def _lines(results: Results, stores: list[Store], is_process: bool = False) -> list[tuple[Workload, Store]]:
    run = {(record.workload, record.store) for record in results.records}
    chosen = [workload for workload in WORKLOADS if (workload.function == "process") == is_process]
    return [(workload, store) for workload in chosen for store in stores if (workload.name, store) in run]


def _parked_rows(results: Results) -> Iterator[list[str]]:
    yield ["store", "parked", "memory", "ready after restart", "one signal, p50", "bytes per call", "parked per second"]
    for found in results.parked:
        for size in (found.get("few"), found.get("many")):
            if size is None:
                yield [found["store"], "–", "–", "–", "–", "–", "–"]
                continue
            memory = max(size["parking"]["resident_bytes"], size["ready"]["resident_bytes"]) / 2**20
            each = (size["bytes"] - found["empty_bytes"]) / size["count"]
            ready, latency = size["ready"]["ready_seconds"], size["ready"]["p50_ms"]
            rate = size["parking"]["parked_per_second"]
            figures = [f"{memory:.0f} MB", f"{ready:.2f} s", f"{latency:.2f} ms", f"{each:,.0f}", f"{rate:,.0f}"]
            yield [found["store"], f"{size['count']:,}", *figures]


def _worker_rows(results: Results) -> Iterator[list[str]]:
    yield ["worker processes", "steps per second", "against one"]
    alone = next((each.get("steps_per_second") for each in results.workers if each["workers"] == 1), None)
    for each in results.workers:
        rate = each.get("steps_per_second")
        yield [str(each["workers"]), f"{rate:,.0f}" if rate else "–", f"{rate / alone:.2f}x" if rate and alone else "–"]


def _verdict_rows(results: Results) -> Iterator[list[str]]:
    yield ["what", "promised", "measured", ""]
    marks = {True: "met", False: "**not met**", None: "not measured"}
    if results.scale != "full":
        # A promise about a million parked calls is not kept by twenty thousand.
        marks |= {True: "met at this size", False: "**not met** at this size"}
    for verdict in verdicts(results):
        mark = marks[verdict.met]
        yield [verdict.what, verdict.target, verdict.measured or "–", mark]


def _machine_rows(results: Results) -> Iterator[list[str]]:
    yield ["", ""]
    yield from ([name, value] for name, value in results.machine.items())


def _failures(results: Results) -> str:
    lines = [
        f"- {record.workload}, {record.store}, {record.contender} {record.setting}: `{_last_line(record.failure)}`"
        for record in results.records
        if record.failure
    ]
    for name, field in LISTS.items():
        failed = [one for one in getattr(results, field) if "failure" in one]
        lines += [f"- {name}, {one['store']}: `{_last_line(one['failure'])}`" for one in failed]
    return "\n".join(["## Runs without a figure\n", *lines, ""]) if lines else ""


def _table(rows: Iterator[list[str]]) -> str:
    header, *body = list(rows)
    if not body:
        return "Not measured in this run.\n"
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _times(found: float | None) -> str:
    return "–" if found is None else f"{found:,.2f}x" if found < 10 else f"{found:,.0f}x"


def _absolute(found: Figure | None) -> str:
    if found is None:
        return "–"
    number = f"{found.median:,.0f}" if found.median >= 100 else f"{found.median:,.2f}"
    return f"{number} ({found.setting})"


def _last_line(text: str | None) -> str:
    return ((text or "").strip().splitlines() or [""])[-1][:200].replace("`", "'")
