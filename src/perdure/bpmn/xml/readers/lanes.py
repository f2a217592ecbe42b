"""Lanes in: who is named beside which nodes. They bear on nothing that runs, so what is odd about them is remarked."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.model import Lane
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import ARTIFACTS, DATA, FLOW_NODES
from perdure.bpmn.xml.readers.file_context import Reading

_MEMBER = "bpmn:flowNodeRef"
_ONLY_DRAWN = (*DATA, *ARTIFACTS)


def read_lanes_of(reading: Reading, process: Tag) -> tuple[Lane, ...]:
    sets = list(process.all("bpmn:laneSet"))
    found = tuple(lane for each in sets for lane in _lanes(reading, each))
    if sets:
        _remark_strangers(reading, process, sets)
    return found


def _remark_strangers(reading: Reading, process: Tag, sets: list[Tag]) -> None:
    """Nodes of another process are told of and stay listed: without them it would be other content."""
    own = {tag.get("id") for tag in process.within()}
    for lane in (tag for each in sets for tag in each.within() if tag.name == "bpmn:lane"):
        for member in (reading.resolve(each.text) for each in lane.all(_MEMBER)):
            if member not in own and member in reading.tags and reading.tags[member].name in FLOW_NODES:
                fact = f"the lane lists '{member[:80]}', which stands in another process"
                reading.remark("BPM010", lane, fact, "List elements of its own process.")


def _lanes(reading: Reading, lanes: Tag) -> tuple[Lane, ...]:
    """The lanes of one set, which share its nodes among them."""
    homes: dict[str, tuple[str, ...]] = {}
    return tuple(_lane(reading, lane, (), homes) for lane in lanes.all("bpmn:lane"))


def _lane(reading: Reading, tag: Tag, around: tuple[str, ...], homes: dict[str, tuple[str, ...]]) -> Lane:
    id = reading.id(tag)
    path = (*around, id)
    members = tuple(_members(reading, tag))
    for member in members:
        known = homes.setdefault(member, path)
        if known[: len(path)] != path[: len(known)]:
            fact = f"'{member[:80]}' stands in this lane and in '{known[-1][:80]}'"
            reading.remark("BPM015", tag, fact, "Keep it in one of them.")
        elif len(path) > len(known):
            homes[member] = path
    inner = (lane for child in tag.all("bpmn:childLaneSet") for lane in child.all("bpmn:lane"))
    lanes = tuple(_lane(reading, lane, path, homes) for lane in inner)
    return Lane(id=id, name=tag.get("name"), members=members, lanes=lanes)


def _members(reading: Reading, tag: Tag) -> Iterator[str]:
    for each in tag.all(_MEMBER):
        member = reading.resolve(each.text)
        found = reading.tags.get(member)
        if found is None or found.name not in _ONLY_DRAWN:
            yield member
        else:
            fact = f"the lane lists '{member[:80]}', and only what a flow may reach stands in a lane"
            reading.remark("BPM009", tag, fact, "Remove the reference: it is drawn where it is drawn.")
