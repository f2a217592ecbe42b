"""Ad-hoc subprocesses work differently on Camunda 8.

There, an expression names the activities to run, in no order that can be given; a hollow model has no such
expression. Draw the choices with gateways.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT110"
NAME = "camunda-ad-hoc"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for node in index.subprocesses("ad_hoc"):
        fact = "on Camunda 8 an expression would have to choose its activities"
        yield Note(node.id, fact, "Draw the choices with gateways.")
