"""Warnings about verbs that load but leave a reader, a caller or an operator guessing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perdure.errors import Problem
from perdure.verbs.definition import CRUD, EntityDefinition, VerbDefinition, same_verb_name


def lint(
    verbs: Sequence[VerbDefinition], definitions: Mapping[str, Any], entities: Mapping[str, EntityDefinition]
) -> list[Problem]:
    """Every warning, in the order of the verbs."""
    found = [problem for verb in verbs for problem in _of_verb(verb)]
    found.extend(_unused_definitions(verbs, definitions))
    found.extend(_unused_entities(verbs, entities))
    return found


def _of_verb(verb: VerbDefinition) -> Iterator[Problem]:
    execution = verb.execution
    if not verb.description:
        yield _warning(verb, "no_description", "description", "it has no description", "Say what it does.")
    if not verb.sentences.step:
        hint = "Add sentences.step so that a call can be read back."
        yield _warning(verb, "no_sentence", "sentences.step", "it has no sentence", hint)
    if execution.kind == "sync" and execution.effects == "external" and execution.retry.max_attempts > 1:
        yield from _unsafe_retry(verb)
    if execution.kind == "durable" and not execution.has_timeout:
        hint = "Add policy.timeout, e.g. P14D or 5 business days."
        yield _warning(verb, "no_timeout", "execution.policy.timeout", "it may wait for ever", hint)
    if execution.escalation is not None and not execution.has_timeout:
        reason = "it escalates on a timeout that it does not have"
        yield _warning(verb, "escalation_without_timeout", "execution.policy.escalation", reason)
    if execution.process is not None:
        yield from _of_process(verb)


def _unsafe_retry(verb: VerbDefinition) -> Iterator[Problem]:
    if "idempotency" not in verb.metadata:
        hint = "Pass call.idempotency_key on and note it under metadata.idempotency, or declare effects: none."
        reason = "it is retried with external effects and no idempotency note"
        yield _warning(verb, "no_idempotency_note", "metadata.idempotency", reason, hint)


def _of_process(verb: VerbDefinition) -> Iterator[Problem]:
    execution = verb.execution
    listed = {same_verb_name(name) for name in execution.sub_verbs}
    if not listed:
        yield _warning(verb, "no_sub_verbs", "execution.sub_verbs", "its process may call no verb at all")
    for flag in execution.flags:
        writers = {same_verb_name(writer) for writer in flag.writers} or listed
        if not writers:
            reason = f"the flag '{flag.name}' is never written"
            yield _warning(verb, "flag_never_written", "execution.flags", reason, "Name its writers or list sub_verbs.")


def _unused_definitions(verbs: Sequence[VerbDefinition], definitions: Mapping[str, Any]) -> Iterator[Problem]:
    used: set[str] = set()
    for verb in verbs:
        used |= set(verb.input_schema.get("$defs", {})) | set((verb.output_schema or {}).get("$defs", {}))
    for name in definitions:
        if name not in used:
            yield Problem("lint.unused_definition", "", 0, 0, f"definitions.{name}", "no verb uses it", "", "warning")


def _unused_entities(verbs: Sequence[VerbDefinition], entities: Mapping[str, EntityDefinition]) -> Iterator[Problem]:
    used = {verb.execution.params.get("entity") for verb in verbs if verb.execution.handler == CRUD}
    for entity in entities.values():
        if entity.name not in used:
            field = f"entities.{entity.name}"
            yield Problem("lint.unused_entity", entity.file, entity.line, 1, field, "no verb uses it", "", "warning")


def _warning(verb: VerbDefinition, code: str, field: str, reason: str, hint: str = "") -> Problem:
    return Problem(f"lint.{code}", verb.file, verb.line, 1, f"{verb.name} {field}", reason, hint, "warning")
