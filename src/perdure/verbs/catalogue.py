"""All verbs of one load: found by name and version, searched by words, checked for weak spots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from perdure.errors import Problem, RejectedError, Rejection
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.definition import EntityDefinition, VerbDefinition, same_verb_name
from perdure.verbs.document_types import SHIPPED_REASONS, DocumentType, RejectionReason
from perdure.verbs.lint import lint
from perdure.verbs.near_names import did_you_mean

_WORD = re.compile(r"[a-z0-9]+")


class Catalogue:
    """Read-only after loading."""

    __slots__ = ("_versions", "definitions", "documents", "entities", "reasons")

    def __init__(
        self,
        verbs: Iterable[VerbDefinition] = (),
        entities: Mapping[str, EntityDefinition] | None = None,
        definitions: Mapping[str, Any] | None = None,
        documents: Mapping[str, DocumentType] | None = None,
        reasons: Mapping[str, RejectionReason] | None = None,
    ) -> None:
        self._versions: dict[str, dict[int, Verb]] = {}
        for definition in sorted(verbs, key=lambda each: (each.name, each.version)):
            self._versions.setdefault(same_verb_name(definition.name), {})[definition.version] = Verb(definition)
        self.entities: Mapping[str, EntityDefinition] = MappingProxyType(dict(entities or {}))
        self.definitions: Mapping[str, Any] = MappingProxyType(dict(definitions or {}))
        self.documents: Mapping[str, DocumentType] = MappingProxyType(dict(documents or {}))
        self.reasons: Mapping[str, RejectionReason] = MappingProxyType({**SHIPPED_REASONS, **(reasons or {})})

    def with_verbs(self, more: Iterable[VerbDefinition]) -> Catalogue:
        """The same catalogue with more verbs, as the platform brings along; a verb of the project stays as it is."""
        own = [verb.definition for verb in self.every_version()]
        known = {same_verb_name(each.name) for each in own}
        added = [each for each in more if same_verb_name(each.name) not in known]
        return Catalogue([*own, *added], self.entities, self.definitions, self.documents, self.reasons)

    def __iter__(self) -> Iterator[Verb]:
        """The newest version of each verb, by name."""
        for versions in self._versions.values():
            yield versions[max(versions)]

    def every_version(self) -> Iterator[Verb]:
        for versions in self._versions.values():
            yield from versions.values()

    def __len__(self) -> int:
        return len(self._versions)

    def names(self) -> list[str]:
        return [verb.name for verb in self]

    def versions(self, name: str) -> list[int]:
        return sorted(self._versions.get(same_verb_name(name), ()))

    def find(self, name: str, version: int | None = None) -> Verb | None:
        """The verb, in its newest version unless one is named; hyphens and underscores are alike."""
        versions = self._versions.get(same_verb_name(name))
        if versions is None:
            return None
        return versions.get(max(versions) if version is None else version)

    def sentence(self, name: str, version: int, args: Mapping[str, Any]) -> str:
        """A call in words; empty when the verb is not loaded."""
        verb = self.find(name, version)
        return verb.sentence(args or {}) if verb is not None else ""

    def get(self, name: str, version: int | None = None) -> Verb:
        """Like `find`, but an unknown verb is a rejection that names the nearest one."""
        verb = self.find(name, version)
        if verb is not None:
            return verb
        versions = self.versions(name)
        if versions:
            fact = f"it has no version {version}"
            hint = f"Known versions: {', '.join(str(each) for each in versions)}."
        else:
            fact = "no such verb is declared"
            hint = did_you_mean(name, self.names()) or "See 'perdure verbs list'."
        raise RejectedError(Rejection("not_found", "find", "verb", name, fact, hint))

    def search(self, text: str, limit: int = 20) -> list[Verb]:
        """Verbs that share words with the text, best first; words of the name and phrases weigh most."""
        wanted = _words(text)
        ranked = [(score, verb) for verb in self if (score := _score(verb.definition, wanted)) > 0]
        ranked.sort(key=lambda pair: (-pair[0], pair[1].name))
        return [verb for _, verb in ranked[:limit]]

    def lint(self) -> list[Problem]:
        """Warnings about definitions that load but could be better."""
        return lint([verb.definition for verb in self.every_version()], self.definitions, self.entities)


def _score(definition: VerbDefinition, wanted: set[str]) -> float:
    weights = (
        (3.0, (definition.name,)),
        (3.0, definition.search_phrases),
        (2.0, definition.sentences.step + definition.sentences.summary),
        (1.0, (definition.description,)),
    )
    return sum(weight * _overlap(wanted, _words(" ".join(texts))) for weight, texts in weights)


def _overlap(wanted: set[str], words: set[str]) -> float:
    """Whole words count one, beginnings of at least three letters a half."""
    exact = wanted & words
    begun = sum(1 for word in wanted - exact if len(word) >= 3 and any(each.startswith(word) for each in words))
    return len(exact) + begun / 2


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:10_000].lower()))
