"""The graph runner invokes a compiled graph: a state in, a state out, every model inside metered, every state kept.

| the thread of the step | what the run does |
|---|---|
| holds nothing | begins with the arguments |
| holds a state that something follows | goes on there: tasks that have written are not run again |
| waits for a person's answer | resumes with it; without one, asks the person again and runs nothing |
| ended in this attempt, and its result was not recorded | gives that result, and asks no model |
| ended in an attempt that failed | begins anew |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.agent_usage import MAX_MODEL, Meter, ModelUse
from perdure.errors import ContractError
from perdure.verbs.agent_handlers import MarkedAgent
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Call
from perdure.work.agents.budgets import Left, OverBudgetError, check_next
from perdure.work.agents.ports import GraphThread, GraphThreads
from perdure.work.agents.prompts import data_of, prompt_of
from perdure.work.agents.questions import Question, question_of

if TYPE_CHECKING:
    from perdure.work.agents.checkpoint_saver import CheckpointSaver

MESSAGES = "messages"
RECURSION = "GraphRecursionError"
INTERRUPT = "__interrupt__"
DELTA = "DeltaChannel"
"""A channel whose value is made of what earlier states of the graph have written."""


class Kept(NamedTuple):
    """Where graphs keep their states, and the clock."""

    threads: GraphThreads
    now: Callable[[], int]


async def invoke(
    marked: MarkedAgent, verb: Verb, call: Call, meter: Meter, left: Left, kept: Kept | None = None
) -> Any:
    """Run the graph once. Its own limit of steps allows as many requests as the budget, each with what follows it."""
    state = await _final_state(marked, verb, call, meter, left, kept)
    return state if marked.output is not None or isinstance(state, Question) else _result(verb, state)


async def _final_state(marked: MarkedAgent, verb: Verb, call: Call, meter: Meter, left: Left, kept: Kept | None) -> Any:
    if kept is None or not _may_keep(marked.inner):
        # A graph with a checkpointer of its own is told attempts apart by their thread.
        thread = {"thread_id": f"{call.idempotency_key}/{call.attempt}"}
        ended = await _run(marked.inner, _state(marked, verb, call), thread, meter, left)
        if _is_interrupted(ended):
            fact = "The graph asks a person by interrupt(), and its states are not kept with its step"
            raise ContractError(f"{fact}. Compile it without a checkpointer.")
        return ended
    _refuse_stops(marked.inner)
    saver = _saver(marked.inner, call, meter, kept)
    graph, config = marked.inner.copy({"checkpointer": saver}), saver.config
    is_same = await saver.begin(call.attempt)
    reached = await graph.aget_state(config)
    if reached.created_at is not None and not reached.next:
        if is_same:
            return _outputs(graph, reached.values)
        await saver.restart()
        reached = None
    is_new = reached is None or reached.created_at is None
    given = _state(marked, verb, call) if is_new else None
    if reached is not None and reached.interrupts:
        given = _resumption(reached.interrupts, call, meter.agent)
        if isinstance(given, Question):
            return given
    ended = await _run(graph, given, config["configurable"], meter, left, durability="sync")
    if not _is_interrupted(ended):
        return ended
    return question_of((await graph.aget_state(config)).interrupts[0], meter.agent)


def _is_interrupted(ended: Any) -> bool:
    return isinstance(ended, Mapping) and INTERRUPT in ended


def _resumption(interrupts: tuple[Any, ...], call: Call, agent: str) -> Any:
    """The command that resumes the graph with what a person answered; what is still to be asked where nobody has."""
    for each in interrupts:
        if call._answer is not None and question_of(each, agent).key == call._answer.key:
            return sys.modules["langgraph.types"].Command(resume={each.id: call._answer.value})
    return question_of(interrupts[0], agent)


def _refuse_stops(inner: Any) -> None:
    """A stop that is compiled into a graph looks like a kill between two nodes: nobody could be asked once."""
    if getattr(inner, "interrupt_before_nodes", None) or getattr(inner, "interrupt_after_nodes", None):
        fact = "The graph was compiled with interrupt_before or interrupt_after, which ask nobody anything"
        raise ContractError(f"{fact}. Call interrupt() in a node.")


def _may_keep(inner: Any) -> bool:
    """Whether it is a graph of LangGraph that nobody gave a checkpointer, or refused one."""
    module = sys.modules.get("langgraph.pregel")
    return module is not None and isinstance(inner, module.Pregel) and inner.checkpointer is None


def _saver(inner: Any, call: Call, meter: Meter, kept: Kept) -> CheckpointSaver:
    from perdure.work.agents.checkpoint_saver import CheckpointSaver  # noqa: PLC0415  the library is an extra

    key, owner = call.idempotency_key, call._owner
    thread = GraphThread(call.tenant, key if key.startswith(owner) else f"{owner}/{key}", owner)
    keeps = any(type(channel).__name__ == DELTA for channel in inner.channels.values())
    return CheckpointSaver(kept.threads, thread, meter, kept.now, keeps=keeps)


def _outputs(graph: Any, values: Mapping[str, Any]) -> Any:
    """Of a final state, what the graph gives back."""
    names = graph.output_channels
    return values.get(names) if isinstance(names, str) else {name: values[name] for name in names if name in values}


async def _run(graph: Any, given: Any, thread: Mapping[str, Any], meter: Meter, left: Left, **options: Any) -> Any:
    config: dict[str, Any] = {"recursion_limit": 2 * left.requests + 1, "configurable": dict(thread)}
    callback = _callback(meter, left)
    if callback is not None:
        config["callbacks"] = [callback]
    try:
        return await graph.ainvoke(given, config=config, **options)
    except Exception as error:
        if type(error).__name__ == RECURSION:
            raise OverBudgetError(f"The agent was stopped: {error}"[:500]) from error
        raise


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
