"""Outcome events of the calls of a document: projected from the evidence alone, in the order of its commits.

Documents of before do not say that order. Their records are told by their times, and records of one moment with those
of the process first, since a process ends before the step that it carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from perdure.app.compliance_export.document import OutcomeTold
from perdure.app.compliance_export.journal_replay import ChainReplay
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.outcomes.projection import Projection
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.identifiers import Id, id_text, parse_id
from perdure.journal import Record
from perdure.payload import digest_text
from perdure.processes.plan_cache import Definition, definition_of
from perdure.typed_reading import read_json

Waiting = list[tuple[int, int, str, int, Record[Any]]]
"""Records to be told: when or at which place, a process before its step, whose, which."""
Places = Mapping[tuple[str, int], int]
"""The place of a record in the order of commits, by its chain and sequence."""


def outcomes_of(
    call: ChainReplay, others: Mapping[str, ChainReplay], models: Mapping[str, str], places: Places
) -> list[OutcomeTold]:
    """The events of one call or runbook, oldest first."""
    known: dict[bytes, Definition | None] = {}

    def named(process: str, hash: bytes) -> Definition | None:
        if hash not in known:
            text = models.get(digest_text(hash))
            known[hash] = definition_of(read_json(text, Deployed), hash) if text is not None else None
        return known[hash]

    projection = Projection(parse_id(call.id), call.chain.tenant, named)
    waiting: Waiting = []
    _push(waiting, call, 1, places)
    told: list[OutcomeTold] = []
    begun: set[Id] = set()
    while waiting:
        _, _, id, sequence, record = heappop(waiting)
        told += [_told(event) for event, _ in projection.add(parse_id(id), sequence, record)]
        for carrier in projection.carriers.keys() - begun:
            begun.add(carrier)
            if (chain := others.get(id_text(carrier))) is not None:
                _push(waiting, chain, 0, places)
    return told


def _push(waiting: Waiting, chain: ChainReplay, rank: int, places: Places) -> None:
    for sequence, record in chain.records:
        place = places[chain.id, sequence] if places else record.at
        heappush(waiting, (place, rank, chain.id, sequence, record))


def _told(event: OutcomeEvent) -> OutcomeTold:
    return OutcomeTold(
        of=event.call, number=event.step, at=event.at, event=event.event, text=event.text, verb=event.verb,
        sub_verb=event.sub_verb, principal=event.principal, refs=event.refs,
    )  # fmt: skip


def every_outcome(
    calls: Iterable[ChainReplay], others: Mapping[str, ChainReplay], models: Mapping[str, str], order: Sequence[str]
) -> list[OutcomeTold]:  # fmt: skip
    """The events of every call of a document, call by call; `order` names the chain of each record as committed."""
    sequences: dict[str, int] = {}
    places: dict[tuple[str, int], int] = {}
    for place, chain in enumerate(order):
        sequences[chain] = sequences.get(chain, 0) + 1
        places[chain, sequences[chain]] = place
    return [each for call in calls for each in outcomes_of(call, others, models, places)]
