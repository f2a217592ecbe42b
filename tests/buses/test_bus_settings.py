"""`bus:` of a project is strict, and holds no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.configuration.project import load_config
from perdure.errors import DefinitionError, StoreSettingError


def loaded(folder: Path, text: str):  # type: ignore[no-untyped-def]
    file = folder / "perdure.yaml"
    file.write_text(text)
    return load_config(file).bus


def test_brokers_are_known_by_name_and_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE", "nats://ada:secret@edge:4222")
    monkeypatch.setenv("PASSWORD", "secret")
    bus = loaded(
        tmp_path,
        """
bus:
  brokers:
    office: redis://127.0.0.1:6379/0
    events: {url: "kafka://one:9092,two:9092", options: {sasl.password: env:PASSWORD, acks: all}}
    edge: {url_env: EDGE}
    nowhere: {url_env: NO_SUCH_VARIABLE}
""",
    )
    assert [bus.broker(name).kind for name in ("office", "events", "edge")] == ["redis", "kafka", "nats"]
    assert bus.broker("events").settings() == {"sasl.password": "secret", "acks": "all"}
    with pytest.raises(StoreSettingError, match="the variable NO_SUCH_VARIABLE names no broker"):
        bus.broker("nowhere").address()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bus: {broker: {}}", "brokers"),
        ("bus: {brokers: {office: 'amqp://host'}}", "no url of a broker"),
        ("bus: {brokers: {office: 'redis://u:secret@host/0'}}", "a password is never written into this file"),
        ("bus: {brokers: {office: {}}}", "exactly one of 'url' and 'url_env'"),
        ("bus: {brokers: {Office: 'redis://h'}}", "is no name"),
        ("bus: {brokers: {office: {url: 'redis://h', options: {a: b}}}}", "only Kafka takes options"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        loaded(tmp_path, text)
    assert reason in str(caught.value)
    assert "secret" not in str(caught.value)
