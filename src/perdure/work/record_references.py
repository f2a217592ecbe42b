"""Record references: `record://entity/key` is a record of the tenant, as it is now."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from perdure.errors import BusinessError, PerdureError
from perdure.verbs.references import UnresolvableError, Wanted
from perdure.work.entity_records import RecordDesk


class RecordReferences:
    """The resolver of records: a key of several fields is written with a slash between them."""

    def __init__(self, desk: RecordDesk) -> None:
        self._desk = desk

    async def __call__(self, wanted: Wanted) -> Any:
        entity, *key = (unquote(part) for part in wanted.place.split("/"))
        try:
            return await self._desk.open(wanted.tenant, wanted.principal).read(entity, key)
        except (BusinessError, PerdureError) as error:
            hint = "Write record://entity/key, the fields of a longer key with a slash between them."
            fact = f"no such record can be read ({error})"
            raise UnresolvableError("resolve", "reference", wanted.uri[:200], fact, hint) from error
