"""An XML element, on its way in or out."""

from __future__ import annotations

from collections.abc import Iterator


class Tag:
    """Names are `prefix:local` with the usual prefix, `{uri}local` for a namespace we do not know."""

    __slots__ = ("attributes", "children", "column", "line", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str] | None = None, text: str = "") -> None:
        self.name = name
        self.attributes = {} if attributes is None else attributes
        self.text = text
        self.children: list[Tag] = []
        self.line = 0
        self.column = 0

    def with_children(self, *children: Tag | None) -> Tag:
        """The same element after taking the children that are there."""
        self.children += [child for child in children if child is not None]
        return self

    def first(self, name: str) -> Tag | None:
        return next(self.all(name), None)

    def all(self, *names: str) -> Iterator[Tag]:
        return (child for child in self.children if child.name in names)

    def within(self) -> Iterator[Tag]:
        """The element and every element in it, in order; what `extensionElements` hold is left out."""
        open_tags = [self]
        while open_tags:
            tag = open_tags.pop()
            yield tag
            if tag.name != "bpmn:extensionElements":
                open_tags += reversed(tag.children)

    def get(self, name: str) -> str:
        """The attribute, or an empty text where there is none."""
        return self.attributes.get(name, "")
