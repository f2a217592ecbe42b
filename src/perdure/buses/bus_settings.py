"""`bus:` of a `perdure.yaml`: brokers by name, and where task results come from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from perdure.buses.delivery_outcome import MAX_TRIES
from perdure.errors import StoreSettingError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.verb_patterns import is_pattern
from perdure.verbs.yaml_nodes import Node

BUS_KEYS = frozenset({"brokers", "task_results"})
BROKER_KEYS = frozenset({"url", "url_env", "options"})
RESULT_KEYS = frozenset({"broker", "from", "group", "tenant", "principal", "verbs", "max_tries", "claim_after"})
KINDS: Mapping[str, str] = {
    "redis": "redis", "rediss": "redis", "kafka": "kafka", "nats": "nats", "tls": "nats",
}  # fmt: skip
"""The kind of a broker by the scheme of its url."""
SOURCES: Mapping[str, str] = {
    "redis": "task_result_stream", "kafka": "workflow.task-results", "nats": "workflow.task-results",
}  # fmt: skip
"""Where task results are found unless `from` says otherwise."""
CLAIM_SECONDS = 30.0
ENV = "env:"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_GROUP = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")


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


class ResultSource(msgspec.Struct, frozen=True):
    """A stream, topic or subject that brings task results of one tenant."""

    broker: str
    source: str
    group: str = "perdure"
    tenant: str = "default"
    principal: str = ""
    verbs: tuple[str, ...] = ("*",)
    """Patterns of the verbs whose tasks it may end."""
    max_tries: int = MAX_TRIES
    claim_seconds: float = CLAIM_SECONDS

    @property
    def name(self) -> str:
        return f"{self.broker}/{self.source}"


class BusSettings(msgspec.Struct, frozen=True):
    """All brokers, and where task results come from."""

    brokers: tuple[Broker, ...] = ()
    results: tuple[ResultSource, ...] = ()

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
    known = {each.name: each for each in brokers}
    results = tuple(
        _result(Fields(each, "bus.task_results", file, report, accepted=RESULT_KEYS), known)
        for each in _listed(fields, "task_results")
    )
    taken = [(each.broker, each.source, each.group) for each in results]
    if len(set(taken)) < len(taken):
        fields.wrong(fields.get("task_results"), "duplicate", "two entries read the same source with the same group")
    return BusSettings(brokers, results)


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


def _listed(fields: Fields, key: str) -> list[Node]:
    node = fields.get(key)
    if node is None:
        return []
    if not isinstance(node.value, list):
        fields.wrong(node, "wrong_type", f"expected a list, found {node.kind()}")
        return []
    return node.value


def _result(fields: Fields, brokers: Mapping[str, Broker]) -> ResultSource:
    broker = fields.text("broker", required=True)
    if broker and broker not in brokers:
        hint = f"Brokers: {', '.join(brokers)}." if brokers else "Name one under `brokers`."
        fields.wrong(fields.get("broker"), "unknown_value", f"there is no broker '{broker[:80]}'", hint)
    group, verbs = fields.text("group", "perdure"), tuple(fields.texts("verbs"))
    if not _GROUP.fullmatch(group):
        hint = "Use letters, digits, hyphens and underscores."
        fields.wrong(fields.get("group"), "wrong_value", f"'{group[:80]}' is no name of a group", hint)
    for pattern in verbs:
        if not is_pattern(pattern):
            hint = "Write papers.ask, papers.* or *."
            fields.wrong(fields.get("verbs"), "wrong_value", f"'{pattern[:80]}' names no verbs", hint)
    return ResultSource(
        broker, _source(fields, brokers.get(broker)), group, fields.text("tenant", "default"),
        fields.text("principal", f"bus:{broker}"), verbs or ("*",), fields.integer("max_tries", MAX_TRIES, 1, 100),
        fields.duration("claim_after") or CLAIM_SECONDS,
    )  # fmt: skip


def _source(fields: Fields, broker: Broker | None) -> str:
    source = fields.text("from")
    if source and not _SOURCE.fullmatch(source):
        fields.wrong(fields.get("from"), "wrong_value", f"'{source[:80]}' names no stream, topic or subject")
    scheme = urlsplit(broker.url).scheme if broker is not None else ""
    if not source and broker is not None and broker.url_env:
        # The variable may be another one where the project runs: its kind is not known while the file is read.
        fields.wrong(
            fields.node, "missing", "a broker named by url_env needs 'from'", "Write from: task_result_stream."
        )
    return source or SOURCES.get(KINDS.get(scheme, ""), "")
