"""Samples of a shape: states that share none of their opaque values."""

from __future__ import annotations

import msgspec

from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.state_templates import Shape
from perdure.bpmn.machine.transition_cache import FILLINGS, fill

_pack = msgspec.msgpack.Encoder().encode
_read = msgspec.msgpack.Decoder(Instance).decode


def samples(shape: Shape) -> list[Instance]:
    """For whoever would know of all states of a shape what they see of one: not believed but tried, as moves are."""
    filled = [fill(shape.blanks, filling) for filling in ("forwards", *FILLINGS)]
    return [_read(shape.template.filled(tuple(map(_pack, values)))) for values in filled]
