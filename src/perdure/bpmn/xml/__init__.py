"""BPMN 2.0 XML in and out, plain and with the extension elements as the Camunda Modeler writes them."""

from perdure.bpmn.xml.model_file import read_model_file
from perdure.bpmn.xml.reader import read_model
from perdure.bpmn.xml.writer import write_model

__all__ = ["read_model", "read_model_file", "write_model"]
