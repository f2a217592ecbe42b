"""Documents in lists: found by subject, type, status, correlation and words, the same on both stores."""

from __future__ import annotations

from perdure.documents.ports import DocumentFound
from perdure.documents.search_query import SearchQuery, Term
from perdure.identifiers import Id
from perdure.journal import DocumentRow
from perdure.store.checksums import stored_id
from perdure.store.ports import Driver

NEWEST = 2**62
"""Before every number."""


class Documents:
    """Of one store. Every look-up names its tenant and goes by an index."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def find(
        self, tenant: str, *, subject: str = "", type: str = "", status: str = "", correlation: str = "",
        words: SearchQuery | None = None, before: int = 0, most: int = 100,
    ) -> list[DocumentFound]:  # fmt: skip
        place = {"tenant": tenant, "before": before or NEWEST, "most": most}
        if words is not None:
            text = fts_query(words) if self._driver.dialect == "sqlite" else ts_query(words)
            query, more = "search_documents", {"words": text, "subject": subject, "type": type, "status": status}
        elif correlation:
            query, more = "list_documents_by_correlation", {"correlation": correlation}
        elif subject:
            query, more = "list_documents_of_subject", {"subject": subject, "type": type, "status": status}
        elif type:
            query, more = "list_documents_of_type", {"type": type, "status": status}
        else:
            query, more = "list_documents", {"status": status}
        rows = await self._driver.fetch(query, **place, **more)
        found = [DocumentFound(row[0], stored_id(row[1]), DocumentRow(*row[2:])) for row in rows]
        return [each for each in found if not correlation or each.row.correlation == correlation]

    async def count_to_verify(self, tenant: str, type: str, most: int) -> int:
        """How many documents of a type wait for a decision, up to a bound."""
        rows = await self._driver.fetch("count_documents_to_verify", tenant=tenant, type=type, most=most)
        return int(rows[0][0])

    async def tenants_of_blob(self, hash: bytes) -> list[str]:
        return [tenant for (tenant,) in await self._driver.fetch("tenants_of_blob", hash=hash)]

    async def with_blob(self, tenant: str, hash: bytes, most: int) -> list[Id]:
        rows = await self._driver.fetch("documents_with_blob", tenant=tenant, hash=hash, most=most)
        return [stored_id(id) for (id,) in rows]


def fts_query(query: SearchQuery) -> str:
    """A query in the words of FTS5; words hold letters and digits only, so quotes need no care."""
    wanted = " AND ".join("(" + " OR ".join(map(_fts_term, group)) + ")" for group in query.wanted)
    return f"({wanted}) NOT ({' OR '.join(map(_fts_term, query.unwanted))})" if query.unwanted else wanted


def ts_query(query: SearchQuery) -> str:
    """The same query as a tsquery."""
    wanted = ["(" + " | ".join(map(_ts_term, group)) + ")" for group in query.wanted]
    return " & ".join([*wanted, *(f"!{_ts_term(term)}" for term in query.unwanted)])


def _fts_term(term: Term) -> str:
    return f'"{term.word}"{" *" if term.is_beginning else ""}'


def _ts_term(term: Term) -> str:
    return f"'{term.word}'{':*' if term.is_beginning else ''}"
