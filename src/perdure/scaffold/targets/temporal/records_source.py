"""Records as dataclasses, in which everything may be unset."""

from __future__ import annotations

from collections.abc import Iterable

from perdure.scaffold.data_shapes import Field, Kind, Record

_TYPES: dict[Kind, str] = {
    "text": "str | None",
    "whole": "int | None",
    "truth": "bool | None",
    "scalar": "str | int | None",
    "json": "Any",
}


def dataclasses_of(records: Iterable[Record], says: dict[str, str]) -> list[str]:
    """The lines of the classes; `says` gives docstrings by name."""
    lines: list[str] = []
    for record in records:
        lines += ["", "", "@dataclass", f"class {record.name}:"]
        if record.name in says:
            lines += [f'    """{says[record.name]}"""', *([""] if record.fields else [])]
        lines += [f"    {_field(field)}" for field in record.fields]
        if not record.fields and record.name not in says:
            lines.append("    pass")
    return lines


def imports_of(records: Iterable[Record]) -> list[str]:
    fields = [field for record in records for field in record.fields]
    names = "dataclass, field" if any(field.record for field in fields) else "dataclass"
    lines = [f"from dataclasses import {names}"]
    if any(not field.record and field.kind == "json" for field in fields):
        lines.append("from typing import Any")
    return lines


def _field(field: Field) -> str:
    if field.record:
        return f"{field.name}: {field.record} = field(default_factory={field.record})"
    return f"{field.name}: {_TYPES[field.kind]} = None"
