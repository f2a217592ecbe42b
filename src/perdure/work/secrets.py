"""Secrets: texts a handler needs and the journal never sees, fetched by name when an attempt asks for one.

| a reference | gives |
|---|---|
| `secret://crm-token`, of a verb the secret is for | the text, read anew from its variable or file |
| of another verb, unknown, or not there | UnresolvableError, which says where to declare it |

A result, a flag or a record that holds a text which the attempt was given fails the attempt, and nothing of it is kept;
in the message of a failure the text is blotted out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from perdure.verbs.near_names import did_you_mean
from perdure.verbs.references import UnresolvableError, Wanted
from perdure.verbs.verb_patterns import reaches

SHORTEST = 6
"""Texts of fewer letters are in too many values by chance to be looked for."""
BLOT = "•••"


class Secret(msgspec.Struct, frozen=True):
    """Where a text is read from, and the patterns of the verbs it is for."""

    env: str = ""
    file: Path | None = None
    verbs: tuple[str, ...] = ("*",)


class Secrets:
    """The secrets of a project, by name."""

    def __init__(self, declared: Mapping[str, Secret] | None = None) -> None:
        self._declared = dict(declared or {})

    def text(self, verb: str, name: str) -> str:
        """The text of a secret, for a verb that may have it."""
        secret = self._declared.get(name)
        if secret is None:
            hint = did_you_mean(name, self._declared) or "Declare it under `secrets` in perdure.yaml."
            raise UnresolvableError("resolve", "secret", name[:80], "there is none of that name", hint)
        if not reaches(secret.verbs, verb):
            fact = f"it is not for '{verb}'"
            raise UnresolvableError("resolve", "secret", name[:80], fact, "Name the verb in its `verbs`.")
        try:
            return os.environ[secret.env] if secret.env else _read(secret.file)
        except (KeyError, OSError, UnicodeDecodeError) as error:
            where = f"the variable '{secret.env}'" if secret.env else f"the file '{secret.file}'"
            raise UnresolvableError("resolve", "secret", name[:80], f"{where} cannot be read") from error


class VerbSecrets:
    """The secrets as one verb may have them: a resolver of its references."""

    def __init__(self, secrets: Secrets, verb: str) -> None:
        self._secrets, self._verb = secrets, verb

    def text(self, name: str) -> str:
        return self._secrets.text(self._verb, name)

    async def __call__(self, wanted: Wanted) -> str:
        return self.text(wanted.place)


def _read(path: Path | None) -> str:
    return path.read_text("utf-8").rstrip("\r\n") if path is not None else ""


def holds(texts: Iterable[bytes], secrets: Iterable[str]) -> bool:
    """Whether any of the stored texts holds a secret, as it stands there or inside JSON."""
    wanted = [form for each in secrets if len(each) >= SHORTEST for form in _forms(each)]
    return any(form in text for text in texts for form in wanted)


def _forms(secret: str) -> set[bytes]:
    return {secret.encode(), msgspec.json.encode(secret)[1:-1]}


def blotted(text: str, secrets: Iterable[str]) -> str:
    """A text without the secrets in it."""
    for each in secrets:
        text = text.replace(each, BLOT) if each else text
    return text
