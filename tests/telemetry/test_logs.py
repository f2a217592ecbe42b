"""Log lines say which trace, runbook and tenant they belong to, and never a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.telemetry import LogScope, TelemetrySettings, configure_logs, derived_trace_id, logging_within
from perdure.telemetry.logs import LOGGER, without_secrets
from perdure.telemetry.settings import LogForm
from perdure.verbs import Call
from tests.runbooks.sample_verbs import Handlers, catalogue
from tests.telemetry.span_collection import Gathered

log = logging.getLogger("perdure.tests")
KEY = "perdure_ZGVmYXVsdA_01k5_" + "a" * 43


@contextmanager
def lines(form: LogForm) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = configure_logs(form, stream)
    try:
        yield stream
    finally:
        logger = logging.getLogger(LOGGER)
        logger.removeHandler(handler)
        logger.propagate, logger.level = True, logging.NOTSET


@pytest.mark.req("X22")
async def test_what_a_handler_logs_says_what_it_belongs_to_also_from_its_thread(sqlite_url: str) -> None:
    def notify(call: Call) -> dict[str, Any]:
        log.warning("told %s", "someone")
        return {}

    async def score(call: Call) -> dict[str, Any]:
        log.warning("scored")
        return {"score": 1}

    bound = {**Handlers().bound(), "kyc.notify": notify, "kyc.score": score}
    with lines("json") as stream:
        async with Perdure.open(
            sqlite_url, definitions=catalogue(), handlers=bound, telemetry=TelemetrySettings(logs="json"), tenant="bank"
        ) as perdure:
            told = await perdure.call("kyc.notify", wait=True)
            scored = await perdure.call("kyc.score", {"entity": "Allianz"})
            log.warning("outside")
    found = {line["message"]: line for line in map(json.loads, stream.getvalue().splitlines())}
    assert found["told someone"]["trace_id"] == derived_trace_id(told.id)
    assert (found["told someone"]["runbook"], found["told someone"]["tenant"]) == (told.id, "bank")
    assert found["scored"]["runbook"] == scored.id
    assert "runbook" not in found["outside"] and found["outside"]["level"] == "warning"


@pytest.mark.req("X22")
async def test_lines_and_spans_of_a_runbook_have_the_same_trace(sqlite_url: str) -> None:
    gathered = Gathered()

    async def score(call: Call) -> dict[str, Any]:
        log.warning("scored")
        return {"score": 1}

    bound = {**Handlers().bound(), "kyc.score": score}
    with lines("json") as stream:
        async with Perdure.open(sqlite_url, definitions=catalogue(), handlers=bound) as perdure:
            perdure.runtime.trace(gathered.spans())
            await perdure.call("kyc.score", {"entity": "Allianz"})
    [line] = map(json.loads, stream.getvalue().splitlines())
    assert {f"{span.context.trace_id:032x}" for span in gathered.all} == {line["trace_id"]}


def test_text_lines_are_for_people() -> None:
    with lines("text") as stream, logging_within(LogScope("t", "r", "bank")):
        log.error("it broke")
    assert stream.getvalue().endswith("ERROR perdure.tests: it broke [trace_id=t runbook=r tenant=bank]\n")


def test_a_line_of_json_stays_one_line_whatever_it_says() -> None:
    with lines("json") as stream:
        try:
            raise ValueError('line\n"two"')
        except ValueError:
            log.exception("it\nbroke")
    [line] = map(json.loads, stream.getvalue().splitlines())
    assert line["message"].startswith("it\nbroke\nTraceback") and 'line\n"two"' in line["message"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"refused key {KEY}", KEY),
        ("Authorization: Bearer eyJhbGciOi.abc.def", "eyJhbGciOi"),
        ("Authorization: Wait wait_ZGVm.a2V5.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
        ("store postgresql://ada:hunter2@host:5432/db", "hunter2"),
        ("password=hunter2 and so on", "hunter2"),
        ("API_KEY: hunter2", "hunter2"),
    ],
)
@pytest.mark.parametrize("form", ["json", "text"])
def test_secrets_are_never_written(text: str, secret: str, form: LogForm) -> None:
    with lines(form) as stream:
        log.warning("%s", text)
        try:
            raise RuntimeError(text)
        except RuntimeError:
            log.exception("failed")
    assert secret not in stream.getvalue() and "[hidden]" in stream.getvalue()


def test_ordinary_words_are_left_alone() -> None:
    words = "the lease 7 was taken away; taking a new one, see https://example.org/a?b=c"
    assert without_secrets(words) == words


def test_without_a_form_nothing_is_put_on_the_logger() -> None:
    before = list(logging.getLogger("perdure").handlers)
    assert configure_logs("") is None
    assert logging.getLogger("perdure").handlers == before
