"""The prompt runner runs agents that take a prompt and return an output with its usage."""

from __future__ import annotations

import sys
from typing import Any

from perdure.agent_usage import MAX_MODEL, OVER_BUDGET, Meter, ModelUse
from perdure.verbs.agent_handlers import MarkedAgent
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Call
from perdure.work.agents.budgets import Left, OverBudgetError
from perdure.work.agents.prompts import prompt_of

LIMIT = "UsageLimitExceeded"


async def run(marked: MarkedAgent, verb: Verb, call: Call, meter: Meter, left: Left) -> Any:
    """Run the agent once, under limits that its library keeps between requests."""
    prompt = marked.prompt(call) if marked.prompt is not None else prompt_of(verb, call)
    settings, usage = _settings(marked.inner, left)
    if getattr(marked.inner, "deps_type", None) is Call:
        settings["deps"] = call
    result = None
    try:
        result = await marked.inner.run(prompt, **settings)
    except Exception as error:
        if type(error).__name__ == LIMIT:
            code = left.code if "token" in str(error) else OVER_BUDGET
            raise OverBudgetError(f"The agent was stopped: {error}"[:500], code) from error
        raise
    finally:
        _tell(marked.inner, result, usage, meter)
    return result.output


def _settings(inner: Any, left: Left) -> tuple[dict[str, Any], Any]:
    """The limits and the counter in the types of the library that the agent is of; it is loaded, or there were none."""
    library = next((kind.__module__.partition(".")[0] for kind in type(inner).__mro__ if kind is not object), "")
    module = sys.modules.get(f"{library}.usage")
    if module is None or not hasattr(module, "UsageLimits") or not hasattr(module, "RunUsage"):
        return {}, None
    usage = module.RunUsage()
    limits = module.UsageLimits(request_limit=left.requests, total_tokens_limit=left.tokens)
    return {"usage_limits": limits, "usage": usage}, usage


def _tell(inner: Any, result: Any, usage: Any, meter: Meter) -> None:
    """What was used: by model where the answers tell, also of a run that was broken off."""
    answers = [each for each in _messages(result) if getattr(each, "usage", None) is not None]
    if answers and len({getattr(each, "model_name", "") for each in answers}) > 1:
        for each in answers:
            meter.add(_use(str(getattr(each, "model_name", "") or ""), each.usage, 1))
        return
    name = str(getattr(answers[0], "model_name", "") or "") if answers else ""
    total = usage if usage is not None else getattr(result, "usage", None)
    if total is not None and not hasattr(total, "input_tokens") and callable(total):
        total = total()
    if total is not None:
        meter.add(_use(name or _model(inner), total, max(1, getattr(total, "requests", 0) or 0)))
    else:
        meter.add(ModelUse(name or _model(inner), requests=1, untold=1))


def _use(model: str, usage: Any, requests: int) -> ModelUse:
    told = int(getattr(usage, "input_tokens", 0) or 0), int(getattr(usage, "output_tokens", 0) or 0)
    # A model that answered and counted nothing did not count; one that was cut off may have used more than is told.
    return ModelUse(model[:MAX_MODEL], *told, requests, untold=0 if any(told) else requests)


def _messages(result: Any) -> list[Any]:
    told = getattr(result, "new_messages", None)
    return list(told()) if callable(told) else []


def _model(inner: Any) -> str:
    model = getattr(inner, "model", None)
    return str(model if isinstance(model, str) else getattr(model, "model_name", "") or "")
