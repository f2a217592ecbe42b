"""`task_channels:` of a `perdure.yaml`: the places outside where people look for tasks, and who they are there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from perdure.channels.channel_settings import Password
from perdure.channels.webhook_settings import Secret
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node

KIND_KEYS: Mapping[str, frozenset[str]] = {
    "github": frozenset({
        "repository", "token_env", "token_file", "secret_env", "secret_file", "api", "tenant", "tasks", "decisions",
        "comment", "title", "label", "every", "people",
    }),
}  # fmt: skip
"""Keys of a task channel by its kind, besides `kind` itself."""
PERSON_KEYS = frozenset({"account", "login", "person", "groups"})
API = "https://api.github.com"
TITLE = "[Workflow {instance}] {title}"
LABEL = "perdure-task"
COMMENT = "comment"
EVERY_SECONDS = 60.0
DECISIONS: Mapping[str, Any] = MappingProxyType({"approved": {"approved": True}, "rejected": {"approved": False}})
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")


class KnownPerson(msgspec.Struct, frozen=True):
    """Who an account outside is here. The account counts; the login is shown, and may be taken over by others."""

    account: str
    login: str
    person: str
    groups: tuple[str, ...] = ()


class GithubSettings(msgspec.Struct, frozen=True):
    """A repository whose issues are tasks."""

    name: str
    repository: str
    token: Password
    secret: Secret
    api: str = API
    tenant: str = "default"
    tasks: tuple[str, ...] = ()
    """Patterns of tasks: a process, or a process and an element, `pr_review` or `pr_review/architect_review`."""
    decisions: Mapping[str, Any] = msgspec.field(default_factory=lambda: DECISIONS)
    """Words that answer, and what each brings."""
    comment: str = COMMENT
    """The field that the last comment is kept in, where the task asks for it; empty for none."""
    title: str = TITLE
    label: str = LABEL
    every_seconds: float = EVERY_SECONDS
    people: tuple[KnownPerson, ...] = ()

    def wants(self, process: str, element: str) -> bool:
        return process in self.tasks or f"{process}/{element}" in self.tasks

    def person(self, account: str) -> KnownPerson | None:
        return next((each for each in self.people if each.account == account), None)


TaskChannelSettings = GithubSettings


def read_task_channels(node: Node, file: str, report: Any, folder: Path) -> tuple[TaskChannelSettings, ...]:
    """The section as it is written; problems go to the report."""
    found: list[TaskChannelSettings] = []
    outer = Fields(node, "task_channels", file, report, accepted=frozenset(_names(node)))
    for name in _names(node):
        each = node.value[name]
        if not _NAME.fullmatch(name):
            outer.wrong(each, "wrong_value", f"'{name[:80]}' is no name", "Use small letters, digits and hyphens.")
        kind = each.value.get("kind") if isinstance(each.value, dict) else None
        if kind is None or kind.value not in KIND_KEYS:
            outer.wrong(kind or each, "wrong_value", "it needs a kind", f"Kinds are {', '.join(KIND_KEYS)}.")
            continue
        fields = Fields(each, "task_channel", file, report, accepted=KIND_KEYS[str(kind.value)] | {"kind"})
        found.append(_github(name, fields, folder))
    return tuple(found)


def _names(node: Node) -> list[str]:
    return list(node.value) if isinstance(node.value, dict) else []


def _github(name: str, fields: Fields, folder: Path) -> GithubSettings:
    repository, api = fields.text("repository", required=True), fields.text("api", API).rstrip("/")
    if repository and not _REPOSITORY.fullmatch(repository):
        fields.wrong(fields.get("repository"), "wrong_value", "it is no repository", "Write owner/name.")
    if urlsplit(api).scheme not in ("http", "https") or not urlsplit(api).hostname:
        fields.wrong(fields.get("api"), "wrong_value", "it is no http or https address", f"Write {API}.")
    title = fields.text("title", TITLE)
    if "{title}" not in title:
        fields.wrong(fields.get("title"), "wrong_value", "it names no title", f"Write e.g. {TITLE}.")
    return GithubSettings(
        name, repository, _token(fields, folder), _secret(fields, folder), api, fields.text("tenant", "default"),
        fields.texts("tasks"), _decisions(fields), fields.text("comment", COMMENT), title,
        fields.text("label", LABEL), fields.duration("every") or EVERY_SECONDS, _people(fields),
    )  # fmt: skip


def _token(fields: Fields, folder: Path) -> Password:
    env, file = fields.text("token_env"), fields.text("token_file")
    if bool(env) == bool(file):
        hint = "Tokens are never written into this file."
        fields.wrong(fields.get("repository"), "missing", "name either token_env or token_file", hint)
    return Password(env, folder / file if file else None)


def _secret(fields: Fields, folder: Path) -> Secret:
    env, file = fields.texts("secret_env"), fields.text("secret_file")
    if bool(env) == bool(file):
        hint = "It signs the messages of the webhook, and the marks of cards."
        fields.wrong(fields.get("repository"), "missing", "name either secret_env or secret_file", hint)
    return Secret(tuple(env), folder / file if file else None)


def _decisions(fields: Fields) -> Mapping[str, Any]:
    if "decisions" not in fields:
        return DECISIONS
    found = {word: node.plain() for word, node in fields.mapping("decisions").items()}
    for word, data in found.items():
        if not isinstance(data, dict):
            hint = f"Write {word}: {{approved: true}}."
            fields.wrong(fields.get("decisions"), "wrong_value", f"'{word}' says no fields of an answer", hint)
    return {word: data for word, data in found.items() if isinstance(data, dict)}


def _people(fields: Fields) -> tuple[KnownPerson, ...]:
    found: list[KnownPerson] = []
    for node in fields.items("people"):
        own = Fields(node, "person", fields.file, fields.report, accepted=PERSON_KEYS)
        account = own.integer("account", 0, 1, 2**53)
        if "account" not in own:
            hint = "It is the number of the account: a login may be given to somebody else. See `GET /users/<login>`."
            own.wrong(node, "missing", "an account needs its number", hint)
        login, person = own.text("login", required=True), own.text("person", required=True)
        found.append(KnownPerson(str(account), login, person, own.texts("groups")))
    numbers = [each.account for each in found]
    for twice in {each for each in numbers if numbers.count(each) > 1}:
        fields.wrong(fields.get("people"), "duplicate", f"account {twice} is there twice")
    return tuple(found)
