"""The payload check: what comes with a job is the head of its instance, byte for byte, or one that its token may have.

| the payload | is |
|---|---|
| its bytes do not have the hash beside it | altered |
| its hash is none of the heads that the instance ever had | foreign |
| a head from before the token came there | stale |
| a head since its compensation began, at what undoes | right: Camunda begins all of that at once, we in turn |
| a head since then | right: another branch may have gone on meanwhile |
| the head itself, beside a flag whose value nobody wrote since then | altered in its flags |
"""

from __future__ import annotations

from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import Instance, Node
from perdure.engines.camunda.wire import ActivatedJob
from perdure.engines.embedded.instances.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.payload import digest, digest_text


async def payload_fault(instances: Instances, aggregate: Aggregate, node: Node, job: ActivatedJob) -> str:
    """Why what came with a job is refused; empty when it is right."""
    state: Instance = aggregate.state
    if not job.payload or not job.payload_hash:
        return _fault(job, "lacks its payload or the hash of it")
    written = job.payload.encode("utf-8", "surrogateescape")
    if (actual := digest_text(digest(written))) != job.payload_hash:
        return _fault(job, f"brought a payload that was altered: it says {job.payload_hash} and is {actual}")
    if job.payload_hash == digest_text(state.head):
        changed = [name for name, value in state.flags.items() if job.variables.get(name, value) != value]
        return await _changed_flags(instances, aggregate, node, job, changed) if changed else ""
    origin = Origin(aggregate.tenant)
    entries = [entry for told in await instances.history(aggregate.id, origin) for entry in told.entries]
    heads, since = _lineage(entries, node.number, _compensation(state, node))
    if job.payload_hash not in heads:
        return _fault(job, f"brought a payload that this instance never had: {job.payload_hash}")
    last = len(heads) - 1 - heads[::-1].index(job.payload_hash)
    if last < since:
        return _fault(job, f"brought a payload from before its token came there: {job.payload_hash}")
    return ""


async def _changed_flags(
    instances: Instances, aggregate: Aggregate, node: Node, job: ActivatedJob, changed: list[str]
) -> str:
    """Flags of other values than ours, unless a branch wrote them while the job was on its way."""
    written: set[str] = set()
    for told in await instances.history(aggregate.id, Origin(aggregate.tenant)):
        for entry in told.entries:
            if isinstance(entry, e.JobMade) and entry.number == node.number:
                written.clear()
            elif isinstance(entry, e.FlagsWritten):
                written.update(entry.flags)
    names = [name for name in changed if name not in written]
    return _fault(job, f"brought flags that nobody wrote: {', '.join(names)}") if names else ""


def _compensation(state: Instance, node: Node) -> int:
    """The outermost token that undoes something, which a token stands in; 0 for none."""
    found = 0
    while (around := state.nodes.get(node.parent)) is not None:
        found = around.number if around.undo is not None else found
        node = around
    return found


def _lineage(entries: list[object], number: int, compensation: int) -> tuple[list[str], int]:
    """Every head in its order, and which of them there was when the job of a token was made, or its compensation."""
    heads: list[str] = []
    since, began = 0, -1
    for entry in entries:
        if isinstance(entry, e.InstanceStarted | e.JobCompleted | e.HeadChanged) and entry.head:
            heads.append(digest_text(entry.head))
        elif isinstance(entry, e.JobMade) and entry.number == number:
            since = max(0, len(heads) - 1)
        elif isinstance(entry, e.Undoing) and entry.number == compensation and began < 0:
            began = max(0, len(heads) - 1)
    return heads, since if began < 0 else began


def _fault(job: ActivatedJob, what: str) -> str:
    return (
        f"Camunda's job {job.key} at '{job.element}' {what}. "
        "Put the right variables back in Operate, then `perdure incidents retry`."
    )
