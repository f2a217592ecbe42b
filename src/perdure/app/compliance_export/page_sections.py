"""The sections of a page, one function each."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from perdure.app.compliance_export.document import FIRST, Change, Document, ProcessTold
from perdure.app.compliance_export.html import BREAK, Markup, block, code, joined, section, shown, table, tag, unfolded

MAX_CHANGES_SHOWN = 20
MAX_PROCESSES = 50


def steps(document: Document) -> Markup:
    rows = [
        (f"{each.number}{f' {each.name}' if each.name else ''}", each.sentence,
         joined([code(f"{each.verb} v{each.version}"), BREAK, code(each.definition)]),
         tag("span", each.state, class_=each.state), each.error, code(each.carrier or each.of))
        for each in document.steps
    ]  # fmt: skip
    return section("Steps", table(("#", "what was asked", "verb and definition", "state", "error", "carried by"), rows))


def processes(document: Document) -> Markup:
    shown_ones = [_process(each) for each in document.processes[:MAX_PROCESSES]]
    more = len(document.processes) - MAX_PROCESSES
    note = [tag("p", f"And {more:,} more, in the document inside this page.", class_="none")] if more > 0 else []
    return section("The way through the process", *(shown_ones or [tag("p", "No process carried it.", class_="none")]),
                   *note)  # fmt: skip


def _process(each: ProcessTold) -> Markup:
    rows = [
        (visit.name or visit.element, code(visit.element), visit.entered_at, visit.left_at, visit.how)
        for visit in each.path
    ]
    flags = [(code(name), value) for name, value in sorted(each.flags.items())]
    return joined([
        tag("h3", f"{each.process} version {each.version}, {each.state}"),
        tag("p", code(each.id), " follows ", code(each.definition)),
        _picture(each.picture, f"The way through {each.process}") if each.picture else "",
        table(("element", "id", "entered", "left", "how"), rows),
        unfolded("Flags", table(("flag", "value"), flags)) if flags else "",
    ])  # fmt: skip


def _picture(svg: str, title: str) -> Markup:
    """A picture that brings its own style and touches nothing around it."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return Markup(f'<img alt="{shown(title)}" src="{source}">')


def data(document: Document) -> Markup:
    rows = [
        (each.at, f"{each.what}{f' of {each.where}' if each.where else ''}", code(each.verb), each.by,
         "erased" if each.is_erased else _changes(each.changes, each.omitted),
         joined([code(each.before), BREAK if each.before else "", code(each.after)]))
        for each in document.data
    ]  # fmt: skip
    return section(
        "What happened to the data", table(("at", "what", "verb", "by", "changes", "hash before, after"), rows)
    )


def _changes(changes: Sequence[Change], omitted: int) -> Markup:
    lines = [_change(each) for each in changes[:MAX_CHANGES_SHOWN]]
    more = omitted + max(0, len(changes) - MAX_CHANGES_SHOWN)
    return joined([*lines, tag("div", f"and {more:,} more")] if more else lines)


def _change(each: Change) -> Markup:
    old = [tag("del", each.before), " "] if each.kind != "added" else []
    new = [tag("ins", each.after)] if each.kind != "removed" else []
    return tag("div", code(each.path or "/"), " ", *old, *new)


def people(document: Document) -> Markup:
    rows = [(each.at, each.who, each.what, each.where, each.details) for each in document.people]
    return section("People", table(("at", "who", "what", "where", "details"), rows))


def asked(document: Document) -> Markup:
    if document.format == FIRST:
        return Markup("")
    rows = [(each.at, each.who, code(each.by_key), each.what, each.where, each.details) for each in document.asked]
    return section("Asked for from outside", table(("at", "who", "key", "what", "where", "details"), rows))


def messages(document: Document) -> Markup:
    rows = [
        (each.at, each.what, each.name, code(each.key), code(each.message_id), each.principal, code(each.payload))
        for each in document.messages
    ]
    return section("Messages received", table(("at", "what", "name", "key", "id", "from", "data"), rows))


def incidents(document: Document) -> Markup:
    rows = [
        (each.where, code(each.code), each.text, each.raised_at, each.resolved_at, each.how or "open", each.by,
         each.reason)
        for each in document.incidents
    ]  # fmt: skip
    return section("Incidents", table(("where", "code", "what", "raised", "resolved", "how", "by", "reason"), rows))


def frames(document: Document) -> Markup:
    rows = [
        (each.where, code(each.verb), each.attempt, each.started_at, each.ended_at, each.outcome, each.error)
        for each in document.frames
    ]
    return section("Executions", table(("where", "verb", "attempt", "started", "ended", "outcome", "error"), rows))


def trail(document: Document) -> Markup:
    rows = [
        (each.at, code(each.verb), each.by, code(each.job_key),
         joined([code(each.hash_in), BREAK, code(each.hash_out)]))
        for each in document.trail
    ]  # fmt: skip
    return section("Trail of sub-verbs", table(("at", "verb", "by", "job", "hash of the data before, after"), rows))


def tombstones(document: Document) -> Markup:
    rows = [(code(each.of), code(each.hash), each.erased_at, each.reason, each.by) for each in document.tombstones]
    return section("Erased data", table(("of", "hash", "erased", "reason", "by"), rows))


def history(document: Document) -> Markup:
    rows = [
        (code(each.of), each.sequence, each.at, each.command, each.principal,
         joined(tag("div", entry.name, " ", code(shown_fields(entry.fields))) for entry in each.entries))
        for each in document.history
    ]  # fmt: skip
    return section("Journal", table(("of", "record", "at", "command", "principal", "entries"), rows))


def shown_fields(fields: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields.items())


def definitions(document: Document) -> Markup:
    verbs = [
        unfolded(
            f"Verb {each.definition.get('name')} version {each.definition.get('version')}",
            tag("p", code(each.hash)),
            block(json.dumps(each.definition, ensure_ascii=False, indent=2, sort_keys=True)),
        )
        for each in document.verbs
    ]
    models = [unfolded("Process", tag("p", code(each.hash)), block(each.xml)) for each in document.definitions]
    return section("Definitions", *verbs, *models)


def evidence(document: Document) -> Markup:
    chains = [
        (code(each.id), each.kind, len(each.records), len(each.payloads),
         code(each.records[-1].hash) if each.records else "")
        for each in document.chains
    ]  # fmt: skip
    seals = [
        (code(each.id), seal.number, seal.sequence, code(seal.root), code(seal.key_id), code(seal.signature))
        for each in document.chains
        for seal in each.seals
    ]
    keys = [(code(name), code(key)) for name, key in sorted(document.public_keys.items())]
    return section(
        "Evidence",
        tag("p", "The chain of records can be recomputed from the document inside this page, whose digest is ",
            code(document.digest), "."),
        table(("chain", "kind", "records", "payloads", "head"), chains),
        tag("h3", "Seals"), table(("chain", "seal", "covers record", "root", "key", "signature"), seals),
        tag("h3", "Public keys"), table(("key", "public key"), keys),
    )  # fmt: skip
