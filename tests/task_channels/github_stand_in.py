"""A stand-in for GitHub on loopback: issues, labels, comments and events that stay, requests and answers checked.

What comes in and goes out is held to excerpts of GitHub's published description of its REST interface (version
2022-11-28; `github_schemas.json`, without what is optional and not used here): the models of `githubkit`, whole, take
150 MB. A request or an answer that does not fit is a fault of the test.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema_rs

SCHEMAS: dict[str, Any] = json.loads((Path(__file__).parent / "github_schemas.json").read_text("utf-8"))
CHECKS = {name: jsonschema_rs.validator_for(schema) for name, schema in SCHEMAS.items()}
REPOSITORY = "acme/approvals"
TOKEN = "a token of the stand-in"
SECRET = "a secret of the webhook, sixteen bytes and more"
ACCOUNTS = {"octo-ana": 101, "octo-bob": 102, "octo-boss": 103, "octo-mallory": 666, "perdure-app": 900}
BOT = "perdure-app"
WAIT_SECONDS = 60


def example(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """The least that fits a schema."""
    if ref := schema.get("$ref"):
        return example(root["$defs"][ref.rpartition("/")[2]], root)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            kinds = schema[word]
            return None if any(each.get("type") == "null" for each in kinds) else example(kinds[0], root)
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type")
    if kind == "object":
        return {name: example(schema["properties"][name], root) for name in schema.get("required", ())}
    if kind == "string":
        return datetime.now(UTC).isoformat() if schema.get("format") == "date-time" else "text"
    return {"integer": 1, "number": 1, "boolean": True, "array": []}.get(str(kind))


class Github:
    """The state of one repository, and what was asked of it."""

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.events: dict[int, list[dict[str, Any]]] = {}
        self.asked: list[tuple[str, str, int]] = []
        self.accounts = dict(ACCOUNTS)
        self.permissions = {"admin": False, "maintain": False, "push": True, "triage": True, "pull": True}
        self.has_issues, self.is_gone = True, False
        self.strangers: set[str] = set()
        self.is_away = False
        self.loses = ""
        """A method whose next answer is lost: what was asked is done, and nobody is told."""
        self.holds = ""
        """A method whose answers do not come: what was asked is done, and whoever asked waits."""
        self.refuses = 0
        """The status of every answer, for a token that is not taken any more."""
        self.left = 5000
        self.resets_at = 4_000_000_000
        self.port = 0
        self._ids = 1000
        self._happened = asyncio.Event()
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _next(self) -> int:
        self._ids += 1
        return self._ids

    # --- what people do ----------------------------------------------------------------------------------------------

    def label(self, number: int, word: str, login: str) -> dict[str, Any]:
        """Somebody puts a label on an issue; the event that a webhook tells."""
        self._put_label(number, word, login)
        return {"issue": number, "word": word, "login": login}

    def unlabel(self, number: int, word: str, login: str) -> None:
        issue = self.issues[number]
        if any(each["name"] == word for each in issue["labels"]):
            issue["labels"] = [each for each in issue["labels"] if each["name"] != word]
            self._event(number, "unlabeled", word, login)

    def say(self, number: int, text: str, login: str) -> dict[str, Any]:
        comment = self._made("comment", id=self._next(), body=text, user=self._user(login))
        self.comments[number].append(comment)
        self._touch(number)
        return comment

    def words(self, number: int) -> list[str]:
        return [each["name"] for each in self.issues[number]["labels"]]

    def said(self, number: int) -> list[str]:
        """What the platform has said on an issue."""
        return [each["body"] for each in self.comments[number] if each["user"]["login"] == BOT]

    def delivery(self, happened: dict[str, Any], id: str = "d-1") -> tuple[dict[str, str], bytes]:
        """The webhook that tells of a label, signed."""
        told = self._made("labeled")
        issue = {**told["issue"], **self.issues[happened["issue"]]}
        told |= {
            "action": "labeled", "issue": issue, "sender": self._user(happened["login"]),
            "label": {**_label(happened["word"]), "id": 1, "node_id": "n", "url": "u", "default": False,
                      "description": None},
            "repository": {**told["repository"], "full_name": REPOSITORY},
        }  # fmt: skip
        body = json.dumps(told).encode()
        return {
            "content-type": "application/json", "x-github-event": "issues", "x-github-delivery": id,
            "x-hub-signature-256": f"sha256={hmac.new(SECRET.encode(), body, sha256).hexdigest()}",
        }, body  # fmt: skip

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something is so; looked at after every request."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not holds():
                self._happened.clear()
                await self._happened.wait()

    def count(self, method: str, part: str = "") -> int:
        return sum(1 for each in self.asked if each[0] == method and part in each[1])

    # --- the parts ---------------------------------------------------------------------------------------------------

    def _made(self, name: str, **given: Any) -> dict[str, Any]:
        return {**example(SCHEMAS[name], SCHEMAS[name]), **given}

    def _user(self, login: str) -> dict[str, Any]:
        user = example(SCHEMAS["user"], SCHEMAS["user"])
        kind = "Bot" if login == BOT else "User"
        return {**user, "login": login, "id": self.accounts[login], "type": kind, "site_admin": False}

    def _event(self, number: int, event: str, word: str, login: str) -> None:
        made = self._made("issue_event", id=self._next(), event=event, actor=self._user(login), label=_label(word))
        self.events[number].append(made)
        self._touch(number)

    def _put_label(self, number: int, word: str, login: str) -> None:
        issue = self.issues[number]
        if all(each["name"] != word for each in issue["labels"]):
            issue["labels"].append(_label(word))
            self._event(number, "labeled", word, login)

    def _touch(self, number: int) -> None:
        self.issues[number]["updated_at"] = f"2026-11-19T00:00:00.{self._next():06}Z"

    # --- the interface -----------------------------------------------------------------------------------------------

    def answer(self, method: str, target: str, body: Any) -> tuple[int, str, Any]:
        """Status, the name of the schema of the answer, and the answer."""
        parts = urlsplit(target)
        place, query = parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}
        if place == f"/repos/{REPOSITORY}":
            told = self._made("repository", permissions=self.permissions, has_issues=self.has_issues)
            return _missing() if self.is_gone else (200, "repository", told)
        if place.startswith("/users/"):
            login = unquote(place.rpartition("/")[2])
            return (200, "user", self._user(login)) if login in self.accounts else _missing()
        if "/assignees/" in place:
            login = unquote(place.rpartition("/")[2])
            return (204, "", None) if login in self.accounts.keys() - self.strangers else _missing()
        rest = place.removeprefix(f"/repos/{REPOSITORY}/issues").strip("/").split("/")
        if rest == [""]:
            return self._make(body) if method == "POST" else (200, "[issue]", self._listed(query))
        number = int(rest[0])
        if number not in self.issues:
            return _missing()
        match method, rest[1:]:
            case "GET", []:
                return 200, "issue", self.issues[number]
            case "PATCH", []:
                return self._change(number, body)
            case "GET", ["comments"]:
                return 200, "[comment]", self.comments[number]
            case "POST", ["comments"]:
                CHECKS["make_comment"].validate(body)
                return 201, "comment", self.say(number, body["body"], BOT)
            case "GET", ["events"]:
                return 200, "[issue_event]", self.events[number]
            case "DELETE", ["labels", word]:
                if unquote(word) not in self.words(number):
                    return _missing()
                self.unlabel(number, unquote(word), BOT)
                return 200, "", self.issues[number]["labels"]
        return _missing()

    def _make(self, body: Any) -> tuple[int, str, Any]:
        CHECKS["make_issue"].validate(body)
        number = len(self.issues) + 1
        people = [self._user(login) for login in body.get("assignees", ()) if login in self.accounts]
        self.issues[number] = self._made(
            "issue", number=number, title=body["title"], body=body.get("body"), state="open", assignees=people,
            labels=[_label(each) for each in body.get("labels", ())], user=self._user(BOT),
        )  # fmt: skip
        self.comments[number], self.events[number] = [], []
        self._touch(number)
        return 201, "issue", self.issues[number]

    def _change(self, number: int, body: Any) -> tuple[int, str, Any]:
        CHECKS["change_issue"].validate(body)
        issue = self.issues[number]
        issue |= {name: body[name] for name in ("title", "body", "state") if name in body}
        if "assignees" in body:
            issue["assignees"] = [self._user(login) for login in body["assignees"]]
        if "labels" in body:
            for word in set(self.words(number)) - set(body["labels"]):
                self.unlabel(number, word, BOT)
            for word in body["labels"]:
                self._put_label(number, word, BOT)
        self._touch(number)
        return 200, "issue", issue

    def _listed(self, query: dict[str, str]) -> list[dict[str, Any]]:
        found = [
            each
            for number, each in self.issues.items()
            if query["labels"] in self.words(number) and query["state"] in ("all", each["state"])
        ]
        size, page = int(query["per_page"]), int(query["page"])
        return sorted(found, key=lambda each: str(each["updated_at"]), reverse=True)[(page - 1) * size : page * size]

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._served(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.strip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                sent = await reader.readexactly(int(headers.get("content-length", "0")))
                if self.is_away:
                    break
                method, target, _ = first.split(" ")
                told = self._told(method, target, headers, sent)
                self._happened.set()
                if self.holds == method:
                    await reader.read()  # until whoever asked is gone
                    break
                if told is None:
                    break
                writer.write(told)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _told(self, method: str, target: str, headers: dict[str, str], sent: bytes) -> bytes | None:
        assert headers["authorization"] == f"Bearer {TOKEN}" and headers["accept"] == "application/vnd.github+json"
        assert headers["host"] == f"127.0.0.1:{self.port}" and headers["user-agent"]
        limits = {"x-ratelimit-limit": "5000", "x-ratelimit-reset": str(self.resets_at)}
        if self.left <= 0:
            self.asked.append((method, target, 403))
            return _written(403, {**limits, "x-ratelimit-remaining": "0"}, {"message": "API rate limit exceeded"})
        if self.refuses:
            self.asked.append((method, target, self.refuses))
            return _written(self.refuses, {**limits, "x-ratelimit-remaining": "4999"}, {"message": "Bad credentials"})
        status, name, found = self.answer(method, target, json.loads(sent) if sent else None)
        _check(name, found)
        tag = f'"{sha256(json.dumps(found, sort_keys=True, default=str).encode()).hexdigest()}"'
        is_known = method == "GET" and headers.get("if-none-match") == tag
        self.left -= not is_known
        self.asked.append((method, target, 304 if is_known else status))
        if self.loses == method:
            self.loses = ""
            return None
        more = {**limits, "x-ratelimit-remaining": str(self.left), "etag": tag}
        return _written(304 if is_known else status, more, None if is_known else found)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Github]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for each in self._serving:
                each.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)


def _label(word: str) -> dict[str, Any]:
    return {"name": word, "color": "ededed"}


def _missing() -> tuple[int, str, Any]:
    return 404, "", {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}


def _check(name: str, found: Any) -> None:
    if name.startswith("["):
        for each in found:
            CHECKS[name.strip("[]")].validate(each)
    elif name:
        CHECKS[name].validate(found)


def _written(status: int, headers: dict[str, str], body: Any) -> bytes:
    content = json.dumps(body, default=str).encode() if body is not None else b""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(content)}\r\n\r\n".encode() + content
