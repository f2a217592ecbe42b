"""Named queries: read from `.sql` files, shared by default, a dialect's override has the same name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from perdure.errors import InvariantBroken

Dialect = Literal["sqlite", "postgres"]
_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_ROW = re.compile(r"VALUES (\(.*?\))", re.DOTALL)


def load_queries(dialect: Dialect) -> Mapping[str, str]:
    """Every query by name, in the dialect's own parameter style."""
    folder = Path(__file__).parent / "queries"
    queries: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".sql"):
            _add(queries, file.read_text("utf-8"), file.name, is_override=False)
    override = folder / dialect
    if override.is_dir():
        for file in sorted(override.iterdir(), key=lambda each: each.name):
            if file.name.endswith(".sql"):
                _add(queries, file.read_text("utf-8"), f"{dialect}/{file.name}", is_override=True)
    if dialect == "postgres":
        return {name: _PARAMETER.sub(r"%(\1)s", text) for name, text in queries.items()}
    return queries


def _add(queries: dict[str, str], text: str, file: str, is_override: bool) -> None:
    parts = _HEADER.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if not is_override and name in queries:
            raise InvariantBroken("read", "query", name, f"{file} names it a second time")
        lines = [line for line in body.strip().splitlines() if not line.startswith("--")]
        queries[name] = "\n".join(lines).strip().rstrip(";")


def expand(query: str, rows: int) -> str:
    """A query with one `VALUES (...)` row (or one `:row` list) repeated for many rows, positional."""
    match = _ROW.search(query)
    if match is None:
        raise InvariantBroken("expand", "query", query[:40], "it has no VALUES row")
    row = _PARAMETER.sub("?", match.group(1))
    return query[: match.start(1)] + ", ".join([row] * rows) + query[match.end(1) :]
