"""A workflow whose person answers on GitHub, opened beside the stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx

from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.app.task_channels.task_cards import TaskCards
from perdure.channels.channel_settings import Password
from perdure.channels.task_channel_settings import GithubSettings, KnownPerson
from perdure.channels.webhook_settings import Hooks, Secret
from perdure.orchestration import ServiceTask, UserTask, Workflow
from perdure.surfaces.http.application import make_app
from tests.task_channels.github_stand_in import REPOSITORY, Github

PEOPLE = (
    KnownPerson("101", "octo-ana", "ana", ("seniors",)),
    KnownPerson("102", "octo-bob", "bob", ("seniors",)),
    KnownPerson("103", "octo-boss", "boss", ("managers",)),
)
SERVER_SECRET = b"a secret of at least thirty-two bytes"


async def deploy(inputs: dict[str, Any]) -> dict[str, Any]:
    decision = inputs["architect_review_decision"]
    return {"deployed": bool(decision["approved"])}


def pr_review(**more: Any) -> Workflow:
    """A change that a senior looks at."""
    workflow = Workflow("pr_review", variables={"author": "string", "risk": "string"})
    review = UserTask(
        "architect_review", title="High-risk change", body_template="**Author**: {author}\n**Risk**: {risk}",
        **{"groups": ["seniors"], "four_eyes": True, **more},
    )  # fmt: skip
    act = ServiceTask(
        "deploy", function=deploy, input_variables=["architect_review_decision"], output_variables=["deployed"]
    )
    workflow.start().then(review).then(act).end()
    return workflow


class Reviews:
    """The platform beside GitHub."""

    def __init__(self, perdure: Perdure, github: Github, client: httpx.AsyncClient) -> None:
        self.perdure, self.github, self.client = perdure, github, client

    @property
    def cards(self) -> TaskCards:
        assert self.perdure.runtime.cards is not None
        found = self.perdure.runtime.cards.of("reviews")
        assert found is not None
        return found

    async def begun(self, by: str = "carl", **variables: Any) -> str:
        """An instance whose card is there; its number is that of the instance."""
        before = len(self.github.issues)
        acting = self.perdure.acting(principal=by)
        data = {"author": "carl", "risk": "high", **variables}
        view = await acting.instances.start("pr_review", data, until="rest")
        await self.github.until(lambda: len(self.github.issues) > before)
        return view.id

    async def told(self, happened: dict[str, Any], id: str = "d-1", status: int = 0) -> dict[str, Any]:
        """A webhook arrives."""
        headers, body = self.github.delivery(happened, id)
        answer = await self.client.post("/api/task-channels/reviews", content=body, headers=headers)
        assert not status or answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def look(self) -> list[str]:
        assert self.perdure.runtime.cards is not None
        return [each.outcome for each in await self.perdure.runtime.cards.look(self.cards)]

    async def ended(self, id: str) -> dict[str, Any]:
        """The data of an instance that comes to its end."""
        view = await self.perdure.instances.wait(id, until="end", timeout_seconds=60)
        assert view.state == "completed", view
        assert isinstance(view.data, dict)
        return view.data

    async def key(self, id: str) -> str:
        return next(each.key for each in await self.perdure.tasks.list() if each.instance == id)


def settings(github: Github, **more: Any) -> GithubSettings:
    given: dict[str, Any] = {"tasks": ("pr_review",), "people": PEOPLE, "every_seconds": 3600.0, **more}
    return GithubSettings(
        "reviews", REPOSITORY, Password("GITHUB_TOKEN"), Secret(("GITHUB_SECRET",)), github.url, **given
    )


@asynccontextmanager
async def opened(
    url: str, github: Github, *workflows: Workflow, **more: Any
) -> AsyncIterator[Reviews]:  # fmt: skip
    """The platform on a store; opened again it goes on."""
    async with AsyncExitStack() as stack:
        perdure = await stack.enter_async_context(
            Perdure.open(
                url, workflows=list(workflows) or [pr_review()], task_channels=[settings(github, **more)],
                hooks=Hooks(allowed=("127.0.0.1",)),
            )
        )  # fmt: skip
        app = make_app(perdure, ServerConfig(authentication=("keys",)), SERVER_SECRET)
        transport = httpx.ASGITransport(app=app)
        client = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://localhost")
        )  # fmt: skip
        yield Reviews(perdure, github, client)


@asynccontextmanager
async def reviewing(url: str, *workflows: Workflow, **more: Any) -> AsyncIterator[Reviews]:
    """The platform and GitHub, both new."""
    async with Github().listening() as github, opened(url, github, *workflows, **more) as reviews:
        yield reviews
