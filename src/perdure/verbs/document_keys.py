"""The keys of document types and rejection reasons: which are accepted where, what each means, and its default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from perdure.verbs.document_types import (
    CATEGORIES,
    DEFAULT_MAX_BYTES,
    DEFAULT_RETENTION,
    FOREVER,
    LARGEST_BLOB,
    NEXT_ACTIONS,
)


class Key(NamedTuple):
    """One key: its meaning, and its default; without one the key is required."""

    meaning: str
    default: str = ""


def _words(words: tuple[str, ...]) -> str:
    return f"{', '.join(f'`{each}`' for each in words[:-1])} or `{words[-1]}`"


DOCUMENT_KEYS: Mapping[str, Mapping[str, Key]] = MappingProxyType(
    {
        "document": {
            "description": Key("The type in a sentence for people; clients read it when they are asked", "empty"),
            "data_schema": Key(
                "The structured data of a version, see [schemas](verb-yaml.md#schemas); fields that it does not name "
                "are refused",
                "versions hold no data",
            ),
            "extracted_schema": Key("The fields that a verb reads out of a version", "none"),
            "content": Key("The file of a version", "versions hold no file"),
            "validity": Key(
                "A duration (`P10Y`) or [business days](../how-to/business-days.md) (`30 business days in london`) "
                "from `valid_from` of a version, or from the day it came, to its end",
                "a version without `valid_to` stays valid",
            ),
            "verify": Key("The people who may decide", "everybody with the right to verify; no agents"),
            "retention": Key(
                f"How long its data outlives a rejected, expired or superseded document, or `{FOREVER}`",
                f"`{DEFAULT_RETENTION}`",
            ),
            "extraction": Key("The verb that fills the extracted fields when a version arrives", "none"),
            "scan": Key("A verb that must let the file pass before anybody may read it", "nothing is scanned"),
        },
        "document_content": {
            "media_types": Key("Media types that are accepted: `application/pdf`, `image/*`"),
            "max_bytes": Key(f"The size of a file at most, up to {LARGEST_BLOB:,}", f"{DEFAULT_MAX_BYTES:,}"),
        },
        "document_verify": {
            "groups": Key("Groups of which a person must be a member of one", "everybody with the right to verify"),
            "four_eyes": Key("Whether whoever handed a version in is refused", "`false`"),
            "by_verb": Key(
                "Whether the verbs `document.verify` and `document.reject` may decide",
                "unless groups or four eyes are asked for",
            ),
            "agents": Key("Whether agents may decide", "`false`"),
        },
        "document_extraction": {
            "verb": Key("The verb"),
            "confidence": Key("From 0 to 1: below it a person checks the fields", "0"),
        },
        "rejection_reason": {
            "category": Key(_words(CATEGORIES)),
            "client": Key("The words for the client"),
            "operator": Key("The words for operators"),
            "next_action": Key(_words(NEXT_ACTIONS), "`ask_again`"),
            "retryable": Key("Whether the client may be asked again", "unless the next action is `stop`"),
        },
    }
)
