"""`channels:` of a `perdure.yaml`: the ways by which people and other systems are asked for documents."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from email.utils import parseaddr
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from perdure.channels.message_template import NAMES, MessageTemplate
from perdure.channels.webhook_settings import Secret
from perdure.errors import StoreSettingError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node

CHANNELS_KEYS = frozenset({"link", "default", "token", "ways"})
KIND_KEYS: Mapping[str, frozenset[str]] = {
    "smtp": frozenset({
        "host", "port", "security", "ca_file", "user", "password_env", "password_file", "sender", "reply_to",
        "language", "templates",
    }),
    "webhook": frozenset({"url", "secret_env", "secret_file"}),
    "queue": frozenset({"broker", "destination"}),
    "row": frozenset(),
    "file": frozenset({"folder"}),
}  # fmt: skip
"""Keys of a way by its kind, besides `kind` itself."""
TEMPLATE_KEYS = frozenset({"subject", "text"})
TOKEN_SECONDS = 14 * 86_400
Security = Literal["starttls", "tls", "none"]
SECURITIES: tuple[Security, ...] = ("starttls", "tls", "none")
PORTS: Mapping[str, int] = {"starttls": 587, "tls": 465, "none": 25}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")
HINT = "Use small letters, digits and hyphens."


class Password(msgspec.Struct, frozen=True):
    """Where a password is found: a variable, or a file. Never the password itself."""

    env: str = ""
    file: Path | None = None

    def text(self, channel: str) -> str:
        try:
            found = self.file.read_text("utf-8") if self.file is not None else os.environ.get(self.env, "")
        except (OSError, UnicodeDecodeError):
            found = ""
        if not found.strip():
            place = str(self.file) if self.file is not None else f"the variable {self.env}"
            raise StoreSettingError("read the password of", "channel", channel, f"{place} has none")
        return found.strip()


class SmtpSettings(msgspec.Struct, frozen=True):
    """A mail server, the sender, and templates by language."""

    name: str
    host: str
    sender: str
    port: int = PORTS["starttls"]
    security: Security = "starttls"
    ca_file: Path | None = None
    user: str = ""
    password: Password | None = None
    reply_to: str = ""
    language: str = "en"
    templates: Mapping[str, MessageTemplate] = {}


class WebhookSettings(msgspec.Struct, frozen=True):
    name: str
    url: str
    secret: Secret


class QueueSettings(msgspec.Struct, frozen=True):
    """A broker of `bus:`, and the stream, topic or subject that messages go to."""

    name: str
    broker: str
    destination: str


class RowSettings(msgspec.Struct, frozen=True):
    """The table `channel_outbox` of the store."""

    name: str


class FileSettings(msgspec.Struct, frozen=True):
    name: str
    folder: Path


WaySettings = SmtpSettings | WebhookSettings | QueueSettings | RowSettings | FileSettings


class ChannelSettings(msgspec.Struct, frozen=True):
    """All ways, the one that is used unless a request names another, and the place where clients answer."""

    ways: tuple[WaySettings, ...] = ()
    default: str = ""
    link: str = ""
    token_seconds: int = TOKEN_SECONDS

    def way(self, name: str) -> WaySettings | None:
        return next((each for each in self.ways if each.name == name), None)


def read_channels(node: Node, file: str, report: Any, folder: Path) -> ChannelSettings:
    """The section as it is written; problems go to the report."""
    fields = Fields(node, "channels", file, report, accepted=CHANNELS_KEYS)
    ways = [way for name, each in fields.mapping("ways").items() if (way := _way(name, each, fields, folder))]
    default = fields.text("default")
    if default and default not in [each.name for each in ways]:
        fields.wrong(fields.get("default"), "wrong_value", f"there is no way '{default[:80]}'")
    link = fields.text("link")
    if link and (urlsplit(link).scheme not in ("http", "https") or "#" in link):
        fields.wrong(fields.get("link"), "wrong_value", "it is no http or https address", "Give a url without a '#'.")
    token = fields.duration("token")
    return ChannelSettings(tuple(ways), default, link, int(token or TOKEN_SECONDS))


def _way(name: str, node: Node, outer: Fields, folder: Path) -> WaySettings | None:
    if not _NAME.fullmatch(name):
        outer.wrong(node, "wrong_value", f"'{name[:80]}' is no name", HINT)
    kinds = tuple(KIND_KEYS)
    found = node.value.get("kind") if isinstance(node.value, dict) else None
    kind = found.value if found is not None and isinstance(found.value, str) else ""
    if kind not in kinds:
        outer.wrong(found or node, "wrong_value", "it needs a kind", f"Kinds are {', '.join(kinds)}.")
        return None
    fields = Fields(node, "channel", outer.file, outer.report, accepted=KIND_KEYS[kind] | {"kind"})
    match kind:
        case "smtp":
            return _smtp(name, fields, folder)
        case "webhook":
            return _webhook(name, fields, folder)
        case "queue":
            return QueueSettings(
                name, fields.text("broker", required=True), fields.text("destination", required=True)
            )  # fmt: skip
        case "row":
            return RowSettings(name)
        case _:
            return FileSettings(name, folder / fields.text("folder", required=True))


def _smtp(name: str, fields: Fields, folder: Path) -> SmtpSettings:
    security: Security = fields.word("security", SECURITIES, "starttls")
    env, file, user = fields.text("password_env"), fields.text("password_file"), fields.text("user")
    if bool(user) != bool(env or file) or (env and file):
        hint = "Name user, and either password_env or password_file. Passwords are never written into this file."
        fields.wrong(fields.get("user"), "wrong_value", "a user needs a password, and a password a user", hint)
    for key in ("sender", "reply_to"):
        told = fields.text(key, required=key == "sender")
        if told and ("@" not in parseaddr(told)[1] or not told.isprintable()):
            fields.wrong(fields.get(key), "wrong_value", "it is no e-mail address")
    language = fields.text("language", "en")
    _check_language(fields, "language", language)
    return SmtpSettings(
        name, fields.text("host", required=True), fields.text("sender"),
        fields.integer("port", PORTS[security], 1, 65_535), security,
        folder / ca if (ca := fields.text("ca_file")) else None, user,
        Password(env, folder / file if file else None) if env or file else None, fields.text("reply_to"), language,
        {word: _template(fields, word, each) for word, each in fields.mapping("templates").items()},
    )  # fmt: skip


def _template(outer: Fields, language: str, node: Node) -> MessageTemplate:
    _check_language(outer, "templates", language)
    fields = Fields(node, "template", outer.file, outer.report, accepted=TEMPLATE_KEYS)
    template = MessageTemplate(fields.text("subject", required=True), fields.text("text", required=True))
    for unknown in template.unknown():
        fields.wrong(node, "unknown_name", f"'{unknown[:80]}' is no name", f"Names are {', '.join(NAMES)}.")
    return template


def _check_language(fields: Fields, key: str, language: str) -> None:
    if not _LANGUAGE.fullmatch(language):
        fields.wrong(fields.get(key), "wrong_value", f"'{language[:20]}' is no language", "Write en, de or pt-BR.")


def _webhook(name: str, fields: Fields, folder: Path) -> WebhookSettings:
    url = fields.text("url", required=True)
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password):
        fields.wrong(fields.get("url"), "wrong_value", "it is no http or https address", "Give a full url.")
    env, file = fields.texts("secret_env"), fields.text("secret_file")
    if bool(env) == bool(file):
        hint = "Secrets are never written into this file."
        fields.wrong(fields.get("url"), "missing", "name either secret_env or secret_file", hint)
    return WebhookSettings(name, url, Secret(tuple(env), folder / file if file else None))
