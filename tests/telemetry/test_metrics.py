"""Metrics: the names operators were promised, counted from what was committed, read from the store when looked at."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from perdure.app.perdure import Perdure
from perdure.app.telemetry import commit_observer as observing
from perdure.app.telemetry.gauges import FRESH
from perdure.errors import RejectedError
from perdure.sources import SECOND
from perdure.telemetry import TelemetrySettings
from perdure.telemetry.metric_names import ABOUT, LABELS
from perdure.telemetry.metrics import MAX_ROUTES, Metrics
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text
from tests.engines.embedded.engine_world import opened as engine_opened
from tests.engines.embedded.process_models import line, user
from tests.engines.embedded.test_durable_calls import CARRIED, STUCK
from tests.pair import LEASE_AND_MORE, pair
from tests.runbooks.sample_verbs import Handlers, catalogue

pytestmark = pytest.mark.req("X21")

PROMISED = {
    "runbook_steps_total": ("kind", "status"),
    "runbook_step_duration_seconds": ("kind", "verb"),
    "durable_invocation_wait_seconds": ("verb",),
    "durable_timeout_total": ("verb",),
    "runbook_completion_seconds": (),
    "notification_delivery_lag_seconds": (),
}
DAY = 86_400


class Scraped:
    """What a scrape said, by name and labels."""

    def __init__(self, text: bytes) -> None:
        self._samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(text.decode())
            for sample in family.samples
        }

    def __call__(self, name: str, **labels: str) -> float:
        return self._samples.get((name, tuple(sorted(labels.items()))), 0.0)

    def names(self) -> set[str]:
        return {name for name, _ in self._samples}

    def labels(self, name: str, label: str) -> set[str]:
        return {dict(labels)[label] for found, labels in self._samples if found == name}


def opened(url: str, handlers: Handlers | None = None) -> Any:
    return Sandbox.open(url, definitions=catalogue(), handlers=(handlers or Handlers()).bound())


async def scraped(perdure: Perdure) -> Scraped:
    return Scraped(await perdure.runtime.scrape())


def test_the_promised_metrics_have_the_promised_names_and_labels() -> None:
    assert {name: LABELS.get(name, ()) for name in PROMISED} == PROMISED
    assert set(PROMISED) <= set(ABOUT)


async def test_steps_waits_and_runbooks_are_counted_once_they_are_committed(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        sandbox.runtime.measure()
        await sandbox.call("kyc.score", {"entity": "Allianz"})
        await sandbox.call("kyc.refuse")
        waiting = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        before = await scraped(sandbox)
        assert before("runbook_steps_total", kind="sync", status="completed") == 1
        assert before("runbook_steps_total", kind="sync", status="failed") == 1
        assert before("runbook_steps_total", kind="durable", status="completed") == 0
        assert before("perdure_parked_tokens", kind="call") == 1
        await sandbox.advance("P9D")
        await sandbox.complete(f"{waiting.id}:1", {"case_id": "c"})
        after = await scraped(sandbox)
    assert after("runbook_steps_total", kind="durable", status="completed") == 1
    assert after("durable_invocation_wait_seconds_count", verb="kyc.documents") == 1
    assert after("durable_invocation_wait_seconds_sum", verb="kyc.documents") == pytest.approx(9 * DAY)
    assert after("runbook_step_duration_seconds_sum", kind="durable", verb="kyc.documents") == pytest.approx(9 * DAY)
    assert after("runbook_completion_seconds_count") == 2
    assert after("runbook_completion_seconds_sum") == pytest.approx(9 * DAY)
    assert after("perdure_parked_tokens", kind="call") == 0


async def test_a_timeout_is_counted_by_its_verb(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        sandbox.runtime.measure()
        await sandbox.call("kyc.documents", {"entity": "Allianz"})
        await sandbox.advance("P15D")
        found = await scraped(sandbox)
    assert found("durable_timeout_total", verb="kyc.documents") == 1
    assert found("durable_invocation_wait_seconds_count", verb="kyc.documents") == 1


async def test_a_completion_delivered_twice_is_measured_once(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        sandbox.runtime.measure()
        waiting = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        for _ in range(3):
            await sandbox.complete(f"{waiting.id}:1", {"case_id": "c"}, message_id="m")
        found = await scraped(sandbox)
    assert found("durable_invocation_wait_seconds_count", verb="kyc.documents") == 1
    assert found("runbook_completion_seconds_count") == 1


async def test_the_way_from_a_process_to_the_step_it_carried_is_timed(store_url: str) -> None:
    async with engine_opened(store_url) as world:
        world.sandbox.runtime.measure()
        await world.deploy(CARRIED)
        view = await world.sandbox.call("t.carried", {"given": 7})
        await world.sandbox.run_until_idle()
        assert (await scraped(world.sandbox))("notification_delivery_lag_seconds_count") == 0
        await world.sandbox.publish("m", "k", {"extra": "x"})
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(view.id)).state == "completed"
        found = await scraped(world.sandbox)
    assert found("notification_delivery_lag_seconds_count") == 1


async def test_incidents_and_dead_letters_are_read_from_the_store(store_url: str) -> None:
    async with engine_opened(store_url) as world:
        world.sandbox.runtime.measure()
        await world.deploy(STUCK)
        await world.sandbox.call("t.carried", {})
        await world.sandbox.run_until_idle()
        await world.sandbox.complete("nobody-waits", {})
        found = await scraped(world.sandbox)
    assert found("perdure_incidents_open") == 1
    assert found("perdure_incidents_raised_total") == 1
    assert found("perdure_dead_letters") == 1
    assert found("perdure_leases_live") == 1


async def test_jobs_of_a_worker_that_is_gone_wait_for_another(store_url: str) -> None:
    holding, letting_go = asyncio.Event(), asyncio.Event()

    async def slow(call: Call) -> dict[str, Any]:
        holding.set()
        await letting_go.wait()
        return {}

    async with pair(store_url, catalogue(), {**Handlers().bound(), "kyc.notify": slow}) as both:
        both.second.runtime.measure()
        calling = asyncio.ensure_future(both.first.call("kyc.notify"))
        await holding.wait()
        assert (await scraped(both.second))("perdure_jobs_waiting") == 0
        both.clock.move_to(both.clock.now() + LEASE_AND_MORE)
        assert both.second.runtime.lease.beat_once()
        await both.second.runtime.lease.reap()
        found = await scraped(both.second)
        assert (found("perdure_jobs_waiting"), found("perdure_leases_live")) == (1, 1)
        letting_go.set()
        await both.second.runtime.look_after()
        await both.second.runtime.conductor.finish_jobs(None)
        both.clock.move_to(both.clock.now() + FRESH)
        assert (await scraped(both.second))("perdure_jobs_waiting") == 0
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)


async def test_human_tasks_are_counted_with_the_age_of_the_oldest_and_those_overdue(store_url: str) -> None:
    verbs = load_text("- {name: claim.decide, execution: {kind: durable, task: {groups: [loans], due: P3D}}}")
    async with Sandbox.open(store_url, definitions=verbs) as sandbox:
        sandbox.runtime.measure()
        await sandbox.call("claim.decide")
        await sandbox.advance("P1D")
        await sandbox.call("claim.decide")
        young = await scraped(sandbox)
        await sandbox.advance("PT50H")
        old = await scraped(sandbox)
    assert young("perdure_tasks_open") == 2
    assert young("perdure_task_oldest_seconds") == pytest.approx(DAY)
    assert young("perdure_tasks_overdue") == 0
    assert old("perdure_tasks_overdue") == 1


async def test_tasks_of_processes_have_an_age_too(sqlite_url: str) -> None:
    async with engine_opened(sqlite_url) as world:
        await world.deploy(line("asked", user("u")))
        await world.start("asked")
        await world.sandbox.advance("P2D")
        found = await scraped(world.sandbox)
    assert found("perdure_tasks_open") == 1
    assert found("perdure_task_oldest_seconds") == pytest.approx(2 * DAY)


async def test_refused_commands_are_counted_by_their_code(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        view = await sandbox.call("kyc.score", {"entity": "Allianz"})
        with pytest.raises(RejectedError) as refused:
            await sandbox.cancel(view.id)
        found = await scraped(sandbox)
    assert found("perdure_commands_rejected_total", code=refused.value.rejection.code) == 1


async def test_units_that_become_durable_together_are_one_batch(store_url: str) -> None:
    handlers = Handlers()
    async with Perdure.open(
        store_url, definitions=catalogue(), handlers=handlers.bound(), telemetry=TelemetrySettings(metrics=True)
    ) as perdure:
        before = perdure.runtime.driver.commits
        await asyncio.gather(*(perdure.call("kyc.score", {"entity": str(n)}) for n in range(40)))
        found = await scraped(perdure)
        commits = perdure.runtime.driver.commits - before
    assert found("perdure_commit_batch_units_sum") >= 40
    assert commits <= found("perdure_commit_batch_units_count") <= commits + 1
    assert found("perdure_commits_total") == found("perdure_commit_batch_units_count")
    assert found("perdure_commit_seconds_count") == found("perdure_commit_batch_units_sum")


async def test_the_store_is_asked_once_by_all_who_look_within_a_few_seconds(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        asked: list[str] = []
        fetch = sandbox.runtime.driver.fetch

        async def counting(name: str, /, **parameters: Any) -> Any:
            asked.append(name)
            return await fetch(name, **parameters)

        sandbox.runtime.driver.fetch = counting  # type: ignore[method-assign]
        await scraped(sandbox)
        first = len(asked)
        for _ in range(5):
            await scraped(sandbox)
        assert len(asked) == first > 0
        sandbox.clock.move_to(sandbox.clock.now() + FRESH + SECOND)
        await scraped(sandbox)
        assert len(asked) == 2 * first


async def test_a_store_out_of_reach_still_gives_the_counters(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        await sandbox.call("kyc.score", {"entity": "Allianz"})
        await sandbox.runtime.observer.drain()
        await sandbox.runtime.driver.close()
        found = await scraped(sandbox)
    assert found("runbook_steps_total", kind="sync", status="completed") == 1


async def test_a_lost_lease_is_counted(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        sandbox.runtime._lost()
        await asyncio.gather(sandbox.runtime._renewing)
        assert (await scraped(sandbox))("perdure_leases_lost_total") == 1


async def test_what_is_not_asked_for_is_never_called(sqlite_url: str) -> None:
    called: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        place = frame.f_code.co_filename
        if event == "call" and ("perdure/telemetry" in place or "perdure/app/telemetry" in place):
            called.append(f"{place}:{frame.f_code.co_name}")

    async with opened(sqlite_url) as sandbox:
        for measured in (False, True):
            if measured:
                sandbox.runtime.measure()
            sys.setprofile(profile)
            try:
                for number in range(20):
                    await sandbox.call("kyc.score", {"entity": str(number)})
                view = await sandbox.call("kyc.documents", {"entity": "Allianz"})
                await sandbox.complete(f"{view.id}:1", {"case_id": "c"})
            finally:
                sys.setprofile(None)
            assert bool(called) is measured


def test_what_is_not_asked_for_is_never_imported() -> None:
    script = (
        "import asyncio, sys, perdure\n"
        "async def main():\n"
        "    async with perdure.Perdure.open('sqlite://') as p: pass\n"
        "asyncio.run(main())\n"
        "print([m for m in sys.modules if m.startswith(('prometheus_client', 'opentelemetry', 'perdure.app.obs'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


async def test_what_cannot_be_measured_harms_no_work(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("a defect of telemetry")

    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        monkeypatch.setattr("perdure.app.telemetry.entry_metrics.EntryMetrics.measure", broken)
        assert (await sandbox.call("kyc.score", {"entity": "Allianz"})).state == "completed"
        await sandbox.runtime.observer.drain()


async def test_what_is_too_much_to_measure_is_left_out_and_said(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing, "MAX_WAITING", 0)
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        assert (await sandbox.call("kyc.score", {"entity": "Allianz"})).state == "completed"
        assert (await scraped(sandbox))("perdure_telemetry_dropped_total") == 1


async def test_a_scrape_waits_for_what_was_before_it_and_not_for_what_comes_meanwhile(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        sandbox.runtime.measure()
        asked = 0

        async def ask_on() -> None:
            nonlocal asked
            while asked < 200:  # much more than a scrape takes
                asked += 1
                await sandbox.call("kyc.score", {"entity": str(asked)})

        asking = asyncio.ensure_future(ask_on())
        await sandbox.call("kyc.refuse")
        found = await scraped(sandbox)
        assert found("runbook_steps_total", kind="sync", status="failed") == 1
        assert not asking.done()
        await asking


@pytest.mark.parametrize(
    ("act", "name", "label", "most"),
    [
        (lambda m, n: m.wait_ended(f"made.up-{n}", 1.0, False), "durable_invocation_wait_seconds_count", "verb", 1),
        (
            lambda m, n: m.http_answered("GET", f"/{n}", 200, 0.1),
            "perdure_http_requests_total",
            "route",
            MAX_ROUTES + 1,
        ),
        (lambda m, n: m.http_answered(f"M{n}", "/", 200, 0.1), "perdure_http_requests_total", "method", 1),
        (lambda m, n: m.webhook_delivered(f"d{n}", "failed"), "perdure_webhook_deliveries_total", "direction", 1),
    ],
    ids=["verbs", "routes", "methods", "directions"],
)
def test_labels_that_others_choose_never_make_series_without_end(
    act: Callable[[Metrics, int], None], name: str, label: str, most: int
) -> None:
    metrics = Metrics(["kyc.score"])
    for number in range(MAX_ROUTES + 100):
        act(metrics, number)
    found = Scraped(metrics.render()).labels(name, label)
    assert len(found) == most and "other" in found


def test_what_surfaces_and_channels_report_is_shown() -> None:
    metrics = Metrics()
    metrics.http_answered("POST", "/api/runbooks", 201, 0.02)
    metrics.stream_opened()
    metrics.stream_opened()
    metrics.stream_closed()
    metrics.webhook_delivered("out", "failed")
    found = Scraped(metrics.render())
    assert found("perdure_http_requests_total", method="POST", route="/api/runbooks", status="201") == 1
    assert found("perdure_http_request_seconds_count", method="POST", route="/api/runbooks") == 1
    assert found("perdure_sse_streams") == 1
    assert found("perdure_webhook_deliveries_total", direction="out", outcome="failed") == 1


def test_two_processes_have_nothing_in_common() -> None:
    first, second = Metrics(), Metrics()
    first.stream_opened()
    assert Scraped(second.render())("perdure_sse_streams") == 0
