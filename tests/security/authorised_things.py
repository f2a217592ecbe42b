"""Things of verbs that a narrow key reaches, and of verbs that it does not: made when a request first needs one."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from perdure.app.operations.operation import Route
from perdure.surfaces.mcp.tool import Tool
from tests.security.authorisation import OF_REQUESTS, Row
from tests.security.narrow_house import ECHO, LOOK, NOTE, SECRET, House, model

_PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")
FIELD = "field_present\n        field: task_result:passport"
COMPOSED = frozenset(
    {"plan_runbook", "start_runbook", "plan_extension", "extend_runbook", "open_draft", "replace_draft"}
)


class Side(NamedTuple):
    """The verbs, the process and the message of the things of one side."""

    verb: str
    wait: str
    process: str
    message: str
    task: str
    text: str


PUB = Side("pub.note", "pub.wait", "open", "begin-pub", NOTE, "plain")
SEC = Side("sec.echo", "sec.wait", "mixed", "begin", ECHO, SECRET)


class Asked(NamedTuple):
    """A request as HTTP has it."""

    method: str
    path: str
    body: dict[str, Any] | None


class Things:
    """One thing of each kind on one side; `renew` makes new ones, where an act has changed one."""

    def __init__(self, house: House, side: Side) -> None:
        self.house, self.side = house, side
        self._made: dict[str, str] = {}
        self._count = 0

    def renew(self) -> None:
        self._made.clear()

    async def of(self, kind: str) -> str:
        if kind not in self._made:
            self._count += 1
            name = f"{self.side.message}-{self._count}"
            self._made[kind] = await (self._request(name) if kind == "request" else self._new(kind, name))
        return self._made[kind]

    async def _new(self, kind: str, name: str) -> str:
        house, side = self.house, self.side
        body: dict[str, Any]
        match kind:
            case "call":
                return await house.called(side.wait, f"{side.text}-{name}")
            case "wait":
                await house.called(side.wait, name)
                return f"{side.wait.partition('.')[0]}-{name}"
            case "runbook" | "case":
                step = {"verb": side.wait, "name": "one", "args": {"text": f"{side.text}-{name}-step"}}
                id = await house.run(step, case=name, sealed=False)
                return id if kind == "runbook" else name
            case "draft":
                body = {"calls": [{"verb": side.verb, "args": {"text": side.text}}]}
                return str((await house.ada.post("/api/drafts", body, 201))["id"])
            case "instance":
                return await house.begun(side.process, side.text)
            case "task":
                return await house.task(await self.of("instance"))
            case "letter":
                body = {"key": f"none-{name}", "verb": side.wait, "message_id": name, "result": {"text": side.text}}
                await house.ada.post("/api/completions", body, 404)
                return name
            case "process":
                await house.deployed(f"p-{name}", side.task, LOOK)
                return f"p-{name}"
            case "lifecycle":
                await house.ada.post("/api/lifecycle-definitions", {"yaml": lifecycle(name, side.wait)}, 201)
                return name
            case "subject":
                begun = {"lifecycle": await self.of("lifecycle"), "subject": side.text}
                return str((await house.ada.post("/api/lifecycles", begun, 201))["instance"]["id"])
            case "document":
                body = {"type": "form", "data": {"title": side.text}}
                return str((await house.ada.post("/api/documents", body, 201))["id"])
            case "upload":
                return str((await house.ada.post("/api/uploads", {"size": 1}, 201))["id"])
        return await self._key(kind, name)

    async def _key(self, kind: str, name: str) -> str:
        if kind != "key":
            raise KeyError(kind)
        return (await self.house.server.sandbox.access.create_key(name, principal=name, roles=("viewer",))).id

    async def _request(self, name: str) -> str:
        house, side = self.house, self.side
        text = lifecycle(name, side.wait).replace(FIELD, "document_exists\n        document_type: form")
        await house.ada.post("/api/lifecycle-definitions", {"yaml": text}, 201)
        begun = {"lifecycle": name, "subject": side.text}
        id = (await house.ada.post("/api/lifecycles", begun, 201))["instance"]["id"]
        asked = await house.ada.post(f"/api/lifecycles/{id}/resolve", {"key": "passport"})
        return str(asked["tasks"][0]["correlation_id"])

    async def request(self, row: Row, route: Route) -> Asked:
        """A request with a value for every field that it needs; an unknown field or place is a KeyError."""
        in_path = _PLACE.findall(route.path)
        needed = [
            each.name
            for each in msgspec.structs.fields(row.request)
            if each.default is msgspec.NODEFAULT and each.default_factory is msgspec.NODEFAULT
        ]
        if row.id in OF_REQUESTS or row.id == "send_task_result":
            needed.append("correlation_id")
        own = self._envelope() if row.id == "receive_envelope" else {}
        wanted = dict.fromkeys([*in_path, *needed])
        values = {name: own[name] if name in own else await self._field(name, row, route) for name in wanted}
        path = _PLACE.sub(lambda found: str(values[found[1]]), route.path)
        body = {name: value for name, value in values.items() if name not in in_path} | self._more(row)
        if row.id in OF_REQUESTS and row.id != "submit_data":
            path += f"?correlation_id={body.pop('correlation_id')}"
        return Asked(route.method, f"/api{path}", body if route.method != "GET" else None)

    def _envelope(self) -> dict[str, Any]:
        self._count += 1
        return {"message_name": self.side.message, "correlation_key": "k", "message_id": f"e-{self._count}"}

    def _more(self, row: Row) -> dict[str, Any]:
        more: dict[str, dict[str, Any]] = {
            "reassign_task": {"to": "ada"}, "modify_instance": {"cancel": []}, "create_key": {"verbs": ["pub.*"]},
            "send_completion": {"verb": self.side.wait, "result": {}}, "check_process": {"profile": "open"},
            "deploy_process": {"profile": "open"},
        }  # fmt: skip
        if row.id == "check_deployment_impact":
            return {"models": [{"xml": self._model()}], "profile": "open"}
        calls = {"calls": [{"verb": self.side.verb, "args": {"text": "x"}}]} if row.id in COMPOSED else {}
        return {**calls, **more.get(row.id, {})}

    async def _field(self, name: str, row: Row, route: Route) -> Any:
        room = route.path.split("/")[1]
        match name:
            case "id":
                return await self.of({
                    "calls": "call", "runbooks": "runbook", "drafts": "draft", "instances": "instance", "keys": "key",
                    "incidents": "call", "documents": "document", "lifecycles": "subject", "workflow": "subject",
                    "uploads": "upload", "budgets": "call",
                }[room])  # fmt: skip
            case "key" if room == "lifecycles":
                return "passport"
            case "key":
                return await self.of(
                    {"tasks": "task", "parked": "wait", "completions": "wait", "progress": "wait"}[room]
                )
            case "process":
                return await self.of("process")
            case "name":
                named = {"verbs": self.side.verb, "packs": "none", "keys": f"k-{self.side.message}"}
                return named.get(room, self.side.message)
            case "ids":
                return [await self.of("call")]
            case "lifecycle":
                return await self.of("lifecycle")
            case "correlation_id":
                return await self.of("request")
            case "yaml":
                self._count += 1
                return lifecycle(f"y-{self.side.message}-{self._count}", self.side.wait)
            case "message_id":
                return await self.of("letter")
            case "case":
                return await self.of("case")
            case "xml":
                return self._model()
        return {
            "version": 1, "step": "one", "reason": "why", "to": "ada", "agree": True, "data": {"text": "y"},
            "action": "ask", "task": 1,
            "text": "so far", "subject": "c-1", "target": "DONE", "status": "completed",
            "type": "form", "by": "01m7hk5wprf2yvfhhcs4kqadfv",
            "amendment": 1, "value": 1, "principal": "kim", "engine": "temporal", "roles": ["viewer"], "size": 1,
            "agent": "agent:judge",
        }[name]  # fmt: skip

    def _model(self) -> str:
        self._count += 1
        return model(f"x-{self.side.message}-{self._count}", self.side.task)

    async def arguments(self, tool: Tool) -> dict[str, Any]:
        """Arguments of an MCP tool; an unknown one that it needs is a KeyError."""
        given: dict[str, Any] = {}
        for each in msgspec.structs.fields(tool.takes):
            if each.name in ("calls", "draft") or (
                each.default is msgspec.NODEFAULT and each.default_factory is msgspec.NODEFAULT
            ):
                given[each.name] = await self._argument(each.name, tool)
        if tool.name == "complete_wait":
            given["verb"] = self.side.wait
        if tool.name == "deployment_impact":
            given |= {"model": self._model(), "profile": "open"}
        if tool.name == "read_value":
            given["step"] = "one"
        return {name: value for name, value in given.items() if value is not None}

    async def _argument(self, name: str, tool: Tool) -> Any:
        match name:
            case "id":
                is_lifecycle = tool.name in ("lifecycle_status", "resolve_blocker", "do_lifecycle_action")
                if tool.name in ("document_status", "read_document"):
                    return await self.of("document")
                kind = "subject" if is_lifecycle else "call" if tool.name == "retry_incident" else "runbook"
                return await self.of(kind)
            case "key" if tool.name == "resolve_blocker":
                return "passport"
            case "action":
                return "ask"
            case "lifecycle":
                return await self.of("lifecycle")
            case "key":
                return await self.of("wait" if tool.name == "complete_wait" else "task")
            case "calls":
                is_draft = tool.name in ("plan_runbook", "run_runbook")
                return [{"verb": self.side.verb, "args": {"text": "x"}}] if not is_draft else None
            case "draft":
                return await self.of("draft")
            case "process":
                return await self.of("process")
            case "message_id":
                return await self.of("letter")
        return {
            "verb": self.side.verb, "reason": "why", "of": "args", "agree": True, "name": self.side.message,
            "subject": "c-1", "version": 1, "message_name": self.side.message, "correlation_key": "k",
        }[name]  # fmt: skip


def lifecycle(name: str, verb: str) -> str:
    """A lifecycle whose only blocker is resolved by a verb, which is an action as well."""
    return (
        f"lifecycle: {name}\nstates:\n  OPEN:\n    requirements:\n      - type: field_present\n"
        "        field: task_result:passport\n        id: passport\n"
        f'        on_fail: {{blocker: {{type: MissingDocument, resolution: "({verb} :text $subject)"}}}}\n'
        "  DONE: {terminal: true}\ntransitions:\n  - {from: OPEN, to: DONE}\n"
        f"actions:\n  OPEN:\n    - {{action: ask, verb: {verb}, params: {{text: $subject}}}}\n"
    )


async def prepared(house: House) -> None:
    """Processes that begin by a message or a signal, of both sides."""
    for at, (side, message, signal) in enumerate(((SEC, "n", "g"), (PUB, "o", "h"))):
        await house.deployed(f"by-message-{at}", side.task, start=f'<messageEventDefinition messageRef="{message}"/>')
        await house.deployed(f"by-signal-{at}", side.task, start=f'<signalEventDefinition signalRef="{signal}"/>')
