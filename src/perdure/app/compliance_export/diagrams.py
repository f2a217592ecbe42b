"""Deployed processes as XML, and their diagrams with the way an instance took."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from perdure.app.compliance_export.instance_report import InstanceReport
from perdure.app.processes.views import model_of, state_marks
from perdure.bpmn.layout import lay_out
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Model, nodes
from perdure.bpmn.svg import draw
from perdure.bpmn.xml import write_model


class Drawn(msgspec.Struct, frozen=True):
    """A model laid out once, however many instances follow it."""

    model: Model
    xml: str
    names: dict[str, str]


def drawn(definition: str) -> Drawn:
    deployed = msgspec.json.decode(definition, type=Deployed)
    model = model_of(deployed)
    names = {node.id: node.name for node in nodes(deployed.process.body)}
    return Drawn(replace(model, diagram=lay_out(model.definitions)), write_model(model), names)


def picture_of(found: Drawn, telling: InstanceReport) -> str:
    path = [each for stay in telling.stays for each in (stay.flow, stay.element) if each]
    marks = state_marks(telling.chronicle.state, telling.done, path)
    return draw(found.model, marks)
