"""Long histories cost what they weigh: twice the iterations, twice the work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from perdure.app.compliance_export import check_document
from perdure.app.compliance_export.document_composer import compose, written
from perdure.app.compliance_export.evidence_collection import EvidenceCollection
from perdure.app.compliance_export.json_diff import MAX_CHANGES, differences, given
from perdure.bpmn.model import StandardLoop
from tests.app.compliance_export.exported_store import exporting
from tests.engines.embedded.process_models import line, service


def work_of(run: Callable[[], Any]) -> int:
    """How many functions were called: a measure of work that no other load disturbs."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


async def loop(times: int) -> tuple[int, int]:
    """The work of telling a loop, and of checking what was told."""
    async with exporting() as world:
        await world.deploy(line("loop", service("a", "t.one", repeat=StandardLoop(maximum=times))))
        begun = await world.start("loop")
        assert begun.state.status == "completed"
        evidence = await EvidenceCollection(world.sandbox, {}).gather(begun.id)
        document = written(compose(evidence).document)
        assert check_document(document).findings == []
        return work_of(lambda: compose(evidence)), work_of(lambda: check_document(document))


@pytest.mark.req("V30")
async def test_a_loop_is_told_and_checked_without_quadratic_cost() -> None:
    short, middle, long = [await loop(times) for times in (40, 80, 160)]
    for one, two, four in zip(short, middle, long, strict=True):
        assert four - two < 2.4 * (two - one)


def test_changes_beyond_the_limit_are_counted() -> None:
    told, omitted = given({str(number): number for number in range(MAX_CHANGES + 7)})
    assert (len(told), omitted) == (MAX_CHANGES, 7)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("/a", "changed", 1, True)]),
        ({"a": [1, 2]}, {"a": [1, 3, 4]}, [("/a/1", "changed", 2, 3), ("/a/2", "added", None, 4)]),
        ({"a": {"b": 1}}, {}, [("/a", "removed", {"b": 1}, None)]),
        ({}, {"x/y": {"~": 0}}, [("/x~1y", "added", None, {"~": 0})]),
        ("old", "new", [("", "changed", "old", "new")]),
    ],
)
def test_what_changed_is_told_by_its_path(before: Any, after: Any, expected: list[Any]) -> None:
    told, omitted = differences(before, after)
    assert omitted == 0
    assert [(each.path, each.kind, each.before, each.after) for each in told] == expected
