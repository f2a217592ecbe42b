"""The reference is complete: methods, entries, settings, states and tables are those of the code, and no others."""

from __future__ import annotations

import re
import sqlite3
from typing import get_args, get_type_hints

import msgspec
import pytest

import perdure
import perdure.testing
from perdure.access.machine import AccessEntry
from perdure.app.configuration import engines as engine_config
from perdure.app.configuration import project
from perdure.app.configuration import server as server_config
from perdure.app.configuration import telemetry as telemetry_config
from perdure.app.configuration.calendars import CALENDAR_KEYS
from perdure.app.configuration.resolvers import RESOLVER_KEYS
from perdure.bpmn.machine.journal_entries import Entry as InstanceEntry
from perdure.bpmn.machine.process_machine import ProcessEntry as ProcessEntry
from perdure.buses import bus_settings
from perdure.channels import channel_settings, task_channel_settings
from perdure.channels import webhook_settings as hooks_settings
from perdure.documents.machine.document_state import STATUSES
from perdure.documents.machine.journal_entries import DocumentEntry
from perdure.lifecycles.machine.definition_machine import DefinitionEntry
from perdure.lifecycles.machine.entries import LifecycleEntry
from perdure.runbooks.machine import state
from perdure.runbooks.machine.journal_entries import Entry
from perdure.store.migrations import migrate_sqlite
from perdure.verb_contract import FAILURE_CLASSES
from perdure.verbs.handlers import Call
from tests.house import api
from tests.house.tree import ROOT

REFERENCE = ROOT / "docs" / "reference"
CELL = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def words(text: str) -> list[str]:
    """What stands in backticks in the first cell of each row."""
    return [word for cell in CELL.findall(text) for word in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.req("P9")
def test_the_python_api_on_the_page_is_that_of_the_code() -> None:
    assert page("python-api.md") == api.written(), "run: python -m tests.house.api"


@pytest.mark.req("P9")
def test_every_importable_name_is_on_the_page() -> None:
    rows = page("python-api.md").splitlines()
    for module in (perdure, perdure.testing):
        row = next(line for line in rows if line.startswith(f"| `{module.__name__}` |"))
        assert set(re.findall(r"`(\w+)`", row)) - {"perdure"} == set(dir(module))


@pytest.mark.req("P9")
def test_everything_a_handler_gets_is_on_the_page() -> None:
    told = {word.removeprefix("await ").partition("(")[0] for word in words(section(page("python-api.md"), "Call"))}
    assert told == {name for name in dir(Call) if not name.startswith("_")}


@pytest.mark.req("P9")
@pytest.mark.parametrize(
    ("title", "entries"),
    [
        ("", get_args(Entry)),
        ("Instances", get_args(InstanceEntry)),
        ("Processes", get_args(ProcessEntry)),
        ("Access", get_args(AccessEntry)),
        ("Documents", get_args(DocumentEntry)),
        ("Lifecycles", get_args(LifecycleEntry)),
        ("Lifecycle definitions", get_args(DefinitionEntry)),
    ],
)
def test_every_entry_is_on_the_page_with_all_its_fields(title: str, entries: tuple[type[msgspec.Struct], ...]) -> None:
    whole = page("journal-entries.md")
    text = section(whole, title) if title else whole.partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    told = {name.strip("`"): set(re.findall(r"`(\w+)`", fields)) for name, _, fields in rows}
    assert told == {entry.__name__: set(entry.__struct_fields__) for entry in entries}


@pytest.mark.req("P9")
def test_every_setting_is_on_the_page() -> None:
    told = set(words(page("configuration.md").partition("## Order")[0]))
    sections = {"oidc": server_config.OIDC_KEYS, "rate": server_config.RATE_KEYS}
    server = {f"{key}.{each}" for key in sections for each in sections[key]} | (
        server_config.SERVER_KEYS - set(sections)
    )
    hooks = {f"in[].{each}" for each in hooks_settings.IN_KEYS} | {f"out[].{each}" for each in hooks_settings.OUT_KEYS}
    hooks |= {f"egress.{each}" for each in hooks_settings.EGRESS_KEYS}
    ways = {key for keys in channel_settings.KIND_KEYS.values() for key in keys} | {"kind"}
    channels = (channel_settings.CHANNELS_KEYS - {"ways"}) | {f"ways.*.{each}" for each in ways}
    outside = {key for keys in task_channel_settings.KIND_KEYS.values() for key in keys} | {"kind"}
    traces = {f"traces.{key}" for key in telemetry_config.TRACE_KEYS}
    telemetry = (telemetry_config.TELEMETRY_KEYS - {"traces"}) | traces
    nested = {
        "retention": project.RETENTION_KEYS, "seal": project.SEAL_KEYS, "server": server, "hooks": hooks,
        "telemetry": telemetry, "secrets": {f"*.{each}" for each in project.SECRET_KEYS},
        "resolvers": {f"*.{each}" for each in RESOLVER_KEYS},
        "calendars": {f"*.{each}" for each in CALENDAR_KEYS},
        "channels": channels,
        "task_channels": {f"*.{each}" for each in outside},
        "engines": {f"*.{each}" for each in engine_config.ENTRY_KEYS},
        "processes": {f"*.{each}" for each in engine_config.PROCESS_KEYS},
        "tenants": {"*.engine", "*.processes.*.engine"},
        "bus": {f"brokers.*.{each}" for each in bus_settings.BROKER_KEYS}
        | {f"task_results[].{each}" for each in bus_settings.RESULT_KEYS},
    }  # fmt: skip
    known = {f"{key}.{each}" for key in project.CONFIG_KEYS for each in nested.get(key, ())}
    assert told == known | (project.CONFIG_KEYS - set(nested))


@pytest.mark.req("P9")
@pytest.mark.parametrize(
    ("title", "known"),
    [
        ("Call", get_args(state.RunbookState)),
        ("Step", get_args(state.StepState)),
        ("Parked token", state.TOKEN_STATES),
        ("Frame", get_args(get_type_hints(state.Frame)["status"])),
        ("Failure class", FAILURE_CLASSES),
        ("Document", STATUSES),
    ],
    ids=["call", "step", "token", "frame", "failure", "document"],
)
def test_every_state_is_on_the_page(title: str, known: tuple[str, ...]) -> None:
    assert sorted(words(section(page("states.md"), title))) == sorted(known)


@pytest.mark.req("P9")
def test_every_table_is_on_the_page() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_sqlite(connection, ":memory:")
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    tables = {name for (name,) in rows if not name.startswith("document_text_")}
    connection.close()
    assert set(words(page("store-schema.md"))) == tables
