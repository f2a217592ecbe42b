"""`hooks:` of a `perdure.yaml`: who may send us signed messages, and whom we tell what happened."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from perdure.channels.webhook_signatures import MIN_SECRET_BYTES, WINDOW_SECONDS, secret_bytes
from perdure.errors import StoreSettingError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.verb_patterns import is_pattern
from perdure.verbs.yaml_nodes import Node

OUTCOME = "outcome."
"""The beginning of the type of an outcome event: `outcome.Parked`."""
HOOKS_KEYS = frozenset({"in", "out", "egress"})
IN_KEYS = frozenset(
    {
        "name", "tenant", "principal", "secret_env", "secret_file", "window", "message", "verbs", "key", "ttl",
        "task_results",
    }
)  # fmt: skip
OUT_KEYS = frozenset({"name", "tenant", "url", "secret_env", "secret_file", "events"})
EGRESS_KEYS = frozenset({"allow"})
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*){0,9}")
NARROW = "Add message: <name> to make messages of what it sends, or verbs: [papers.*] for the waits it may end."
_EVENT = re.compile(r"\*|[A-Za-z_.-]{1,64}\*?")


class Secret(msgspec.Struct, frozen=True):
    """Where a secret is found: names of variables, or a file with one on each line. Never the secret itself."""

    env: tuple[str, ...] = ()
    file: Path | None = None

    def load(self, hook: str) -> list[bytes]:
        """The keys, the newest first; an error that names the place and never what is in it."""
        texts = [os.environ[name] for name in self.env if os.environ.get(name)]
        place = ", ".join(self.env)
        if self.file is not None:
            place = str(self.file)
            try:
                texts = [line for line in self.file.read_text("utf-8").splitlines() if line.strip()]
            except (OSError, UnicodeDecodeError) as error:
                raise StoreSettingError(
                    "read the secret of", "hook", hook, f"{place}: {type(error).__name__}"
                ) from None
        keys = [key for text in texts if (key := secret_bytes(text)) is not None]
        if not keys:
            hint = f"Put {MIN_SECRET_BYTES} bytes or more there, as text or as whsec_ and base64."
            raise StoreSettingError("read the secret of", "hook", hook, f"{place} has none that could be used", hint)
        return keys


class HookIn(msgspec.Struct, frozen=True):
    """Someone who sends. What they send becomes a message, or ends the wait it names, of one of `verbs`."""

    name: str
    secret: Secret
    tenant: str = "default"
    principal: str = ""
    window_seconds: int = WINDOW_SECONDS
    message: str = ""
    key: str = ""
    ttl_seconds: float = 0.0
    verbs: tuple[str, ...] = ()
    """Patterns of the verbs whose waits it may end: `papers.ask`, `papers.*`."""
    brings_results: bool = False
    """Whether it brings results of pending tasks, those of `verbs`, instead of completions."""

    @property
    def only_verb(self) -> str:
        """The one verb it is for; empty when that may be several."""
        return self.verbs[0] if len(self.verbs) == 1 and not self.verbs[0].endswith("*") else ""

    def fault(self) -> tuple[str, str] | None:
        """What it lacks or has too much of, and what to do about it."""
        if self.message and self.verbs:
            return (
                "it has both message and verbs",
                "Verbs are those whose waits it ends; what sends a message ends none.",
            )
        if not self.message and not self.verbs:
            return "nothing says which waits it may end", NARROW
        wrong = next((each for each in self.verbs if each == "*" or not is_pattern(each)), None)
        return (f"'{wrong}' names no verbs in particular", NARROW) if wrong is not None else None


class HookOut(msgspec.Struct, frozen=True):
    """Someone who is told. `events` are names of journal entries; a star at the end stands for any rest."""

    name: str
    url: str
    secret: Secret
    tenant: str = "default"
    events: tuple[str, ...] = ("*",)

    @property
    def wants_outcomes(self) -> bool:
        """Whether outcome events are told as well; `*` alone means the entries of the journal."""
        return any(each.startswith(OUTCOME) for each in self.events)

    def wants(self, entry: str) -> bool:
        """Whether an entry of the journal is told; an outcome event only where a pattern says `outcome.` itself."""
        is_outcome = entry.startswith(OUTCOME)
        patterns = [each for each in self.events if each.startswith(OUTCOME)] if is_outcome else self.events
        return any(entry == each or (each.endswith("*") and entry.startswith(each[:-1])) for each in patterns)


class Hooks(msgspec.Struct, frozen=True):
    """All of them, and which addresses inside may be sent to."""

    arriving: tuple[HookIn, ...] = ()
    leaving: tuple[HookOut, ...] = ()
    allowed: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise StoreSettingError when one that arrives might do anything."""
        for each in self.arriving:
            if (fault := each.fault()) is not None:
                raise StoreSettingError("take in", "hook", each.name, *fault)

    def arriving_as(self, name: str) -> HookIn | None:
        return next((each for each in self.arriving if each.name == name), None)

    def leaving_as(self, name: str, tenant: str) -> HookOut | None:
        return next((each for each in self.leaving if each.name == name and each.tenant == tenant), None)


def read_hooks(node: Node, file: str, report: Any, folder: Path) -> Hooks:
    """The section as it is written; problems go to the report."""
    fields = Fields(node, "hooks", file, report, accepted=HOOKS_KEYS)
    allowed: tuple[str, ...] = ()
    if (egress := fields.get("egress")) is not None:
        allowed = tuple(Fields(egress, "egress", file, report, accepted=EGRESS_KEYS).texts("allow"))
    arriving = [_read_in(each, folder) for each in _listed(fields, "in", IN_KEYS)]
    leaving = [_read_out(each, folder) for each in _listed(fields, "out", OUT_KEYS)]
    _unique(fields, "in", [each.name for each in arriving])
    _unique(fields, "out", [f"{each.tenant}/{each.name}" for each in leaving])
    return Hooks(tuple(arriving), tuple(leaving), allowed)


def _listed(fields: Fields, key: str, accepted: frozenset[str]) -> list[Fields]:
    node = fields.get(key)
    if node is None:
        return []
    if not isinstance(node.value, list):
        fields.wrong(node, "wrong_type", f"expected a list of hooks, found {node.kind()}")
        return []
    return [Fields(each, f"hooks.{key}", fields.file, fields.report, accepted=accepted) for each in node.value]


def _read_in(fields: Fields, folder: Path) -> HookIn:
    name = _name(fields)
    key = fields.text("key")
    if key and not _PATH.fullmatch(key):
        fields.wrong(fields.get("key"), "wrong_value", f"'{key}' is no path", "Write names with dots: case.id")
    hook = HookIn(
        name, _secret(fields, folder), fields.text("tenant", "default"), fields.text("principal", f"hook:{name}"),
        int(fields.duration("window") or WINDOW_SECONDS), fields.text("message"), key, fields.duration("ttl") or 0.0,
        tuple(fields.texts("verbs")), fields.boolean("task_results"),
    )  # fmt: skip
    if (fault := hook.fault()) is not None:
        fields.wrong(fields.get("verbs") or fields.get("name"), "wrong_value", *fault)
    return hook


def _read_out(fields: Fields, folder: Path) -> HookOut:
    name, url = _name(fields), fields.text("url")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        fields.wrong(fields.get("url"), "wrong_value", "it is no http or https address", "Give a full url.")
    events = tuple(fields.texts("events")) or ("*",)
    for each in events:
        if not _EVENT.fullmatch(each):
            fields.wrong(fields.get("events"), "wrong_value", f"'{each}' is no name of an entry")
    return HookOut(name, url, _secret(fields, folder), fields.text("tenant", "default"), events)


def _name(fields: Fields) -> str:
    name = fields.text("name")
    if not _NAME.fullmatch(name):
        hint = "Use small letters, digits and hyphens."
        fields.wrong(fields.get("name"), "wrong_value", "a hook needs a name of its own", hint)
    return name


def _secret(fields: Fields, folder: Path) -> Secret:
    env, file = tuple(fields.texts("secret_env")), fields.text("secret_file")
    if bool(env) == bool(file):
        hint = "Secrets are never written into this file."
        fields.wrong(fields.get("name"), "missing", "name either secret_env or secret_file", hint)
    return Secret(env, folder / file if file else None)


def _unique(fields: Fields, key: str, names: list[str]) -> None:
    for name in {each for each in names if names.count(each) > 1}:
        fields.wrong(fields.get(key), "duplicate", f"there are several hooks '{name}'")
