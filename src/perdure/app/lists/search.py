"""Search among runbooks and calls by the beginning of an id, a case or an indexed value: by keys alone."""

from __future__ import annotations

from typing import NamedTuple

from perdure.bpmn.machine.aggregate_ids import INDEX as INSTANCES
from perdure.lifecycles.instances import INDEX as LIFECYCLES
from perdure.runbooks.executor.plan_executor import CASES
from perdure.sources import ID_LENGTH, Id, parse_id
from perdure.store.lists import AFTER_IDS, LAST, Lists

FEWEST_LETTERS = 10
"""Of an id: the moment it was made in. Fewer would mean many ids of many tenants."""
MAX_TEXT = 200
FIELDS_LOOKED_AT = 500
NOT_SEARCHED = frozenset({CASES, INSTANCES, LIFECYCLES})


class Stand(NamedTuple):
    """How far a search has come: a field of an index, a spelling, and the last value and id seen there."""

    verb: str = ""
    field: str = ""
    spelling: int = -1
    value: str = LAST
    id: bytes = AFTER_IDS


class Match(NamedTuple):
    """Something found, and the place to go on from."""

    id: Id
    stand: Stand


class Search:
    """For one text of one tenant. Ids come first, then indexed values, field by field; each match once."""

    def __init__(self, lists: Lists, tenant: str, text: str) -> None:
        self._lists = lists
        self._tenant = tenant
        self._letters = text
        self._spellings = tuple(dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title())))

    async def page(self, stand: Stand, most: int) -> list[Match]:
        """The next matches, at least one while there are any."""
        if stand.spelling < 0:
            found = [Match(id, Stand(id=id)) for id in await self._by_id(stand.id, most)]
            if found:
                return found
            stand = Stand(spelling=0)
        for _ in range(FIELDS_LOOKED_AT):
            if stand.field and (found := await self._by_value(stand, most)):
                return found
            following = await self._following(stand)
            if following is None:
                return []
            stand = following
        return []

    async def _by_id(self, before: bytes, most: int) -> list[Id]:
        bounds = id_bounds(self._letters)
        if bounds is None:
            return []
        low, high = bounds
        high = min(high, before)
        found = await self._lists.ids_between(self._tenant, low, high, most + 1)
        return [id for id in found if id != before][:most]

    async def _by_value(self, stand: Stand, most: int) -> list[Match]:
        """Matches in one field under one spelling; those that an earlier place tells of are left out."""
        prefix = self._spellings[stand.spelling]
        upper = min((stand.value, stand.id), (prefix + LAST, AFTER_IDS))
        while rows := await self._lists.indexed(self._tenant, stand.verb, stand.field, prefix, upper, most):
            upper = (rows[-1].value, rows[-1].id)
            found = [Match(row.id, stand._replace(value=row.value, id=row.id)) for row in rows]
            if first := [match for match in found if await self._is_first(match)]:
                return first
        return []

    async def _is_first(self, match: Match) -> bool:
        bounds = id_bounds(self._letters)
        if bounds is not None and bounds[0] <= match.id <= bounds[1]:
            return False
        places = [
            (verb, field, number, _Backwards(value))
            for verb, field, value in await self._lists.index_of(match.id)
            for number, prefix in enumerate(self._spellings)
            if verb not in NOT_SEARCHED and value.startswith(prefix)
        ]
        stand = match.stand
        first = min(places, default=(*stand[:3], _Backwards(stand.value)))
        return first == (*stand[:3], _Backwards(stand.value))

    async def _following(self, stand: Stand) -> Stand | None:
        """The next spelling, or the next field that has an index."""
        if stand.field and stand.spelling + 1 < len(self._spellings):
            return Stand(stand.verb, stand.field, stand.spelling + 1)
        verb, field = stand.verb, stand.field
        while (found := await self._lists.indexed_field(self._tenant, verb, field)) is not None:
            if found[0] not in NOT_SEARCHED:
                return Stand(*found, 0)
            verb, field = found[0], LAST  # as many fields as cases: none of them is of interest
        return None


class _Backwards(NamedTuple):
    """Orders texts the other way round."""

    text: str

    def __lt__(self, other: object) -> bool:
        return isinstance(other, _Backwards) and self.text > other.text


def id_bounds(text: str) -> tuple[bytes, bytes] | None:
    """The first and last id that begin with some letters; None when they are too few, or no letters of an id."""
    letters = text.lower()
    if not FEWEST_LETTERS <= len(letters) <= ID_LENGTH or not letters.isascii() or not letters.isalnum():
        return None
    if set(letters) & set("ilou") or letters[0] > "7":
        return None
    missing = ID_LENGTH - len(letters)
    return parse_id(letters + "0" * missing), parse_id(letters + "z" * missing)
