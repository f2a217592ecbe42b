"""Pinned verbs: work is served by the text of the definition it was asked under, whatever is loaded now.

| loaded under the name and version | kept in the store | who serves the work |
|---|---|---|
| the text it is pinned to | | that |
| another text | the text it is pinned to | the kept text, with the handler that this process has for it |
| another text | nothing | nobody: an incident says so |
| nothing | | nobody here; an incident where no worker has it |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from perdure.runbooks.machine.state import Step, short
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import VerbDefinition, same_verb_name

Text = tuple[bytes, str, int]
"""The hash of a definition, and the name and version that it defines."""
_read = msgspec.json.Decoder(VerbDefinition).decode


class PinnedVerbs:
    """The verbs of a catalogue, and older texts of them that the store keeps."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._bodies: dict[bytes, bytes] = {}
        self._verbs: dict[bytes, Verb | None] = {}

    def wanted(self, texts: Iterable[Text]) -> list[bytes]:
        """The hashes of texts that stand under a loaded name and version and are not known yet."""
        return [
            hash
            for hash, name, version in texts
            if hash not in self._bodies
            and (loaded := self._catalogue.find(name, version)) is not None
            and loaded.definition_hash != hash
        ]

    def learn(self, hash: bytes, body: bytes) -> None:
        self._bodies[hash] = body

    def find(self, name: str, version: int | None, hash: bytes) -> Verb | None:
        """The verb with the text of that hash; without a hash the one that is loaded."""
        loaded = self._catalogue.find(name, version)
        if loaded is None or not hash or loaded.definition_hash == hash:
            return loaded
        if hash not in self._verbs and hash in self._bodies:
            self._verbs[hash] = _verb(self._bodies[hash], name)
        return self._verbs.get(hash)

    def find_short(self, name: str, version: int, definition: int) -> Verb | None:
        """The same by the first eight bytes of the hash, as rows have them."""
        loaded = self._catalogue.find(name, version)
        if loaded is None or short(loaded.definition_hash) == definition:
            return loaded
        return next((self.find(name, version, each) for each in self._bodies if short(each) == definition), None)

    def shown(self, step: Step) -> Verb | None:
        """The text that a step is pinned to, or the loaded one where that is not known here."""
        return self.find(step.verb, step.version, step.definition) or self._catalogue.find(step.verb, step.version)

    def sentence(self, step: Step, args: dict[str, Any] | None) -> str:
        """A step in the words of the text it is pinned to, or of the loaded one where that is not known here."""
        verb = self.shown(step)
        return verb.sentence(args or {}) if verb is not None else ""


def _verb(body: bytes, name: str) -> Verb | None:
    """The verb of a kept text; None when this release cannot read it, or it is of another verb."""
    try:
        verb = Verb(_read(body))
    except (msgspec.MsgspecError, ValueError):
        return None
    return verb if same_verb_name(verb.name) == same_verb_name(name) else None
