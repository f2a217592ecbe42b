"""Runs of a runbook: readiness, tier, confirmation, progress, and the people it waits for."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.calls.views import WaitingFor
from perdure.app.override_views import override_text
from perdure.app.runbooks.views import RunbookView, StepView
from perdure.errors import ProgramError
from perdure.packs.questions import NO, YES
from perdure.runbooks.drafts.compilation import compile_draft
from perdure.runbooks.drafts.draft import Change, Confirmation, confirm, number_in
from perdure.runbooks.language.dry_run import dry_run
from perdure.runbooks.plan import Plan
from perdure.surfaces.repl.answer_parser import options_in, read_value
from perdure.surfaces.repl.argument_questions import play_back
from perdure.surfaces.repl.conversation_messages import (
    AnswerTask,
    ClaimTask,
    Follow,
    ListTasks,
    Playback,
    Rows,
    Sentence,
    Start,
    TaskSeen,
)
from perdure.surfaces.repl.conversation_state import AskCancel, AskRun, AskTask
from perdure.surfaces.repl.explanations import report_of, show_readiness, signals, tier_of
from perdure.surfaces.repl.turn import TurnBuilder, in_order, playback

MAX_MISMATCHES = 3
AGREEMENTS = ("agree", "approved", "approve", "accepted")
"""What the field of a form is called in which somebody agrees."""
REASONS = ("comment", "reason")
"""What the field of a form is called in which somebody says why."""
SIGNS = {"completed": "✓", "failed": "✗", "parked": "…", "skipped": "-", "cancelled": "✗"}


def run(turn: TurnBuilder) -> None:
    """Check, show what the tier asks for, and start or ask."""
    if turn.session.run is not None and not turn.session.run.is_ended:
        turn.say("It runs already. 'watch' follows it, 'status' shows it.", "warning")
        return
    pack = turn.pack
    if pack is not None and not pack.risk_policy.require_confirm_before_execute and turn.draft.entries:
        turn.kept(confirm(turn.draft))
    report = report_of(turn)
    if report.issues and all(issue.code == "not_confirmed" for issue in report.issues):
        turn.say("It has to be confirmed first.", "warning")
        play_back(turn)
        return
    if not report.is_ready:
        show_readiness(turn)
        turn.settle()
        return
    plan = compiled(turn)
    if plan is not None:
        _by_tier(turn, plan)


def _by_tier(turn: TurnBuilder, plan: Plan) -> None:
    composed = tier_of(turn)
    count = len(plan.steps)
    steps = "1 step" if count == 1 else f"{count} steps"
    match composed.tier:
        case "benign":
            start(turn, plan)
        case "reviewable":
            preview(turn, plan)
            start(turn, plan)
        case "requires_confirmation":
            preview(turn, plan)
            turn.say(f"It asks because {composed.reason}.", "warning")
            turn.ask(AskRun(plan, composed.tier), "playback", f"Run {steps}?", (), "no")
        case "requires_authorisation":
            preview(turn, plan)
            phrase = f"authorise {steps}"
            turn.say(f"It needs your authorisation because {composed.reason}.", "warning")
            turn.ask(AskRun(plan, composed.tier, phrase), "playback", f"Type '{phrase}' to run it.")


def give_run(turn: TurnBuilder, asked: AskRun, text: str) -> None:
    """Yes or no, no by default; or the phrase, three times wrong at most."""
    said = text.strip()
    if not asked.phrase:
        if said.lower() in YES:
            start(turn, asked.plan, "yes")
        else:
            turn.say("Nothing was run.", "warning")
            turn.settle()
        return
    if said == asked.phrase:
        start(turn, asked.plan, said)
        return
    mismatches = asked.mismatches + 1
    if mismatches >= MAX_MISMATCHES or said.lower() in NO | {"cancel", "abort"}:
        turn.say("Nothing was run.", "bad")
        turn.settle()
        return
    left = MAX_MISMATCHES - mismatches
    turn.say(f"That is not the phrase ({left} more {'try' if left == 1 else 'tries'}).", "warning")
    again = msgspec.structs.replace(asked, mismatches=mismatches)
    turn.ask(again, "playback", f"Type '{asked.phrase}' to run it.")


def start(turn: TurnBuilder, plan: Plan, confirmation: str = "") -> None:
    composed = tier_of(turn)
    rules = tuple(fired.rule for fired in composed.fired)
    agreed = Confirmation(composed.tier, composed.reason, confirmation, rules)
    said = f"Running was agreed to ({composed.tier.replace('_', ' ')})"
    turn.kept(Change(msgspec.structs.replace(turn.draft, confirmation=agreed), said))
    turn.put(asked=None, mode="executing")
    turn.say(f"Running {len(plan.steps)} step{'s' if len(plan.steps) != 1 else ''} …", "quiet")
    turn.wish(Start(plan))
    turn.wish(Follow())


def preview(turn: TurnBuilder, plan: Plan) -> None:
    """The sentences and, in one line each, what they come to."""
    turn.show(playback(msgspec.structs.replace(turn.draft, entries=turn.draft.active())))
    told = dry_run(plan, turn.catalogue)
    turn.say(f"Order: {' → '.join(', '.join(wave) for wave in told.waves)}", "quiet")


def show_dry_run(turn: TurnBuilder) -> None:
    """Order, what runs together, what is written and locked, where it may wait, how grave it is."""
    plan = compiled(turn)
    if plan is None:
        return
    told = dry_run(plan, turn.catalogue)
    composed = tier_of(turn)
    rows = [(str(number), ", ".join(wave)) for number, wave in enumerate(told.waves, 1)]
    turn.show(Rows("Dry run", ("wave", "steps that run together"), tuple(rows)))
    if told.locks:
        turn.say(f"Writes, and locks in this order: {', '.join(told.locks)}.")
    for step, reason in told.parks.items():
        turn.say(f"May wait at {step}: {reason}.")
    for remark in told.remarks:
        turn.say(remark, "quiet")
    turn.say(f"Tier: {composed.tier.replace('_', ' ')}, because {composed.reason}.")


def compiled(turn: TurnBuilder) -> Plan | None:
    """The plan of the draft; faults are told."""
    try:
        return compile_draft(turn.draft, turn.catalogue)
    except ProgramError as error:
        for problem in error.problems:
            entries = turn.draft.active()
            name = entries[problem.line - 1].name if 1 <= problem.line <= len(entries) else ""
            turn.say(f"{name}: {problem.reason}. {problem.hint}".strip(" :"), "bad")
        return None


# --- how it goes ------------------------------------------------------------------------------------------------------


def moved(turn: TurnBuilder, run: RunbookView) -> None:
    """One line for each step that came further."""
    before = {step.name: step.state for step in turn.session.run.steps} if turn.session.run is not None else {}
    for step in run.steps:
        if step.state != before.get(step.name) and step.state in SIGNS:
            tone: Any = {"completed": "good", "failed": "bad"}.get(step.state, "quiet")
            turn.say(_line(step, run.id), tone)
    turn.put(run=run)


def rested(turn: TurnBuilder, run: RunbookView, tasks: tuple[TaskSeen, ...]) -> None:
    moved(turn, run)
    turn.put(asked=None, mode="executing", tasks=tasks)
    tone: Any = {"completed": "good", "failed": "bad"}.get(run.state, "warning")
    turn.say(run.progress or run.state, tone)
    signals(turn)
    if run.state == "failed":
        failed = next((step for step in run.steps if step.state == "failed"), None)
        if failed is not None:
            turn.say(f"'retry {failed.number}' tries it again, 'skip {failed.number}' goes on without it.", "quiet")
    if tasks:
        show_tasks(turn)
    pack = turn.pack
    if run.state == "completed" and pack is not None and pack.handoff_target:
        turn.say(f"'handoff' goes on with {pack.handoff_target}; 'new' begins something else.", "quiet")
    elif not run.is_ended:
        turn.say("You may leave and come back; 'watch' follows it.", "quiet")


def show_run(turn: TurnBuilder, run: RunbookView) -> None:
    """The run in sentences with what became of each."""
    turn.put(run=run)
    pack = turn.pack
    chapters: dict[str, list[Sentence]] = {}
    for step in run.steps:
        section = step.section or (pack.section_of(step.verb) if pack is not None else "")
        chapters.setdefault(section, []).append(Sentence(step.number, step.sentence, step.state, _note(step, run.id)))
    title = f"Runbook {run.id}: {run.state}"
    turn.show(Playback(title, in_order({each: tuple(said) for each, said in chapters.items()})))
    for override in run.overrides:
        turn.say(f"Override {override.number}, {override.state}: {override_text(override)}.", "warning")
    if run.progress:
        turn.say(run.progress)
    signals(turn)


def _line(step: StepView, runbook: str) -> str:
    note = _note(step, runbook)
    return f"{SIGNS[step.state]} {step.number}. {step.sentence}" + (f": {note}" if note else "")


def _note(step: StepView, runbook: str) -> str:
    """Why a step failed or what it waits for; else its state where that says more than its sign."""
    note = ""
    if step.error is not None:
        note = f"{step.error.code}: {step.error.message}"
    elif step.state == "running":
        note = step.progress
    elif step.state in ("parked", "pending") and step.waiting_for is not None:
        note = _wait(step, step.waiting_for, runbook)
    return note or ("" if step.state in ("completed", "pending", "ready", "running") else step.state)


def _wait(step: StepView, waiting: WaitingFor, runbook: str) -> str:
    match waiting.kind:
        case "gate":
            return f"waits for {waiting.verb} to agree"
        case "incident":
            return f"stuck: {waiting.text or waiting.code}"
        case "process":
            return step.progress
        case _:
            is_own = not waiting.key or waiting.key.startswith(runbook)
            return step.progress or ("waits for an answer" if is_own else f"waits under the key {waiting.key}")


def give_cancel(turn: TurnBuilder, asked: AskCancel, text: str) -> bool:
    """Whether to stop; no by default."""
    turn.settle()
    if text.strip().lower() in YES:
        return True
    turn.say("It goes on.", "quiet")
    return False


# --- people -----------------------------------------------------------------------------------------------------------


def show_tasks(turn: TurnBuilder) -> None:
    rows = tuple(
        (str(number), task.title, task.who or task.groups or "anyone", task.state, task.due)
        for number, task in enumerate(turn.session.tasks, 1)
    )
    columns = ("", "task", "for", "state", "due")
    turn.show(Rows("Waiting for people", columns, rows, "Nothing waits for a person."))
    for number, task in enumerate(turn.session.tasks, 1):
        if task.link:
            turn.say(f"{number} in the task list: {task.link}", "quiet")
    if rows:
        decides = next((number for number, task in enumerate(turn.session.tasks, 1) if agreement_of(task)), 0)
        rest = f", 'approve {decides}' and 'reject {decides}' decide" if decides else ""
        turn.say(f"'claim 1' takes one, 'answer 1' answers it{rest}.", "quiet")


def task_named(turn: TurnBuilder, word: str) -> TaskSeen | None:
    """By its number in the list or by its key; the only one when nothing is said."""
    tasks = turn.session.tasks
    if 1 <= (number := number_in(word)) <= len(tasks):
        return tasks[number - 1]
    found = [task for task in tasks if task.key == word] if word else list(tasks)
    if len(found) == 1:
        return found[0]
    turn.say("Which task? Say its number." if tasks else "No task is listed. Say 'tasks' first.", "warning")
    if not tasks:
        turn.wish(ListTasks())
    return None


def claim(turn: TurnBuilder, word: str) -> None:
    task = task_named(turn, word)
    if task is not None and (task.state == "waiting" or task.is_gate):
        turn.say("Nobody has to take it: whoever may, answers it.", "quiet")
    elif task is not None:
        turn.wish(ClaimTask(task.key))


def answer(turn: TurnBuilder, word: str, data: str) -> None:
    """With JSON at once, else field by field."""
    task = task_named(turn, word)
    if task is None:
        return
    if data:
        found = read_value(data, {"type": "object"})
        if found.fault:
            turn.say(f"{found.fault}.", "warning")
        else:
            turn.wish(AnswerTask(task.key, found.value, task.seen))
        return
    for name, value in task.known.items():
        told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        turn.say(f"{name.replace('_', ' ').capitalize()}: {told}", "quiet")
    _next_field(turn, AskTask(task, "", {}))


def give_task(turn: TurnBuilder, asked: AskTask, text: str) -> None:
    schema = _fields(asked.task).get(asked.field, {})
    required = asked.field in asked.task.form.get("required", ())
    if not text.strip() and not required:
        _next_field(turn, msgspec.structs.replace(asked, data={**asked.data, asked.field: None}))
        return
    found = read_value(text, schema, asked.task.form.get("$defs"))
    if found.fault or not text.strip():
        turn.say(f"{found.fault or 'it is required'}. {found.hint}".strip(), "warning")
        _ask_task(turn, asked)
        return
    _next_field(turn, msgspec.structs.replace(asked, data={**asked.data, asked.field: found.value}))


def decide(turn: TurnBuilder, word: str, is_approved: bool, reason: str) -> None:
    """Agree or disagree: at a gate, or where a decision asks for that and nothing else."""
    task = task_named(turn, word)
    if task is None:
        return
    agreement = agreement_of(task)
    if not agreement:
        number = turn.session.tasks.index(task) + 1
        turn.say(f"It asks for more than yes or no. 'answer {number}' answers it.", "warning")
        return
    reasons = [name for name in REASONS if name in _fields(task)]
    if reason and not reasons:
        turn.say("It does not ask for a reason; that is left out.", "quiet")
    because = {reasons[0]: reason} if reason and reasons else {}
    turn.wish(AnswerTask(task.key, {agreement: is_approved, **because}, task.seen))


def agreement_of(task: TaskSeen) -> str:
    """The field in which somebody agrees; empty where a task is neither a gate nor a decision."""
    if task.state == "waiting" and not task.is_decision:
        return ""
    fields = _fields(task)
    asked = [name for name, schema in fields.items() if isinstance(schema, dict) and schema.get("type") == "boolean"]
    found = next((name for name in AGREEMENTS if name in asked), "")
    return found if set(task.form.get("required", ())) <= {found, *REASONS} else ""


def _next_field(turn: TurnBuilder, asked: AskTask) -> None:
    left = [name for name in _fields(asked.task) if name not in asked.data]
    if left:
        _ask_task(turn, msgspec.structs.replace(asked, field=left[0]))
        return
    turn.settle()
    data = {name: value for name, value in asked.data.items() if value is not None}
    turn.wish(AnswerTask(asked.task.key, data, asked.task.seen))


def _ask_task(turn: TurnBuilder, asked: AskTask) -> None:
    schema = _fields(asked.task).get(asked.field, {})
    told = schema.get("description") or schema.get("title") or asked.field.replace("_", " ").capitalize()
    turn.ask(asked, "clarifying", f"{told}?" if not str(told).endswith("?") else str(told), options_in(schema))


def _fields(task: TaskSeen) -> dict[str, Any]:
    found = task.form.get("properties", {})
    return found if isinstance(found, dict) else {}
