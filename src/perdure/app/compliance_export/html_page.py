"""A compliance document as a page: readable without scripts or anything from elsewhere, the document inside it."""

from __future__ import annotations

from perdure.app.compliance_export import page_sections
from perdure.app.compliance_export.document import Document
from perdure.app.compliance_export.html import Markup, joined, tag
from perdure.app.compliance_export.stylesheet import STYLE
from perdure.typed_reading import read_json

OPENING = '<script type="application/json" id="perdure-document">'
CLOSING = "</script>"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_HIDDEN = {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"}


def page_of(data: bytes) -> bytes:
    """The page of a document; the same document always gives the same page."""
    document = read_json(data, Document)
    title = _title(document.summary.sentences)
    head = joined([
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        tag("title", f"{title} · {document.id}"),
        tag("style", Markup(STYLE)),
    ])  # fmt: skip
    body = joined([_top(document, title), *(part(document) for part in PARTS)])
    embedded = Markup(f"{OPENING}{_hidden(data.decode())}{CLOSING}")
    page = f'<!DOCTYPE html>\n<html lang="en">{tag("head", head)}{tag("body", tag("main", body), embedded)}</html>\n'
    return page.encode()


PARTS = (
    page_sections.steps,
    page_sections.processes,
    page_sections.data,
    page_sections.people,
    page_sections.asked,
    page_sections.messages,
    page_sections.incidents,
    page_sections.frames,
    page_sections.trail,
    page_sections.tombstones,
    page_sections.history,
    page_sections.definitions,
    page_sections.evidence,
)


def is_page(data: bytes) -> bool:
    return data[:200].lstrip().lower().startswith(b"<!doctype html")


def document_in(page: bytes) -> bytes:
    """The JSON inside a page, as it is written there; ValueError when there is none."""
    text = page.decode()
    start = text.rindex(OPENING) + len(OPENING)
    return text[start : text.index(CLOSING, start)].encode()


def _title(sentences: list[str]) -> str:
    return sentences[0] if len(sentences) == 1 else f"A runbook of {len(sentences)} steps"


def _top(document: Document, title: str) -> Markup:
    summary = document.summary
    facts = joined(tag("li", each) for each in summary.told)
    asked = joined(tag("li", each) for each in summary.sentences) if len(summary.sentences) > 1 else Markup("")
    return tag(
        "header",
        tag("p", "Compliance document", class_="kind"),
        tag("h1", title),
        tag("p", tag("span", summary.state, class_=f"state {summary.state}"), " ", tag("code", document.id),
            f" · tenant {document.tenant}"),
        tag("div", tag("ul", facts), *([tag("p", "It was asked to:"), tag("ul", asked)] if asked else []),
            class_="summary"),
        tag("p", "Check it without a database: ", tag("code", "perdure audit verify FILE --key KEY.pub"),
            class_="none"),
    )  # fmt: skip


def _hidden(text: str) -> str:
    """JSON that ends no element and begins none: these characters stand in strings only."""
    for each, hidden in _HIDDEN.items():
        text = text.replace(each, hidden)
    return text
