"""Lifecycles, document types, reasons and guards of a project, by perdure.yaml and by Python alike."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from perdure.app.configuration.project import load_config
from perdure.errors import DefinitionError
from perdure.journal.facts import fact_key
from perdure.lifecycles.guards import GuardKind, Judgement, Parameter
from perdure.testing.sandbox import Sandbox
from tests.acceptance.commands import Shell

VERBS = """
entities:
  client: {key: id, fields: {id: {type: string, required: true}, risk: string}}
verbs:
  - name: client.create
    input_schema: {required: [id], properties: {id: {type: string}, risk: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: create}}
  - name: alerts.none
    input_schema: {required: [client], properties: {client: {type: string}}}
    execution: {kind: sync, effects: none, handler: "checks::alerts"}
"""
TYPES = """
documents:
  passport: {data_schema: {properties: {name: {type: string}}}}
rejection_reasons:
  NO_STAMP: {category: authenticity, client: Please have it stamped., operator: The stamp is missing.}
"""
LIFECYCLE = """
lifecycle: intake
states:
  OPEN:
    requirements:
      - {type: risk_at_most, worst: medium}
      - {type: custom, id: alerts, verb: alerts.none, args: {client: $subject}}
  DONE: {terminal: true}
transitions: [{from: OPEN, to: DONE}]
"""
GUARDS = """
from perdure.journal.facts import fact_key
from perdure.lifecycles.guards import GuardKind, Judgement, Parameter

ORDER = ["low", "medium", "high"]


def facts(params):
    return (fact_key("record", "client", params["client"]),)


def judge(params, found, now):
    record = found[facts(params)[0]]
    if record is None:
        return Judgement(False, ("the client is not known",))
    risk = record["fields"]["risk"]
    if ORDER.index(risk) <= ORDER.index(params["worst"]):
        return Judgement(True)
    return Judgement(False, (f"the risk is {risk}, worse than {params['worst']}",))


risk_at_most = GuardKind(
    name="risk_at_most",
    description="Holds when the client's risk is no worse.",
    parameters=(
        Parameter("worst", "text", "The worst risk", is_required=True, choices=tuple(ORDER)),
        Parameter("client", "text", "The client", default="$subject"),
    ),
    facts=facts,
    judge=judge,
    key=lambda params: "risk",
    fields=lambda params: ("risk",),
    blocker="TooRisky",
    example="{type: risk_at_most, worst: medium}",
)
"""
CHECKS = """
def alerts(call):
    clear = call.args["client"] != "c-9"
    return {"holds": clear, "missing": [] if clear else ["an alert is open"]}
"""
CONFIG = """
definitions: [verbs]
documents: [papers/types.yaml]
lifecycles: [flows]
handlers: [{package}]
guards: [{package}.rules]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose parts stand in folders of other names than the usual ones."""
    package = f"office_{abs(hash(str(tmp_path))) % 10**8}"
    for name, text in {
        "perdure.yaml": CONFIG.replace("{package}", package), "verbs/verbs.yaml": VERBS, "papers/types.yaml": TYPES,
        "flows/intake.yaml": LIFECYCLE, f"{package}/__init__.py": "", f"{package}/rules.py": GUARDS,
        f"{package}/checks.py": CHECKS,
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


@pytest.mark.req("T1")
async def test_a_project_file_names_lifecycles_document_types_reasons_and_guards(project: Path) -> None:
    config = load_config(project / "perdure.yaml")
    async with Sandbox.from_config(config) as perdure:
        assert [each.lifecycle for each in await perdure.lifecycles.definitions()] == ["intake"]
        assert [each.name for each in await perdure.documents.types()] == ["passport"]
        assert "NO_STAMP" in {each.code for each in await perdure.documents.reasons()}
        begun = await perdure.lifecycles.start("intake", "c-1")
        assert [(each.key, each.type, each.missing) for each in begun.instance.blockers] == [
            ("risk", "TooRisky", ["the client is not known"])
        ]
        await perdure.call("client.create", {"id": "c-1", "risk": "low"})
        await perdure.run_until_idle()
        assert (await perdure.lifecycles.get(begun.instance.id)).state == "DONE"


@pytest.mark.req("T9")
async def test_python_takes_the_same_parts_as_values_and_places(project: Path) -> None:
    package = load_config(project / "perdure.yaml").handlers[0]
    rules = import_module(f"{package}.rules")
    async with Sandbox.open(
        definitions="verbs", documents=["papers"], lifecycles=["flows"], guards=[rules.risk_at_most],
        handlers=[package],
    ) as perdure:  # fmt: skip
        await perdure.call("client.create", {"id": "c-9", "risk": "high"})
        begun = await perdure.lifecycles.start("intake", "c-9")
        assert {each.key: each.missing for each in begun.instance.blockers} == {
            "risk": ["the risk is high, worse than medium"], "alerts": ["an alert is open"],
        }  # fmt: skip
        assert [each.name for each in await perdure.documents.types()] == ["passport"]


def test_lint_reads_the_parts_that_the_project_names(project: Path) -> None:
    shell = Shell(project)
    assert shell.json("lifecycles", "lint") == {"lifecycles": 1, "problems": []}
    shell.run("verbs", "lint")
    (project / "flows" / "intake.yaml").write_text(LIFECYCLE.replace("worst: medium", "worst: mild"))
    told = " ".join(shell.run("lifecycles", "lint", code=1).out.split())
    assert "'mild' is not one of low, medium, high" in told
    (project / "papers" / "types.yaml").write_text("documents: {passport: {valdity: P1Y}}")
    assert "valdity" in shell.run("verbs", "lint", code=1).out


def kind(name: str = "mine", **changes: object) -> GuardKind:
    values: dict[str, object] = {
        "name": name, "description": "Holds at times.", "parameters": (), "facts": lambda params: (),
        "judge": lambda params, facts, now: Judgement(True), "key": lambda params: "mine", **changes,
    }  # fmt: skip
    return GuardKind(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "fact"),
    [
        (kind("document_exists"), "there is a kind of guard 'document_exists' already"),
        (kind("all"), "there is a kind of guard 'all' already"),
        (kind("My Guard"), "'My Guard' cannot name a kind of guard"),
        (kind(description=" "), "the kind of guard 'mine' has no description"),
        (kind(parameters=(Parameter("on_fail", "text", "x"),)), "'on_fail' cannot name a parameter of 'mine'"),
        ("no_such_package", "cannot be imported"),
        ("json", "no kind of guard is in it"),
    ],
)
async def test_a_kind_of_guard_that_would_mislead_is_refused(wrong: GuardKind | str, fact: str) -> None:
    with pytest.raises(DefinitionError, match=fact.replace("(", r"\(")):
        async with Sandbox.open(guards=[wrong]):
            pass


def fails(params: object, *_: object) -> Judgement:
    raise ZeroDivisionError("of the guard")


@pytest.mark.parametrize(
    ("broken", "fact"),
    [
        (kind(judge=fails), "guard 'mine' failed: ZeroDivisionError: of the guard"),
        (kind(facts=fails), "guard 'mine' failed: ZeroDivisionError: of the guard"),
        (kind(judge=lambda params, facts, now: True), "guard 'mine' gave no judgement"),
    ],
)
@pytest.mark.parametrize("around", ["{type: mine}", "{not: {type: mine}, id: mine}"])
async def test_a_guard_that_fails_opens_nothing_and_says_why(broken: GuardKind, fact: str, around: str) -> None:
    text = f"lifecycle: odd\nstates: {{A: {{requirements: [{around}]}}, B: {{terminal: true}}}}\n"
    text += "transitions: [{from: A, to: B}]"
    async with Sandbox.open(guards=[broken]) as perdure:
        await perdure.lifecycles.deploy(text)
        begun = await perdure.lifecycles.start("odd", "s")
        assert (begun.instance.state, [each.missing for each in begun.instance.blockers]) == ("A", [[fact]])


async def test_a_guard_without_facts_of_records_keeps_none_of_their_data(project: Path) -> None:
    seen = kind(facts=lambda params: (fact_key("record", "client", "c-1"),))
    text = "lifecycle: odd\nstates: {A: {requirements: [{type: mine}]}, B: {terminal: true}}\n"
    async with Sandbox.open(definitions="verbs", guards=[seen], handlers={"checks::alerts": dict}) as perdure:
        await perdure.call("client.create", {"id": "c-1", "risk": "secret"})
        await perdure.lifecycles.deploy(text + "transitions: [{from: A, to: B}]")
        begun = await perdure.lifecycles.start("odd", "s")
        assert begun.instance.state == "B"
        assert "secret" not in str(await perdure.lifecycles.history(begun.instance.id))


def test_the_kinds_of_guard_of_a_project_are_listed_with_their_parameters(project: Path) -> None:
    shell = Shell(project)
    assert [each["name"] for each in shell.json("lifecycles", "guards")][-2:] == ["custom", "risk_at_most"]
    (own,) = shell.json("lifecycles", "guards", "risk_at_most")
    assert own["description"] == "Holds when the client's risk is no worse."
    assert [each["name"] for each in own["parameters"]] == ["worst", "client"]
    shell.run("lifecycles", "guards", "no_such", code=3)


def test_a_reader_needs_no_guards_that_can_be_imported(project: Path) -> None:
    shell = Shell(project)
    id = shell.json("lifecycles", "start", "intake", "c-1")["instance"]["id"]
    (project / "perdure.yaml").write_text((project / "perdure.yaml").read_text().replace(".rules", ".gone"))
    (told, *_) = shell.json("lifecycles", "show", id)["blockers"]
    assert told["missing"] == ["the kind of guard 'risk_at_most' is not known here"]
