"""Where a verb's contract applies, a scenario is held to it: who writes which flag, how often, and what at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.drawn import played

ROW = "start s\nservice a a.one\nservice b b.two\nend e\ns > a > b > e\n"
FORK = "start s\nand f\nservice a a.one\nservice b b.two\nand j\nend e\ns > f > a > j > e\nf > b > j\n"
ASKED = "start s\nuser u{intake}\nxor g\nend e\nend e2\ns > u > g\ng > e if orch_x = true\ng > e2 default\n"


def verbs(flag: str, promised: str | None = None) -> str:
    """What is declared around the model; where nothing is promised, only running shows who writes what."""
    said = "" if promised is None else "\n  contract: {writes_flags: [%s]}"
    return f"""
- name: order.go
  execution:
    kind: durable
    process: p
    sub_verbs: [a.one, b.two, in.take]
    flags:
      orch_x: {{type: boolean, initial: false{flag}}}
- name: a.one{said and said % "orch_x"}
- name: b.two{said and said % promised}
- name: in.take
"""


WROTE = """
profile: open
verbs: {a.one: {flags: {orch_x: true}}, b.two: {flags: {orch_x: false}}}
do: [{start: {}}]
expect: {incidents: %d}
"""


@pytest.mark.req("V32")
@pytest.mark.parametrize(
    ("sketch", "flag", "promised", "incidents"),
    [
        (ROW, "", "orch_x", 0),
        (ROW, "", "", 1),
        (ROW, ", once: true", "orch_x", 1),
        (ROW, ", writers: [a.one]", "orch_x", 1),
        (FORK, "", None, 1),
        (FORK, ", merge: any", None, 0),
    ],
    ids=["fine", "not promised", "written once", "another's", "at once", "merged"],
)
async def test_a_stub_may_write_what_its_verb_may(
    tmp_path: Path, store_url: str, sketch: str, flag: str, promised: str | None, incidents: int
) -> None:
    outcome = await played(tmp_path, sketch, WROTE % incidents, verbs(flag, promised), store_url)
    assert outcome.passed, outcome


@pytest.mark.parametrize("value", ["orch_y: true", "orch_x: 'yes'"], ids=["not declared", "of another type"])
async def test_flags_are_those_declared_whoever_brings_them(tmp_path: Path, value: str) -> None:
    stub = f"profile: open\nverbs: {{a.one: {{flags: {{{value}}}}}}}\ndo: [{{start: {{}}}}]\nexpect: {{incidents: 1}}\n"
    outcome = await played(tmp_path, ROW, stub, verbs("", "orch_x"))
    assert outcome.passed, outcome
    for scenario in (
        f"profile: open\nflags: {{{value}}}\ndo: [{{start: {{}}}}]\n",
        f"profile: open\ndo: [{{start: {{flags: {{{value}}}}}}}]\n",
    ):
        outcome = await played(tmp_path, ROW, scenario, verbs("", "orch_x"))
        assert not outcome.passed
        assert outcome.actual.state is None


@pytest.mark.req("V32")
@pytest.mark.parametrize(
    ("intake", "writers", "state"),
    [
        ("", "", "completed"),
        ("", "a.one", "completed"),
        (" intake=in.take", "in.take", "completed"),
        (" intake=in.take", "", "completed"),
        (" intake=in.take", "a.one", "active"),
    ],
)
async def test_flags_of_a_step_are_written_as_by_the_intake_of_its_wait(
    tmp_path: Path, intake: str, writers: str, state: str
) -> None:
    scenario = "profile: open\ndo:\n- start: {}\n- task: {element: u, flags: {orch_x: true}}\n"
    flag = f", writers: [{writers}]" if writers else ""
    outcome = await played(tmp_path, ASKED.format(intake=intake), scenario, verbs(flag))
    assert outcome.actual.state == state, outcome
    assert outcome.actual.flags == {"orch_x": state == "completed"}


async def test_a_signal_brings_flags_too_and_they_are_checked(tmp_path: Path, store_url: str) -> None:
    sketch = "start s\ncatch c signal go\nend e\ns > c > e\n"
    for value, parked in (("true", []), ("maybe", ["c"])):
        scenario = f"profile: open\ndo:\n- start: {{}}\n- signal: {{name: go, flags: {{orch_x: {value}}}}}\n"
        outcome = await played(tmp_path, sketch, scenario, verbs(""), store_url)
        assert outcome.actual.parked == parked, outcome


@pytest.mark.req("V32")
async def test_a_writer_may_be_spelled_with_either_dash(tmp_path: Path) -> None:
    sketch = "start s\nservice a a.one_more\nend e\ns > a > e\n"
    declared = (
        verbs(", writers: [a.one-more]").replace("a.one,", "a.one-more,").replace("- name: a.one", "- name: a.one-more")
    )
    wrote = "profile: open\nverbs: {a.one_more: {flags: {orch_x: true}}}\ndo: [{start: {}}]\nexpect: {incidents: 0}\n"
    outcome = await played(tmp_path, sketch, wrote, declared)
    assert outcome.passed, outcome


async def test_why_a_stub_was_refused_is_said(tmp_path: Path) -> None:
    wrote = "profile: open\nverbs: {a.one: {flags: {orch_y: true}}}\ndo: [{start: {}}]\nexpect: {state: completed}\n"
    outcome = await played(tmp_path, ROW, wrote, verbs(""))
    assert not outcome.passed
    [remark] = outcome.actual.remarks
    assert remark.startswith("Incident at 'a' (job.contract): ") and "orch_y" in remark


async def test_a_process_without_a_contract_has_a_place_for_every_start_value(tmp_path: Path) -> None:
    """Of two processes in a file, where only one is carried by a verb."""
    sketch = "start s\nservice a a.one\nend e\ns > a > e\nprocess q\nstart qs\nservice b b.two\nend qe\nqs > b > qe\n"
    steps = "do: [{start: {}}, {start: {process: q}}]\nexpect: {ran: [a.one, b.two]}\n"
    scenario = f"profile: open\nprocess: p\nflags: {{orch_y: 1}}\n{steps}"
    outcome = await played(tmp_path, sketch, scenario, verbs(""))
    assert outcome.passed, outcome
