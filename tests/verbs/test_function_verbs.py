"""Verbs declared by functions: the same verbs as in YAML, with arguments and results in the function's own types."""

from __future__ import annotations

import dataclasses
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from perdure import Call, Result, durable, sync
from perdure.app.project_functions import ProjectFunctions
from perdure.errors import DefinitionError, SchemaViolationError
from perdure.testing import Sandbox
from perdure.verbs import Catalogue, load_text
from perdure.verbs.function_verbs import function_verb
from tests.acceptance.commands import Shell


@dataclasses.dataclass
class Owner:
    name: str
    share: Decimal
    born: date | None = None


class Found(msgspec.Struct):
    owners: list[Owner]
    risk: Literal["low", "high"]


@durable("kyc.request-document", key="{case}/passport", timeout="P14D")
def request_document(case: str, copies: int = 1) -> dict[str, Any]:
    """Ask a client for a passport.

    Whatever else stands here is for readers of the code.
    """
    return {"case": case, "copies": copies}


@sync(effects="none", consequence="benign")
def weigh_owners(owners: list[Owner]) -> Found:
    total = sum(each.share for each in owners)
    return Found(owners, "high" if total > Decimal("0.5") else "low")


@sync("kyc.tell")
async def tell(call: Call, text: str = "nothing") -> Result:
    return Result({"text": text, "key": call.idempotency_key})


@sync
def broken(amount: int) -> Any:
    return amount


FUNCTIONS = [request_document, weigh_owners, tell, broken]


def test_a_function_declares_the_verb_that_a_file_would() -> None:
    written = load_text("""
- name: kyc.request-document
  description: Ask a client for a passport.
  input_schema:
    type: object
    required: [case]
    properties: {case: {type: string}, copies: {type: integer, default: 1}}
  execution: {kind: durable, correlation: {key: "{case}/passport"}, policy: {timeout: P14D}}
""").get("kyc.request-document")
    declared = ProjectFunctions.load([request_document]).extend(Catalogue()).get("kyc.request-document")
    assert declared.content_hash == written.content_hash
    assert declared.definition.file == __file__
    line = declared.definition.line
    assert Path(__file__).read_text().splitlines()[line - 1].startswith('@durable("kyc.request-document"')


@pytest.mark.both_stores
async def test_arguments_and_results_have_the_types_of_the_function(store_url: str) -> None:
    async with Sandbox.open(store_url, functions=FUNCTIONS) as sandbox:
        owners = [{"name": "Ana", "share": "0.4"}, {"name": "Bo", "share": "0.3", "born": "1990-02-01"}]
        weighed = await sandbox.call("weigh-owners", {"owners": owners})
        assert (weighed.state, weighed.result["risk"]) == ("completed", "high")
        assert weighed.result["owners"][1] == {"name": "Bo", "share": "0.3", "born": "1990-02-01"}
        with pytest.raises(SchemaViolationError, match="share"):
            await sandbox.call("weigh-owners", {"owners": [{"name": "Ana", "share": "much"}]})
        told = await sandbox.call("kyc.tell", {"text": "hello"})
        assert (told.result["text"], bool(told.result["key"])) == ("hello", True)
        assert (await sandbox.call("kyc.tell", {})).result["text"] == "nothing"
        parked = await sandbox.call("kyc.request-document", {"case": "C-7"})
        assert (parked.state, parked.waiting_for.key) == ("parked", "C-7/passport")
        await sandbox.complete("C-7/passport", {"accepted": True})
        assert (await sandbox.status(parked.id)).result == {"accepted": True}


async def test_a_result_that_is_no_object_is_told_as_the_bug_it_is() -> None:
    async with Sandbox.open(functions=[broken]) as sandbox:
        call = await sandbox.call("broken", {"amount": 1})
        assert call.waiting_for is not None and "returned int. Return a mapping" in call.waiting_for.text


def test_a_verb_that_a_file_declares_too_is_refused_with_both_places() -> None:
    catalogue = load_text("- name: kyc.tell", "verbs.yaml")
    with pytest.raises(DefinitionError) as caught:
        ProjectFunctions.load([tell]).extend(catalogue)
    (problem,) = caught.value.problems
    assert "verbs.yaml on line 1" in problem.reason and problem.file == __file__
    once = ProjectFunctions.load([tell]).extend(Catalogue())
    again = ProjectFunctions.load([tell]).extend(once)
    assert again.get("kyc.tell").content_hash == once.get("kyc.tell").content_hash


def _positional(*names: str) -> None: ...
def _unknown(what: object) -> None: ...
def _nowhere(what: NoSuchType) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("function", [_positional, _unknown, _nowhere])
def test_types_that_no_schema_can_say_are_refused_with_the_line_of_the_function(function: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        function_verb(sync(function))
    (problem,) = caught.value.problems
    assert problem.code == "function.types" and problem.hint
    assert (problem.file, problem.line) == (__file__, function.__code__.co_firstlineno)


def test_what_yaml_refuses_is_refused_here_in_the_same_words() -> None:
    @durable("Kyc Ask", timeout="soon")
    def ask() -> None: ...

    with pytest.raises(DefinitionError) as caught:
        function_verb(ask)
    assert {each.code for each in caught.value.problems} == {"verb.name", "policy.duration"}
    assert {each.line for each in caught.value.problems} == {ask.__code__.co_firstlineno}


def test_what_declares_nothing_is_refused() -> None:
    with pytest.raises(DefinitionError, match="declares no verb"):
        ProjectFunctions.load([len])


def test_the_command_line_takes_a_python_file_for_definitions_and_a_project_names_its_own(tmp_path: Path) -> None:
    (tmp_path / "clients.py").write_text(
        "from perdure import durable\n\n"
        '@durable("kyc.ask", key="{case}/answer")\ndef ask(case: str):\n    """Ask a client."""\n'
    )
    named = ("--store", "sqlite:///perdure.db", "--definitions", "clients.py")
    shell = Shell(tmp_path)
    assert shell.json("call", "kyc.ask", "case=C-1", *named)["waiting_for"]["key"] == "C-1/answer"
    (tmp_path / "perdure.yaml").write_text("functions: [clients.py]\n")
    assert shell.json("call", "kyc.ask", "case=C-2")["state"] == "parked"
    assert [each["name"] for each in shell.json("verbs", "list")] == ["kyc.ask"]
    assert shell.json("complete", "C-2/answer", "--result", "{}")["answer"] == "applied"
