"""The summary of a document: a few sentences for whoever reads only its first page."""

from __future__ import annotations

from perdure.app.compliance_export.call_report import CallReport
from perdure.app.compliance_export.child_instances import Child
from perdure.app.compliance_export.document import Act, Chain, IncidentTold, ProcessTold, StepTold, Summary
from perdure.app.compliance_export.instance_report import InstanceReport
from perdure.runbooks.executor.recovery import PLATFORM
from perdure.sources import iso

MAX_SENTENCES = 100


def summary_of(
    root: CallReport | InstanceReport,
    steps: list[StepTold],
    processes: list[ProcessTold],
    chains: list[Chain],
    incidents: list[IncidentTold],
    people: list[Act],
    missing: list[Child],
) -> Summary:
    """Who asked for what, when, and what came of it."""
    state = root.chronicle.state
    own = [step for step in steps if step.of == root.chronicle.id]
    alone = f"Run the process {state.process}" if isinstance(root, InstanceReport) else "A draft without steps"
    sentences = [step.sentence for step in own[:MAX_SENTENCES]] or [alone]
    started, ended = iso(state.started_at), iso(state.ended_at or None)
    asked = f"{state.principal} asked for this at {started}."
    told = [
        asked,
        f"It {_outcome(state.status)}{f' at {ended}' if ended else ''}.",
        *_failures(own),
        f"It took {_counted(len(steps), 'step')} and {_counted(len(processes), 'process', 'processes')}.",
        _people(people),
        _stuck(incidents),
        *([f"More is on its way: {_counted(len(missing), 'part')} had not begun."] if missing else []),
        _integrity(chains),
    ]  # fmt: skip
    return Summary(
        sentences=sentences, principal=state.principal, started_at=started, ended_at=ended, state=state.status,
        told=told,
    )  # fmt: skip


def _outcome(status: str) -> str:
    return {"completed": "was completed", "failed": "failed", "cancelled": "was cancelled"}.get(
        status, f"is {status.replace('_', ' ')}"
    )


def _failures(steps: list[StepTold]) -> list[str]:
    return [f"Step {step.number} failed: {step.error}." for step in steps[:MAX_SENTENCES] if step.error]


def _people(people: list[Act]) -> str:
    names = sorted({act.who for act in people} - {"", PLATFORM})
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} others" if len(names) > 20 else "")
    return f"People who had a hand in it: {shown}." if names else "Nobody had a hand in it besides who asked."


def _stuck(incidents: list[IncidentTold]) -> str:
    still = sum(not each.how for each in incidents)
    if not incidents:
        return "Nothing was stuck."
    return f"{_counted(len(incidents), 'incident')} came up, {still} of them not resolved."


def _integrity(chains: list[Chain]) -> str:
    records = sum(len(chain.records) for chain in chains)
    sealed = sum(max((seal.sequence for seal in chain.seals), default=0) for chain in chains)
    return f"{_counted(records, 'journal record')} stand behind this document, {sealed} of them under a signed seal."


def _counted(number: int, thing: str, things: str = "") -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
