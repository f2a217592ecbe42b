"""The graph runner invokes a compiled graph: a state in, a state out, every model inside metered."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from perdure.agent_usage import MAX_MODEL, Meter, ModelUse
from perdure.verbs.agent_handlers import MarkedAgent
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Call
from perdure.work.agents.budgets import Left, OverBudgetError, check_next
from perdure.work.agents.prompts import data_of, prompt_of

MESSAGES = "messages"
RECURSION = "GraphRecursionError"


async def invoke(marked: MarkedAgent, verb: Verb, call: Call, meter: Meter, left: Left) -> Any:
    """Run the graph once. Its own limit of steps allows as many requests as the budget, each with what follows it."""
    # A graph that keeps its state is told attempts apart by their thread.
    thread = {"thread_id": f"{call.idempotency_key}/{call.attempt}"}
    config: dict[str, Any] = {"recursion_limit": 2 * left.requests + 1, "configurable": thread}
    callback = _callback(meter, left)
    if callback is not None:
        config["callbacks"] = [callback]
    try:
        state = await marked.inner.ainvoke(_state(marked, verb, call), config=config)
    except Exception as error:
        if type(error).__name__ == RECURSION:
            raise OverBudgetError(f"The agent was stopped: {error}"[:500]) from error
        raise
    return state if marked.output is not None else _result(verb, state)


def _state(marked: MarkedAgent, verb: Verb, call: Call) -> Any:
    if marked.prompt is not None:
        return marked.prompt(call)
    state: dict[str, Any] = {**call.args}
    channels = getattr(marked.inner, "channels", {})
    if call.context is not None and "context" not in state:
        state["context"] = data_of(call)["context"]
    if MESSAGES in channels and MESSAGES not in state:
        state[MESSAGES] = [("user", prompt_of(verb, call))]
    return {name: value for name, value in state.items() if name in channels} if channels else state


def _result(verb: Verb, state: Any) -> Any:
    """Of the state, what the verb gives out; the last message when that is all there is."""
    if not isinstance(state, Mapping):
        return state
    names = set((verb.definition.output_schema or {}).get("properties", {}))
    wanted = names | {"confidence"} | ({"add", "skip", "finish", "reason"} if verb.execution.decision else set())
    found = {name: value for name, value in state.items() if name in wanted}
    if not found and state.get(MESSAGES):
        return getattr(state[MESSAGES][-1], "content", state[MESSAGES][-1])
    if names or found:
        return found
    return {name: value for name, value in state.items() if name != MESSAGES}


def _callback(meter: Meter, left: Left) -> Any:
    """A callback of the library that the graph was made with; it is loaded, or there would be no graph."""
    module = sys.modules.get("langchain_core.callbacks")
    if module is None:
        return None

    class Metering(module.BaseCallbackHandler):  # type: ignore[name-defined,misc]
        """Told by the models inside the graph; what it raises stops the graph."""

        raise_error = True
        run_inline = True

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            check_next(left, meter)

        def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
            check_next(left, meter)

        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            meter.add(_use(response))

        def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
            meter.add(ModelUse("", requests=1, untold=1))

    return Metering()


def _use(response: Any) -> ModelUse:
    message = _message(response)
    told = getattr(message, "usage_metadata", None) or {}
    metadata = getattr(message, "response_metadata", None) or {}
    output = getattr(response, "llm_output", None) or {}
    model = str(metadata.get("model_name") or metadata.get("model") or output.get("model_name") or "")[:MAX_MODEL]
    if "input_tokens" not in told or "output_tokens" not in told:
        return ModelUse(model, requests=1, untold=1)
    return ModelUse(model, int(told["input_tokens"]), int(told["output_tokens"]), 1)


def _message(response: Any) -> Any:
    try:
        return response.generations[0][0].message
    except (AttributeError, IndexError):
        return None
