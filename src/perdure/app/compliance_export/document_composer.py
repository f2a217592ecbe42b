"""The composer makes a document from evidence alone: the same evidence always gives the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.compliance_export.call_report import CallReport
from perdure.app.compliance_export.child_instances import Child, children_of
from perdure.app.compliance_export.diagrams import Drawn, drawn, picture_of
from perdure.app.compliance_export.document import (
    FIRST,
    FORMAT,
    Chain,
    Document,
    ModelKept,
    OutcomeTold,
    ProcessTold,
    StepTold,
    VerbKept,
)
from perdure.app.compliance_export.evidence import Evidence
from perdure.app.compliance_export.instance_report import InstanceReport
from perdure.app.compliance_export.journal_replay import ChainReplay, hash_text
from perdure.app.compliance_export.outcome_report import every_outcome
from perdure.app.compliance_export.summary import summary_of
from perdure.bpmn.machine.state import Instance
from perdure.payload import canonical
from perdure.sources import iso
from perdure.typed_reading import convert
from perdure.verbs.definition import VerbDefinition


class Composed(msgspec.Struct):
    """A document, and what only the check of it needs: who was begun and is not there, which hashes must be."""

    document: Document
    missing: list[Child]
    needed: dict[str, set[str]]
    """By chain, the hashes of data that its entries name and that were not erased."""
    unknown: list[str]
    """Definitions that steps, task types and instances are pinned to and that are not there, by hash."""


def compose(evidence: Evidence, format: str = FORMAT) -> Composed:
    """Tell everything the evidence says, in the order it began, as documents of a format tell it."""
    told = _Composition(evidence, format)
    return told.whole()


class _Composition:
    def __init__(self, evidence: Evidence, format: str) -> None:
        self._evidence = evidence
        self._format = format
        self._missing: list[Child] = []
        self._calls: list[CallReport] = []
        self._instances: list[InstanceReport] = []
        self._tellings: list[CallReport | InstanceReport] = []
        self._drawn: dict[str, Drawn] = {}
        self._walk()

    def _walk(self) -> None:
        waiting, seen = [self._evidence.root], {self._evidence.root}
        for id in waiting:
            telling = _telling(self._evidence.chains[id])
            self._tellings.append(telling)
            if isinstance(telling, CallReport):
                self._calls.append(telling)
            else:
                self._instances.append(telling)
            for child in children_of(telling.chronicle):
                if child.id not in self._evidence.chains:
                    self._missing.append(child)
                elif child.id not in seen:
                    seen.add(child.id)
                    waiting.append(child.id)

    def whole(self) -> Composed:
        verbs = {hash: convert(each, VerbDefinition) for hash, each in self._verbs()}
        steps = [each for telling in self._calls for each in telling.steps(verbs)]
        document = self._document(steps)
        needed = {
            each.chronicle.id: {crossing.after for crossing in each.data} if not each.tombstones else set()
            for each in self._tellings
        }
        wanted = wanted_models(self._tellings) | wanted_verbs(self._tellings, self._evidence.models)
        unknown = sorted(wanted - {*self._evidence.models, *self._evidence.verbs})
        return Composed(replace(document, digest=digest_of(document)), self._missing, needed, unknown)

    def _document(self, steps: list[StepTold]) -> Document:
        tellings, root = self._tellings, self._evidence.chains[self._evidence.root]
        places = {each.chronicle.id: place for place, each in enumerate(tellings)}
        processes = [self._process(each) for each in self._instances]
        chains = [ordered(each.chronicle.chain) for each in tellings]
        signers = {seal.key_id for chain in chains for seal in chain.seals}
        incidents = [each for telling in tellings for each in telling.incidents]
        people = [each for telling in tellings for each in telling.people]
        data = [each for telling in tellings for each in telling.data]
        return Document(
            format=self._format, id=self._evidence.root, tenant=root.tenant,
            summary=summary_of(tellings[0], steps, processes, chains, incidents, people, self._missing),
            steps=steps, data=data, processes=processes, people=people,
            messages=[each for telling in tellings for each in telling.messages], incidents=incidents,
            frames=[each for telling in tellings for each in telling.frames],
            trail=[each for telling in tellings for each in telling.trail],
            tombstones=[each for telling in tellings for each in telling.tombstones],
            history=[each for telling in tellings for each in telling.chronicle.told()],
            verbs=[VerbKept(hash=hash, definition=each) for hash, each in self._verbs()],
            definitions=[
                ModelKept(hash=hash, definition=self._evidence.models[hash], xml=self._xml(hash))
                for hash in sorted(wanted_models(tellings) & set(self._evidence.models))
            ],
            chains=chains,
            public_keys={id: key for id, key in self._evidence.public_keys.items() if id in signers},
            key_changes=self._evidence.key_changes, outcome_events=self._outcomes(),
            order=[places[each] for each in self._order()],
            asked=[each for telling in tellings for each in telling.asked] if self._format != FIRST else [],
        )  # fmt: skip

    def _order(self) -> list[str]:
        """The chain of each record in the order of commits; empty unless it names every record once."""
        counted = Counter({each.chronicle.id: len(each.chronicle.records) for each in self._tellings})
        return self._evidence.order if Counter(self._evidence.order) == counted else []

    def _outcomes(self) -> list[OutcomeTold]:
        if not self._evidence.has_outcomes:
            return []
        others = {each.chronicle.id: each.chronicle for each in self._instances}
        calls = [each.chronicle for each in self._calls]
        return every_outcome(calls, others, self._evidence.models, self._order())

    def _verbs(self) -> list[tuple[str, dict[str, Any]]]:
        wanted = wanted_verbs(self._tellings, self._evidence.models)
        known = [(hash, each) for hash, each in self._evidence.verbs.items() if hash in wanted]
        return sorted(known, key=lambda pair: (pair[1]["name"], pair[1]["version"], pair[0]))

    def _xml(self, hash: str) -> str:
        return self._picture(hash).xml(self._evidence.writings.get(hash))

    def _picture(self, hash: str) -> Drawn:
        if hash not in self._drawn:
            self._drawn[hash] = drawn(self._evidence.models[hash])
        return self._drawn[hash]

    def _process(self, telling: InstanceReport) -> ProcessTold:
        state: Instance = telling.chronicle.state
        hash = hash_text(state.definition)
        found = self._picture(hash) if hash in self._evidence.models else None
        return ProcessTold(
            id=telling.chronicle.id, parent=state.parent, process=state.process, version=state.process_version,
            definition=hash, state=state.status, business_key=state.business_key, started_at=iso(state.started_at),
            ended_at=iso(state.ended_at or None), flags=dict(state.flags),
            path=telling.path(found.names if found is not None else {}),
            picture=picture_of(found, telling) if found is not None else "",
        )  # fmt: skip


def _telling(chain: Chain) -> CallReport | InstanceReport:
    chronicle = ChainReplay(chain)
    return CallReport(chronicle) if chronicle.is_call else InstanceReport(chronicle)


def wanted_models(tellings: list[CallReport | InstanceReport]) -> set[str]:
    """The deployed processes that instances followed, those they were migrated from included."""
    found: set[str] = set()
    for telling in tellings:
        if isinstance(telling, InstanceReport):
            state: Instance = telling.chronicle.state
            found.update(hash_text(each) for each in (state.definition, *(past[0] for past in state.past)))
    return found


def wanted_verbs(tellings: list[CallReport | InstanceReport], models: dict[str, str]) -> set[str]:
    """The definitions that steps and task types are pinned to."""
    found: set[str] = set()
    for telling in tellings:
        if isinstance(telling, CallReport):
            found.update(hash_text(step.definition) for step in telling.chronicle.state.steps if step.definition)
    return found | bound_verbs(models[hash] for hash in wanted_models(tellings) & set(models))


def bound_verbs(models: Iterable[str]) -> set[str]:
    """The definitions that the task types of deployed processes are pinned to."""
    found: set[str] = set()
    for model in models:
        bindings = msgspec.json.decode(model)["bindings"]
        found.update(each["hash"] for each in bindings.values() if each.get("hash"))
    return found


def ordered(chain: Chain) -> Chain:
    """The one order a chain's parts stand in."""
    return replace(
        chain,
        payloads=sorted(chain.payloads, key=lambda each: each.hash),
        seals=sorted(chain.seals, key=lambda each: each.number),
    )


def written(document: Document) -> bytes:
    """The canonical JSON of a document."""
    return _members({**_parts(document), "digest": canonical(document.digest)})


def digest_of(document: Document) -> str:
    """`sha256:` of the canonical JSON of everything but the digest."""
    return f"sha256:{sha256(_members(_parts(document))).hexdigest()}"


def _parts(document: Document) -> dict[str, bytes]:
    """Each member in its canonical form, long lists item by item: no document is too long for it."""
    found: dict[str, bytes] = {}
    for name in document.__struct_fields__:
        value = getattr(document, name)
        is_absent = name in ("key_changes", "outcome_events", "order") and not value
        if is_absent or (name == "asked" and document.format == FIRST):
            continue  # documents of before have no such member
        if isinstance(value, list):
            found[name] = b"[%s]" % b",".join(canonical(msgspec.to_builtins(each)) for each in value)
        elif name != "digest":
            found[name] = canonical(msgspec.to_builtins(value))
    return found


def _members(parts: dict[str, bytes]) -> bytes:
    return b"{%s}" % b",".join(b'"%s":%s' % (name.encode(), parts[name]) for name in sorted(parts))
