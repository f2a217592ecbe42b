"""A changed model: the same version, one with markers, or a new type beside the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from perdure.scaffold import verify
from tests.scaffold.conftest import FilledProject, Runs
from tests.scaffold.model_changes import Changes

WORKFLOWS = "src/approve_claim/generated/workflow_v{}.py"


def test_a_change_of_names_and_policies_keeps_the_version(tmp_path: Path) -> None:
    Changes("gate").scaffold(tmp_path)
    again = Changes("gate").replace('name="Pay the claim"', 'name="Settle it"').scaffold(tmp_path)
    assert (again.change, again.version) == ("same", 1)


@pytest.mark.req("B5")
def test_an_added_step_stands_behind_a_marker_for_good(tmp_path: Path) -> None:
    Changes("gate").scaffold(tmp_path)
    changed = Changes("gate").add_task("audit", "assess", "approve")
    report = changed.scaffold(tmp_path)
    assert (report.change, report.version, report.added) == ("patched", 1, ("audit",))
    text = (tmp_path / "p" / WORKFLOWS.format(1)).read_text("utf-8")
    assert '        if workflow.patched("add-audit"):\n            await self._audit()\n' in text
    assert changed.scaffold(tmp_path).change == "same"
    report = changed.add_task("greet", "started", "assess").scaffold(tmp_path)
    assert (report.change, report.added) == ("patched", ("greet",))
    text = (tmp_path / "p" / WORKFLOWS.format(1)).read_text("utf-8")
    assert '"add-audit"' in text
    assert '"add-greet"' in text


@pytest.mark.req("B5")
def test_another_order_of_commands_begins_a_version_and_keeps_the_one_before(tmp_path: Path) -> None:
    Changes("gate").scaffold(tmp_path)
    before = (tmp_path / "p" / WORKFLOWS.format(1)).read_text("utf-8")
    report = Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').scaffold(tmp_path)
    assert (report.change, report.version, report.workflow_type) == ("version", 2, "ApproveClaimV2")
    assert (tmp_path / "p" / WORKFLOWS.format(1)).read_text("utf-8") == before
    registry = (tmp_path / "p" / "src/approve_claim/generated/registry.py").read_text("utf-8")
    assert "WORKFLOWS: list[type[Any]] = [ApproveClaimV2, ApproveClaim]" in registry
    assert "Body[ClaimPayRequest, ClaimPayResult](claim_pay)," in registry
    assert "AME086" not in [each.code for each in verify(tmp_path / "p").findings]
    (tmp_path / "p" / WORKFLOWS.format(1)).write_text(before + "\n", "utf-8")
    assert "AME086" in [each.code for each in verify(tmp_path / "p").findings]


def test_a_version_that_nothing_runs_of_changes_in_place(tmp_path: Path) -> None:
    Changes("gate").scaffold(tmp_path)
    changed = Changes("gate").replace('type="claim.pay"', 'type="claim.settle"')
    report = changed.scaffold(tmp_path, in_place=True)
    assert (report.change, report.version) == ("in_place", 1)
    assert "AME084" not in [each.code for each in verify(tmp_path / "p").findings]


def test_a_model_changed_in_the_project_is_not_written_over_by_an_older_one(tmp_path: Path) -> None:
    Changes("gate").scaffold(tmp_path)
    newer = Changes("gate").add_task("audit", "assess", "approve").text
    (tmp_path / "p" / "bpmn" / "gate.bpmn").write_text(newer, "utf-8")
    with pytest.raises(RejectedError, match="changed in the project"):
        Changes("gate").scaffold(tmp_path)


@pytest.mark.deep
@pytest.mark.req("B7")
def test_an_instance_that_ran_before_goes_on_with_the_patched_code_and_other_code_is_refused(
    tmp_path: Path, runs: Runs
) -> None:
    project = FilledProject("gate", tmp_path / "p", Changes("gate").text)
    running = runs(project)
    id = running.ask("start", state={"claim": {"id": "c-9"}})
    running.ask("until_event", id=id, kind="workflow_task_completed", count=2)
    histories = tmp_path / "histories"
    histories.mkdir()
    running.ask("record", id=id, file=str(histories / "old.json"))
    running.kill_worker()
    Changes("gate").add_task("audit", "assess", "approve").scaffold(tmp_path)
    project.write_body("added_audit", "return None")
    report = verify(project.folder, histories)
    assert (report.histories, report.findings) == (1, ())
    running.start_worker()
    assert running.ask("answer", id=id, update="DecideClaim", decision="approved") == ""
    assert running.ask("result", id=id)["payment"] == "paid 120"
    assert not [call for call in project.calls() if "audit" in call]
    running.ask("record", id=id, file=str(histories / "whole.json"))
    report = verify(project.folder, histories)
    assert (report.histories, report.findings) == (2, ())
    unmarked = project.folder / "src" / project.package / "generated" / "workflow_v1.py"
    text = unmarked.read_text("utf-8").replace('if workflow.patched("add-audit"):', "if True:")
    unmarked.write_text(text, "utf-8")
    assert {"AME080", "AME085"} <= {each.code for each in verify(project.folder, histories).findings}
