"""Drafts: edits are pure and say what they did; the readiness report names every reason."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import RejectedError
from perdure.packs.instantiation import instantiate
from perdure.packs.loader import load_pack_text
from perdure.runbooks.drafts import draft as d
from perdure.runbooks.drafts.draft import Answer, Draft, Entry
from perdure.runbooks.drafts.readiness import readiness
from perdure.runbooks.plan import Reference
from tests.packs.sample_pack import PACK, catalogue

VERBS = catalogue()
CASE = load_pack_text(PACK)


def planned() -> Draft:
    answers = {"entity": Answer("Allianz SE"), "case_type": Answer("new-client"), "documents": Answer(["a", "b"])}
    return instantiate(CASE, CASE.templates[0], Draft(answers=answers), VERBS).draft


def names(draft: Draft) -> list[str]:
    return [entry.name for entry in draft.entries]


def test_an_edited_argument_changes_the_sentence_and_asks_for_confirmation_again() -> None:
    confirmed = d.confirm(planned()).draft
    change = d.edit_arg(confirmed, 2, "case-type", "event-driven", VERBS)
    assert change.text == "Step 2: case type is now event-driven (was new-client)"
    entry = change.draft.entries[1]
    assert (entry.sentence, entry.status) == ("Open a event driven KYC case for Allianz SE", "proposed")
    assert entry.provenance["case_type"] == "user_provided"
    assert confirmed.entries[1].args["case_type"] == "new-client"


def test_steps_are_dropped_disabled_enabled_and_moved() -> None:
    draft = planned()
    dropped = d.drop(draft, "solicit")
    assert names(dropped.draft) == ["discover", "case", "solicit_2"]
    assert dropped.text == "Dropped step 3: Ask Allianz SE for a a"
    disabled = d.disable(draft, 1).draft
    assert [entry.name for entry in disabled.active()] == ["case", "solicit", "solicit_2"]
    assert d.enable(disabled, 1).draft.entries[0].status == "proposed"
    assert names(d.reorder(draft, 4, 3).draft) == ["discover", "case", "solicit_2", "solicit"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda draft: d.drop(draft, "case"), "'solicit' takes a value from it"),
        (lambda draft: d.reorder(draft, "case", 4), "'solicit' would come before 'case', which it needs"),
        (lambda draft: d.reorder(draft, "case", 9), "there are places 1 to 4"),
        (lambda draft: d.drop(draft, "solict"), "Did you mean 'solicit'?"),
        (lambda draft: d.drop(draft, 7), "There are 4 steps."),
        (lambda draft: d.edit_arg(draft, 2, "entiti", "x", VERBS), "Did you mean 'entity'?"),
        (
            lambda draft: d.edit_arg(draft, 1, "entity", None, VERBS, reference=Reference((), "case")),
            "no step before it",
        ),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused_and_says_why(edit: Any, said: str) -> None:
    with pytest.raises(RejectedError) as raised:
        edit(planned())
    assert said in str(raised.value)


def test_an_argument_may_take_an_earlier_result_instead() -> None:
    change = d.edit_arg(planned(), 3, "entity", None, VERBS, reference=Reference((), "discover", ("owners",)))
    entry = change.draft.entries[2]
    assert entry.sentence == "Ask the owners of @discover for a a"
    assert [reference.at for reference in entry.references] == [("case",), ("entity",)]
    back = d.edit_arg(change.draft, 3, "entity", "B", VERBS).draft.entries[2]
    assert [reference.at for reference in back.references] == [("case",)]


def test_added_steps_get_free_names_and_keep_their_references() -> None:
    more = [
        Entry(name="case", verb="kyc.open-case"),
        Entry(name="x", verb="a", references=(Reference(("a",), "case"),)),
    ]
    draft = d.add(planned(), more).draft
    assert names(draft)[-2:] == ["case_2", "x"]
    assert draft.entries[-1].references[0].step == "case_2"


def test_the_readiness_report_names_every_reason() -> None:
    draft = Draft(
        entries=(
            Entry(name="a", verb="kyc.opn-case"),
            Entry(name="b", verb="kyc.open-case", args={"case_type": "old", "colour": "red"}, after=("z",)),
            Entry(name="c", verb="kyc.close-case", args={"case": "1"}, status="confirmed"),
        )
    )
    report = readiness(draft, VERBS)
    assert not report.is_ready
    assert [(issue.entry, issue.code) for issue in report.issues] == [
        ("a", "unknown_verb"),
        ("b", "unresolved"),
        ("b", "does_not_fit"),
        ("b", "does_not_fit"),
        ("b", "not_confirmed"),
        ("b", "needs_disabled"),
    ]
    assert report.issues[0].hint == "Did you mean 'kyc.open-case'?"
    assert (report.steps, report.confirmed, report.proposed) == (3, 1, 2)


def test_a_precondition_counts_what_is_planned_before_and_what_was_done() -> None:
    close = Entry(name="c", verb="kyc.close-case", args={"case": "1"}, status="confirmed")
    assert [issue.text for issue in readiness(Draft(entries=(close,)), VERBS).issues] == [
        "'kyc.close-case' comes after 'kyc.open-case'"
    ]
    assert readiness(Draft(entries=(close,)), VERBS, completed=["kyc.open_case"]).is_ready


def test_what_the_pack_does_not_allow_any_more_does_not_run() -> None:
    report = readiness(d.confirm(planned()).draft, VERBS, allows=lambda verb: verb != "ubo.discover")
    assert [(issue.entry, issue.code) for issue in report.issues] == [("discover", "not_allowed")]


def test_a_confirmed_plan_is_ready_and_an_empty_one_is_not() -> None:
    assert not readiness(planned(), VERBS).is_ready
    assert readiness(planned(), VERBS, must_confirm=False).is_ready
    assert readiness(d.confirm(planned()).draft, VERBS).is_ready
    assert [issue.code for issue in readiness(d.clear(planned()).draft, VERBS).issues] == ["empty"]
    assert not readiness(d.disable(d.confirm(planned()).draft, "case").draft, VERBS).is_ready


EDITS = st.tuples(
    st.sampled_from(["drop", "disable", "enable", "confirm", "reorder", "add"]), st.integers(1, 8), st.integers(1, 8)
)


@settings(deadline=None, max_examples=100)
@given(st.lists(EDITS, max_size=12))
def test_any_edits_keep_names_unique_references_earlier_and_the_document_storable(edits: list[Any]) -> None:
    draft = planned()
    for word, step, to in edits:
        try:
            if word == "reorder":
                draft = d.reorder(draft, step, to).draft
            elif word == "add":
                draft = d.add(draft, [Entry(name="case", verb="kyc.open-case")]).draft
            else:
                draft = getattr(d, word)(draft, step).draft
        except RejectedError:
            continue
        assert len(set(names(draft))) == len(draft.entries)
        for place, entry in enumerate(draft.entries):
            assert {each.step for each in entry.references} <= set(names(draft)[:place])
    assert msgspec.json.decode(msgspec.json.encode(draft), type=Draft) == draft
