"""What the benchmark reads from its samples: medians, best settings, ratios and verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench.children import ChildFailed, read_sample, start
from bench.contenders.acknowledging import Acknowledgements
from bench.load import Durability, Load, drive, latencies, payload_of, require_durability, resident_bytes
from bench.report import render
from bench.results import Record, Results, Run, figure, merged, ratio
from bench.targets import verdicts
from bench.verify import acknowledged_ids
from bench.workloads import FULL, PROCESS_PEERS, WORKLOADS, loads

STEPS = next(workload for workload in WORKLOADS if workload.name == "steps")
PROCESS = next(workload for workload in WORKLOADS if workload.name == "process")
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


def test_what_is_acknowledged_outlives_whoever_wrote_it_and_is_added_to(tmp_path: Path) -> None:
    file = str(tmp_path / "acknowledged")
    Acknowledgements(file).add("one", "two")  # not closed: a killed process closes nothing
    assert acknowledged_ids(file) == ["one", "two"]
    before = resident_bytes()
    Acknowledgements(file).add("three")
    assert acknowledged_ids(file) == ["one", "two", "three"]
    assert resident_bytes() - before < 16 * 1024 * 1024, "its room is measured with whoever writes it"


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


def process_records(ours: float, **peers: float) -> list[Record]:
    given = [record(name.replace("_", "-"), "at 1", 0, value, "process") for name, value in peers.items()]
    return [record("perdure", "at 64", 0, ours, "process"), *given]


def test_each_way_of_saving_has_a_bound_of_its_own() -> None:
    found = results(*process_records(150.0, spiff_every=9.0, spiff_task=11.0, spiff_wait=30.0, spiff_memory=101.0))
    met = [verdict.met for verdict in verdicts(found) if "spiff" in verdict.what]
    assert met == [True, False, True, False]
    assert [verdict.met for verdict in verdicts(found) if "bpmn-engine" in verdict.what] == [None]


def test_engines_of_processes_are_shown_beside_us_and_not_among_the_calls() -> None:
    page = render(results(*process_records(900.0, spiff_task=30.0)))
    assert "| SpiffWorkflow saving after every activity | 30.00 (at 1) | 30x |" in page
    assert "process with two branches" not in page.split("## Processes")[0]


def test_engines_that_save_to_a_file_do_not_enter_on_a_server() -> None:
    assert PROCESS.entered("postgres") == ("perdure",)
    assert set(PROCESS_PEERS) < set(PROCESS.entered("sqlite"))
    assert [(load.mode, load.concurrency) for load in loads(PROCESS, "spiff-wait", "sqlite", FULL)] == [("wait", 1)]


def test_saving_after_every_element_is_shown_beside_saving_after_every_activity() -> None:
    assert [load.mode for load in loads(PROCESS, "spiff-every", "sqlite", FULL)] == ["every"]
    page = render(results(*process_records(900.0, spiff_task=30.0, spiff_every=15.0)))
    assert "| SpiffWorkflow saving after every task it runs | 15.00 (at 1) | 60x |" in page
    assert "| SpiffWorkflow saving after every activity | 30.00 (at 1) | 30x |" in page


def test_a_merged_run_replaces_its_own_figures_and_keeps_all_others() -> None:
    old = results(record("perdure", "at 64", 0, 10.0), *process_records(1.0))
    again = Run("2030-01-01 00:00", "full", "0.1", ["process"])
    new = msgspec.structs.replace(results(*process_records(2.0)), runs=[again])
    both = merged(old, new)
    assert [each.sample for each in both.records] == [{"steps_per_second": 10.0}, {"instances_per_second": 2.0}]
    assert [(run.at, run.what) for run in both.runs] == [("before", ["steps"]), ("2030-01-01 00:00", ["process"])]
    assert "| 2030-01-01 00:00 | full | 0.1 | process |" in render(both)


def test_what_a_person_said_about_the_figures_survives_a_merge() -> None:
    old = msgspec.structs.replace(results(record("perdure", "at 64", 0, 10.0)), note="Measured twice.")
    assert "Scale: full. Measured twice." in render(merged(old, results()))


def test_a_long_loop_that_costs_more_per_round_is_seen() -> None:
    slow = {"store": "sqlite", "time_ratio": 1.3, "state_ratio": 1.0, "memory_more_mb": 1.0, "many": {"rounds": 10_000}}
    found = msgspec.structs.replace(results(), loops=[{**slow}])
    assert [verdict.met for verdict in verdicts(found) if "loop of 10,000" in verdict.what] == [False, True, True]


def test_a_crowd_may_slow_a_start_by_half_and_no_more() -> None:
    many = {"definitions": 500, "count": 200_000}
    crowd = {"store": "sqlite", "start_ratio": 1.5, "message_ratio": 1.51, "many": many}
    found = msgspec.structs.replace(results(), crowds=[crowd])
    assert [verdict.met for verdict in verdicts(found) if "500 definitions" in verdict.what] == [True, False]
