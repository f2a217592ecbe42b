"""Lint of packs: each code is found where it is and only there."""

# ruff: noqa: E501  tables read best with one case a line
from __future__ import annotations

import pytest

from perdure.packs.lint import RULES, lint_pack
from perdure.packs.loader import Shelf, load_pack_text
from tests.packs.sample_pack import PACK, catalogue


def test_a_good_pack_has_nothing_said_against_it() -> None:
    assert lint_pack(load_pack_text(PACK), catalogue(), Shelf()) == []


CASES = [
    ("PACK001", "verb: ubo.discover", "verb: ubo.discovr", 25, "Did you mean 'ubo.discover'?"),
    ("PACK002", 'forbidden_verbs: ["*.delete", "admin.*"]', 'forbidden_verbs: ["ubo.*"]', 25, ""),
    ("PACK002", '"ubo.*"]\nforb', '"*.discovering"]\nforb', 25, ""),
    ("PACK003", "document-type: ", "document-kind: ", 28, "Did you mean 'document_type'?"),
    ("PACK004", ', case-type: "{answers.case_type}"', "", 26, ""),
    ("PACK005", 'case-type: "{answers.case_type}"', "case-type: newclient", 26, "Did you mean 'new-client'?"),
    ("PACK006", "options_source: kyc.open-case.case-type", "options_source: kyc.open-case.case-typ", 15, "Did you mean"),
    ("PACK006", "options_source: kyc.open-case.case-type", "options_source: kyc.open-case.entity", 15, ""),
    ("PACK007", "default: new-client", "default: newclient", 15, "Did you mean 'new-client'?"),
    ("PACK008", "answer_kind: entity_ref", "answer_kind: entity_ref, entity: clint", 14, "Did you mean 'client'?"),
    ("PACK009", "stop_rules:", "handoff_target: onboarding\nstop_rules:", 20, ""),
    ("PACK010", "execution_mode: durable", "execution_mode: sync", 26, "Leave execution_mode out."),
    ("PACK011", "exists(verb == 'kyc.open-case')", "exists(verb == 'kyc.opencase')", 36, "Did you mean 'kyc.open-case'?"),
    ("PACK012", 'verbs: ["ubo.*"]}', 'verbs: ["ubo.*"]}\n  - {title: Empty, verbs: ["x.*"]}', 33, ""),
    ("PACK013", '"document.*", "ubo.*"]', '"document.*", "ubo.*", "gleif.*"]', 7, ""),
    ("PACK014", "optional_questions:", "optional_questions:\n  - {field: idle, prompt: Why?}", 18, "Use it or ask less."),
    ("PACK015", "case_type == new-client", "documents is set", 18, ""),
    ("PACK016", "'kyc.open-case' and", "'kyc.close-case' and", 35, ""),
    ("PACK018", 'verbs: ["ubo.*"]', 'verbs: ["ubo.x"]', 25, ""),
    ("PACK019", "{steps.case.case_id}", "{steps.case.case_number}", 28, ""),
    ("PACK020", "default: new-client}", "default: new-client}\noptional_questions:", 0, ""),
    ("PACK021", "pack_summary_template:", "  - {template_id: b, steps: [{verb: kyc.delete}]}\npack_summary_template:", 30, ""),
    ("PACK022", 'invocation_phrases: ["open a kyc case for {entity}", "start kyc on {entity}"]\n', "", 1, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "old", "new", "line", "hint"), [case for case in CASES if case[3]], ids=lambda value: str(value)[:24]
)
def test_a_weak_spot_is_found_in_its_place(code: str, old: str, new: str, line: int, hint: str) -> None:
    assert old in PACK
    found = lint_pack(load_pack_text(PACK.replace(old, new, 1), "p.yaml"), catalogue(), Shelf())
    problem = next(each for each in found if each.code == code)
    assert (problem.line, problem.severity) == (line, RULES[code].severity)
    assert problem.hint.startswith(hint)


def test_a_required_argument_from_an_optional_answer_without_default_is_a_weak_spot() -> None:
    text = PACK.replace("optional_questions:", "optional_questions:\n  - {field: other, prompt: Who?}", 1)
    text = text.replace(
        'ubo.discover, args: {entity: "{answers.entity}"}', 'ubo.discover, args: {entity: "{answers.other}"}'
    )
    assert [each.code for each in lint_pack(load_pack_text(text), catalogue())] == ["PACK020"]
    kept = text.replace("{answers.other}", "{answers.other | default 'someone'}")
    assert lint_pack(load_pack_text(kept), catalogue()) == []


def test_a_pack_that_asks_and_plans_nothing_is_a_weak_spot() -> None:
    text = "id: a\nname: A\nversion: '1'\ninvocation_phrases: [do]\nrequired_questions: [{field: x, prompt: X?}]\n"
    assert {each.code for each in lint_pack(load_pack_text(text), catalogue())} == {"PACK014", "PACK017"}


def test_every_code_has_a_test() -> None:
    assert {case[0] for case in CASES} | {"PACK017"} == set(RULES)
