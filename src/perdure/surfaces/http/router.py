"""The router: the endpoint of a path and a method."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response
from perdure.surfaces.http.problem_details import RefusedRequest, unknown_path

ANY = ""
"""The method of an endpoint that takes all of them."""
PLACE, REST = 1, 2
"""A place in a path takes one word, or all that follow."""
_PLACE = re.compile(r"\{(\w+)(:path)?\}")


class _Node(dict["str | int", "_Node"]):
    """The words and places that may follow a part of a path, and the endpoints that it leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.methods: dict[str, tuple[Endpoint, str, list[str]]] = {}


class Router:
    """Looks for paths without places first, then word by word: a known word never stands in a place."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._plain: dict[str, _Node] = {}
        self._root = _Node()
        for endpoint in endpoints:
            for path in endpoint.paths:
                methods, template = self._node(path).methods, _PLACE.sub(r"{\1}", path)
                methods[endpoint.method] = (endpoint, template, [name for name, _ in _PLACE.findall(path)])
                if endpoint.method != ANY:
                    methods["OPTIONS"] = (_options(methods), template, [])

    def find(self, method: str, path: str) -> tuple[Endpoint, str, dict[str, str]]:
        """The endpoint of a normalized path, its pattern, and the words that stand in the places of the pattern."""
        words: list[str] = []
        node = self._plain[path] if path in self._plain else self._walked(path, words)
        if not node.methods:
            raise unknown_path()
        found = node.methods.get(method) or node.methods.get(ANY)
        if found is None:
            allowed = {"Allow": ", ".join(sorted(node.methods))}
            raise RefusedRequest(405, "request.method", "Method Not Allowed", headers=allowed)
        return found[0], found[1], dict(zip(found[2], words, strict=False))

    def _walked(self, path: str, words: list[str]) -> _Node:
        node, parts = self._root, path.split("/")[1:]
        for index, part in enumerate(parts):
            if part in node:
                node = node[part]
            elif PLACE in node:
                words.append(part)
                node = node[PLACE]
            elif REST in node:
                words.append("/".join(parts[index:]))
                node = node[REST]
                break
            else:
                return _Node()
        return node

    def _node(self, path: str) -> _Node:
        if "{" not in path:
            return self._plain.setdefault(path, _Node())
        node = self._root
        for part in path.split("/")[1:]:
            place = _PLACE.fullmatch(part)
            node = node.setdefault(part if place is None else REST if place[2] else PLACE, _Node())
        return node


def normalized(path: str) -> str:
    """A path with single slashes, and none at its end."""
    return "/" + "/".join([part for part in path.split("/") if part])


def _options(methods: Iterable[str]) -> Endpoint:
    allowed = {"Allow": ", ".join(sorted({*methods, "OPTIONS"}))}

    async def options(request: JsonRequest) -> Response:
        return Response(status=204, headers=allowed)

    return Endpoint("options", "OPTIONS", (), options, is_public=True)
