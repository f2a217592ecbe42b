"""Tasks as issues of a GitHub repository: labels are the words that answer, comments what people say to them."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import msgspec

from perdure.channels.egress_policy import Egress
from perdure.channels.github.rest_client import Denied, Missing, RestClient
from perdure.channels.task_channel import Card, Said, ShownCard, UnsignedMessage
from perdure.channels.task_channel_settings import GithubSettings
from perdure.errors import BusinessError
from perdure.sources import Sources

EVENT, DELIVERY, SIGNATURE = "x-github-event", "x-github-delivery", "x-hub-signature-256"
PAGE = 100
MAX_PAGES = 20
MAX_TEXT = 60_000
"""Letters of an issue, below the 65,536 that GitHub takes."""
MAX_TITLE = 250
BOT = "Bot"


class IssueChannel:
    """Of one repository."""

    def __init__(self, settings: GithubSettings, egress: Egress, sources: Sources) -> None:
        self._settings = settings
        self._rest = RestClient(settings.api, settings.token.text(settings.name), egress, sources)
        self._place = f"/repos/{settings.repository}"

    async def close(self) -> None:
        await self._rest.close()

    # --- rights --------------------------------------------------------------------------------------------------

    async def fault(self, people: Mapping[str, str]) -> str:
        try:
            found = await self._rest.ask("GET", self._place)
            may = found.get("permissions") or {}
            if not any(may.get(right) for right in ("triage", "push", "maintain", "admin")):
                return f"its token may not label issues of {self._settings.repository}"
            if not found.get("has_issues", True):
                return f"{self._settings.repository} has no issues"
            for login, account in people.items():
                if fault := await self._person_fault(login, account):
                    return fault
        except Missing:
            return f"there is no repository {self._settings.repository} that its token may see"
        except (BusinessError, Denied) as error:
            return str(error)
        return ""

    async def _person_fault(self, login: str, account: str) -> str:
        try:
            user = await self._rest.ask("GET", f"/users/{quote(login)}")
            if str(user["id"]) != account:
                return f"the login '{login}' is account {user['id']} now, and {account} is configured"
            await self._rest.ask("GET", f"{self._place}/assignees/{quote(login)}")
        except Missing:
            return f"'{login}' cannot be given issues of {self._settings.repository}"
        return ""

    # --- cards ---------------------------------------------------------------------------------------------------

    async def find(self, mark: str) -> int | None:
        # A copy was made later, and has a higher number.
        return min((each.number for each in await self._listed("all") or () if mark in each.text), default=None)

    async def put(self, card: Card) -> int:
        made = await self._rest.ask("POST", f"{self._place}/issues", self._body(card))
        return int(made["number"])

    async def revise(self, number: int, card: Card, shown: ShownCard, *, without: tuple[str, ...] = ()) -> None:
        wanted = self._body(card)
        kept = tuple(each for each in shown.words if each not in without)
        labels = [*kept, *(each for each in wanted["labels"] if each not in kept)]
        change: dict[str, Any] = {}
        if _plain(shown.text) != _plain(wanted["body"]):
            change["body"] = wanted["body"]
        if _in_line(shown.title) != _in_line(wanted["title"]):
            change["title"] = wanted["title"]
        if set(labels) != set(shown.words):
            change["labels"] = labels
        if set(wanted["assignees"]) != set(shown.people):
            change["assignees"] = wanted["assignees"]
        if not shown.is_open:
            change["state"] = "open"
        if change:
            await self._rest.ask("PATCH", f"{self._place}/issues/{number}", change)

    def _body(self, card: Card) -> dict[str, Any]:
        text = f"{card.text[:MAX_TEXT]}\n\n<!-- {card.mark} -->"
        labels = [self._settings.label, *(each for each in card.labels if each != self._settings.label)]
        return {"title": card.title[:MAX_TITLE], "body": text, "labels": labels, "assignees": list(card.people)}

    def shows(self, card: Card, shown: ShownCard) -> bool:
        wanted = self._body(card)
        is_same = _plain(shown.text) == _plain(wanted["body"])
        return is_same and _in_line(shown.title) == _in_line(wanted["title"])

    async def read(self, number: int) -> ShownCard | None:
        try:
            return _card(await self._rest.ask("GET", f"{self._place}/issues/{number}"))
        except Missing:
            return None

    async def comment(self, number: int, account: str) -> str:
        path, last = f"{self._place}/issues/{number}/comments?per_page={PAGE}", ""
        for page in range(1, MAX_PAGES + 1):
            found = await self._rest.ask("GET", f"{path}&page={page}")
            users = [each.get("user") or {} for each in found]
            theirs = [str(user.get("id")) == account and user.get("type") != BOT for user in users]
            said = [each["body"] or "" for each, is_theirs in zip(found, theirs, strict=True) if is_theirs]
            last = next((each for each in reversed(said) if OURS not in each), last)
            if len(found) < PAGE:
                break
        return str(last)

    async def reply(self, number: int, text: str, *, without: str = "") -> None:
        if without:
            with suppress(Missing):  # somebody has taken it away already
                await self._rest.ask("DELETE", f"{self._place}/issues/{number}/labels/{quote(without, safe='')}")
        await self._rest.ask("POST", f"{self._place}/issues/{number}/comments", {"body": f"{text}\n\n{OURS}"})

    async def end(self, number: int, text: str) -> None:
        await self._rest.ask("POST", f"{self._place}/issues/{number}/comments", {"body": f"{text}\n\n{OURS}"})
        await self._rest.ask("PATCH", f"{self._place}/issues/{number}", {"state": "closed"})

    # --- what people say -----------------------------------------------------------------------------------------

    async def open_cards(self) -> list[ShownCard] | None:
        if not self._rest.may_read:
            return None
        return await self._listed("open", is_conditional=True)

    async def _listed(self, state: str, *, is_conditional: bool = False) -> list[ShownCard] | None:
        cards: list[ShownCard] = []
        for page in range(1, MAX_PAGES + 1):
            found = await self._rest.ask("GET", self._list(state, page), is_conditional=is_conditional and page == 1)
            if found is None:
                return None
            cards += [_card(each) for each in found if "pull_request" not in each]
            if len(found) < PAGE:
                break
        return cards

    def look_again(self) -> None:
        self._rest.forget(self._list("open", 1))

    def _list(self, state: str, page: int) -> str:
        query = f"labels={quote(self._settings.label)}&state={state}&sort=updated&direction=desc&per_page={PAGE}"
        return f"{self._place}/issues?{query}&page={page}"

    async def who_said(self, number: int, word: str) -> Said | None:
        found: Said | None = None
        for page in range(1, MAX_PAGES + 1):
            path = f"{self._place}/issues/{number}/events?per_page={PAGE}&page={page}"
            events = await self._rest.ask("GET", path)
            for each in events:
                if (each.get("label") or {}).get("name") != word:
                    continue
                actor = each.get("actor") or {}
                if each["event"] == "labeled":
                    found = Said(str(each["id"]), number, word, str(actor.get("id", "")), str(actor.get("login", "")))
                elif each["event"] == "unlabeled":
                    found = None
            if len(events) < PAGE:
                return found
        return None  # what happened last is not among them

    def received(self, headers: Mapping[str, str], body: bytes) -> Said | None:
        given = headers.get(SIGNATURE, "")
        offered = [
            f"sha256={hmac.new(secret, body, sha256).hexdigest()}"
            for secret in self._settings.secret.load(self._settings.name)
        ]
        # Every pair is compared, whichever fits: how long it takes tells nothing.
        if not sum(hmac.compare_digest(given.encode(), each.encode()) for each in offered):
            raise UnsignedMessage
        try:
            told = msgspec.json.decode(body)
            if headers.get(EVENT) != "issues" or told["action"] != "labeled":
                return None
            if told["repository"]["full_name"].lower() != self._settings.repository.lower():
                return None
            sender, delivery = told["sender"], headers.get(DELIVERY, "")
            number, word = int(told["issue"]["number"]), str(told["label"]["name"])
            return Said(delivery, number, word, str(sender["id"]), str(sender["login"]))
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError):
            return None


OURS = "<!-- perdure -->"
"""At the end of every comment of ours, so that it is taken for nobody's reason."""


def _plain(text: str) -> str:
    """A text without what GitHub may change of it: line ends, and blanks around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _in_line(title: str) -> str:
    return " ".join(title.split())


def _card(issue: dict[str, Any]) -> ShownCard:
    words = tuple(str(each["name"] if isinstance(each, dict) else each) for each in issue.get("labels") or ())
    people = tuple(str(each["login"]) for each in issue.get("assignees") or ())
    text, title = str(issue.get("body") or ""), str(issue.get("title") or "")
    return ShownCard(int(issue["number"]), text, words, issue.get("state") == "open", people, title)
