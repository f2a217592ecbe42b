"""Packs: guided journeys over verbs, declared in YAML, held against the catalogue, turned into drafts."""

from __future__ import annotations

from perdure.packs.definition import Pack as Pack
from perdure.packs.definition import Question as Question
from perdure.packs.definition import Template as Template
from perdure.packs.handoff import hand_over as hand_over
from perdure.packs.instantiation import choose_template as choose_template
from perdure.packs.instantiation import instantiate as instantiate
from perdure.packs.journey_progress import journey as journey
from perdure.packs.lint import lint_pack as lint_pack
from perdure.packs.lint import lint_packs as lint_packs
from perdure.packs.loader import Shelf as Shelf
from perdure.packs.loader import load_pack_text as load_pack_text
from perdure.packs.loader import load_packs as load_packs
from perdure.packs.plan_tier import composed_tier as composed_tier
from perdure.packs.questions import pending as pending
from perdure.packs.selection import select_pack as select_pack
from perdure.packs.selection import select_verb as select_verb
from perdure.packs.similarity import Scoring as Scoring
