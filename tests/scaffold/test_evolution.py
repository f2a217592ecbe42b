"""A changed model: the same version, one with markers, or a new type beside the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from perdure.scaffold import drop_versions, verify
from tests.acceptance.commands import Shell
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


def two_versions(folder: Path) -> Path:
    """A project whose first version is kept beside the second."""
    Changes("gate").scaffold(folder)
    Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').scaffold(folder)
    return folder / "p"


def texts(folder: Path) -> dict[str, str]:
    return {str(each.relative_to(folder)): each.read_text("utf-8") for each in folder.rglob("*") if each.is_file()}


@pytest.mark.req("B5")
def test_an_earlier_version_is_dropped_with_what_was_written_for_it_alone(tmp_path: Path) -> None:
    project = two_versions(tmp_path)
    before = texts(project)
    plan = drop_versions(project, plan=True)
    assert texts(project) == before, "a plan writes nothing"
    assert [(each.version, each.workflow_type) for each in plan.dropped] == [(1, "ApproveClaim")]
    assert "WorkflowType='ApproveClaim'" in plan.warnings[0]
    done = drop_versions(project)
    assert (done.files, done.unused) == (plan.files, ("src/approve_claim/activities/claim_pay.py",))
    assert not (project / WORKFLOWS.format(1)).exists()
    assert (project / WORKFLOWS.format(2)).read_text("utf-8") == before[WORKFLOWS.format(2)]
    assert (project / done.unused[0]).exists(), "what people own stays"
    registry = (project / "src/approve_claim/generated/registry.py").read_text("utf-8")
    assert "WORKFLOWS: list[type[Any]] = [ApproveClaimV2]" in registry
    assert "claim_pay" not in registry
    found = {each.code for each in verify(project).findings}
    assert found == {"AME070", "AME072"}, "bodies are not written yet, and one belongs to no task: nothing else"
    again = Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').scaffold(tmp_path)
    assert (again.change, again.workflow_type) == ("same", "ApproveClaimV2")


@pytest.mark.req("P6")
def test_the_command_plans_warns_and_drops(tmp_path: Path) -> None:
    two_versions(tmp_path)
    shell = Shell(tmp_path)
    said = " ".join(shell.run("drop-versions", "p", "--plan").out.split())
    assert "Would remove version 1 (ApproveClaim)." in said
    assert "histories no longer replay" in said
    assert (tmp_path / "p" / WORKFLOWS.format(1)).exists()
    told = shell.json("drop-versions", "p", "--version", "1")
    assert told["dropped"] == [{"version": 1, "workflow_type": "ApproveClaim"}]
    assert "no earlier version" in " ".join(shell.run("drop-versions", "p", code=None).error.split())


def test_what_is_current_missing_or_changed_by_hand_is_not_dropped(tmp_path: Path) -> None:
    project = two_versions(tmp_path)
    for number, fact in ((2, "current version"), (7, "no such version")):
        with pytest.raises(RejectedError, match=fact):
            drop_versions(project, [number])
    kept = project / WORKFLOWS.format(1)
    text = kept.read_text("utf-8")
    kept.write_text(text + "# mine\n", "utf-8")
    with pytest.raises(RejectedError, match="changed since it was kept"):
        drop_versions(project)
    kept.write_text(text, "utf-8")
    (project / "bpmn" / "gate.bpmn").write_text(Changes("gate").text, "utf-8")
    with pytest.raises(RejectedError, match="other commands than before"):
        drop_versions(project)
    Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').file(project / "bpmn")
    drop_versions(project, [1])
    with pytest.raises(RejectedError, match="no earlier version"):
        drop_versions(project)


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


@pytest.mark.deep
@pytest.mark.req("B7")
def test_what_ran_by_a_dropped_version_no_longer_replays_and_the_current_one_goes_on(
    tmp_path: Path, runs: Runs
) -> None:
    project = FilledProject("gate", tmp_path / "p", Changes("gate").text)
    running = runs(project)
    old = running.ask("start", state={"claim": {"id": "c-old"}})
    running.ask("until_event", id=old, kind="workflow_task_completed", count=2)
    histories = tmp_path / "histories"
    histories.mkdir()
    running.ask("record", id=old, file=str(histories / "old.json"))
    running.kill_worker()
    Changes("gate").replace('type="claim.pay"', 'type="claim.settle"').scaffold(tmp_path)
    project.write_body("claim_settle", 'return ClaimSettleResult(payment="settled")')
    assert verify(project.folder, histories).findings == ()
    (project.folder / drop_versions(project.folder).unused[0]).unlink()
    assert {each.code for each in verify(project.folder, histories).findings} == {"AME085"}
    again = runs(project)
    new = again.ask("start", state={"claim": {"id": "c-new"}})
    while again.ask("answer", id=new, update="DecideClaim", decision="approved"):
        pass  # its gate is not open yet
    assert again.ask("result", id=new)["payment"] == "settled"
