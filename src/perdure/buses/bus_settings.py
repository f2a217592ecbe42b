"""`bus:` of a `perdure.yaml`: brokers by name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from perdure.errors import StoreSettingError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node

BUS_KEYS = frozenset({"brokers"})
BROKER_KEYS = frozenset({"url", "url_env", "options"})
KINDS: Mapping[str, str] = {
    "redis": "redis", "rediss": "redis", "kafka": "kafka", "nats": "nats", "tls": "nats",
}  # fmt: skip
"""The kind of a broker by the scheme of its url."""
ENV = "env:"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class Broker(msgspec.Struct, frozen=True):
    """A broker: its url, or the variable that holds it, and settings of the client of Kafka."""

    name: str
    url: str = ""
    url_env: str = ""
    options: Mapping[str, str] = {}
    """A value `env:NAME` is that of a variable, so that no secret is written into a file."""

    def address(self) -> str:
        """The url itself; an error that names the variable where there is none."""
        found = self.url or os.environ.get(self.url_env, "")
        if urlsplit(found).scheme not in KINDS:
            place = f"the variable {self.url_env}" if self.url_env else "its url"
            hint = f"Begin it with one of {', '.join(f'{each}://' for each in KINDS)}."
            raise StoreSettingError("reach", "broker", self.name, f"{place} names no broker", hint)
        return found

    @property
    def kind(self) -> str:
        return KINDS[urlsplit(self.address()).scheme]

    def settings(self) -> dict[str, str]:
        """The options, with what variables hold."""
        return {
            name: os.environ.get(value.removeprefix(ENV), "") if value.startswith(ENV) else value
            for name, value in self.options.items()
        }


class BusSettings(msgspec.Struct, frozen=True):
    """All brokers."""

    brokers: tuple[Broker, ...] = ()

    def broker(self, name: str) -> Broker:
        found = next((each for each in self.brokers if each.name == name), None)
        if found is None:
            hint = "Name it under `bus.brokers` of perdure.yaml."
            raise StoreSettingError("reach", "broker", name, "there is none of that name", hint)
        return found


def read_bus(node: Node, file: str, report: Any) -> BusSettings:
    """The section as it is written; problems go to the report."""
    fields = Fields(node, "bus", file, report, accepted=BUS_KEYS)
    brokers = tuple(_broker(name, each, fields) for name, each in fields.mapping("brokers").items())
    return BusSettings(brokers)


def _broker(name: str, node: Node, fields: Fields) -> Broker:
    if not _NAME.fullmatch(name):
        fields.wrong(node, "wrong_value", f"'{name[:80]}' is no name", "Use small letters, digits and hyphens.")
    if isinstance(node.value, str):
        broker = Broker(name, node.value)
    else:
        own = Fields(node, "bus.broker", fields.file, fields.report, accepted=BROKER_KEYS)
        broker = Broker(name, own.text("url"), own.text("url_env"), own.text_mapping("options"))
        if bool(broker.url) == bool(broker.url_env):
            own.wrong(node, "missing", "exactly one of 'url' and 'url_env' says where it is")
    if broker.url:
        _check_url(broker, node, fields)
    return broker


def _check_url(broker: Broker, node: Node, fields: Fields) -> None:
    try:
        parts = urlsplit(broker.url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in KINDS or not parts.netloc:
        hint = "Write redis://host:6379/0, kafka://host:9092 or nats://host:4222."
        fields.wrong(node, "wrong_value", "it is no url of a broker", hint)
    elif "@" in parts.netloc and ":" in parts.netloc.rpartition("@")[0]:
        hint = "Put the whole url into a variable and name it: url_env."
        fields.wrong(node, "wrong_value", "a password is never written into this file", hint)
    elif broker.options and KINDS[parts.scheme] != "kafka":
        fields.wrong(node, "wrong_value", "only Kafka takes options", "Put them into the url.")
