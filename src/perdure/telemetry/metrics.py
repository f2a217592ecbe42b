"""The metrics of one process, in a registry of its own: counted after commits, gauges set when someone looks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from perdure.telemetry.metric_names import ABOUT, BUCKETS, LABELS

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"
MAX_ROUTES = 500
MAX_WORKS = 500
"""How many processes and verbs have series of their own."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Readings(msgspec.Struct, frozen=True):
    """What the store said when it was last looked at; counts end at a bound, so that looking stays cheap."""

    jobs_waiting: int = 0
    incidents_open: int = 0
    dead_letters: int = 0
    leases_live: int = 0
    tasks_open: int = 0
    tasks_overdue: int = 0
    task_oldest_seconds: float = 0.0
    parked: tuple[tuple[str, int], ...] = ()
    quarantined: int = 0
    task_results_waiting: int = 0


class EngineReading(NamedTuple):
    """How an engine stood when it was last asked, by the name that settings give it."""

    engine: str
    is_reachable: bool
    dispatches_open: int
    lag_seconds: float
    steps_waiting: int


class Metrics:
    """Made when a process is asked to measure. `verbs` are the names that may be labels; any other is `other`."""

    def __init__(self, verbs: Collection[str] = ()) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self._verbs = frozenset(verbs)
        self._routes: set[str] = set()
        self._works: set[str] = set()
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._counters = {name: self._made(Counter, name) for name in ABOUT if name.endswith("_total")}
        self._histograms: dict[str, Histogram] = {
            name: Histogram(name, ABOUT[name], LABELS.get(name, ()), registry=self.registry, buckets=buckets)
            for name, buckets in BUCKETS.items()
        }
        rest = [name for name in ABOUT if name not in self._counters and name not in self._histograms]
        self._gauges = {name: self._made(Gauge, name) for name in rest}

    def _made(self, kind: Any, name: str) -> Any:
        return kind(name, ABOUT[name], LABELS.get(name, ()), registry=self.registry)

    def render(self) -> bytes:
        """The text that a scrape of `/metrics` gets; its type is `CONTENT_TYPE`."""
        return generate_latest(self.registry)

    def verb(self, name: str) -> str:
        """The label of a verb: only those of the catalogue, so that nobody can make series without end."""
        return name if name in self._verbs else OTHER

    # --- from committed entries ----------------------------------------------------------------------------------

    def step_ended(self, kind: str, verb: str, status: str, seconds: float) -> None:
        self._counters["runbook_steps_total"].labels(kind, status).inc()
        if status in ("completed", "failed"):
            self._histograms["runbook_step_duration_seconds"].labels(kind, self.verb(verb)).observe(seconds)

    def wait_ended(self, verb: str, seconds: float, is_timeout: bool) -> None:
        self._histograms["durable_invocation_wait_seconds"].labels(self.verb(verb)).observe(seconds)
        if is_timeout:
            self._counters["durable_timeout_total"].labels(self.verb(verb)).inc()

    def runbook_completed(self, seconds: float) -> None:
        self._histograms["runbook_completion_seconds"].observe(seconds)

    def notification_delivered(self, seconds: float) -> None:
        self._histograms["notification_delivery_lag_seconds"].observe(seconds)

    def incident_raised(self) -> None:
        self._counters["perdure_incidents_raised_total"].inc()

    def task_ended(self, at: int, due_at: int, *, is_expired: bool = False) -> None:
        """A human task was answered, or its time ran out; moments in microseconds."""
        outcome = "late" if is_expired or (due_at and at > due_at) else "in_time" if due_at else "undated"
        self._counters["perdure_human_tasks_ended_total"].labels(outcome).inc()

    def instance_ended(self, process: str, status: str) -> None:
        self._counters["perdure_instances_ended_total"].labels(self._work(process), status).inc()

    def compensated(self, *, is_whole: bool) -> None:
        self._counters["perdure_compensations_total"].labels("whole" if is_whole else "failed").inc()

    def agent_used(self, work: str, version: int, tokens: int, cost: float) -> None:
        labels = (self._work(work), str(version))
        self._counters["perdure_agent_tokens_total"].labels(*labels).inc(tokens)
        self._counters["perdure_agent_cost_total"].labels(*labels).inc(cost)

    def _work(self, name: str) -> str:
        """The label of a process or a verb: so many, and no more."""
        if name not in self._works:
            if len(self._works) >= MAX_WORKS:
                return OTHER
            self._works.add(name)
        return name

    def refused(self, code: str) -> None:
        self._counters["perdure_commands_rejected_total"].labels(code).inc()

    def dropped(self, units: int = 1) -> None:
        self._counters["perdure_telemetry_dropped_total"].inc(units)

    def lease_lost(self) -> None:
        self._counters["perdure_leases_lost_total"].inc()

    # --- from the store ------------------------------------------------------------------------------------------

    def committed(self, units: int, commits: int) -> None:
        """So many units became durable in so many transactions."""
        self._counters["perdure_commits_total"].inc(commits)
        sizes = self._histograms["perdure_commit_batch_units"]
        for _ in range(commits):
            sizes.observe(units / commits)

    def commit_took(self, seconds: float) -> None:
        self._histograms["perdure_commit_seconds"].observe(seconds)

    def clock_differs(self, seconds: float) -> None:
        """The clock of the machine is so far ahead of the store's."""
        self._gauges["perdure_clock_difference_seconds"].set(seconds)

    def read(self, readings: Readings) -> None:
        """Set the gauges to what the store said."""
        for name in (
            "jobs_waiting", "incidents_open", "dead_letters", "leases_live", "tasks_open", "tasks_overdue",
            "quarantined", "task_results_waiting",
        ):  # fmt: skip
            self._gauges[f"perdure_{name}"].set(getattr(readings, name))
        self._gauges["perdure_task_oldest_seconds"].set(readings.task_oldest_seconds)
        parked = self._gauges["perdure_parked_tokens"]
        parked.clear()
        for kind, count in readings.parked:
            parked.labels(kind).set(count)

    def engines(self, readings: Sequence[EngineReading]) -> None:
        """Set the gauges of engines; one that is asked no more has none."""
        for name in ("reachable", "dispatches_open", "lag_seconds", "steps_waiting"):
            gauge = self._gauges[f"perdure_engine_{name}"]
            gauge.clear()
            for each in readings:
                gauge.labels(each.engine).set(getattr(each, "is_reachable" if name == "reachable" else name))

    # --- from the surfaces and channels --------------------------------------------------------------------------

    def http_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route` is the route's pattern (`/api/runbooks/{id}`), never the path that was asked for."""
        if route not in self._routes:
            if len(self._routes) >= MAX_ROUTES:
                route = OTHER
            self._routes.add(route)
        name = method if method in METHODS else OTHER
        place = (name, route, status)
        found = self._answered.get(place)
        if found is None:
            counted = self._counters["perdure_http_requests_total"].labels(name, route, str(status))
            found = self._answered[place] = (
                counted,
                self._histograms["perdure_http_request_seconds"].labels(name, route),
            )
        found[0].inc()
        found[1].observe(seconds)

    def stream_opened(self) -> None:
        self._gauges["perdure_sse_streams"].inc()

    def stream_closed(self) -> None:
        self._gauges["perdure_sse_streams"].dec()

    def webhook_delivered(self, direction: str, outcome: str) -> None:
        """`direction` is `in` or `out`; `outcome` is `delivered`, `retried`, `failed` or `refused`."""
        known = direction in ("in", "out") and outcome in ("delivered", "retried", "failed", "refused")
        labels = (direction, outcome) if known else (OTHER, OTHER)
        self._counters["perdure_webhook_deliveries_total"].labels(*labels).inc()

    def task_result(self, door: str, outcome: str) -> None:
        """`door` is `http`, `verb`, `sql`, `hook` or a source of the project."""
        self._counters["perdure_task_results_total"].labels(door, outcome).inc()

    def bus_source(self, source: str, lag: int | None, is_paused: bool) -> None:
        """`source` is one that the project names."""
        if lag is not None:
            self._gauges["perdure_bus_lag"].labels(source).set(lag)
        self._gauges["perdure_bus_paused"].labels(source).set(is_paused)
