"""What a scaffold writes: the same bytes for the same input, bodies untouched, shapes refused by name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.errors import PerdureError, RejectedError
from perdure.scaffold import scaffold, verify
from tests.conftest import unavailable
from tests.house.tree import ROOT
from tests.scaffold.model_changes import Changes

EXAMPLES = ROOT / "examples" / "contract"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.bpmn"))


def written(name: str, out: Path) -> dict[str, str]:
    """Every file of a project but the model, which is copied as it is."""
    scaffold("temporal", EXAMPLES / f"{name}.bpmn", out)
    return contents(out)


def contents(out: Path) -> dict[str, str]:
    return {
        path.relative_to(out).as_posix(): path.read_text("utf-8")
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.suffix != ".bpmn"
    }


@pytest.mark.req("B5")
@pytest.mark.parametrize("name", NAMES)
def test_a_second_scaffold_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    first = written(name, tmp_path / "one")
    assert written(name, tmp_path / "other") == first
    again = scaffold("temporal", EXAMPLES / f"{name}.bpmn", tmp_path / "one")
    assert {file.fate for file in again.files} == {"unchanged", "kept"}
    assert again.change == "same"


@pytest.mark.req("B5")
@pytest.mark.parametrize("name", ["delivery", "boundary-timer"])
def test_zone_language_and_hash_seed_change_no_byte(name: str, tmp_path: Path) -> None:
    here = written(name, tmp_path / "here")
    out = tmp_path / "there"
    environment = {
        **os.environ, "TZ": "Pacific/Kiritimati", "LANG": "tr_TR.UTF-8", "LC_ALL": "C", "PYTHONHASHSEED": "7",
    }  # fmt: skip
    command = ["-m", "perdure", "scaffold", "temporal", str(EXAMPLES / f"{name}.bpmn"), "--out", str(out)]
    subprocess.run([sys.executable, *command], check=True, env=environment, cwd=tmp_path, capture_output=True)
    assert contents(out) == here


@pytest.mark.req("B5")
@pytest.mark.parametrize("name", ["gate", "linear", "request-and-wait"])
def test_the_order_of_attributes_changes_no_byte(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / f"{name}.bpmn").read_text("utf-8")
    turned = re.sub(r"<((?:ameide|bpmn):\w+)((?: [\w:]+=\"[^\"]*\")+)", _turned, text)
    assert turned != text
    model = tmp_path / f"{name}.bpmn"
    model.write_text(turned, "utf-8")
    scaffold("temporal", model, tmp_path / "turned", EXAMPLES / "policies.yaml")
    assert contents(tmp_path / "turned") == written(name, tmp_path / "straight")


def _turned(found: re.Match[str]) -> str:
    attributes = re.findall(r' [\w:]+="[^"]*"', found[2])
    return f"<{found[1]}{''.join(reversed(attributes))}"


@pytest.mark.req("B4")
def test_policies_are_written_out_as_they_resolved(tmp_path: Path) -> None:
    files = written("gate", tmp_path)
    policies = files["src/approve_claim/generated/policies.py"]
    assert "schedule_to_close_timeout=timedelta(days=1)," in policies
    assert 'non_retryable_error_types=["AccountClosed"],' in policies
    lock = json.loads(files["scaffold.lock.json"])
    assert lock["tasks"] == {"assess": "default", "decline": "default", "pay": "patient"}
    assert lock["policies"]["default"]["retry"]["maximum_attempts"] == 3


@pytest.mark.req("B4")
def test_a_policy_that_nobody_wrote_is_refused(tmp_path: Path) -> None:
    changes = Changes("linear").replace('policyRef="quick"', 'policyRef="hurried"')
    with pytest.raises(Exception, match="hurried"):
        changes.scaffold(tmp_path)
    assert not (tmp_path / "p").exists()


@pytest.mark.req("B6")
def test_bodies_that_people_wrote_are_never_touched(tmp_path: Path) -> None:
    written("linear", tmp_path)
    body = tmp_path / "src" / "ship_order" / "activities" / "stock_reserve.py"
    body.write_text("# mine\n", "utf-8")
    (tmp_path / "tests" / "test_stock_pack.py").unlink()
    report = scaffold("temporal", EXAMPLES / "linear.bpmn", tmp_path)
    assert body.read_text("utf-8") == "# mine\n"
    assert [file.path for file in report.files if file.fate == "new"] == ["tests/test_stock_pack.py"]


@pytest.mark.req("B6")
def test_a_readme_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Ours\n", "utf-8")
    assert written("linear", tmp_path)["README.md"] == "# Ours\n"
    assert "README.md" not in [each.path for each in verify(tmp_path).findings]


@pytest.mark.req("B6")
def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    report = scaffold("temporal", EXAMPLES / "gate.bpmn", tmp_path / "p", plan=True)
    assert report.is_plan
    assert {file.fate for file in report.files} == {"new"}
    assert not (tmp_path / "p").exists()


@pytest.mark.req("B6")
def test_a_generated_file_changed_by_hand_is_not_written_over_unless_forced(tmp_path: Path) -> None:
    before = written("loop", tmp_path)
    path = "src/write_article/generated/workflow_v1.py"
    (tmp_path / path).write_text(before[path].replace("while True", "while 1"), "utf-8")
    with pytest.raises(RejectedError, match="changed by hand"):
        scaffold("temporal", EXAMPLES / "loop.bpmn", tmp_path)
    scaffold("temporal", EXAMPLES / "loop.bpmn", tmp_path, force=True)
    assert contents(tmp_path) == before


@pytest.mark.req("B10")
def test_the_process_reads_in_the_order_of_the_model(tmp_path: Path) -> None:
    run = written("loop", tmp_path)["src/write_article/generated/workflow_v1.py"].split("def run")[1]
    body = run.split("async def _")[0].splitlines()[2:]
    assert [line.strip() for line in body if line.strip()] == [
        "while True:", "await self._write_a_draft()", "await self._review_the_draft()",
        'if self.state.review.decision == "good" or (self.state.rounds is not None and self.state.rounds >= 3):',
        "break", "await self._publish_the_article()", "return self.state",
    ]  # fmt: skip


@pytest.mark.req("B11")
def test_the_default_key_is_instance_step_and_scheduling(tmp_path: Path) -> None:
    text = written("linear", tmp_path)["src/ship_order/generated/workflow_v1.py"]
    assert 'idempotency_key=f"{self.instance_id}/reserve/{step_instance}",' in text
    assert "idempotency_key=f\"pack/{text(self.state.order.id, 'state.order.id')}\"," in text


@pytest.mark.parametrize(
    ("name", "old", "new", "element", "fact"),
    [
        ("parallel", "bpmn:parallelGateway", "bpmn:inclusiveGateway", "fork", "inclusive"),
        ("linear", "state.weight", "state.class", "class", "word of Python"),
        ("boundary-timer", ">P14D<", ">P1M<", "too_late", "no fixed length"),
        ("parallel", 'targetRef="join" />', 'targetRef="ended" />', "fork", "meet"),
    ],
)  # fmt: skip
def test_what_no_statement_says_is_refused_by_name(
    name: str, old: str, new: str, element: str, fact: str, tmp_path: Path
) -> None:
    with pytest.raises(PerdureError) as refused:
        Changes(name).replace(old, new, count=1 if "Ref" in old else -1).scaffold(tmp_path)
    assert element in str(refused.value)
    assert fact in str(refused.value)
    assert not (tmp_path / "p").exists()


def test_a_path_beside_a_step_that_joins_the_main_one_is_refused(tmp_path: Path) -> None:
    changes = Changes("boundary-timer").replace(
        '<bpmn:endEvent id="reminded" name="Reminded">\n    </bpmn:endEvent>', ""
    )
    with pytest.raises(RejectedError, match="joins the main one at 'signed'"):
        changes.replace('targetRef="reminded"', 'targetRef="signed"').scaffold(tmp_path)


def test_projects_pass_the_linter_and_the_formatter(tmp_path: Path) -> None:
    for name in NAMES:
        written(name, tmp_path / name)
    ruff = str(Path(sys.executable).with_name("ruff"))
    for command in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        done = subprocess.run([ruff, *command, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.deep
@pytest.mark.parametrize("name", ["delivery", "gate", "boundary-timer", "parallel"])
def test_projects_pass_strict_types(name: str, tmp_path: Path) -> None:
    written(name, tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "src", "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.deep
def test_tests_of_a_new_project_are_red_and_name_the_body(tmp_path: Path) -> None:
    written("gate", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Write the body of claim.assess." in done.stdout
    assert "Write check_approve_the_claim" in done.stdout


@pytest.mark.deep
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_another_python_writes_the_same_bytes(version: str, tmp_path: Path) -> None:
    uv, python = ROOT / "build" / "uv" / "bin" / "uv", tmp_path / "python"
    base = interpreter(version)
    if base is None or not uv.exists():
        unavailable(f"no Python {version} here, or no uv")
    for command in (
        [str(uv), "venv", "-q", "--python", base, str(python)],
        [str(uv), "pip", "install", "-q", "--python", str(python / "bin" / "python"), "-e", str(ROOT)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    for name in NAMES:
        out = tmp_path / name
        command = ["-m", "perdure", "scaffold", "temporal", str(EXAMPLES / f"{name}.bpmn"), "--out", str(out)]
        subprocess.run([str(python / "bin" / "python"), *command], check=True, capture_output=True, cwd=tmp_path)
        assert contents(out) == written(name, tmp_path / "here" / name)


def interpreter(version: str) -> str | None:
    """A Python of that version that runs."""
    found = [*sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python")), shutil.which(f"python{version}")]
    for each in filter(None, found):
        if subprocess.run([str(each), "--version"], capture_output=True, check=False).returncode == 0:
            return str(each)
    return None


@pytest.mark.req("B5")
def test_no_text_of_a_model_becomes_code(tmp_path: Path) -> None:
    evil = "&quot;&quot;&quot; \\ {1/0} ' $package &lt;!-- --&gt; \N{BELL}" + "x" * 90
    changes = Changes("gate").replace('name="Assess the claim"', f'name="{evil}"')
    changes.replace('name="Approve a claim"', f'name="{evil}"').replace("A person decides", f"{evil} A person decides")
    changes.replace(
        'policyRef="patient" />', f'policyRef="patient" idempotencyKeyTemplate="{evil}/${{state.amount}}" />'
    )
    changes.scaffold(tmp_path)
    for file in sorted((tmp_path / "p").rglob("*.py")):
        compile(file.read_text("utf-8"), str(file), "exec")
    written_text = (tmp_path / "p/src/approve_claim/generated/workflow_v1.py").read_text("utf-8")
    line = next(line for line in written_text.splitlines() if "{{1/0}}" in line)
    assert "text(self.state.amount, 'state.amount')" in line


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ('workflowType="ApproveClaim"', 'workflowType="a&quot;b"', "no workflow type"),
        ('type="claim.pay"', 'type="claim-assess"', "one name in Python"),
    ],
)
def test_names_that_cannot_be_told_apart_or_written_are_refused(old: str, new: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(PerdureError, match=fact):
        Changes("gate").replace(old, new).scaffold(tmp_path)
