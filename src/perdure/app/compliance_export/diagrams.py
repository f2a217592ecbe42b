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
from perdure.typed_reading import read_json


class Drawn(msgspec.Struct, frozen=True):
    """A model laid out once, however many instances follow it."""

    model: Model
    writings: tuple[str, ...]
    """Its XML as this release writes it, then as earlier ones did."""
    names: dict[str, str]

    def xml(self, kept: str | None = None) -> str:
        """The XML of a document: what it keeps, if a release writes that, else what this one writes."""
        return kept if kept is not None and kept in self.writings else self.writings[0]


def drawn(definition: str) -> Drawn:
    deployed = read_json(definition, Deployed)
    model = model_of(deployed)
    names = {node.id: node.name for node in nodes(deployed.process.body)}
    writings = write_model(model), write_model(model, with_definition_ids=False)
    return Drawn(replace(model, diagram=lay_out(model.definitions)), writings, names)


def picture_of(found: Drawn, telling: InstanceReport) -> str:
    path = [each for stay in telling.stays for each in (stay.flow, stay.element) if each]
    marks = state_marks(telling.chronicle.state, telling.done, path)
    return draw(found.model, marks)
