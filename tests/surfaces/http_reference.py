"""Writes the generated part of `docs/reference/http.md` from the description of the API."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "http.md"
MARK = "<!-- generated: python -m tests.surfaces.http_reference -->\n"


async def description() -> dict[str, Any]:
    """What a server says of itself."""
    from tests.surfaces.http.in_process_server import served  # noqa: PLC0415  needs a store, the page's check does not always

    async with served(authentication=()) as found, found.client() as client:
        told: dict[str, Any] = (await client.get("/api/openapi.json")).json()
        return told


def reference(described: dict[str, Any]) -> str:
    """Every operation by what it is about."""
    tags: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            tags.setdefault(told["tags"][0], []).append(_operation(method.upper(), path, told))
    return "\n".join(f"## {tag.capitalize()}\n\n{_HEAD}\n" + "\n".join(rows) + "\n" for tag, rows in tags.items())


_HEAD = "| request | needs | meaning |\n|---|---|---|"


def _operation(method: str, path: str, told: dict[str, Any]) -> str:
    query = [each["name"] for each in told.get("parameters", ()) if each["in"] == "query"]
    words = f"<br>`?{'&'.join(query)}`" if query else ""
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = body.get("$ref", "").rpartition("/")[2]
    takes = f" Takes `{name}`." if name else ""
    meaning = " ".join(told["description"].split()).replace("|", "\\|")
    needs = f"`{told['x-operation']}`" if told.get("x-operation") else "nothing"
    return f"| `{method} {path}`{words} | {needs} | {meaning}{takes} |"


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + reference(asyncio.run(description())), encoding="utf-8")
