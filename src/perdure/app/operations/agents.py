"""Operations about agents: which are asked, and which of them a circuit breaker keeps from being asked."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from perdure.app.agent_views import AgentView, agent_views, close_breaker
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import MAX_TEXT, Nothing
from perdure.app.operations.verb_scopes import NO_VERB

TAG = "agents"
AgentName = Annotated[str, Meta(max_length=MAX_TEXT, description="The name of an agent, such as `agent:judge`.")]


class CloseAgent(Request, frozen=True):
    """An agent and why it may be asked again."""

    agent: AgentName
    reason: Annotated[str, Meta(max_length=MAX_TEXT, description="Why; it is shown with the agent.")]


@operation("agent.list", Route("GET", "/agents"), tag=TAG, scope=NO_VERB)
async def list_agents(context: Context, request: Nothing) -> list[AgentView]:
    """The agents whose attempts a circuit breaker watches, by name."""
    return await agent_views(context.runtime, context.origin.tenant)


@operation("agent.close", Route("POST", "/agents/{agent}/close", needs_body=True), tag=TAG, scope=NO_VERB)
async def close_agent(context: Context, request: CloseAgent) -> AgentView:
    """Close the circuit breaker of an agent by hand: it is asked again at once."""
    return await close_breaker(context.runtime, context.origin, request.agent, request.reason)
