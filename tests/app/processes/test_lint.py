"""Lint over files, and before deployment: each process by itself, with those it is brought with."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.processes.lint import lint_check, lint_paths
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.xml import read_model, write_model
from perdure.verbs import Catalogue
from tests.bpmn.xml.fixtures import in_process
from tests.engines.embedded.process_models import call, line, user


@pytest.mark.parametrize("is_broken", [False, True])
def test_what_is_wrong_with_another_process_of_the_file_does_not_concern_this_one(is_broken: bool) -> None:
    condition = "=amount &gt; 3" if is_broken else "=orch_x = 1"
    other = f"""
      <d:process id="other" isExecutable="true">
        <d:startEvent id="begin"/><d:exclusiveGateway id="way" default="no"/>
        <d:endEvent id="one"/><d:endEvent id="two"/>
        <d:sequenceFlow id="in" sourceRef="begin" targetRef="way"/>
        <d:sequenceFlow id="yes" sourceRef="way" targetRef="one">
          <d:conditionExpression>{condition}</d:conditionExpression></d:sequenceFlow>
        <d:sequenceFlow id="no" sourceRef="way" targetRef="two"/>
      </d:process>"""
    good = '<d:startEvent id="s"/><d:endEvent id="e"/><d:sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
    model = read_model(in_process(good, other))
    found = {}
    for process in model.definitions.processes:
        check = lint_check(Catalogue(()))
        found[process.id] = {each.code for each in check(model, Deployed(process=process), None, ())}
    assert ("HOL002" in found.pop("other")) == is_broken
    (codes,) = found.values()
    assert "HOL002" not in codes


def test_files_that_are_linted_together_may_call_each_other(tmp_path: Path) -> None:
    ping, pong = tmp_path / "ping.bpmn", tmp_path / "pong.bpmn"
    ping.write_text(write_model(line("ping", user("ask"), call("on", "pong"))), encoding="utf-8")
    pong.write_text(write_model(line("pong", user("ask"), call("back", "ping"))), encoding="utf-8")

    def called(*paths: Path) -> list[str]:
        found = lint_paths(paths, None, "open").findings
        return [f"{each.code} {each.severity} {each.element}" for each in found if each.code in ("BPM151", "BPM171")]

    assert called(ping) == ["BPM171 warning on"]
    assert called(ping, pong) == called(tmp_path) == []
