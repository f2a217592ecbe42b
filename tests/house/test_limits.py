"""The page about limits says what the code holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.app.configuration.server import MAX_BODY_BYTES
from perdure.app.lists.search import MAX_TEXT
from perdure.bpmn.conditions import parser
from perdure.bpmn.proof.verdict import Bounds
from perdure.bpmn.xml import read_limits
from perdure.engines.embedded.messages import envelope
from perdure.packs import conditions
from perdure.payload import json_reader
from perdure.payload.json_faults import MAX_DEPTH
from perdure.runbooks.language import faults
from perdure.surfaces.http import connection_limits, json_request, server_sent_events
from perdure.verbs import yaml_reader
from perdure.verbs.sexpr import reader, text_limits
from perdure.work import computations, dead_letter_limit, verb_router

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "limits.md"
ROWS = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
HELD = {
    "bytes of a request's body": MAX_BODY_BYTES,
    "depth of a body": json_request.DEEPEST,
    "objects and lists in a body": json_request.MOST_CONTAINERS,
    "bytes of a program": faults.LARGEST_BYTES,
    "tokens of a program, blanks counted": text_limits.MOST_TOKENS,
    "depth of brackets, choices and conditions in a program": faults.DEEPEST,
    "steps of a runbook, calls in JSON": faults.MOST_STEPS,
    "values in calls of JSON": faults.MOST_VALUES,
    "bytes of a call as S-expression": reader.LARGEST_BYTES,
    "bytes of a BPMN file": read_limits.MAX_BYTES,
    "elements of a BPMN file": read_limits.MAX_ELEMENTS,
    "depth of a BPMN file": read_limits.MAX_DEPTH,
    "characters of a condition of a process": parser.MAX_CONDITION_LENGTH,
    "characters of a condition of a pack": conditions.MAX_TEXT,
    "characters of a YAML file (verbs, packs, scenarios, configuration)": yaml_reader.MAX_FILE_BYTES,
    "values of a YAML file, aliases written out": yaml_reader.MAX_NODES,
    "depth of a YAML file": yaml_reader.MAX_DEPTH,
    "depth of a payload": MAX_DEPTH,
    "bytes of a payload": json_reader.BUDGET_BYTES,
    "bytes of a message": envelope.MAX_BYTES,
    "characters of words to search for": MAX_TEXT,
    "computations at once": computations.AT_ONCE,
    "computations of one tenant that wait": computations.MOST_WAITING,
    "seconds of work of one computation": int(computations.EFFORT_SECONDS),
    "states of a proof": Bounds().states,
    "seconds of work of a proof": int(Bounds().seconds),
    "handlers in threads at once": verb_router.MAX_THREADS,
    "streams and waiting requests at once": server_sent_events.MOST_STREAMS,
    "streams of one principal": server_sent_events.MOST_STREAMS_EACH,
    "events of one stream": server_sent_events.MOST_EVENTS,
    "dead letters of a tenant": dead_letter_limit.MOST_LETTERS,
    "connections at once": connection_limits.MOST_CONNECTIONS,
}


@pytest.mark.parametrize("limit", HELD)
def test_a_limit_on_the_page_is_the_one_that_is_held(limit: str) -> None:
    assert re.match(r"[0-9,]+", ROWS[limit])[0].rstrip(",") == f"{HELD[limit]:,}"  # type: ignore[index]
