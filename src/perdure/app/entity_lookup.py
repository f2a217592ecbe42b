"""Entity lookup: records of an entity are found by words for a person to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.verbs.definition import EntityDefinition
from perdure.verbs.near_names import did_you_mean
from perdure.work.entity_records import RecordDesk

MAX_PAGES = 20
"""Pages of a hundred records looked at for one name."""
LABELS = ("name", "title", "label", "legal_name", "full_name", "description")
MAX_NOTE = 60
_WORD = re.compile(r"[^\W_]+")


class MatchView(msgspec.Struct, frozen=True):
    """A record that may be meant: its key, what it is called, and what tells it from others."""

    key: str
    label: str
    note: str = ""
    is_exact: bool = False


async def look_up(
    desk: RecordDesk, entities: Mapping[str, EntityDefinition], tenant: str, principal: str, entity: str, text: str,
    limit: int = 20,
) -> list[MatchView]:  # fmt: skip
    """Records whose key is the text or whose fields hold all its words, exact ones first."""
    definition = entities.get(entity)
    if definition is None:
        hint = did_you_mean(entity, entities)
        raise RejectedError(Rejection("not_found", "look up", "entity", entity, "it is not declared", hint))
    records, after = desk.open(tenant, principal), None
    wanted = _words(text)
    found: list[MatchView] = []
    for _ in range(MAX_PAGES):
        page = await records.list(entity, after=after, limit=100)
        found += [view for each in page if (view := _view(definition, each, text, wanted)) is not None]
        after = page.after
        if after is None:
            break
    return sorted(found, key=lambda view: (not view.is_exact, view.label))[:limit]


def _view(definition: EntityDefinition, data: Mapping[str, Any], text: str, wanted: list[str]) -> MatchView | None:
    key = "/".join(str(data.get(field, "")) for field in definition.key)
    texts = {field: str(data[field]) for field in definition.fields if isinstance(data.get(field), str)}
    field = next((each for each in LABELS if each in texts), next((each for each in texts), ""))
    label = texts.get(field, key)
    is_exact = text.strip().lower() in (key.lower(), label.lower()) or _words(text) == _words(label)
    held = set(_words(" ".join(texts.values())))
    if not is_exact and not (wanted and all(any(one.startswith(word) for one in held) for word in wanted)):
        return None
    others = [value for name, value in texts.items() if name != field and name not in definition.key]
    note = ", ".join([key, *others] if label != key else others)[:MAX_NOTE]
    return MatchView(key, label, note, is_exact)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
