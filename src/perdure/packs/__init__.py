"""Packs: guided journeys over verbs, declared in YAML, held against the catalogue, turned into drafts."""
