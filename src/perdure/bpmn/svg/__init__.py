"""Pictures of processes: self-contained SVG in the notation people know, with marks for what happened."""

from __future__ import annotations

from perdure.bpmn.svg.marks import Mark as Mark
from perdure.bpmn.svg.marks import Marks as Marks
from perdure.bpmn.svg.marks import State as State
from perdure.bpmn.svg.picture import draw as draw

__all__ = ["Mark", "Marks", "State", "draw"]
