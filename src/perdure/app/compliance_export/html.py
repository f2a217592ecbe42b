"""HTML from values: every text is escaped, whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MAX_ROWS = 500
"""Rows of a table that a page shows; the document inside the page holds all of them."""
MAX_VALUE = 2_000
"""Characters of one value that a page shows."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


BREAK = Markup("<br>")


def shown(value: Any) -> Markup:
    """A value as HTML: markup as it is, anything else escaped and cut where it is very long."""
    if isinstance(value, Markup):
        return value
    if value is None:
        text = "–"
    elif isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return Markup(escape(text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…", quote=True))


def tag(name: str, *content: Any, **attributes: str) -> Markup:
    """An element; attribute values are escaped, `class_` is class."""
    written = "".join(f' {key.rstrip("_")}="{escape(value, quote=True)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{''.join(shown(each) for each in content)}</{name}>")


def joined(parts: Iterable[Any]) -> Markup:
    return Markup("".join(shown(part) for part in parts))


def code(text: str) -> Markup:
    return tag("code", text) if text else Markup("")


def block(text: str) -> Markup:
    """A longer text as it is written, all of it."""
    return tag("pre", Markup(escape(text, quote=True)))


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """A table, or nothing when there are no rows."""
    if not rows:
        return tag("p", "None.", class_="none")
    head = tag("tr", joined(tag("th", each, scope="col") for each in heads))
    body = joined(tag("tr", joined(tag("td", cell) for cell in row)) for row in rows[:MAX_ROWS])
    more = len(rows) - MAX_ROWS
    note = tag("p", f"And {more:,} more, in the document inside this page.", class_="none") if more > 0 else ""
    return joined([tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="wide"), note])


def section(title: str, *content: Any) -> Markup:
    return tag("section", tag("h2", title), *content)


def unfolded(title: str, *content: Any) -> Markup:
    """Something long that a reader opens; it is printed open."""
    return tag("details", tag("summary", title), *content)
