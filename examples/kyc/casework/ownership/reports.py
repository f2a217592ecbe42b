"""An ownership as JSON and as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from casework.ownership.claims import percent
from casework.ownership.gaps import Gap
from casework.ownership.trace import Owner, Ownership


def told(found: Ownership) -> dict[str, Any]:
    """As the result of a verb."""
    official = {"name": found.official.name, "role": found.official.role} if found.official else None
    return {
        "entity": {"lei": found.target.id, "name": found.target.name},
        "as_of": found.as_of,
        "threshold": str(found.threshold),
        "covered": str(found.covered),
        "owners": [_owner(owner, found.threshold) for owner in found.persons],
        "termini": [{**_named(owner), "reason": owner.party.terminus} for owner in found.termini],
        "official": official,
        "cycles": [[found.names.get(id, id) for id in cycle] for cycle in found.cycles],
        "anomalies": [{"id": each.id, "text": each.text} for each in found.anomalies],
    }


def gaps_told(gaps: Iterable[Gap]) -> list[dict[str, Any]]:
    return [
        {"id": gap.id, "type": gap.type, "entity": gap.entity, "text": gap.text, "is_blocking": gap.is_blocking}
        for gap in gaps
    ]


def warnings(found: Ownership) -> list[str]:
    """What a person has to look at although it was computed."""

    def named(ids: Iterable[str]) -> str:
        return " > ".join(found.names.get(id, id) for id in ids)

    circles = [f"holdings in a circle: {named((*cycle, cycle[0]))}" for cycle in found.cycles]
    return [*circles, *(f"sources differ on {named(_edge(each.id))}: {each.text}" for each in found.anomalies)]


def _edge(id: str) -> list[str]:
    return id.rpartition(":")[0].split(">")


def summary(found: Ownership, peps: list[str]) -> str:
    """One line for whoever reviews it."""
    owners = [f"{owner.party.name} {percent(owner.share)} %" for owner in found.beneficial]
    if found.official:
        owners = [f"nobody; {found.official.name} ({found.official.role}) stands in"]
    text = f"{found.target.name} is owned by {', '.join(owners) or 'persons not known'}"
    notes = [f"{name} is politically exposed" for name in peps]
    notes += [f"{len(found.cycles)} circle of holdings"] if found.cycles else []
    return "; ".join([text, *notes])


def report(data: dict[str, Any]) -> str:
    """The report as text, from what was compiled."""
    lines = [f"Owners of {data['entity']['name']} ({data['entity']['lei']}) on {data['as_of']}"]
    lines += [
        f"- {owner['name']}: {owner['percent']} %{'' if owner['is_beneficial'] else ', below the threshold'}"
        for owner in data["owners"]
    ]
    lines += [f"- {each['name']}: {each['percent']} %, {each['reason']}" for each in data["termini"]]
    if official := data.get("official"):
        lines.append(f"- nobody holds enough; {official['name']} ({official['role']}) stands in")
    lines += [f"! holdings in a circle: {' > '.join(cycle)}" for cycle in data["cycles"]]
    lines += [f"! {each['text']}" for each in data["anomalies"]]
    return "\n".join(lines)


def _owner(owner: Owner, threshold: Fraction) -> dict[str, Any]:
    more = {"share": str(owner.share), "is_beneficial": owner.share >= threshold}
    return {**_named(owner), **more, "paths": [list(path) for path in owner.paths]}


def _named(owner: Owner) -> dict[str, Any]:
    return {"id": owner.party.id, "name": owner.party.name, "percent": percent(owner.share)}
