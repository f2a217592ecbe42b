"""The process model into XML, in the order the schema of BPMN 2.0 asks for."""
