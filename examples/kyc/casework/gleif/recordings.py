"""A folder of GLEIF resources that answers requests as the API does: single documents, pages, and 404.

The folder holds `lei-records.json`, `relationship-records.json` and `reporting-exceptions.json`, each a document of
resources in the API's own format. Entities whose LEI begins with DEMO are made up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Resource = dict[str, Any]
PAGE_SIZE = 15
UPWARD = {
    "direct-parent": "IS_DIRECTLY_CONSOLIDATED_BY",
    "ultimate-parent": "IS_ULTIMATELY_CONSOLIDATED_BY",
    "fund-manager": "IS_FUND-MANAGED_BY",
    "umbrella-fund": "IS_SUBFUND_OF",
}
DOWNWARD = {
    "direct-children": "IS_DIRECTLY_CONSOLIDATED_BY",
    "ultimate-children": "IS_ULTIMATELY_CONSOLIDATED_BY",
    "managed-funds": "IS_FUND-MANAGED_BY",
    "sub-funds": "IS_SUBFUND_OF",
}
EXCEPTIONS = {
    "direct-parent-reporting-exception": "DIRECT_ACCOUNTING_CONSOLIDATION_PARENT",
    "ultimate-parent-reporting-exception": "ULTIMATE_ACCOUNTING_CONSOLIDATION_PARENT",
}


class Recordings:
    """Read once, never changed."""

    def __init__(self, folder: Path) -> None:
        self._records = {each["id"]: each for each in _resources(folder, "lei-records")}
        self._links = [each["attributes"]["relationship"] for each in _resources(folder, "relationship-records")]
        self._exceptions = _resources(folder, "reporting-exceptions")

    def answer(self, target: str, parameters: Mapping[str, str]) -> tuple[int, Document]:
        """The status and document for a target such as `lei-records/LEI/direct-children`."""
        kind, _, rest = target.strip("/").partition("/")
        lei, _, what = rest.partition("/")
        if kind != "lei-records":
            return _not_found(target)
        if not lei:
            return 200, _page(self._search(parameters), parameters)
        if lei not in self._records:
            return _not_found(target)
        if what in DOWNWARD:
            return 200, _page(self._below(lei, DOWNWARD[what]), parameters)
        found = self._one(lei, what)
        return _not_found(target) if found is None else (200, {"meta": {}, "data": found})

    def _one(self, lei: str, what: str) -> Resource | None:
        if not what:
            return self._records[lei]
        if what in EXCEPTIONS:
            mine = (each for each in self._exceptions if each["attributes"]["lei"] == lei)
            return next((each for each in mine if each["attributes"]["category"] == EXCEPTIONS[what]), None)
        ends = [each["endNode"]["id"] for each in self._related(UPWARD.get(what, ""), "startNode", lei)]
        return self._records.get(ends[0]) if ends else None

    def _below(self, lei: str, type: str) -> list[Resource]:
        starts = [each["startNode"]["id"] for each in self._related(type, "endNode", lei)]
        return [self._records[each] for each in starts if each in self._records]

    def _related(self, type: str, side: str, lei: str) -> list[Resource]:
        return [each for each in self._links if each["type"] == type and each[side]["id"] == lei]

    def _search(self, parameters: Mapping[str, str]) -> list[Resource]:
        """All words of `filter[entity.legalName]` are in the name, whatever their case; `filter[lei]` is exact."""
        words = parameters.get("filter[entity.legalName]", "").casefold().split()
        leis = [each for each in parameters.get("filter[lei]", "").split(",") if each]
        return [
            each
            for each in self._records.values()
            if all(word in each["attributes"]["entity"]["legalName"]["name"].casefold() for word in words)
            and (not leis or each["id"] in leis)
        ]


def _resources(folder: Path, name: str) -> list[Resource]:
    data: list[Resource] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["data"]
    return data


def _page(found: list[Resource], parameters: Mapping[str, str]) -> Document:
    size, number = int(parameters.get("page[size]", PAGE_SIZE)), int(parameters.get("page[number]", 1))
    start = (number - 1) * size
    shown = found[start : start + size]
    last = max(1, -(-len(found) // size))
    edges = {"from": start + 1, "to": start + len(shown)} if shown else {"from": None, "to": None}
    pagination = {"currentPage": number, "perPage": size, **edges, "total": len(found), "lastPage": last}
    return {"meta": {"pagination": pagination}, "links": {}, "data": shown}


def _not_found(target: str) -> tuple[int, Document]:
    error = {"status": "404", "title": "Not Found", "detail": f"No resource at /{target.strip('/')}"}
    return 404, {"errors": [error]}
