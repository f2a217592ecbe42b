"""Closed types: one more failure class, state or kind makes the type checker name the places that must know it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.house.tree import PACKAGE, ROOT

CLOSED = {
    "Backoff": "verb_contract.py",
    "CompletionStatus": "runbooks/executor/completion_inbox.py",
    "ConsequenceTier": "verb_contract.py",
    "FailureClass": "verb_contract.py",
    "FailureNature": "verb_contract.py",
    "FlagFormat": "verb_contract.py",
    "FlagType": "verb_contract.py",
    "GatewayKind": "bpmn/model.py",
    "JobState": "bpmn/machine/state.py",
    "MessageOutcome": "engine/messages.py",
    "NodeKind": "bpmn/machine/state.py",
    "RejectionCode": "errors.py",
    "RunbookState": "runbooks/machine/state.py",
    "Status": "bpmn/machine/state.py",
    "StepState": "runbooks/machine/state.py",
    "TaskKind": "bpmn/model.py",
    "TaskState": "human_tasks.py",
    "TokenState": "runbooks/machine/state.py",
    "WatchKind": "bpmn/machine/state.py",
}
"""The module that each closed type is defined in."""
TRIGGER = 'class AddedTrigger(msgspec.Struct, frozen=True, tag="added", tag_field="is"):\n    """One more."""\n\n\n'
KNOWS_EVERY_TRIGGER = ["bpmn/machine/event_subscriptions.py", "bpmn/machine/event_nodes.py"]
"""The modules that decide by the kind of an event."""


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the type checker says of a copy in which every closed type has one more member, named after it."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(PACKAGE, folder / "src" / "perdure", ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, module in CLOSED.items():
        path = folder / "src" / "perdure" / module
        text, count = re.subn(
            rf"^{name} = Literal\[", rf'\g<0>"added_{name}", ', path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert count == 1, name
        path.write_text(text, encoding="utf-8")
    model = folder / "src" / "perdure" / "bpmn" / "model.py"
    before, begins, after = model.read_text(encoding="utf-8").partition("Trigger = (\n")
    assert begins
    model.write_text(f"{before}{TRIGGER}{begins}    AddedTrigger |{after}", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(folder / "cache")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.mark.deep
@pytest.mark.parametrize("name", CLOSED)
def test_one_more_member_is_named_by_the_type_checker(name: str, findings: str) -> None:
    assert re.search(rf'"assert_never" has incompatible type "Literal\[\'added_{name}\'\]"', findings), findings


@pytest.mark.deep
@pytest.mark.parametrize("module", KNOWS_EVERY_TRIGGER)
def test_one_more_kind_of_event_is_named_by_the_type_checker(module: str, findings: str) -> None:
    wanted = rf'{module}:\d+: error: .*"assert_never" has incompatible type "AddedTrigger"'
    assert re.search(wanted, findings), findings
