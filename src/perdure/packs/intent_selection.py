"""Intent selection: words of a person select a pack or verb by name, by similarity, or by a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from perdure.packs.definition import Pack, Template, is_like
from perdure.packs.loader import Shelf
from perdure.packs.questions import plain
from perdure.packs.text_similarity import Candidate, Ranking, Scoring, Speech, rank
from perdure.runbooks.drafts.draft import Draft
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.definition import same_verb_name


def select_pack(said: str, shelf: Shelf, scoring: Scoring | None = None) -> Ranking[Pack]:
    """An id or a name outright, else the pack whose phrases are most like what was said."""
    scoring = scoring or Scoring()
    exact = [pack for pack in shelf if plain(said) in (plain(pack.id), plain(pack.name))]
    if exact:
        return Ranking("strong", (Candidate(exact[0], 1.0),))
    speech = Speech(said)
    return rank((_pack_candidate(speech, pack) for pack in shelf), scoring)


def select_verb(
    said: str,
    catalogue: Catalogue,
    pack: Pack | None = None,
    draft: Draft | None = None,
    *,
    rejected: Mapping[str, int] | None = None,
    scoring: Scoring | None = None,
) -> Ranking[Verb]:
    """A verb by its name, a sentence or a phrase. What the pack forbids is gone before anything is scored.

    `rejected` counts the turns for which a verb that was turned down stays out.
    """
    scoring = scoring or Scoring()
    found = catalogue.find(said.strip())
    if found is not None and (pack is None or _may(pack, found.name)):
        return Ranking("strong", (Candidate(found, 1.0),))
    out = {same_verb_name(name) for name, turns in (rejected or {}).items() if turns > 0}
    speech = Speech(said)
    candidates = [
        _verb_candidate(speech, verb, pack, draft, scoring)
        for verb in catalogue
        if same_verb_name(verb.name) not in out and (pack is None or _may(pack, verb.name))
    ]
    return rank(candidates, scoring)


def owners(verb: str, shelf: Shelf) -> list[Pack]:
    """The packs that list a verb as theirs."""
    return [pack for pack in shelf if pack.allowed_verbs and pack.allows(verb)]


def next_step(pack: Pack, draft: Draft) -> str:
    """The verb of the pinned template that would come next."""
    template = _pinned(pack, draft)
    planned = [same_verb_name(entry.verb) for entry in draft.entries]
    for step in template.steps if template is not None else ():
        name = same_verb_name(step.verb)
        if name not in planned:
            return name
    return ""


def _pack_candidate(speech: Speech, pack: Pack) -> Candidate[Pack]:
    score, captured = speech.best(pack.invocation_phrases)
    by_name = max(speech.likeness(pack.name)[0], 0.9 * speech.likeness(pack.description)[0])
    return Candidate(pack, max(score, by_name), dict(captured) if score >= by_name else {})


def _verb_candidate(
    speech: Speech, verb: Verb, pack: Pack | None, draft: Draft | None, scoring: Scoring
) -> Candidate[Verb]:
    score, captured = speech.best(text for texts in _texts(verb) for text in texts)
    if score and pack is not None:
        score += scoring.in_pack if not pack.allowed_verbs or pack.allows(verb.name) else scoring.out_of_pack
        if draft is not None and next_step(pack, draft) == same_verb_name(verb.name):
            score += scoring.next_step
    if score and draft is not None and any(verb.definition.domain == _domain(each.verb) for each in draft.entries):
        score += scoring.domain
    return Candidate(verb, round(score, 4), dict(captured))


def _texts(verb: Verb) -> Iterator[tuple[str, ...]]:
    definition = verb.definition
    yield (definition.name.replace(".", " "), definition.name.rpartition(".")[2])
    yield definition.search_phrases
    yield definition.sentences.step + definition.sentences.summary
    yield (definition.description,)


def _may(pack: Pack, verb: str) -> bool:
    """Not forbidden; what is merely outside the pack stays and weighs less."""
    return not is_like(verb, pack.forbidden_verbs)


def _pinned(pack: Pack, draft: Draft) -> Template | None:
    return pack.template(draft.pack.template) if draft.pack is not None and draft.pack.template else None


def _domain(verb: str) -> str:
    return verb.partition(".")[0]
