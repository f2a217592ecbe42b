"""What the benchmark reads from its samples: medians, best settings, ratios and verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench.children import ChildFailed, read_sample, start
from bench.load import Durability, Load, drive, latencies, payload_of, require_durability
from bench.report import render
from bench.results import Record, Results, figure, ratio
from bench.targets import verdicts
from bench.verify import acknowledged_ids
from bench.workloads import FULL, WORKLOADS, loads

STEPS = next(workload for workload in WORKLOADS if workload.name == "steps")
ONE_SIGNAL = next(workload for workload in WORKLOADS if workload.name == "one-signal")


def record(contender: str, setting: str, round: int, value: float, workload: str = "steps") -> Record:
    metric = next(one.metric for one in WORKLOADS if one.name == workload)
    return Record(
        workload=workload, store="sqlite", contender=contender, setting=setting, round=round, sample={metric: value}
    )


def results(*records: Record, scale: str = "full") -> Results:
    return Results(scale=scale, machine={"sqlite": "3"}, records=list(records), parked=[])


def test_a_contender_is_represented_by_the_setting_with_the_best_median() -> None:
    records = [record("dbos", "at 8", number, value) for number, value in enumerate([100.0, 300.0, 110.0])]
    records += [record("dbos", "at 64", number, value) for number, value in enumerate([200.0, 210.0, 50.0])]
    found = figure(records, STEPS, "sqlite", "dbos")
    assert found is not None
    assert (found.setting, found.median) == ("at 64", 200.0)


def test_the_best_latency_is_the_lowest() -> None:
    records = [record("dbos", "threads", 0, 9.0, "one-signal"), record("dbos", "coroutines", 0, 11.0, "one-signal")]
    found = figure(records, ONE_SIGNAL, "sqlite", "dbos")
    assert found is not None
    assert found.setting == "threads"


def test_a_ratio_is_the_median_of_the_ratios_of_each_round() -> None:
    records = [record("perdure", "at 64", number, value) for number, value in enumerate([10.0, 40.0, 30.0])]
    records += [record("dbos", "at 8", number, value) for number, value in enumerate([1.0, 2.0, 10.0])]
    assert ratio(figure(records, STEPS, "sqlite", "perdure"), figure(records, STEPS, "sqlite", "dbos")) == 10.0


def test_nothing_is_claimed_where_a_contender_gave_no_sample() -> None:
    ours = figure([record("perdure", "at 64", 0, 10.0)], STEPS, "sqlite", "perdure")
    assert ratio(ours, figure([], STEPS, "sqlite", "dbos")) is None
    assert all(verdict.met is None for verdict in verdicts(results()))


def test_a_target_is_met_exactly_at_its_bound_and_not_below() -> None:
    at_bound = results(record("perdure", "at 64", 0, 15.0), record("dbos", "at 8", 0, 1.0))
    below = results(record("perdure", "at 64", 0, 14.9), record("dbos", "at 8", 0, 1.0))
    assert verdicts(at_bound)[0].met is True
    assert verdicts(below)[0].met is False


def killed(missing: int, is_audit_passed: bool) -> Results:
    found = {"checked": 10, "missing": missing, "audit": {"passed": is_audit_passed}}
    return results(msgspec.structs.replace(record("perdure", "at 64", 0, 9000.0), verification=found))


def test_a_lost_acknowledgement_shows_in_the_report() -> None:
    page = render(killed(missing=1, is_audit_passed=True))
    assert "**1 of 10 results lost**" in page
    assert "1 kills, 9 of 10 results there, 0 audits failed | **not met**" in page


def test_an_audit_that_does_not_pass_is_not_called_a_loss() -> None:
    page = render(killed(missing=0, is_audit_passed=False))
    assert "| **1 audits did not pass** |" in page
    assert "10 of 10 results there, 1 audits failed | **not met**" in page


def test_a_kill_that_lost_nothing_keeps_the_promise() -> None:
    page = render(killed(missing=0, is_audit_passed=True))
    assert "all 10 results there" in page
    assert "0 audits failed | met |" in page


def test_a_quick_run_says_that_it_proves_only_its_own_size() -> None:
    quick = results(record("perdure", "at 64", 0, 99.0), record("dbos", "at 8", 0, 1.0), scale="quick")
    assert "met at this size" in render(quick)
    assert "met at this size" not in render(results(*quick.records))


def test_weaker_durability_ends_the_run() -> None:
    require_durability("sqlite", Durability("wal", "2"))
    with pytest.raises(SystemExit, match="but the live connection has"):
        require_durability("sqlite", Durability("delete", "2"))
    with pytest.raises(SystemExit):
        require_durability("postgres", Durability("fsync=on", "off"))


def test_peers_are_tried_at_every_concurrency_and_we_at_one() -> None:
    peers = {load.concurrency for load in loads(STEPS, "dbos", "sqlite", FULL)}
    assert peers == {8, 32, 64}
    assert [load.concurrency for load in loads(STEPS, "perdure", "sqlite", FULL)] == [64]


def test_a_line_cut_off_by_the_kill_is_not_an_acknowledgement(tmp_path: Path) -> None:
    file = tmp_path / "acknowledged"
    file.write_text("one\ntwo\nthr", encoding="utf-8")
    assert acknowledged_ids(str(file)) == ["one", "two"]


def test_the_rich_payload_is_about_two_kilobytes_with_decimals() -> None:
    text = str(payload_of("rich"))
    assert 2000 < len(text) < 2600
    assert "99.875" in text


def test_percentiles_are_in_milliseconds() -> None:
    found = latencies([number / 1000 for number in range(1, 101)])
    assert (found["p50_ms"], found["p99_ms"], found["max_ms"]) == pytest.approx((50.5, 99.0, 100.0))


async def test_driving_is_bounded_by_count_and_the_warm_up_is_not_counted() -> None:
    ran: list[int] = []

    async def one(number: int) -> None:
        ran.append(number)

    load = Load(contender="raw", workload="steps", store="sqlite", url="", concurrency=4, count=10, seconds=60)
    sample = await drive(load, one)
    assert sample["runs"] == 10
    assert sorted(ran) == list(range(14))


def test_a_child_that_fails_tells_its_last_words() -> None:
    child = start(Load(contender="raw", workload="no_such_workload", store="sqlite", url=""))
    with pytest.raises(ChildFailed, match="no_such_workload"):
        read_sample(child, 60)
    for stream in (child.stdout, child.stderr):
        assert stream is not None
        stream.close()
