"""Reductions hide nothing: the verdict is that of trying every order and every value."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.proof import Bounds, Verdict, prove
from perdure.bpmn.proof.ample_sets import Ample
from perdure.bpmn.proof.process_graph import Outline
from perdure.verb_contract import FlagContract
from tests.bpmn.proof.models import definitions, node, scope
from tests.bpmn.proof.random_models import CONTRACTS, random_process, random_writes
from tests.depth import sampled

CUTTING = {"SND002", "SND005", "SND006"}
"""Where a process is this wrong the search stops, and what is behind depends on where it stood."""
BLOCKS = 10
EACH = 12


def both(seed: int, size: int = 5) -> tuple[Deployed, Verdict, Verdict]:
    deployed = random_process(seed, size, changes=seed % 3)
    writes = random_writes(deployed, seed) if seed % 2 else {}
    raises = dict.fromkeys(list(writes)[:2], ("REFUSED",))
    flags = CONTRACTS if seed % 4 < 2 else None
    every = prove(deployed, flags=flags, writes=writes, may_raise=raises, is_reduced=False, bounds=Bounds(states=3000))
    few = prove(deployed, flags=flags, writes=writes, may_raise=raises)
    return deployed, every, few


@pytest.mark.parametrize("block", sampled(range(BLOCKS), 3))
def test_reduced_and_complete_searches_agree(block: int) -> None:
    decided = 0
    for seed in range(block * EACH, (block + 1) * EACH):
        _, every, few = both(seed)
        if every.bound:
            continue
        decided += 1
        assert every.word == few.word, f"seed {seed}"
        codes, reduced = ({finding.code for finding in each.findings} for each in (every, few))
        if not codes & CUTTING:
            assert codes == reduced, f"seed {seed}"
        assert few.statistics.states <= every.statistics.states, f"seed {seed}"
    assert decided > EACH // 2


def with_listeners(body: m.Scope, name: str = "p") -> m.Scope:
    """With an event subprocess in every scope that lets everything stand."""
    start = m.Event(id=f"{name}_heard", position="start", triggers=(m.SignalTrigger("knock"),), is_interrupting=False)
    inside = scope(f"{name}_heard -> {name}_ask -> {name}_over", nodes=(start, node(f"{name}_over", "end")))
    listener = m.SubProcess(id=f"{name}_listener", kind="event", body=inside)
    nodes = (
        replace(each, body=with_listeners(each.body, each.id)) if isinstance(each, m.SubProcess) else each
        for each in body.nodes
    )
    return replace(body, nodes=(*nodes, listener))


@pytest.mark.parametrize("block", sampled(range(5), 1))
def test_reduced_and_complete_searches_agree_where_events_occur_again_and_again(block: int) -> None:
    decided = 0
    for seed in range(30)[block::5]:
        made = random_process(seed, 2, changes=seed % 2)
        process = replace(made.process, body=with_listeners(made.process.body))
        deployed = replace(made, process=process, signals=(*made.signals, m.Signal(id="knock", name="knock")))
        every = prove(deployed, is_reduced=False, bounds=Bounds(states=3000))
        few = prove(deployed)
        decided += not every.bound
        codes, reduced = ({finding.code for finding in each.findings} for each in (every, few))
        assert every.bound or every.word == few.word, f"seed {seed}"
        assert every.bound or codes & CUTTING or codes == reduced, f"seed {seed}"
    assert decided > 2


def test_putting_off_too_much_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: a search that thinks nobody ever meets anybody misses something."""
    monkeypatch.setattr(Outline, "alive", lambda self, element, kind: 0)
    monkeypatch.setattr(Ample, "_apart", lambda self, state, children, leaf, known: set())
    differ = [seed for seed in range(120) if (made := both(seed))[1].word != made[2].word and not made[1].bound]
    assert differ


@pytest.mark.parametrize(
    ("completion", "is_in_order", "lines", "word"),
    [
        ("orch_completed_count >= 2", False, ("a -> b", "c -> d"), "proved"),
        ("orch_completed_count >= 5", False, ("z -> xor1 -> a -> xor2 -> xor1 [orch_x = true]", "xor2 -> c"), "proved"),
        ("orch_x = true", False, ("z -> xor1 -> a -> xor1", "b -> c"), "proved"),
        ("orch_x = true", True, ("a -> b", "c -> d"), "proved"),
        ("", True, ("a -> b", "c -> d"), "proved"),
        ("orch_completed_count >= 1", True, ("a -> b", "c -> d"), "refuted"),
    ],
)
def test_searches_of_ad_hoc_subprocesses_agree_and_end(
    completion: str, is_in_order: bool, lines: tuple[str, ...], word: str
) -> None:
    sub = m.SubProcess(
        id="sub", kind="ad_hoc", body=scope(*lines), ordering="sequential" if is_in_order else "parallel",
        completion=parse_condition(completion) if completion else None,
    )  # fmt: skip
    model = definitions("start -> sub -> end", nodes=(sub,))
    every, few = (prove(model, is_reduced=each) for each in (False, True))
    assert every.word == few.word == word, (every.findings, few.findings)
    assert [each.element for each in every.findings] == [each.element for each in few.findings]


@pytest.mark.parametrize("kind", ["service", "user"])
def test_a_loop_that_another_branch_keeps_going_is_refuted(kind: str) -> None:
    """Whether it goes round once more is read when an iteration ends, not where its flows lead: here to a join."""
    loop = m.StandardLoop(condition=parse_condition("orch_x = true"))
    task = m.Task(id="q", kind=kind, type="verb.q" if kind == "service" else "", repeat=loop)  # type: ignore[arg-type]
    model = definitions("start -> and1 -> a -> and2 -> end", "and1 -> q -> and2", nodes=(node("start"), task))
    flags, writes = (FlagContract("orch_x", "boolean", initial=False),), {"verb.a": ("orch_x",), "verb.q": ()}
    for is_reduced in (False, True):
        verdict = prove(model, flags=flags, writes=writes, is_reduced=is_reduced)
        assert (verdict.word, [each.code for each in verdict.findings]) == ("refuted", ["SND006"])
