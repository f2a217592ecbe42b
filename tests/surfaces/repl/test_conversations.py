"""Conversations, word by word: journeys, questions, sentences, edits, tiers, runs and coming back."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.app.tasks.tasks import GATE_FORM
from perdure.packs.loader import Shelf, load_pack_text
from perdure.surfaces.repl.conversation_messages import TaskSeen
from perdure.surfaces.repl.turn import Knowledge
from perdure.surfaces.repl.word_completion import complete
from tests.surfaces.repl.driver import Talk
from tests.surfaces.repl.memory_platform import MemoryDesk
from tests.surfaces.repl.project import BOOK, catalogue


@pytest.mark.req("V28")
def test_a_phrase_chooses_the_pack_and_an_ambiguous_name_is_asked_never_guessed() -> None:
    talk = Talk()
    said = talk.tell("open a kyc case for Allianz")
    assert "Which 'Allianz' do you mean?" in said
    assert "1. Allianz SE" in said
    assert "2. Allianz Global Investors GmbH" in said
    assert "client" not in talk.session.draft.answers
    talk.tell("2")
    assert talk.session.draft.answers["client"].value == "OJ2TIQSVQND4IZYYK658"


def test_a_name_that_nothing_is_known_by_is_used_only_when_somebody_says_so() -> None:
    talk = Talk()
    said = talk.tell("start kyc on Nobody Ltd")
    assert "Nothing is known by 'Nobody Ltd'. Use it as it is? [y/N]" in said
    assert "Which client is the case for?" in talk.tell("")
    assert "New client, periodic review" in talk.tell("Nordlys Capital A/S")
    other = Talk()
    other.tell("start kyc on Nobody Ltd", "Somebody Ltd")
    assert "New client, periodic review" in other.tell("yes")
    assert other.session.draft.answers["client"].value == "Somebody Ltd"


@pytest.mark.req("V4")
@pytest.mark.req("V28")
def test_defaults_enums_and_wrong_answers() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys")
    said = talk.tell("perodic-reviw")
    assert "is not one of new-client, periodic-review, event-driven" in said
    assert "Did you mean 'periodic-review'?" in " ".join(said.split())
    talk.tell("")
    assert talk.session.draft.answers["case_type"].provenance == "template_default"
    assert talk.sentences() == [
        "Find the owners of Nordlys Capital A/S",
        "Open a new client KYC case for Nordlys Capital A/S",
        "Ask for the passport in case the case id of @case",
    ]


@pytest.mark.req("V28")
def test_a_pack_named_with_its_answers_asks_only_the_rest() -> None:
    talk = Talk()
    said = talk.tell('kyc-case client="Allianz SE" case-type=periodic-review')
    assert "Is that right?" in said
    said = Talk().tell("book-setup name=ALPHA currency=USD")
    assert "Which desk gets it?" in said
    assert "currency" in said.lower()


@pytest.mark.req("V2")
def test_the_plan_is_played_back_in_sections_and_confirmed() -> None:
    talk = Talk()
    said = talk.tell("kyc-case", "Nordlys", "new client")
    assert "Open a new-client KYC case for Nordlys Capital A/S and ask for 1 documents." in said
    assert said.index("Discovery") < said.index("Find the owners") < said.index("Case\n") < said.index("Documents")
    assert "You may also set: documents." not in said
    assert all(entry.status == "proposed" for entry in talk.session.draft.entries)
    talk.tell("yes")
    assert all(entry.status == "confirmed" for entry in talk.session.draft.entries)


@pytest.mark.req("V28")
def test_steps_are_edited_dropped_moved_disabled_undone_and_redone() -> None:
    talk = Talk()
    talk.tell("book-setup", "ALPHA", "", "", "yes")
    assert "the limit is now 5" not in talk.tell("edit 2 limit many")
    assert talk.session.draft.entries[1].args["limit"] == 1000000
    assert "is not a whole number" in talk.tell("edit 2 limit many")
    assert "limit is now 500" in talk.tell("edit 2 limit 500")
    assert "Set the limit of the book to 500" in talk.sentences()
    assert "would come before 'book', which it needs" in talk.tell("move 3 to 1")
    assert "takes a value from it" in talk.tell("drop 1")
    talk.tell("drop 2")
    assert len(talk.session.draft.entries) == 2
    assert "Undone: Dropped step 2" in talk.tell("undo")
    assert len(talk.session.draft.entries) == 3
    assert "Made again" in talk.tell("redo")
    talk.tell("undo", "disable 2")
    assert talk.session.draft.entries[1].status == "disabled"
    talk.tell("toggle 2")
    assert talk.session.draft.entries[1].status == "proposed"


@pytest.mark.req("V28")
def test_undo_takes_back_what_one_line_did_and_asks_again() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "periodic review")
    assert len(talk.session.draft.entries) == 2
    assert "New client, periodic review or event driven?" in talk.tell("undo")
    assert not talk.sentences()
    assert "Is that right?" in talk.tell("redo")
    assert len(talk.session.draft.entries) == 2


def test_undo_without_anything_before_it_says_so() -> None:
    assert "nothing to undo" in Talk().tell("undo")


@pytest.mark.req("V28")
def test_another_answer_makes_the_plan_anew() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "new client", "yes", "set documents passport, bank letter and tax form")
    assert len(talk.session.draft.entries) == 5
    talk.tell("set client Allianz")
    assert "Allianz SE" in talk.tell("Allianz SE")


@pytest.mark.req("V28")
def test_why_tells_where_each_value_came_from() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "")
    said = talk.tell("why 2")
    assert "Nordlys Capital A/S (549300MLUDYVRQOOXS22)" in said
    assert "you said so" in said
    assert "the pack's default" in said
    assert "case type is new-client: the pack's default." in talk.tell("why case-type")


@pytest.mark.req("V1", "V28")
def test_a_typed_program_is_played_back_and_confirmed_like_anything_else() -> None:
    talk = Talk()
    said = talk.tell('(kyc.open-case :client "X" :case-type "new-client" :as @c)')
    assert "Open a new client KYC case for X" in said
    assert "Add it to the plan?" in said
    assert not talk.session.draft.entries
    talk.tell("yes")
    said = talk.tell("(kyc.approve :case @c.case_id)")
    assert "Approve the case the case id of c" in said or "Approve the case" in said
    talk.tell("yes")
    assert [reference.step for reference in talk.session.draft.entries[1].references] == ["c"]


def test_a_wrong_program_is_refused_with_its_place() -> None:
    said = Talk().tell('(kyc.open-cas :client "X")')
    assert "kyc.open-case" in said
    assert "^" in said


def test_a_program_with_a_choice_is_kept_whole() -> None:
    talk = Talk()
    text = 'LET c = EXEC kyc.open-case(client: "X", case_type: "new-client") '
    text += 'IF c.case_id == "C-1" THEN EXEC kyc.approve(case: c.case_id) END'
    talk.tell(text, "yes", "run", "no")
    choice = next(entry for entry in talk.session.draft.entries if entry.condition is not None)
    assert talk.session.draft.entries[-1].branches[0].choice == choice.name
    assert "choice" in talk.tell("program")


@pytest.mark.req("V28")
def test_a_verb_is_chosen_by_name_by_sentence_or_after_asking() -> None:
    talk = Talk()
    assert "What kind of case?" in talk.tell("open a case for Nordlys")
    said = talk.tell("event-driven")
    assert "Open a event driven KYC case for Nordlys Capital A/S" in said
    talk.tell("yes")
    assert "Which client" not in talk.tell("ubo.discover")
    assert "What is the client?" in talk.tell("cancel", "ubo.discover")
    talk.tell("cancel")
    assert talk.session.mode == "editing"


def test_a_verb_turned_down_is_not_offered_again_at_once() -> None:
    talk = Talk()
    talk.tell("ubo.discover", "Nordlys", "no")
    assert talk.session.rejected == {"ubo.discover": 3}
    assert "ubo.discover" not in talk.tell("find the owners of Nordlys")


@pytest.mark.req("V28")
def test_a_verb_of_exactly_one_other_pack_offers_to_switch() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes")
    said = talk.tell("create a trading book called ALPHA")
    assert "That belongs to Book setup. Switch to it?" in said
    assert "3 planned steps stay in this runbook." in said
    assert "Staying here." in talk.tell("")
    assert "In which currency?" in talk.tell("create a trading book called ALPHA", "yes")


def test_what_a_pack_forbids_cannot_be_said_or_typed() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes")
    assert "does not allow 'admin.delete'" in talk.tell("(admin.delete)")
    talk.tell("delete everything")
    assert "admin.delete" not in [entry.verb for entry in talk.session.draft.entries]


# --- tiers ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("V28")
def test_what_is_benign_runs_at_once() -> None:
    talk = Talk()
    talk.tell("ubo.discover", "Nordlys", "yes")
    said = talk.tell("run")
    assert "1 of 1 steps complete" in said
    assert "Order:" not in said


@pytest.mark.req("V28")
def test_what_is_reviewable_is_shown_and_runs() -> None:
    talk = Talk()
    talk.tell("book-setup", "ALPHA", "", "", "yes")
    said = talk.tell("run")
    assert "Order: book → set_limit → assign_desk" in said
    assert "3 of 3 steps complete" in said


@pytest.mark.req("V28")
@pytest.mark.parametrize("answer", ["", "n", "no", "maybe"])
def test_what_requires_confirmation_does_not_run_without_yes(answer: str) -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes")
    said = talk.tell("run")
    assert "It asks because 'kyc.open-case' requires confirmation." in said
    assert "[y/N]" in said
    assert "Nothing was run." in talk.tell(answer)
    assert talk.desk.plans == {}
    talk.tell("run", "y")
    assert talk.desk.confirmations == {"rb-1": "yes"}


@pytest.mark.req("V28")
def test_what_requires_authorisation_needs_the_phrase_and_three_mismatches_abort() -> None:
    talk = Talk()
    talk.tell('(kyc.approve :case "C-1")', "yes")
    assert "Type 'authorise 1 step' to run it." in talk.tell("run")
    assert "2 more tries" in talk.tell("yes")
    assert "1 more try" in talk.tell("Authorise 1 step")
    assert "Nothing was run." in talk.tell("authorise")
    assert talk.desk.plans == {}
    talk.tell("run", "authorise 1 step")
    assert talk.desk.confirmations == {"rb-1": "authorise 1 step"}


@pytest.mark.req("V28")
def test_a_rule_of_the_pack_raises_the_tier_and_says_why() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "edit 2 priority 9", "yes")
    assert "because 'kyc.open-case': it is urgent" in talk.tell("run")
    assert "Rule 'urgent'" in talk.tell("why")


def test_run_before_confirming_plays_back_and_a_gap_is_reported() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "no")
    assert "It has to be confirmed first." in talk.tell("run")
    assert "nothing to run" in Talk().tell("run")


def test_one_step_runs_with_what_it_needs_and_nothing_else() -> None:
    talk = Talk(MemoryDesk(durable=()))
    talk.tell("kyc-case", "Nordlys", "", "yes", "run step 3", "y")
    assert [step.name for step in talk.desk.plans["rb-1"].steps] == ["case", "document"]


@pytest.mark.parametrize("word", ["no", "cancel"])
def test_an_authorisation_is_withdrawn_by_a_word(word: str) -> None:
    talk = Talk()
    talk.tell('(kyc.approve :case "C-1")', "yes", "run")
    assert "Nothing was run." in talk.tell(word)
    assert talk.session.asked is None


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.req("V20", "V28")
def test_a_parked_run_shows_its_tasks_which_are_claimed_and_answered() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes", "run")
    said = talk.tell("y")
    assert "2 of 3 steps complete" in said
    assert "✓ Case opened" in said
    assert "Review the case" in said
    assert "is yours now" in talk.tell("claim 1")
    assert "Approved?" in talk.tell("answer 1")
    assert "neither yes nor no" in talk.tell("perhaps")
    talk.tell("yes", "all is well")
    talk.tell("reject 1 because a page is missing")
    talk.tell('answer 1 {"approved": false}')
    assert talk.desk.claimed == ["t:1"]
    assert talk.desk.answers == [
        ("t:1", {"approved": True, "reason": "all is well"}),
        ("t:1", {"approved": False, "reason": "a page is missing"}),
        ("t:1", {"approved": False}),
    ]


@pytest.mark.req("V20", "V28")
@pytest.mark.parametrize("word", ["approve 1", "reject 1 because so", "approve", "reject t:1 because so"])
@pytest.mark.parametrize(
    "task",
    [
        TaskSeen("t:1", "Wait for the papers", "waiting", form={"properties": {"received": {"type": "boolean"}}}),
        TaskSeen("t:1", "Wait for the papers", "waiting", form={"properties": {"approved": {"type": "boolean"}}}),
        TaskSeen("t:1", "Wait for anything", "waiting"),
        TaskSeen("t:1", "Rate the client", form={"properties": {"risk": {"type": "string"}}}),
        TaskSeen("t:1", "Say whether it is urgent", form={"properties": {"is_urgent": {"type": "boolean"}}}),
        TaskSeen("t:1", "Approve a sum", form={"required": ["approved", "sum"], "properties": {
            "approved": {"type": "boolean"}, "sum": {"type": "number"}}}),
    ],
)  # fmt: skip
def test_a_wait_that_asks_for_no_agreement_is_neither_approved_nor_rejected(task: TaskSeen, word: str) -> None:
    talk = Talk(MemoryDesk(tasks=(task,)))
    shown = talk.tell("tasks")
    assert task.title in shown
    assert "approve" not in shown.replace(task.title, "") and "reject" not in shown
    assert "'answer 1'" in talk.tell(word)
    assert talk.desk.answers == []


@pytest.mark.req("V20", "V28")
@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (TaskSeen("t:1", "Agree", form=GATE_FORM, is_gate=True), {"agree": False, "reason": "so"}),
        (TaskSeen("t:1", "Agree", form=GATE_FORM), {"agree": False, "reason": "so"}),
        (TaskSeen("t:1", "Decide", "waiting", form={"properties": {"accepted": {"type": "boolean"}}}, is_decision=True),
         {"accepted": False}),
        (TaskSeen("t:1", "Review", form={"required": ["approved"], "properties": {
            "approved": {"type": "boolean"}, "comment": {"type": "string"}}}), {"approved": False, "comment": "so"}),
    ],
)  # fmt: skip
def test_a_gate_and_a_decision_are_rejected_with_what_they_declare_alone(
    task: TaskSeen, answer: dict[str, Any]
) -> None:
    talk = Talk(MemoryDesk(tasks=(TaskSeen("t:0", "Wait for anything", "waiting"), task)))
    assert "'approve 2' and 'reject 2'" in talk.tell("tasks")
    talk.tell("reject 2 because so")
    assert talk.desk.answers == [("t:1", answer)]


def test_a_running_runbook_is_not_edited_but_steered() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes", "run", "y")
    assert "It has been run" in talk.tell("drop 1")
    assert "It runs already" in talk.tell("run")
    talk.tell("retry 3", "skip 3 because nobody answers")
    assert "It goes on." in talk.tell("cancel", "")
    talk.tell("cancel because it was a test", "yes")
    assert talk.desk.steered == [
        ("retry", "3", ""), ("skip", "3", "nobody answers"), ("cancel", "", "it was a test"),
    ]  # fmt: skip


@pytest.mark.req("V28")
def test_handing_over_asks_only_what_is_new() -> None:
    talk = Talk(MemoryDesk(durable=()))
    talk.tell("kyc-case", "Nordlys", "", "yes", "run", "y")
    said = talk.tell("handoff")
    assert "client: Nordlys Capital A/S (from the runbook before)" in said
    assert "Which products?" in said
    assert "Which client?" not in said
    talk.tell("custody and lending")
    assert talk.sentences()[0] == "Open an onboarding request for Nordlys Capital A/S"
    assert "copied from the runbook before" in talk.tell("why 1")
    assert talk.session.draft.handoff is not None
    assert talk.session.draft.handoff.runbook == "rb-1"


@pytest.mark.req("V28")
def test_one_may_leave_in_the_middle_of_a_question_and_come_back() -> None:
    desk = MemoryDesk()
    talk = Talk(desk)
    talk.tell("kyc-case", "Nordlys")
    assert "perdure repl --resume rb-1" in talk.tell("quit")
    assert "Open runbooks" in Talk(desk).greeting
    back = Talk(desk, resume="rb-1")
    assert "New client, periodic review or event driven?" in back.greeting
    back.tell("", "yes", "run", "y")
    again = Talk(desk)
    assert "2 of 3 steps complete" in again.tell("resume 1")
    assert again.session.mode == "executing"
    assert "It runs already" in again.tell("run")


def test_what_a_pack_must_know_beforehand_is_asked_first_and_marked_as_context() -> None:
    text = BOOK.replace("allowed_verbs:", "required_context: [region]\nallowed_verbs:", 1)
    text = text.replace('desk: "{answers.desk}"', 'desk: "{context.region} {answers.desk}"')
    talk = Talk(known=Knowledge(catalogue(), Shelf([load_pack_text(text)])))
    assert "What is the region?" in talk.tell("book-setup")
    assert "What is the book called?" in talk.tell("Nordic")
    talk.tell("ALPHA", "", "")
    assert "Give the book to the Nordic rates desk" in talk.sentences()
    assert "known from the context" in talk.tell("why 3")


def test_a_gate_of_a_template_is_told_in_the_playback() -> None:
    text = BOOK.replace("{verb: book.assign-desk,", "{verb: book.assign-desk, execution_mode: human_gate, gate: heads,")
    talk = Talk(known=Knowledge(catalogue(), Shelf([load_pack_text(text)])))
    assert "needs the agreement of heads" in talk.tell("book-setup name=A currency=EUR desk=rates")


def test_an_unknown_runbook_is_told() -> None:
    assert "there is none" in Talk(resume="rb-9").greeting


def test_options_help_status_packs_and_verbs_say_what_there_is() -> None:
    talk = Talk()
    assert "book-setup" in talk.tell("packs")
    assert "book-setup" in talk.tell("options")
    assert "run the plan" in talk.tell("help")
    assert "Nothing is planned yet" in talk.tell("status")
    assert "ubo.discover" in talk.tell("verbs owners")
    talk.tell("kyc-case", "Nordlys")
    assert "periodic-review" in talk.tell("options")
    assert "still to be answered: case type" in talk.tell("status")
    assert "I do not know what that means" in Talk().tell("frobnicate the gizmo")
    assert "Nothing has been run yet." in talk.tell("events")
    assert "Nothing needs a person." in talk.tell("incidents")
    assert "Nothing runs that it concerns." in talk.tell("impact")
    assert "gone from review.bpmn" in talk.tell("impact of review.bpmn")
    assert "this store" in talk.tell("engines")
    assert "No dead letters." in talk.tell("dead letters")


def test_the_dry_run_tells_order_waits_and_tier() -> None:
    talk = Talk()
    talk.tell("kyc-case", "Nordlys", "", "yes")
    said = talk.tell("dry run")
    assert "discover, case" in said
    assert "May wait at document" in said
    assert "Tier: requires confirmation" in said


@pytest.mark.parametrize(
    ("before", "text", "offered"),
    [
        ([], "ky", ["kyc-case", "kyc.open-case", "kyc.approve"]),
        ([], "re", ["redo", "reset", "readiness"]),
        (["kyc-case", "Nordlys"], "per", ["periodic-review"]),
        (["kyc-case", "Nordlys", ""], "edit 2 ", ["client", "case-type", "priority"]),
        ([], "(kyc.op", ["kyc.open-case"]),
        ([], "(kyc.open-case :ca", [":case-type"]),
        ([], "switch bo", ["book-setup"]),
    ],
)
def test_the_next_word_is_completed(before: list[str], text: str, offered: list[str]) -> None:
    talk = Talk()
    talk.tell(*before)
    found = [word for word, _ in complete(talk.session, text, talk.knowledge)]
    assert set(offered) - {"reset"} <= set(found)


def test_everything_fits_in_eighty_columns() -> None:
    talk = Talk()
    said = [talk.greeting]
    for line in (
        "help",
        "kyc-case",
        "Allianz",
        "2",
        "new client",
        "why",
        "dry run",
        "yes",
        "run",
        "y",
        "status",
        "tasks",
    ):
        said.append(talk.tell(line))
    assert max(len(line) for text in said for line in text.splitlines()) <= 80
