"""Flag writes: the writers that a flag allows, and the merge of concurrent branches."""

from __future__ import annotations

from perdure.bpmn.machine.state import Flags, Job
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.bpmn.model import GIVEN_FLAGS
from perdure.verb_contract import FLAG_NAME, FlagContract

SUB_VERB_COUNT = "orch_sub_verb_count"


def settled(
    game: TokenGame, flags: Flags, writer: str, element: str, job: Job | None = None, *, by_hand: bool = False
) -> tuple[Flags, str]:
    """The values to write after merging, and what forbids it (empty when nothing does)."""
    values: Flags = {}
    for name, value in flags.items():
        fault = _fault(game, name, value, writer, element, by_hand)
        if fault:
            return {}, f"flag '{name}': {fault}"
        merged = _merged(game, name, value, element, job)
        if merged is None:
            other = game.state.written[name][1] or "a person"
            return {}, f"flag '{name}' was written by '{other}' and '{writer}' at once and declares no merge rule"
        values[name] = merged
    return values, ""


def _fault(game: TokenGame, name: str, value: object, writer: str, element: str, by_hand: bool) -> str:
    if name in GIVEN_FLAGS:
        return "it is given by the engine"
    contract = game.plan.contracts.get(name)
    if contract is None:
        return _loose_fault(game, name, value)
    fault = contract.fault(value)
    if fault:
        return fault
    if by_hand or game.plan.deployed.is_loose:
        return ""
    return _writer_fault(game, contract, writer) or _once_fault(game, contract, value, element)


def _loose_fault(game: TokenGame, name: str, value: object) -> str:
    if not game.plan.deployed.is_loose:
        declared = ", ".join(game.plan.contracts) or "none"
        return f"it is not declared (declared: {declared})"
    if not FLAG_NAME.fullmatch(name):
        return "a flag's name begins with orch_"
    return "" if isinstance(value, str | bool | int) else "it is not a text, a number or true or false"


def _writer_fault(game: TokenGame, contract: FlagContract, writer: str) -> str:
    if contract.writers:
        allowed = ", ".join(contract.writers)
        return "" if writer in contract.writers else f"'{writer or 'nobody'}' may not write it, only {allowed}"
    if not writer:
        return "only a sub-verb may write it; name one as the intake of the wait"
    bindings = game.plan.deployed.bindings
    return "" if not bindings or writer in bindings else f"'{writer}' is not a sub-verb of this process"


def _once_fault(game: TokenGame, contract: FlagContract, value: object, element: str) -> str:
    before = game.state.written.get(contract.name)
    if not contract.once or before is None or before[2] == element or game.state.flags.get(contract.name) == value:
        return ""
    return f"it is written once and '{before[2]}' has written it"


def _merged(
    game: TokenGame, name: str, value: str | bool | int, element: str, job: Job | None
) -> str | bool | int | None:
    """The value after merging with a concurrent write; None when that needs a rule and there is none."""
    before = game.state.written.get(name)
    present = game.state.flags.get(name)
    if job is None or before is None or before[0] <= job.since or present is None:
        return value
    contract = game.plan.contracts.get(name)
    rule = contract.merge if contract is not None else None
    match rule:
        case None:
            is_loose = contract is None or game.plan.deployed.is_loose
            is_free = is_loose or present == value or before[2] == element
            return value if is_free else None
        case "any":
            return bool(present) or bool(value)
        case "all":
            return bool(present) and bool(value)
        case "max":
            return max(int(present), int(value))
        case "sum":
            return int(present) + int(value) - int(job.flags.get(name, 0))
