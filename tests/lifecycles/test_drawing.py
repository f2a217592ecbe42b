"""The drawing of a lifecycle: every transition has a line of its own, nothing leaves the picture, long names fit."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from perdure.lifecycles.drawing import draw_lifecycle
from perdure.lifecycles.guards.guard_table import GuardTable
from perdure.lifecycles.loader import read_lifecycle
from tests.house.tree import ROOT

CROWDED = """
lifecycle: crowded
states: {FIRST: , SECOND: , A_STATE_WITH_A_VERY_LONG_NAME: , THIRD: , LAST: {terminal: true}}
transitions:
  - {from: FIRST, to: SECOND}
  - {from: FIRST, to: SECOND, manual: true}
  - {from: FIRST, to: A_STATE_WITH_A_VERY_LONG_NAME, manual: true}
  - {from: FIRST, to: LAST, manual: true}
  - {from: SECOND, to: A_STATE_WITH_A_VERY_LONG_NAME, manual: true}
  - {from: A_STATE_WITH_A_VERY_LONG_NAME, to: SECOND, manual: true}
  - {from: SECOND, to: LAST, manual: true}
  - {from: SECOND, to: THIRD}
  - {from: THIRD, to: LAST, manual: true}
  - {from: THIRD, to: FIRST, manual: true}
  - {from: THIRD, to: THIRD, manual: true}
"""
SVG = "{http://www.w3.org/2000/svg}"
TEXTS = [CROWDED, *(path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("lifecycles/*.yaml")))]


@pytest.mark.req("T1")
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: re.findall(r"(?:lifecycle|workflow): (\w+)", text)[0])
def test_every_transition_has_a_line_of_its_own_within_the_picture(text: str) -> None:
    definition = read_lifecycle(text, str(Path("drawn.yaml")), GuardTable()).definition
    root = ElementTree.fromstring(draw_lifecycle(definition, definition.states[1].name))
    lines = [each.attrib["d"] for each in root.findall(f"{SVG}path")]
    assert len(lines) == len(definition.transitions) == len(set(lines))
    _, _, width, height = map(int, root.attrib["viewBox"].split())
    for line in lines:
        numbers = [int(each) for each in re.findall(r"-?\d+", line)]
        assert all(0 <= across <= width for across in numbers[::2]), line
        assert all(0 <= down <= height for down in numbers[1::2]), line
    for name in root.findall(f"{SVG}text"):
        assert len(name.text or "") <= 16 or "textLength" in name.attrib
