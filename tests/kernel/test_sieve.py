"""Sieves: which entries are told to whom, whether they are made already or only when somebody looks."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine.journal_entries import JobCompleted
from perdure.journal import Entries, Sieve
from perdure.journal import record as module
from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, service


def made(*alike: Any) -> Entries:
    """Entries that are the text of their value and the word they are alike in."""
    return Entries(alike, [lambda value, like=like: type(like)(f"{value}{like}") for like in alike], 7)


def test_entries_that_are_made_on_demand_are_sifted_as_others_are() -> None:
    sieve, entries = Sieve({int, bytes}), made(1, "2", 3)
    assert list(sieve.sifted(entries)) == list(sieve.sifted(tuple(entries))) == [71, 73]
    assert list(sieve.sifted(())) == list(sieve.sifted(made("1"))) == []


def test_each_kind_of_entries_is_sifted_by_itself_however_many_there_are(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "MOST_SIFTED", 3)
    sieve = Sieve({int})
    for length in range(20):
        assert list(sieve.sifted(made(*"a" * length, length, "b"))) == [int(f"7{length}")]
    kept = [made(*"a" * length, length) for length in range(8)]
    for _ in range(2):
        assert [list(sieve.sifted(each)) for each in kept] == [[int(f"7{length}")] for length in range(8)]


def test_kinds_that_are_added_are_found_once_what_was_known_is_forgotten() -> None:
    kinds: dict[type, str] = {int: "heard"}
    sieve, entries = Sieve(kinds), made(1, "2")
    assert list(sieve.sifted(entries)) == [71]
    kinds[str] = "heard"
    sieve.forget()
    assert list(sieve.sifted(entries)) == [71, "72"]


async def test_who_begins_to_listen_hears_of_moves_that_were_known_before() -> None:
    heard: list[str] = []
    async with opened() as world:
        await world.deploy(line("p", service("a", "t.one")))
        for _ in range(4):
            await world.sandbox.instances.start("p", until="end")
        world.sandbox.runtime.kernel.hear((JobCompleted,), lambda _, entry: heard.append(entry.verb))
        for _ in range(2):
            await world.sandbox.instances.start("p", until="end")
    assert heard == ["t.one", "t.one"]
