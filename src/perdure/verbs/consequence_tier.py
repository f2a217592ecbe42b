"""The consequence tier of a verb is that of the gravest verb its call can reach.

| a verb reaches | by |
|---|---|
| itself | its call |
| `execution.compensate` | being taken back |
| `execution.sub_verbs`, `execution.compensation` | the process that carries it |
| `execution.escalation` | timing out |

The process that carries a verb may reach more; `perdure.processes.start_consequence_tier` adds that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from perdure.verb_contract import CONSEQUENCE_TIERS, ConsequenceTier, tier_rank
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_verb import Verb


class Consequence(msgspec.Struct, frozen=True):
    """The tier of something that can be started, the verb it is due to, and every verb that can be reached."""

    tier: ConsequenceTier = CONSEQUENCE_TIERS[0]
    due_to: str = ""
    verbs: tuple[str, ...] = ()

    def with_verb(self, name: str, tier: ConsequenceTier) -> Consequence:
        """The same, reaching one verb more."""
        verbs = self.verbs if name in self.verbs else (*self.verbs, name)
        is_graver = tier_rank(tier) > tier_rank(self.tier)
        return Consequence(tier if is_graver else self.tier, name if is_graver else self.due_to, verbs)

    def at_least(self, tier: ConsequenceTier) -> Consequence:
        """The same, no milder than a tier that was worked out before."""
        return self if tier_rank(tier) <= tier_rank(self.tier) else Consequence(tier, "", self.verbs)


UNKNOWN: ConsequenceTier = CONSEQUENCE_TIERS[-1]
"""The tier of a verb that is not loaded: nobody can say how mild it is."""


def reached_verbs(catalogue: Catalogue, verbs: Iterable[Verb]) -> Iterator[Verb]:
    """Verbs and all that they reach by their own declarations, each once."""
    waiting, seen = list(verbs), set[tuple[str, int]]()
    while waiting:
        verb = waiting.pop(0)
        if (verb.name, verb.version) in seen:
            continue
        seen.add((verb.name, verb.version))
        yield verb
        execution = verb.execution
        named = (*execution.sub_verbs, *execution.compensation.values(), execution.compensate, execution.escalation)
        waiting.extend(found for name in named if name and (found := catalogue.find(name)) is not None)


def consequence_of(catalogue: Catalogue, verb: Verb) -> Consequence:
    """The consequence of a call as far as verbs declare it."""
    found = Consequence()
    for each in reached_verbs(catalogue, [verb]):
        found = found.with_verb(each.name, each.definition.consequence)
    return found
