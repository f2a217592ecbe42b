"""Route decorators: the operation a route needs, and every answer it may give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from litestar.openapi.datastructures import ResponseSpec

from perdure.app.problem_details import Problem
from perdure.surfaces.http.problem_details import MEDIA

Handler = Callable[..., Any]

REFUSALS = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "Who asks may not",
    404: "There is no such thing, or it is another tenant's",
    405: "The path knows other methods",
    406: "None of the accepted media types can be given",
    408: "The body did not come in time",
    409: "Not possible in the state it is in",
    412: "It has changed since it was read",
    413: "The body is too large",
    415: "The body's media type is not read here",
    422: "Something asked for does not fit",
    423: "Something must happen first",
    429: "Too many requests",
    503: "Not now; ask again",
}


def refusals(*statuses: int) -> dict[int, ResponseSpec]:
    """The problems a route may answer with, for the description."""
    wanted = statuses or tuple(REFUSALS)
    return {
        status: ResponseSpec(Problem, description=REFUSALS[status], media_type=MEDIA, generate_examples=False)
        for status in wanted
    }


def public(method: Any, path: str | list[str], **more: Any) -> Callable[[Handler], Any]:
    """A route for anybody."""
    return route(method, path, "", is_public=True, **more)


def route(
    method: Any, path: str | list[str], operation: str, *, tags: Sequence[str] = (),
    answers: dict[int, ResponseSpec] | None = None, **more: Any,
) -> Callable[[Handler], Any]:  # fmt: skip
    """A route of the framework, named and described after its function."""

    def made(handler: Handler) -> Any:
        name = handler.__name__
        return method(
            path, operation=operation, tags=list(tags) or None, responses={**refusals(), **(answers or {})},
            operation_id=name, summary=name.replace("_", " ").capitalize(), **more,
        )(handler)  # fmt: skip

    return made
