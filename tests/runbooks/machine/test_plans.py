"""The machine of plans: what runs when, what never runs, and how it ends."""

from __future__ import annotations

import pytest

from perdure.errors import Rejection
from perdure.journal import Origin
from perdure.journal.facts import FACT_CHANGED
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.dag_progress import base_of
from perdure.runbooks.machine.runbook_machine import LOCK, PROCESS_OVER
from perdure.runbooks.machine.state import Failure, Pin
from tests.runbooks.machine.replayed_runbook import ID, TWICE, WORKER, Board, choice, hash_of, pin, step

BOB = Origin("default", "bob", groups=("treasury",))


def refused(answer: str | Rejection) -> Rejection:
    assert isinstance(answer, Rejection)
    return answer


# --- order ---------------------------------------------------------------------------------------------------------


def test_steps_that_hang_on_nothing_are_ready_together_and_a_join_waits_for_all() -> None:
    board = Board(step("a"), step("b"), step("c", needs=(1, 2)))
    assert (board.of("ready"), board.of("pending"), board.status) == (["a", "b"], ["c"], "executing")
    board.launch()
    board.done("b")
    assert board.of("pending") == ["c"]
    board.done("a")
    assert board.of("ready") == ["c"]
    board.runs("c")
    assert board.status == "completed" and board.fresh_names[-2:] == ["StepCompleted", "RunbookCompleted"]


def test_a_result_and_the_next_intent_are_one_record() -> None:
    board = Board(step("a"), step("b", needs=(1,)))
    board.launch("a")
    board.done("a", launches=(c.Launch(2, hash_of("in")),))
    assert board.fresh_names == ["StepCompleted", "StepReady", "StepBegun", "AttemptStarted"]
    assert board.states == {"a": "completed", "b": "running"}


def test_launching_what_is_not_ready_does_nothing() -> None:
    board = Board(step("a"), step("b", needs=(1,)))
    assert board.launch("b") == "gone" and board.fresh == []
    board.launch("a")
    assert board.launch("a") == "gone"


def test_a_runbook_of_nothing_and_one_that_goes_in_circles_are_refused() -> None:
    board = Board()
    start = c.StartRunbook(hash_of("plan"), hash_of("document"), ())
    assert refused(board.ask(start)).fact == "it has no steps"
    steps = (step("a", needs=(2,)), step("b", after=(1,)), step("c"))
    circle = refused(board.ask(c.StartRunbook(hash_of("plan"), hash_of("document"), steps)))
    assert circle.fact == "steps wait for one another in a circle: 'a', 'b'"


def test_starting_twice_is_starting_once() -> None:
    board = Board(step("a"))
    again = c.StartRunbook(hash_of("plan"), hash_of("document"), (step("a"),))
    assert board.ask(again) == "replayed" and len(board.runbook.steps) == 1


# --- choices -------------------------------------------------------------------------------------------------------


def test_the_side_not_taken_is_skipped_with_what_needs_it_and_what_comes_after_goes_on() -> None:
    board = Board(
        step("a"), choice("if", 1), step("yes", sides=((2, True),)), step("no", sides=((2, False),)),
        step("uses no", needs=(4,)), step("end", after=(3, 4)),
    )  # fmt: skip
    board.runs("a")
    board.choose("if", True)
    assert (board.of("ready"), board.of("skipped")) == (["yes"], ["no", "uses no"])
    board.runs("yes")
    assert board.of("ready") == ["end"]
    board.runs("end")
    assert board.status == "completed"


def test_a_choice_that_is_never_made_skips_both_its_sides() -> None:
    board = Board(
        step("a"), choice("outer", 1), step("b", sides=((2, True),)), choice("inner", 3),
        step("yes", sides=((4, True),)), step("no", sides=((4, False),)),
    )  # fmt: skip
    board.runs("a")
    board.choose("outer", False)
    assert board.of("skipped") == ["b", "inner", "yes", "no"]
    assert board.status == "completed"


@pytest.mark.parametrize("side", [True, False])
def test_a_name_bound_on_both_sides_is_there_whichever_was_taken(side: bool) -> None:
    board = Board(
        step("a"), choice("if", 1), step("x", sides=((2, True),)), step("x'", sides=((2, False),)),
        step("use", either=((3, 4),)),
    )  # fmt: skip
    board.runs("a")
    board.choose("if", side)
    board.runs("x" if side else "x'")
    assert board.of("ready") == ["use"]


def test_a_name_of_which_no_binding_came_to_anything_skips_its_use() -> None:
    board = Board(
        step("a"), choice("if", 1), step("x", sides=((2, True),)), step("x'", sides=((2, False),)),
        step("use", either=((3, 4),)),
    )  # fmt: skip
    board.runs("a")
    board.choose("if", True)
    board.ask(c.SkipStep(3, "not needed"))
    assert board.states["use"] == "skipped" and board.status == "completed"


# --- failures ------------------------------------------------------------------------------------------------------


def test_stop_begins_nothing_new_and_the_runbook_failed_when_the_last_running_step_ended() -> None:
    board = Board(step("a"), step("b"), step("c"), step("after b", needs=(2,)))
    board.launch("a", "b")
    board.fails("a")
    assert (board.of("pending"), board.status) == (["c", "after b"], "executing")
    board.done("b")
    assert board.status == "failed" and board.of("pending") == ["c", "after b"]
    assert board.machine.rows(ID, board.runbook).jobs == ()


def test_a_stopped_runbook_stays_parked_while_one_of_its_steps_waits() -> None:
    board = Board(step("a"), step("b"), step("c", needs=(2,)))
    board.park("b")
    board.launch("a")
    board.fails("a")
    assert board.status == "parked"
    board.completes("b")
    assert board.status == "failed" and board.states["c"] == "pending"


def test_retrying_a_failed_step_lets_what_was_held_go_on() -> None:
    board = Board(step("a"), step("b"), step("c", needs=(1, 2)))
    board.launch("a", "b")
    board.fails("a")
    board.done("b")
    assert board.status == "failed"
    board.ask(c.RetryStep(1, "the service is back"))
    assert (board.status, board.of("ready"), board.runbook.ended_at) == ("executing", ["a"], 0)
    board.runs("a")
    board.runs("c")
    assert board.status == "completed"


def test_a_retried_step_has_all_its_attempts_again() -> None:
    board = Board(step("a"))
    board.launch()
    board.fails("a", TWICE, "transient_external")
    assert board.states["a"] == "pending" and board.status == "executing"
    retry_at = board.step("a").retry_at
    board.now = retry_at
    board.ask(c.FireTimer(1, "retry", retry_at, WORKER))
    board.fails("a", TWICE, "transient_external")
    assert board.status == "failed"
    board.ask(c.RetryStep(1))
    board.launch()
    board.fails("a", TWICE, "transient_external")
    assert board.step("a").retry_at != 0 and board.step("a").frame.attempt == 3  # type: ignore[union-attr]


def test_continue_skips_what_needs_the_failed_step_and_goes_on_with_the_rest() -> None:
    board = Board(
        step("a", on_failure="continue"), step("uses", needs=(1,)), step("later", after=(1,)), step("free"),
        step("end", after=(2, 3, 4)),
    )  # fmt: skip
    board.launch("a", "free")
    board.fails("a")
    assert (board.of("skipped"), board.of("ready")) == (["uses"], ["later"])
    board.runs("later")
    board.done("free")
    board.runs("end")
    assert board.status == "completed" and board.states["a"] == "failed"


def test_ask_keeps_the_runbook_parked_until_somebody_decides() -> None:
    board = Board(step("a", on_failure="ask"), step("uses", needs=(1,)), step("free"))
    board.launch("a", "free")
    board.fails("a")
    assert board.status == "executing"
    board.done("free")
    assert board.status == "parked"
    assert [row.code for row in board.machine.rows(ID, board.runbook).incidents] == ["step.failed"]
    board.ask(c.SkipStep(1, "not needed"))
    assert board.states == {"a": "skipped", "uses": "skipped", "free": "completed"}
    assert board.status == "completed"


def test_decide_asks_its_verb_and_alternatives_come_before_dependants_are_skipped() -> None:
    board = Board(step("a", on_failure="decide", alternative=pin("choose")), step("uses", needs=(1,)))
    board.launch()
    board.fails("a")
    assert board.states == {"a": "failed", "uses": "pending", "a/decision": "ready"}
    assert board.step("a/decision").verb == "choose"
    board.launch("a/decision")
    other = c.Change(
        base_of(board.runbook), hash_of("plan 2"), hash_of("document 2"), (step("other"),), reason="plan b"
    )
    board.done("a/decision", change=other)
    assert board.states == {"a": "failed", "uses": "skipped", "a/decision": "completed", "other": "ready"}
    board.runs("other")
    assert board.status == "completed"


def test_a_decision_that_fails_is_left_to_a_person() -> None:
    board = Board(step("a", on_failure="decide", alternative=pin("choose")), step("uses", needs=(1,)))
    board.launch()
    board.fails("a")
    board.launch("a/decision")
    board.fails("a/decision")
    assert board.status == "parked" and board.states["uses"] == "pending"
    board.ask(c.RetryStep(1))
    board.runs("a")
    board.ask(c.SkipStep(3, "settled"))
    board.runs("uses")
    assert board.status == "completed"


def test_a_misfit_of_arguments_is_an_incident_and_the_step_is_resolved_anew_when_retried() -> None:
    board = Board(step("a"), step("b", needs=(1,)))
    board.runs("a")
    board.ask(c.LaunchSteps(WORKER, (c.Launch(2, outcome=c.Misfit("arguments.invalid", "$.x is missing")),)))
    assert (board.states["b"], board.status) == ("parked", "parked")
    board.ask(c.RetryIncident(2, WORKER))
    assert board.of("ready") == ["b"]
    board.runs("b")
    assert board.status == "completed"


# --- people --------------------------------------------------------------------------------------------------------


def test_skipping_needs_a_reason_and_something_that_has_not_run() -> None:
    board = Board(step("a"), step("b", needs=(1,)))
    assert refused(board.ask(c.SkipStep(1, " "))).fact == "no reason was given"
    assert refused(board.ask(c.SkipStep(9, "why not"))).code == "not_found"
    board.launch("a")
    assert refused(board.ask(c.SkipStep(1, "slow"))).fact == "the step is running"
    board.ask(c.SkipStep(2, "not needed"))
    assert board.ask(c.SkipStep(2, "not needed")) == "replayed"
    board.done("a")
    assert board.status == "completed"


def test_cancelling_a_step_discards_its_report_and_skips_what_needs_it() -> None:
    board = Board(step("a"), step("b", needs=(1,)), step("c", after=(1,)))
    board.launch()
    board.ask(c.Cancel("wrong entity", step=1))
    assert board.states == {"a": "cancelled", "b": "skipped", "c": "ready"}
    assert board.done("a") == "discarded" and board.states["a"] == "cancelled"
    board.runs("c")
    assert board.status == "completed"


def test_cancelling_a_runbook_ends_every_step_and_tells_the_processes_that_carry_them() -> None:
    board = Board(step("a"), step("b"), step("c", needs=(1, 2)))
    park = c.Park("b", carrier=Pin("doc", 1, hash_of("doc")))
    board.ask(c.LaunchSteps(WORKER, (c.Launch(2, hash_of("in"), park),)))
    board.launch("a")
    board.done("a")
    board.ask(c.Cancel("withdrawn"))
    assert board.states == {"a": "completed", "b": "cancelled", "c": "cancelled"}
    assert board.status == "cancelled" and board.fresh[-1] == e.CallCancelled(board.now, 1)
    notices = board.machine.notices(ID, board.runbook, tuple(board.fresh))
    assert [each.kind for each in notices] == [PROCESS_OVER, FACT_CHANGED]
    assert board.ask(c.Cancel("withdrawn")) == "replayed"
    assert board.completes("b") == "late"


def test_a_completion_that_comes_before_a_cancellation_wins() -> None:
    board = Board(step("a"))
    board.park("a")
    board.completes("a")
    assert refused(board.ask(c.Cancel("late"))).fact == "it is already completed"


def test_a_step_that_waits_too_long_fails_as_timed_out_or_is_escalated() -> None:
    board = Board(step("a"), step("b"))
    board.park("a")
    board.ask(c.LaunchSteps(WORKER, (c.Launch(2, hash_of("in"), c.Park("b", "", 60.0, "senior")),)))
    for number in (1, 2):
        due = board.runbook.steps[number - 1].tokens[0].due
        board.now = max(board.now, due)
        board.ask(c.FireTimer(number, "timeout", due))
    assert board.step("a").error.code == "timed_out"  # type: ignore[union-attr]
    assert board.status == "escalated"
    board.completes("b")
    assert board.status == "failed"


# --- gates ---------------------------------------------------------------------------------------------------------


def test_a_gate_opens_for_someone_of_the_group_who_did_not_ask() -> None:
    board = Board(step("a"), step("pay", needs=(1,), gate="treasury"))
    board.runs("a")
    assert (board.states["pay"], board.status) == ("parked", "parked")
    assert [(row.kind, row.name) for row in board.machine.rows(ID, board.runbook).parked] == [("task", "treasury")]
    answer = c.AnswerGate(2, True)
    assert refused(board.ask(answer)).fact == "'ada' asked for the runbook"
    stranger = refused(board.ask(c.AnswerGate(2, True), Origin("default", "bob", groups=("sales",))))
    assert (stranger.code, stranger.fact) == ("forbidden", "'bob' is not in the group 'treasury'")
    board.ask(answer, BOB)
    assert board.of("ready") == ["pay"]
    assert refused(board.ask(answer, BOB)).code == "wrong_state"


def test_a_refused_gate_fails_the_step_and_a_retry_asks_again() -> None:
    board = Board(step("pay", gate="treasury"))
    board.ask(c.AnswerGate(1, False, "too much"), BOB)
    assert board.step("pay").error == Failure("permanent_business", "gate.refused", "'bob' refused: too much")
    assert board.status == "failed"
    board.ask(c.RetryStep(1))
    assert board.states["pay"] == "parked" and board.step("pay").links.gated_at == board.now  # type: ignore[union-attr]


# --- decisions -----------------------------------------------------------------------------------------------------


def test_a_decision_adds_and_skips_in_the_record_of_its_result() -> None:
    board = Board(step("a"), step("decide", needs=(1,)), step("edd", after=(2,)), step("file", after=(2,)))
    board.runs("a")
    board.launch("decide")
    change = c.Change(
        base_of(board.runbook), hash_of("plan 2"), hash_of("document 2"), (step("extra", needs=(1,)),), (3,),
        reason="a PEP", confidence=0.9,
    )  # fmt: skip
    board.done("decide", change=change)
    assert board.fresh_names == ["StepCompleted", "DecisionMade", "StepsAdded", "StepSkipped", "StepReady", "StepReady"]
    assert (board.of("skipped"), board.of("ready")) == (["edd"], ["file", "extra"])
    assert board.course.plan == hash_of("plan 2")


def test_a_decision_about_an_older_plan_is_refused_and_changes_nothing() -> None:
    board = Board(step("decide"))
    board.launch()
    change = c.Change(hash_of("another"), hash_of("plan 2"), hash_of("document 2"), (step("extra"),))
    assert refused(board.done("decide", change=change)).code == "wrong_state"
    assert board.states == {"decide": "running"}


def test_a_decision_may_say_that_it_was_the_last_step() -> None:
    board = Board(step("decide"), step("b", after=(1,)), step("c"), is_sealed=False)
    board.launch("decide", "c")
    board.done("decide", change=c.Change(is_last=True, reason="nothing to do"))
    assert (board.states, board.status) == ({"decide": "completed", "b": "skipped", "c": "running"}, "executing")
    board.done("c")
    assert board.status == "completed"


def test_where_every_resume_is_a_decision_what_follows_waits_for_it() -> None:
    board = Board(step("wait"), step("next", needs=(1,)), decider=pin("think"))
    board.park("wait")
    board.completes("wait")
    assert board.states == {"wait": "completed", "next": "pending", "wait/resumed": "ready"}
    board.launch("wait/resumed")
    board.done("wait/resumed", change=c.Change(skips=(2,), reason="not any more"))
    assert board.states["next"] == "skipped" and board.status == "completed"


# --- growing -------------------------------------------------------------------------------------------------------


def extension(board: Board, *steps: e.Added, edges: tuple[tuple[int, int], ...] = ()) -> c.ExtendPlan:
    count = len(board.runbook.steps)
    return c.ExtendPlan(base_of(board.runbook), hash_of(f"plan {count}"), hash_of(f"document {count}"), steps, edges)


def test_extending_leaves_what_was_there_unchanged_and_hangs_on_it() -> None:
    board = Board(step("a"), step("b", needs=(1,)))
    board.runs("a")
    before = board.runbook.steps
    board.ask(extension(board, step("c", needs=(1,)), step("d", needs=(2, 3))))
    assert board.states == {"a": "completed", "b": "ready", "c": "ready", "d": "pending"}
    assert [each.verb for each in board.runbook.steps[:2]] == [each.verb for each in before]
    assert [each.first for each in board.course.fragments] == [1, 3]


def test_a_step_added_behind_a_skipped_one_is_skipped() -> None:
    board = Board(step("a"), step("b"))
    board.ask(c.SkipStep(1, "not needed"))
    board.ask(extension(board, step("c", needs=(1,)), step("d", after=(1,)), step("e", needs=(3,))))
    assert board.states == {"a": "skipped", "b": "ready", "c": "skipped", "d": "ready", "e": "skipped"}


def test_a_step_that_has_not_begun_may_come_after_a_new_one_and_circles_are_refused() -> None:
    board = Board(step("a"), step("b", needs=(1,)), step("c", needs=(2,)))
    board.launch()
    assert board.ask(extension(board, step("check"), edges=((2, 4),))) == "applied"
    board.done("a")
    assert board.states["b"] == "pending" and board.step("b").links.unmet == 1  # type: ignore[union-attr]
    circle = refused(board.ask(extension(board, step("x", needs=(3,)), edges=((2, 5),))))
    assert circle.fact == "steps wait for one another in a circle: 'b', 'c', 'x'"
    begun = refused(board.ask(extension(board, step("x"), edges=((1, 5),))))
    assert begun.fact == "step 'a' is completed and cannot come after another any more"
    board.runs("check")
    assert board.of("ready") == ["b"]


def test_two_extensions_of_the_same_plan_are_one_and_a_refusal() -> None:
    board = Board(step("a"))
    first, second = extension(board, step("b")), extension(board, step("c"))
    board.ask(first)
    assert refused(board.ask(second)).fact == "its plan has changed meanwhile"


def test_a_runbook_that_is_not_sealed_never_completes() -> None:
    board = Board(is_sealed=False)
    assert board.status == "parked"
    board.ask(extension(board, step("a")))
    board.runs("a")
    assert board.status == "parked"
    board.ask(c.SealRunbook())
    assert board.status == "completed" and board.ask(c.SealRunbook()) == "replayed"
    assert refused(board.ask(extension(board, step("b")))).code == "wrong_state"


# --- taking back ---------------------------------------------------------------------------------------------------


def test_compensation_takes_back_completed_steps_once_in_reverse_order_of_completion() -> None:
    board = Board(
        step("a", compensate=pin("undo a")), step("b", compensate=pin("undo b")), step("c"),
        step("d", needs=(1, 2, 3), compensate=pin("undo d")),
    )  # fmt: skip
    board.launch()
    for name in ("b", "c", "a"):
        board.done(name)
    board.ask(c.Cancel("withdrawn", compensates=True))
    assert (board.status, board.of("ready")) == ("executing", ["a/undo"])
    board.runs("a/undo")
    assert board.of("ready") == ["b/undo"]
    board.runs("b/undo")
    assert board.status == "cancelled" and board.fresh[-1] == e.CompensationEnded(board.now, "cancelled")
    assert board.ask(c.Compensate()) == "replayed"


def test_a_compensation_that_fails_lets_the_others_run_and_can_be_retried() -> None:
    board = Board(step("a", compensate=pin("undo")), step("b", compensate=pin("undo"), needs=(1,)))
    board.runs("a")
    board.runs("b")
    assert board.status == "completed"
    board.ask(c.Compensate("a mistake"))
    board.launch("b/undo")
    board.fails("b/undo")
    board.runs("a/undo")
    assert board.status == "failed" and board.fresh[-1] == e.CompensationEnded(board.now, "failed", 1)
    board.ask(c.RetryStep(3))
    board.runs("b/undo")
    assert board.status == "cancelled"


def test_a_running_runbook_is_not_compensated_before_it_is_cancelled() -> None:
    board = Board(step("a"))
    assert refused(board.ask(c.Compensate())).hint == "Cancel it with --compensate."
    board.ask(c.Cancel())
    board.ask(c.Compensate())
    assert board.status == "cancelled"


# --- locks ---------------------------------------------------------------------------------------------------------


def test_a_lock_is_held_while_its_step_runs_and_kept_from_others_of_the_same_runbook() -> None:
    board = Board(step("a"), step("b"))
    board.launch("a", locks=("case/7",))
    assert board.launch("b", locks=("case/7", "case/8")) == "gone"
    rows = board.machine.rows(ID, board.runbook).parked
    assert [(row.kind, row.key, row.step) for row in rows] == [(LOCK, "case/7", 1)]
    board.done("a")
    assert board.machine.rows(ID, board.runbook).parked == ()
    assert board.launch("b", locks=("case/7", "case/8")) == "leased"
    assert board.course.locks == ("case/7", "case/8")


def test_a_lock_is_kept_between_attempts_and_released_while_parked() -> None:
    board = Board(step("a"), step("b"))
    board.launch("a", locks=("case/7",))
    board.fails("a", TWICE, "transient_external")
    assert board.course.locks == ("case/7",)
    retry_at = board.step("a").retry_at
    board.now = retry_at
    board.ask(c.FireTimer(1, "retry", retry_at, WORKER))
    board.ask(c.RecordAttempt(1, 2, WORKER, c.Park("a")))
    assert (board.states["a"], board.course.locks) == ("parked", ())


# --- drafts --------------------------------------------------------------------------------------------------------


def test_a_draft_is_revised_undone_redone_and_started() -> None:
    board = Board()
    board.ask(c.OpenDraft(hash_of("one"), "case-7"))
    assert board.status == "draft"
    assert refused(board.ask(c.UndoRevision())).fact == "nothing is left to undo"
    board.ask(c.ReviseDraft(hash_of("two"), "a step added"))
    board.ask(c.ReviseDraft(hash_of("three"), "another"))
    board.ask(c.UndoRevision())
    board.ask(c.UndoRevision())
    board.ask(c.RedoRevision())
    draft = board.runbook.draft
    assert draft is not None and draft.revisions[draft.current - 1] == hash_of("two")
    board.ask(c.ReviseDraft(hash_of("four"), "instead"))
    assert refused(board.ask(c.RedoRevision())).fact == "nothing was undone"
    assert refused(board.ask(c.RetryStep(1))).fact == "it is a draft"
    assert refused(board.ask(c.PostProgress(1, "hm"))).code == "wrong_state"
    board.ask(c.StartRunbook(hash_of("plan"), hash_of("document"), (step("a"),)))
    assert (board.status, board.course.case) == ("executing", "case-7")
    assert refused(board.ask(c.ReviseDraft(hash_of("five"), "late"))).fact == "it is executing"


def test_a_draft_can_be_thrown_away() -> None:
    board = Board()
    board.ask(c.OpenDraft(hash_of("one")))
    board.ask(c.Cancel("never mind"))
    assert board.status == "cancelled"
    assert refused(board.ask(c.StartRunbook(hash_of("plan"), hash_of("d"), (step("a"),)))).fact == "it is cancelled"


def test_an_extension_made_before_the_runbook_added_a_step_by_itself_is_made_again() -> None:
    board = Board(step("a", on_failure="decide", alternative=pin("choose")), step("b"))
    late = extension(board, step("c", needs=(2,)), step("d", needs=(3,)))
    board.launch("a")
    board.fails("a")
    assert "a/decision" in board.states
    assert "changed meanwhile" in refused(board.ask(late)).fact
    board.ask(extension(board, step("c", needs=(2,)), step("d", needs=(4,))))
    assert [board.states[name] for name in ("c", "d")] == ["pending", "pending"]
