"""Pinned texts: the definitions of verbs that running work was asked under, and whether they are still served.

| loaded under the name and version | kept in the store | verdict |
|---|---|---|
| the text it is pinned to, and its handler | | `goes_on` |
| another text | the text it is pinned to, and its handler is here | `goes_on` under its own text |
| another text | nothing, or its handler is not here | `stays_pinned`: only workers that have it serve it |
| nothing | | `stays_pinned` |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from perdure.app.deployments.parked_groups import EXAMPLES
from perdure.app.deployments.views import Impact, LoadedVerb, VerbImpact
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.payload import digest_text
from perdure.runbooks.machine.state import ENDED, Runbook
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import BUILT_IN_HANDLERS, same_verb_name

KEEP = "Keep a worker that has it until the work that is pinned to it has ended."


class Text(NamedTuple):
    """The name and version of a verb, and the hash of its definition."""

    verb: str
    version: int
    hash: bytes


PLATFORM_FILES = ("<documents>", "<workflow>")
"""Where verbs are defined that the platform brings along."""


def is_of_platform(verb: Verb) -> bool:
    """Whether the platform brings a verb along, with its handler."""
    return verb.definition.file in PLATFORM_FILES or verb.name.startswith("perdure.")


def loaded_verb(verb: Verb, is_served: bool) -> LoadedVerb:
    return LoadedVerb(verb.name, verb.version, verb.content_hash, is_served)


class Serving:
    """The verbs and handlers that workers are to have once it is deployed."""

    def __init__(self, verbs: Iterable[LoadedVerb], runs: Callable[[Verb], bool]) -> None:
        """`runs` says whether an older text of a verb finds its handler."""
        self._verbs = {(same_verb_name(each.name), each.version): each for each in verbs}
        self.runs = runs

    @classmethod
    def of_process(cls, catalogue: Catalogue, runs: Callable[[Verb], bool]) -> Serving:
        """Those of this process."""
        return cls([loaded_verb(each, runs(each)) for each in catalogue.every_version()], runs)

    @classmethod
    def told(cls, verbs: Sequence[LoadedVerb], handlers: Collection[str], catalogue: Catalogue) -> Serving:
        """Those that somebody says there will be, handlers by their names in definitions, and those of the platform."""
        own = [loaded_verb(each, True) for each in catalogue.every_version() if is_of_platform(each)]
        verbs = [*own, *verbs]
        served = {(same_verb_name(each.name), each.version) for each in verbs if each.is_served}
        names = {*handlers, *BUILT_IN_HANDLERS}

        def runs(verb: Verb) -> bool:
            handler = verb.execution.handler
            return handler in names if handler else (same_verb_name(verb.name), verb.version) in served

        return cls(verbs, runs)

    @property
    def is_empty(self) -> bool:
        """Whether there are none at all: then nobody means to serve anything with them."""
        return not self._verbs

    def find(self, text: Text) -> LoadedVerb | None:
        return self._verbs.get((same_verb_name(text.verb), text.version))


class Pinned:
    """Work that is pinned to texts, counted."""

    def __init__(self) -> None:
        self._steps: dict[Text, int] = {}
        self._instances: dict[Text, int] = {}
        self._examples: dict[Text, list[str]] = {}

    @property
    def texts(self) -> list[Text]:
        return sorted({**self._steps, **self._instances})

    def add_runbook(self, id: str, runbook: Runbook) -> None:
        """The steps of a call or a runbook that have not ended."""
        for step in runbook.steps:
            if step.verb and step.definition and step.status not in ENDED:
                text = Text(step.verb, step.version, step.definition)
                self._steps[text] = self._steps.get(text, 0) + 1
                self._note(text, id)

    def add_instances(self, deployed: Deployed, ids: Iterable[str], count: int) -> None:
        """Instances of a version, which is pinned to the text of every verb that it names."""
        for binding in deployed.bindings.values():
            if binding.hash:
                text = Text(binding.verb, binding.version, binding.definition)
                self._instances[text] = self._instances.get(text, 0) + count
                for id in ids:
                    self._note(text, id)

    def _note(self, text: Text, id: str) -> None:
        examples = self._examples.setdefault(text, [])
        if len(examples) < EXAMPLES and id not in examples:
            examples.append(id)

    def impacts(self, serving: Serving, kept: Mapping[Text, Verb]) -> list[VerbImpact]:
        """What becomes of each text; `kept` are those of them that the store keeps."""
        return [self._impact(text, serving, kept.get(text)) for text in self.texts]

    def _impact(self, text: Text, serving: Serving, kept: Verb | None) -> VerbImpact:
        loaded = serving.find(text)
        verdict, reason = _judged(text, loaded, kept, serving)
        return VerbImpact(
            verb=text.verb, version=text.version, hash=digest_text(text.hash),
            loaded=loaded.hash if loaded is not None else "", steps=self._steps.get(text, 0),
            instances=self._instances.get(text, 0), examples=self._examples.get(text, []), verdict=verdict,
            reason=reason,
        )  # fmt: skip


def _judged(text: Text, loaded: LoadedVerb | None, kept: Verb | None, serving: Serving) -> tuple[Impact, str]:
    if loaded is None:
        return "stays_pinned", f"version {text.version} of '{text.verb}' is not loaded any more. {KEEP}"
    if loaded.hash == digest_text(text.hash):
        if loaded.is_served:
            return "goes_on", ""
        return "stays_pinned", f"nothing runs it: its handler is missing. {KEEP}"
    if kept is None:
        return "stays_pinned", f"another text is loaded, and this one is not kept in the store. {KEEP}"
    if serving.runs(kept):
        return "goes_on", "another text is loaded; what is pinned to this one is served by it, from the store"
    handler = kept.execution.handler
    what = f"the handler that this one names, '{handler}', is missing" if handler else "it has no handler"
    return "stays_pinned", f"another text is loaded, and {what}. {KEEP}"
