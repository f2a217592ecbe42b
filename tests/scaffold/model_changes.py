"""Changes of the example models, as somebody edits a file."""

from __future__ import annotations

import re
from pathlib import Path

from perdure.scaffold import ScaffoldReport, scaffold
from tests.house.tree import ROOT

EXAMPLES = ROOT / "examples" / "contract"


class Changes:
    """The text of an example without its drawing, changed step by step."""

    def __init__(self, name: str) -> None:
        self._name = name
        text = (EXAMPLES / f"{name}.bpmn").read_text("utf-8")
        text = re.sub(r" *<bpmn:(incoming|outgoing)>.*\n", "", text)
        self.text = re.sub(r" *<bpmndi:BPMNDiagram.*</bpmndi:BPMNDiagram>\n", "", text, flags=re.DOTALL)

    def replace(self, old: str, new: str, count: int = -1) -> Changes:
        assert old in self.text
        self.text = self.text.replace(old, new, count)
        return self

    def add_task(self, id: str, after: str, before: str) -> Changes:
        """A service task between two nodes; the flow between them is called `<after>_to_<before>`."""
        flow = f"{after}_to_{before}"
        work = f"""<bpmn:serviceTask id="{id}" name="{id.capitalize()}">
      <bpmn:documentation>Added.</bpmn:documentation>
      <bpmn:extensionElements>
        <ameide:taskDefinition type="added.{id}" policyRef="default" />
        <ameide:ioMapping><ameide:input source="state.{id}" target="request.{id}" /></ameide:ioMapping>
      </bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="{id}_on" sourceRef="{id}" targetRef="{before}" />
    """
        return self.replace(
            f'<bpmn:sequenceFlow id="{flow}" sourceRef="{after}" targetRef="{before}"',
            f'{work}<bpmn:sequenceFlow id="{flow}" sourceRef="{after}" targetRef="{id}"',
        )

    def file(self, folder: Path) -> Path:
        file = folder / f"{self._name}.bpmn"
        file.write_text(self.text, "utf-8")
        return file

    def scaffold(self, folder: Path, *, in_place: bool = False) -> ScaffoldReport:
        return scaffold("temporal", self.file(folder), folder / "p", EXAMPLES / "policies.yaml", in_place=in_place)
