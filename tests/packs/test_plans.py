"""From answers to a plan: questions, templates, selection, tiers, handing over."""

# ruff: noqa: E501  tables read best with one case a line
from __future__ import annotations

from typing import Any

import pytest

from perdure.packs.definition import Pack
from perdure.packs.handoff import hand_over
from perdure.packs.instantiation import choose_template, instantiate
from perdure.packs.intent_selection import select_pack, select_verb
from perdure.packs.journey_progress import journey
from perdure.packs.loader import Shelf, load_pack_text
from perdure.packs.plan_consequence_tier import Called, composed_tier
from perdure.packs.questions import Understood, offered, options_of, pending, understand
from perdure.packs.text_similarity import Scoring
from perdure.runbooks.drafts.draft import Answer, Draft, Handoff
from perdure.runbooks.plan import Reference
from tests.packs.sample_pack import PACK, catalogue

VERBS = catalogue()
CASE = load_pack_text(PACK)


def draft(**answers: Any) -> Draft:
    return Draft(answers={field: Answer(value) for field, value in answers.items()})


def test_only_required_questions_are_asked_and_optional_ones_offered() -> None:
    assert [each.field for each in pending(CASE, draft())] == ["entity", "case_type"]
    assert [each.field for each in pending(CASE, draft(entity="A", case_type="new-client"))] == []
    assert [each.field for each in offered(CASE, draft(entity="A", case_type="new-client"))] == ["documents"]
    assert offered(CASE, draft(entity="A", case_type="event-driven")) == []


def test_a_pack_may_ask_everything() -> None:
    greedy = load_pack_text(PACK.replace("all_required_answered", "all_answered"))
    assert [each.field for each in pending(greedy, draft(entity="A", case_type="new-client"))] == ["documents"]


@pytest.mark.parametrize(
    ("field", "said", "understood"),
    [
        ("entity", "  Allianz SE ", Understood("Allianz SE")),
        ("case_type", "Periodic review", Understood("periodic-review")),
        ("case_type", "2", Understood("periodic-review")),
        ("case_type", "peri", Understood("periodic-review")),
        ("case_type", "driven", Understood("event-driven")),
        ("documents", "passport, proof of address and bank letter", Understood(["passport", "proof of address", "bank letter"])),
        ("documents", "none", Understood([])),
        ("entity", "  ", Understood(fault="it is empty")),
        ("case_type", "perodic-review", Understood(
            fault="'perodic-review' is not one of new-client, periodic-review, event-driven",
            hint="Did you mean 'periodic-review'?")),
    ],
)  # fmt: skip
def test_an_answer_in_free_words_is_understood_or_told_why_not(field: str, said: str, understood: Understood) -> None:
    question = CASE.question(field)
    assert question is not None
    assert understand(question, said, options_of(question, VERBS)) == understood


def test_a_template_is_repeated_left_out_and_filled_in() -> None:
    answers = draft(entity="Allianz SE", case_type="new-client", documents=["passport", "bank letter"])
    template = choose_template(CASE, answers)
    assert template is not None
    made = instantiate(CASE, template, answers, VERBS).draft
    assert [entry.name for entry in made.entries] == ["discover", "case", "solicit", "solicit_2"]
    assert [entry.sentence for entry in made.entries] == [
        "Find the owners of Allianz SE",
        "Open a new client KYC case for Allianz SE",
        "Ask Allianz SE for a passport",
        "Ask Allianz SE for a bank letter",
    ]
    assert made.entries[3].references == (Reference(("case",), "case", ("case_id",)),)
    assert made.entries[1].section == "Case"
    assert made.pack is not None
    assert (made.pack.hash, made.pack.template_hash) == (CASE.hash, template.content_hash)
    assert made.title == "Open a new-client case for Allianz SE, 2 documents."
    nothing = instantiate(CASE, template, draft(entity="A", case_type="event-driven"), VERBS).draft
    assert [entry.verb for entry in nothing.entries] == ["ubo.discover", "kyc.open-case"]


def test_every_argument_knows_where_its_value_came_from() -> None:
    text = PACK.replace(
        'ubo.discover, args: {entity: "{answers.entity}"}', 'ubo.discover, args: {entity: "{context.client_group}"}'
    )
    pack = load_pack_text(text.replace('case-type: "{answers.case_type}"', "case-type: new-client"))
    before = Draft(
        context={"client_group": "Allianz"},
        answers={"entity": Answer("A", "copied_from_previous"), "case_type": Answer("new-client")},
    )
    entries = instantiate(pack, pack.templates[0], before, VERBS).draft.entries
    assert entries[0].provenance == {"entity": "inferred_from_context"}
    assert entries[1].provenance == {"entity": "copied_from_previous", "case_type": "template_default"}
    assert entries[2].args["document_type"] == "passport"


def test_an_ordered_template_makes_each_step_come_after_the_one_before() -> None:
    pack = load_pack_text(PACK.replace("when_to_use: Default", "ordered: true"))
    made = instantiate(pack, pack.templates[0], draft(entity="A", case_type="new-client", documents=["a", "b"]), VERBS)
    assert [entry.after for entry in made.draft.entries] == [(), ("discover",), ("case",), ("case",)]


def test_a_template_is_chosen_by_its_condition_or_its_name() -> None:
    other = (
        "  - {template_id: quick, when: case_type == event-driven, steps: [{verb: kyc.delete}]}\npack_summary_template:"
    )
    pack = load_pack_text(PACK.replace("pack_summary_template:", other, 1))

    def chosen(id: str = "", **answers: Any) -> str | None:
        template = choose_template(pack, draft(**answers), id)
        return template.template_id if template is not None else None

    assert chosen(case_type="event-driven") == "quick"
    assert chosen(case_type="new-client") == "full-case"
    assert chosen("quick") == "quick"
    assert chosen("nothing") is None


def _other(id: str, phrases: str) -> Pack:
    return load_pack_text(f"id: {id}\nname: {id.title()}\nversion: '1'\ninvocation_phrases: [{phrases}]\n")


SHELF = Shelf(
    [
        CASE,
        _other("book-setup", "set up a book, create a trading book, review a book"),
        _other("book-review", "review a book"),
    ]
)


@pytest.mark.parametrize(
    ("said", "verdict", "best", "captured"),
    [
        ("kyc-case", "strong", "kyc-case", {}),
        ("KYC case", "strong", "kyc-case", {}),
        ("please open a KYC case for Allianz SE.", "strong", "kyc-case", {"entity": "Allianz SE"}),
        ("start kyc on Nordlys Capital A/S", "strong", "kyc-case", {"entity": "Nordlys Capital A/S"}),
        ("set up a book", "strong", "book-setup", {}),
        ("create the trading books", "strong", "book-setup", {}),
        ("review the books", "ambiguous", "book-setup", {}),
        ("what is the weather", "none", None, {}),
    ],
)
def test_a_pack_is_chosen_outright_by_phrase_or_not_at_all(
    said: str, verdict: str, best: str | None, captured: dict[str, str]
) -> None:
    found = select_pack(said, SHELF)
    assert found.verdict == verdict
    assert (found.best.thing.id if found.best else None) == best
    assert verdict != "strong" or (found.best is not None and found.best.captured == captured)


def test_of_phrases_equally_alike_the_one_that_takes_something_is_meant() -> None:
    shelf = Shelf([load_pack_text(ALIKE)])
    found = select_pack("start kyc on Nordlys Capital", shelf)
    assert found.best is not None
    assert found.best.captured == {"entity": "Nordlys Capital"}


ALIKE = """id: kyc
name: KYC
version: "1"
invocation_phrases: ["start kyc for {entity}", "kyc {entity}", "start kyc on {entity}"]
required_questions: [{field: entity, prompt: "Which?", answer_kind: string}]
"""


def test_a_verb_is_found_by_name_sentence_or_phrase() -> None:
    for said in ("kyc.open-case", "kyc.open_case", "open a KYC case", "start a kyc review of Allianz"):
        found = select_verb(said, VERBS, CASE)
        assert found.best is not None
        assert (found.verdict, found.best.thing.name) == ("strong", "kyc.open-case"), said
    captured = select_verb("start a kyc review of Allianz", VERBS, CASE).best
    assert captured is not None
    assert captured.captured == {"entity": "Allianz"}


def test_forbidden_verbs_are_gone_before_scoring() -> None:
    assert "kyc.delete" not in [each.thing.name for each in select_verb("kyc.delete", VERBS, CASE).candidates]
    assert "kyc.delete" not in [each.thing.name for each in select_verb("delete a kyc case", VERBS, CASE).candidates]
    assert select_verb("delete a kyc case", VERBS).best is not None


def test_a_verb_that_was_turned_down_stays_out_for_some_turns() -> None:
    assert select_verb("open a KYC case", VERBS, CASE, rejected={"kyc.open-case": 1}).verdict != "strong"
    assert select_verb("open a KYC case", VERBS, CASE, rejected={"kyc.open-case": 0}).verdict == "strong"


def test_what_comes_next_in_the_template_weighs_more() -> None:
    planned = instantiate(CASE, CASE.templates[0], draft(entity="A", case_type="event-driven"), VERBS).draft
    before = select_verb("ask for a document", VERBS, CASE).best
    after = select_verb("ask for a document", VERBS, CASE, planned).best
    assert before is not None and after is not None
    assert after.score == pytest.approx(before.score + Scoring().next_step)


@pytest.mark.parametrize(
    ("calls", "tier", "reason", "fired"),
    [
        ([], "benign", "there is nothing to run", 0),
        ([("ubo.discover", {})], "benign", "'ubo.discover' is benign", 0),
        ([("ubo.discover", {}), ("document.solicit", {})], "reviewable", "'document.solicit' is reviewable", 0),
        (
            [("kyc.open-case", {}), ("ubo.discover", {})],
            "requires_confirmation",
            "'kyc.open-case' requires confirmation",
            0,
        ),
        ([("kyc.open-case", {"priority": 9})], "requires_authorisation", "'kyc.open-case': it is urgent", 1),
        ([("kyc.open-case", {"priority": 8})], "requires_confirmation", "'kyc.open-case' requires confirmation", 0),
        ([("kyc.close-case", {"priority": 9})], "requires_authorisation", "'kyc.close-case' requires authorisation", 1),
        (
            [("ubo.discover", {})] * 5,
            "requires_confirmation",
            "it has 5 steps and the pack lets 4 pass without asking",
            0,
        ),
    ],
)
def test_the_gravest_step_decides_and_rules_only_raise(
    calls: list[tuple[str, dict[str, Any]]], tier: str, reason: str, fired: int
) -> None:
    made = [Called(str(number), verb, args) for number, (verb, args) in enumerate(calls)]
    composed = composed_tier(made, VERBS, CASE.risk_policy)
    assert (composed.tier, composed.reason, len(composed.fired)) == (tier, reason, fired)


def test_handing_over_takes_along_what_is_known_and_asks_only_what_is_new() -> None:
    target = load_pack_text(
        "id: next\nname: Next\nversion: '1'\noptional_context: [client_group]\nrequired_questions:\n"
        "  - {field: entity, prompt: Who?}\n  - {field: case_id, prompt: Which case?}\n  - {field: product, prompt: What?}\n"
    )
    before = Draft(
        pack=CASE.pin(),
        context={"client_group": "G"},
        answers={"entity": Answer("lei-1", label="Allianz SE"), "case_type": Answer("new-client")},
    )
    after = hand_over(before, "run-1", target, {"case": {"case_id": "C-7"}})
    assert [each.field for each in pending(target, after)] == ["product"]
    assert after.answers["entity"] == Answer("lei-1", "copied_from_previous", "Allianz SE")
    assert after.answers["case_id"] == Answer("C-7", "copied_from_previous")
    assert after.context == {"client_group": "G"}
    assert after.handoff == Handoff("run-1", "kyc-case", {"case": {"case_id": "C-7"}})


def test_a_journey_shows_its_milestones_and_is_done_when_the_pack_says() -> None:
    steps = [{"verb": "kyc.open-case", "status": "parked"}]
    assert journey(CASE, Draft(), steps).signals == (("Case opened", True),)
    assert not journey(CASE, Draft(), steps).is_done
    assert journey(CASE, Draft(), [{"verb": "kyc.open-case", "status": "completed"}]).is_done
