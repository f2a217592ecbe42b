"""The list of waiting calls that is read from the store alone is the platform's own, without sentences and modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app import Perdure
from perdure.app.lists.parked_calls import parked_calls
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.sources import SystemSources
from perdure.verbs import load_text

VERBS = """
- name: desk.ask
  version: 1
  description: Ask somebody
  input_schema: {properties: {text: {type: string}}}
  execution: {kind: durable}
- name: desk.note
  version: 1
  description: Note something
  execution: {kind: sync, effects: none}
"""


async def test_the_store_alone_lists_what_the_platform_lists(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'perdure.db'}"
    origin = Origin("default", "local")
    assert await parked_calls(url, origin, SystemSources(), after=0, limit=10) == []
    async with Perdure.open(url, definitions=load_text(VERBS), handlers={"desk.note": lambda call: {}}) as perdure:
        for text in "ab":
            await perdure.call("desk.ask", {"text": text})
        await perdure.call("desk.note", {})
        listed = [{**each, "sentence": "", "mode": ""} for each in await perdure.parked()]
    assert len(listed) == 2
    assert await parked_calls(url, origin, SystemSources(), after=0, limit=10) == listed
    assert await parked_calls(url, origin, SystemSources(), after=listed[0]["number"], limit=10) == listed[1:]
    assert await parked_calls(url, Origin("other", "local"), SystemSources(), after=0, limit=10) == []


async def test_a_tenant_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="tenant"):
        await parked_calls(f"sqlite:///{tmp_path / 'x.db'}", Origin(""), SystemSources(), after=0, limit=10)
