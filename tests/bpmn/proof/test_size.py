"""Processes of the size people draw are decided, and what is too large says which bound was reached."""

from __future__ import annotations

import itertools

import pytest

from perdure.bpmn.conditions.tree import flags_of
from perdure.bpmn.proof import Bounds, prove
from tests.bpmn.proof.large import (
    FLAGS,
    contracts,
    deciding,
    deciding_writes,
    interleaved,
    large,
    listening,
    repeating,
    writes,
)
from tests.bpmn.proof.models import definitions, node


@pytest.mark.parametrize("declares", ["nothing", "flags", "everything"])
def test_a_hundred_elements_ten_flags_and_five_branches_are_proved(declares: str) -> None:
    model = large()
    assert len(model.processes[0].body.nodes) >= 100
    flags = None if declares == "nothing" else contracts()
    verdict = prove(model, flags=flags, writes=writes(model) if declares == "everything" else {})
    assert verdict.word == "proved", verdict.findings
    assert verdict.statistics.states < 1_000
    assert verdict.statistics.reductions["stubborn sets"] > 20


@pytest.mark.deep
def test_branches_that_repeat_as_often_as_a_flag_says_are_proved_although_any_verb_may_write_it() -> None:
    verdict = prove(repeating(), bounds=Bounds(states=10_000))
    assert verdict.word == "proved", verdict.findings


def test_twenty_subprocesses_at_once_with_events_beside_their_work_are_proved() -> None:
    verdict = prove(listening(20))
    assert verdict.word == "proved", verdict.findings
    assert verdict.statistics.states < 100
    every, few = (prove(listening(2), is_reduced=each) for each in (False, True))
    assert (every.word, every.findings) == (few.word, few.findings) == ("proved", ())


def test_hundreds_of_elements_behind_each_other_where_nothing_waits_are_no_trouble() -> None:
    far = " -> ".join(f"none{at}" for at in range(1_000))
    verdict = prove(definitions("start -> and1", f"and1 -> user1 -> {far} -> end1", "and1 -> user2 -> end2"))
    assert verdict.word == "proved", verdict.findings


def test_a_fault_in_a_hundred_elements_is_found() -> None:
    verdict = prove(large(join="xor"), flags=contracts())
    assert {finding.code for finding in verdict.errors()} == {"SND002"}


def test_ten_flags_that_all_matter_behind_the_join_are_decided() -> None:
    verdict = prove(deciding(), flags=contracts(), writes=deciding_writes(deciding()))
    assert verdict.word == "proved", verdict.findings
    assert verdict.statistics.states > 2**10


def test_branches_that_watch_each_other_are_tried_in_every_order() -> None:
    verdict = prove(interleaved(2), flags=contracts())
    assert verdict.word == "proved"
    assert verdict.statistics.states > 9


@pytest.mark.parametrize(
    ("bounds", "bound"),
    [(Bounds(states=10), "states"), (Bounds(bytes=5_000), "bytes"), (Bounds(seconds=0.2), "seconds")],
)
def test_what_is_too_large_is_undecided_and_names_the_bound(bounds: Bounds, bound: str) -> None:
    ticks = itertools.count(step=10_000)
    verdict = prove(interleaved(5), flags=contracts(), bounds=bounds, now=lambda: next(ticks))
    assert (verdict.word, verdict.bound) == ("undecided", bound)
    assert not verdict.findings, "what was not reached yet is not called dead"
    if bound == "states":
        assert verdict.statistics.states < 40


def test_what_is_too_large_with_values_may_be_proved_without_them() -> None:
    bounds = Bounds(states=300)
    assert prove(interleaved(4), flags=contracts(), is_reduced=False, bounds=bounds).word == "undecided"
    verdict = prove(interleaved(4), flags=contracts(), bounds=bounds)
    assert verdict.word == "proved"
    assert "flags of any value" in verdict.statistics.reductions


def test_a_fault_that_only_flags_of_any_value_show_does_not_refute() -> None:
    lines = [line for at in range(4) for line in _twice(at)]
    nodes = [node("fork", "and"), node("join", "and")]
    model = definitions("start -> fork", *lines, "join -> end", nodes=nodes)
    writes = {f"verb.a{at}": (FLAGS[at],) for at in range(4)}
    assert prove(model, flags=contracts(), writes=writes).word == "proved"
    assert prove(model, flags=contracts(), writes=writes, bounds=Bounds(states=8)).word == "undecided"


def _twice(at: int) -> list[str]:
    """A choice that is made twice without anything between that could change it."""
    return [
        f"fork -> a{at} -> xor_{at}1",
        f"xor_{at}1 -> timer_{at}1 [orch_f{at} = true]",
        f"xor_{at}1 -> timer_{at}2 [default]",
        f"timer_{at}1 -> xor_{at}2 -> xor_{at}3 -> xor_{at}5 [orch_f{at} = true]",
        f"timer_{at}2 -> xor_{at}4 -> xor_{at}5 [orch_f{at} = false]",
        f"xor_{at}5 -> join",
    ]


@pytest.mark.deep
def test_a_fault_met_before_the_bound_refutes() -> None:
    verdict = prove(large(join="xor"), flags=contracts(), bounds=Bounds(states=18))
    assert (verdict.word, verdict.bound) == ("refuted", "states")


def test_progress_is_told() -> None:
    told: list[int] = []
    prove(interleaved(3), flags=contracts(), told=told.append)
    assert told


def test_flags_are_ten() -> None:
    flows = large().processes[0].body.flows
    assert {name for flow in flows if flow.condition for name in flags_of(flow.condition)} == set(FLAGS)


def test_one_step_with_more_results_than_anyone_can_count_ends_at_the_bound() -> None:
    lines = [f"none{at} -> xor{at}1 -> xor{at + 1}0" for at in range(30)]
    lines += [f"xor{at}0 -> none{at} [orch_f{at} = true]" for at in range(30)]
    lines += [f"xor{at}0 -> xor{at}1 [default]" for at in range(30)]
    ticks = itertools.count(step=1_000)
    model = definitions("start -> xor00", *lines, "xor300 -> user1 -> end")
    verdict = prove(model, bounds=Bounds(seconds=0.2), now=lambda: next(ticks))
    assert (verdict.word, verdict.bound) == ("undecided", "seconds")
