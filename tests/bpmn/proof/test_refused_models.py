"""A model that lint refuses may be asked about all the same: there is an answer, never a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.proof import Bounds, prove
from perdure.bpmn.xml import read_model, read_model_file
from tests.bpmn.lint.models import MODELS
from tests.bpmn.xml.fixtures import in_process

QUICK = Bounds(states=300, seconds=1)
WRONG = sorted(MODELS.glob("*/wrong*.bpmn"))
TO_A_THROW = (
    '<d:startEvent id="s"/><d:eventBasedGateway id="g"/><d:endEvent id="e"/>'
    '<d:intermediateCatchEvent id="c"><d:timerEventDefinition><d:timeDuration>PT1H</d:timeDuration>'
    '</d:timerEventDefinition></d:intermediateCatchEvent><d:intermediateThrowEvent id="u">'
    '<d:signalEventDefinition signalRef="x"/></d:intermediateThrowEvent>'
    '<d:sequenceFlow id="f" sourceRef="s" targetRef="g"/><d:sequenceFlow id="h" sourceRef="g" targetRef="c"/>'
    '<d:sequenceFlow id="i" sourceRef="g" targetRef="u"/><d:sequenceFlow id="j" sourceRef="c" targetRef="e"/>'
    '<d:sequenceFlow id="k" sourceRef="u" targetRef="e"/>'
)


@pytest.mark.parametrize("file", WRONG, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_wrong_model_has_a_verdict(file: Path) -> None:
    definitions = read_model_file(file).definitions
    for process in definitions.executable():
        deployed = Deployed(
            process=process, messages=definitions.messages, signals=definitions.signals, errors=definitions.errors,
            escalations=definitions.escalations, is_loose=True,
        )  # fmt: skip
        assert prove(deployed, bounds=QUICK).word in ("proved", "refuted", "undecided")


def test_an_event_gateway_waits_only_for_what_can_occur() -> None:
    definitions = read_model(in_process(TO_A_THROW, '<d:signal id="x" name="x"/>')).definitions
    deployed = Deployed(process=definitions.processes[0], signals=definitions.signals, is_loose=True)
    assert [(each.code, each.element) for each in prove(deployed, bounds=QUICK).findings] == [("SND003", "u")]
