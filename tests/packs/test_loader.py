"""Packs load strictly: every mistake is told with its file, line, field and what to do."""

# ruff: noqa: E501  tables read best with one case a line
from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from perdure.errors import DefinitionError, RejectedError
from perdure.packs.loader import load_pack_text, load_packs
from perdure.packs.yaml_keys import PLACES
from tests.packs.pages import MARK, PAGE, reference
from tests.packs.sample_pack import PACK


def test_a_pack_keeps_everything_it_says() -> None:
    pack = load_pack_text(PACK)
    assert (pack.id, pack.version, pack.handoff_target) == ("kyc-case", "1.2", None)
    assert [question.field for question in pack.questions] == ["entity", "case_type", "documents"]
    assert [question.is_required for question in pack.questions] == [True, True, False]
    assert [step.verb for step in pack.templates[0].steps] == ["ubo.discover", "kyc.open-case", "document.solicit"]
    assert pack.section_of("document.solicit") == "Documents"
    assert pack.section_of("screening.run") == ""


def test_the_hash_of_a_pack_is_that_of_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    data = PACK.replace("\n", "\r\n").encode()
    file.write_bytes(data)
    pack = load_packs([tmp_path]).get("kyc-case")
    assert pack.hash == "sha256:" + hashlib.sha256(data).hexdigest()


def test_a_template_has_the_same_hash_wherever_it_stands_in_the_file() -> None:
    moved = load_pack_text("# a remark\n\n" + PACK)
    assert moved.hash != load_pack_text(PACK).hash
    assert moved.templates[0].content_hash == load_pack_text(PACK).templates[0].content_hash
    changed = load_pack_text(PACK.replace("as: case", "as: file").replace("steps.case", "steps.file"))
    assert changed.templates[0].content_hash != moved.templates[0].content_hash


@pytest.mark.parametrize(
    ("pattern", "verb", "is_allowed"),
    [
        ("kyc.*", "kyc.open-case", True),
        ("kyc.*", "kyc.open_case", True),
        ("*.delete", "kyc.delete", False),
        ("none", "admin.list", False),
        ("none", "screening.run", False),
    ],
)
def test_forbidden_beats_allowed(pattern: str, verb: str, is_allowed: bool) -> None:
    assert load_pack_text(PACK).allows(verb) is is_allowed


WRONG = [
    ("id: kyc-case", "id: KYC Case", 1, "id", "'KYC Case' is not a pack id", "Use lower case words"),
    ("name: KYC case\n", "", 1, "", "'name' is missing", ""),
    ('version: "1.2"', "version: 1.2", 3, "version", "expected text, found a number", "Put it in quotes."),
    ("stop_rules:", "stop_rule:", 20, "stop_rule", "the key 'stop_rule' is not known here", "Did you mean 'stop_rules'?"),
    ("[all_required_answered]", "[when_bored]", 20, "stop_rules", "'when_bored' is not a stop rule", "There are"),
    ("answer_kind: list", "answer_kind: lists", 18, "optional_questions[0].answer_kind",
     "'lists' is not one of string, boolean, list, entity_ref, enum", "Did you mean 'list'?"),
    ("case_type == new-client", "case_type = new-client", 19, "optional_questions[0].ask_when",
     "'case_type = new-client' is no condition: '=' means nothing in a condition (at character 11)", "Write e.g."),
    ("case_type == new-client", "case_typ == new-client", 19, "optional_questions[0].ask_when",
     "no question asks for 'case_typ'", "Did you mean 'case_type'?"),
    ("status == 'completed'", "status == 'done'", 35, "definition_of_done[0]", "'done' is not the state of a step", ""),
    ("exists(verb == 'kyc.open-case' and", "exists(word == 'kyc.open-case' and", 35, "definition_of_done[0]",
     "a step has no 'word'", "There are verb"),
    ("exists(verb == 'kyc.open-case' and status == 'completed')", "the case is open", 35, "definition_of_done[0]",
     "'the case is open' is no condition", "Write e.g."),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{answers.entiti}"}}', 25, "templates[0].steps[0].args.entity",
     "no question asks for 'entiti'", "Did you mean 'entity'?"),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{context.group}"}}', 25, "templates[0].steps[0].args.entity",
     "'context.group' is not declared", ""),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{item}"}}', 25, "templates[0].steps[0].args.entity",
     "there is no item here", "Only a step with repeat_for has items."),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{answers.entity | upper}"}}', 25,
     "templates[0].steps[0].args.entity", "'upper' is no filter: there are default, count, join", ""),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{answers.entity"}}', 25,
     "templates[0].steps[0].args.entity", "a brace has no partner", ""),
    ('args: {entity: "{answers.entity}"}}', 'args: {entity: "{steps.case.id}"}}', 25,
     "templates[0].steps[0].args.entity", "no single step before it is called 'case'", "Name earlier steps"),
    ("{steps.case.case_id}", "case {steps.case.case_id}", 29, "templates[0].steps[2].args.case",
     "a step's result stands alone, without text or filters", ""),
    ("repeat_for: answers.documents", "repeat_for: answers.entity", 28, "templates[0].steps[2].repeat_for",
     "'answers.entity' is entity_ref and not a list", "Make its answer_kind list."),
    ("execution_mode: durable", "execution_mode: human_gate", 27, "templates[0].steps[1].execution_mode",
     "a human gate needs a 'gate': who may agree", ""),
    ("default: [passport]", "default: passport", 19, "optional_questions[0].default",
     "the default of a list is a list", ""),
    ("options_source: kyc.open-case.case-type, ", "", 15, "required_questions[1]",
     "the enum 'case_type' has no options", "Add options_source"),
    ("args.priority >= 9", "answers.priority >= 9", 12, "risk_policy.escalations[0].when",
     "'answers.priority' is not an argument of a call", "Write args.name."),
    ("tier: requires_authorisation", "tier: terrible", 12, "risk_policy.escalations[0].tier",
     "'terrible' is not one of benign", ""),
    ('"*.delete"', '"delete!"', 8, "forbidden_verbs", "'delete!' is not a pattern of verbs", "Write a verb's name"),
    ('"start kyc on {entity}"', '"start kyc on {client}"', 5, "invocation_phrases",
     "'start kyc on {client}' takes 'client', which no question asks for", ""),
    ("field: documents", "field: entity", 18, "optional_questions[0].field",
     "the answer 'entity' is asked for twice", "The other is on line 14."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "field", "reason", "hint"), WRONG, ids=[case[4][:60] for case in WRONG])
def test_a_mistake_is_told_with_its_place_and_what_to_do(
    old: str, new: str, line: int, field: str, reason: str, hint: str
) -> None:
    assert old in PACK
    with pytest.raises(DefinitionError) as raised:
        load_pack_text(PACK.replace(old, new, 1), "kyc-case.yaml")
    told = [
        (each.line, each.field, each.reason[: len(reason)], each.hint[: len(hint)]) for each in raised.value.problems
    ]
    assert (line, field, reason, hint) in told
    assert all(each.file == "kyc-case.yaml" for each in raised.value.problems)


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PACK.replace("version:", "versoin:").replace("stop_rules", "stop"))
    (tmp_path / "b.yaml").write_text("[]")
    with pytest.raises(DefinitionError) as raised:
        load_packs([tmp_path, tmp_path / "nowhere"])
    assert {Path(each.file).name for each in raised.value.problems} == {"a.yaml", "b.yaml", "nowhere"}
    assert len(raised.value.problems) >= 4


def test_a_pack_declared_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PACK)
    (tmp_path / "b.yaml").write_text(PACK)
    with pytest.raises(DefinitionError, match="was already declared in"):
        load_packs([tmp_path])


def test_an_unknown_pack_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PACK)
    with pytest.raises(RejectedError, match="Did you mean 'kyc-case'"):
        load_packs([tmp_path]).get("kyc-cas")


def test_every_key_and_code_is_on_the_reference_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(MARK)[2].strip() == reference().strip(), "run python -m tests.packs.pages"
    assert all(f"`{key}`" in page for place in PLACES.values() for key in place)


def test_the_example_of_the_reference_page_loads() -> None:
    example = PAGE.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    assert load_pack_text(example).id == "open-account"
