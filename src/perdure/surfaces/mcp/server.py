"""The protocol: tools and resources of a principal, over whatever transport brings the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.errors import PayloadTooLargeError, RejectedError, Rejection
from perdure.surfaces.mcp.answer_truncation import WHOLE, as_json, short
from perdure.surfaces.mcp.tool import Tool, ToolSession, tool_session
from perdure.surfaces.mcp.tool_errors import INVALID, Refusal, refusal_of
from perdure.surfaces.mcp.tool_list import every_tool, is_offered
from perdure.surfaces.mcp.verb_tools import DescribeVerb, describe_verb
from perdure.telemetry import parse_traceparent
from perdure.typed_reading import convert

Context = ServerRequestContext[Any, Any]
PrincipalOf = Callable[[Context], Principal]
"""Who asks, by the request's context; raises RejectedError when nobody does."""
VERBS = "perdure://verbs/"
VERSION = "1"
JSON = "application/json"
INSTRUCTIONS = """\
Perdure runs durable verbs: typed operations that are never lost, whether they take a millisecond or nine days.
Find verbs with list_verbs, read describe_verb, then call_verb for one or run_runbook for several that depend on one
another (plan_runbook shows first what would happen). What waits is answered by people, systems or you: pending_work.
What is grave ('needs_confirmation') only a person can start: you draft it, tell them what it does, and they start it.
Every refusal has a code, a sentence and a hint that says what to do."""


class Protocol:
    """The handlers of one server."""

    def __init__(self, perdure: Perdure, principal_of: PrincipalOf) -> None:
        self._perdure = perdure
        self._principal_of = principal_of
        self._tools = every_tool()
        self._running: set[asyncio.Future[msgspec.Struct]] = set()

    def server(self) -> Server[Any]:
        return Server(
            "perdure", version=VERSION, title="Perdure", instructions=INSTRUCTIONS, on_list_tools=self.list_tools,
            on_call_tool=self.call_tool, on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates, on_read_resource=self.read_resource,
        )  # fmt: skip

    async def list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        principal = self._who(context)
        return types.ListToolsResult(
            tools=[_described(tool) for tool in self._tools.values() if is_offered(tool, principal)]
        )

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        principal = self._who(context)
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID, f"There is no tool '{short(params.name)}'.", {"code": "tool.unknown"})
        try:
            answer = await self._answer(self._desk(context, principal), tool, params.arguments or {})
        except Exception as error:  # whatever breaks, the asker is told and the server goes on
            return _refused(refusal_of(error))
        text = as_json(answer)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=msgspec.json.decode(text)
        )

    async def _answer(self, desk: ToolSession, tool: Tool, arguments: dict[str, Any]) -> msgspec.Struct:
        desk.check(tool.operation)
        asked = convert(arguments, tool.takes)
        answer = await (tool.act(desk, asked) if tool.is_reading else self._to_its_end(tool.act(desk, asked)))
        if (size := len(as_json(answer))) > WHOLE:
            fact, hint = f"the answer has {size:,} characters", "Ask for less at a time with 'limit'."
            raise PayloadTooLargeError("answer", "tool", tool.name, fact, hint)
        return answer

    async def _to_its_end(self, act: Awaitable[msgspec.Struct]) -> msgspec.Struct:
        """What was begun goes on when whoever asked goes away: half an act helps nobody."""
        task = asyncio.ensure_future(act)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Future[msgspec.Struct]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be there any more to hear of it

    async def finish(self) -> None:
        """Until everything that was begun has ended."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        """None: verbs are found by `list_verbs`, and read by their address."""
        self._who(context)
        return types.ListResourcesResult(resources=[])

    async def list_templates(self, context: Context, params: Any) -> types.ListResourceTemplatesResult:
        self._who(context)
        text = "A verb: what it takes, gives and means, as describe_verb tells it."
        template = types.ResourceTemplate(
            name="verb", title="A verb", uri_template=f"{VERBS}{{name}}", description=text, mime_type=JSON,
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        desk = self._desk(context, self._who(context))
        uri = str(params.uri)
        try:
            desk.check("verb.read")
            if not uri.startswith(VERBS):
                hint = f"Resources are {VERBS}{{name}}."
                raise RejectedError(Rejection("not_found", "read", "resource", short(uri), "there is none", hint))
            text = as_json(await describe_verb(desk, DescribeVerb(uri.removeprefix(VERBS))))
        except Exception as error:
            found = refusal_of(error)
            raise MCPError(found.number, found.message, msgspec.to_builtins(found)) from None
        contents = types.TextResourceContents(uri=uri, mime_type=JSON, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _desk(self, context: Context, principal: Principal) -> ToolSession:
        trace = (context.meta or {}).get("traceparent", "")
        text = trace if isinstance(trace, str) and parse_traceparent(trace) is not None else ""
        return tool_session(self._perdure, principal, text)

    def _who(self, context: Context) -> Principal:
        try:
            return self._principal_of(context)
        except RejectedError as error:
            found = refusal_of(error)
            raise MCPError(found.number, found.message, msgspec.to_builtins(found)) from None


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.text, input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=tool.is_reading, destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_reading or tool.is_repeatable, open_world_hint=not tool.is_reading,
        ),
    )  # fmt: skip


def _refused(found: Refusal) -> types.CallToolResult:
    hint = f" {found.hint}" if found.hint and found.hint not in found.message else ""
    told = [f"{each.path}: {each.message}" for each in found.errors if each.message not in found.message]
    text = "\n".join([f"{found.code}: {found.message}{hint}", *told])
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content={"error": msgspec.to_builtins(found)},
        is_error=True,
    )  # fmt: skip
