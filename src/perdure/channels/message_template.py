"""Templates of messages to people: declared names replaced, nothing read twice, and no line break in a header."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import msgspec

from perdure.channels.channel import RequestMessage
from perdure.verbs.text_templates import placeholders, substitute

NAMES = ("title", "text", "reason", "link", "due")
MAX_SUBJECT = 200


class MessageTemplate(msgspec.Struct, frozen=True):
    """A subject and a text, with `{title}`, `{text}`, `{reason}`, `{link}` and `{due}`.

    A line that holds only names without a value is left out.
    """

    subject: str
    text: str

    def unknown(self) -> list[str]:
        """Names that no message has a value for."""
        return [each for each in placeholders(self.subject + self.text) if each not in NAMES]


class Rendered(msgspec.Struct, frozen=True):
    subject: str
    text: str
    html: str


SHIPPED: Mapping[str, MessageTemplate] = {
    "en": MessageTemplate(
        "We need a document from you: {title}",
        "Hello,\n\nplease send us: {title}\n{text}\n\n{reason}\n\nUse this link, which is yours alone:\n{link}\n\n"
        "Please send it by {due}.\n\nYou need not reply to this message.\n",
    ),
    "de": MessageTemplate(
        "Wir brauchen ein Dokument von Ihnen: {title}",
        "Guten Tag,\n\nbitte senden Sie uns: {title}\n{text}\n\n{reason}\n\nDieser Link gilt nur für Sie:\n{link}\n\n"
        "Bitte senden Sie es bis {due}.\n\nAuf diese Nachricht müssen Sie nicht antworten.\n",
    ),
}
"""The templates of every project, by language."""


def render(template: MessageTemplate, message: RequestMessage) -> Rendered:
    """A message in words: plain, and as simple HTML of the same words."""
    values = {name: str(getattr(message, name)) for name in NAMES}
    subject = one_line(substitute(template.subject, lambda name: values.get(name, "")))[:MAX_SUBJECT]
    lines = [line for line in template.text.split("\n") if _is_told(line, values)]
    text = "\n".join(substitute(line, lambda name: plain(values.get(name, ""))) for line in lines)
    return Rendered(subject, _closed_up(text), _html(lines, values))


def one_line(text: str) -> str:
    """A text for a header: control characters and line breaks become spaces."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def plain(text: str) -> str:
    """A text for a body: line breaks stay, other control characters go."""
    return "".join(each for each in text if each.isprintable() or each == "\n")


def _is_told(line: str, values: Mapping[str, str]) -> bool:
    names = placeholders(line)
    return not names or any(values.get(name) for name in names)


def _closed_up(text: str) -> str:
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def _html(lines: list[str], values: Mapping[str, str]) -> str:
    shown = {name: escape(plain(value)) for name, value in values.items()}
    if values["link"]:
        shown["link"] = f'<a href="{shown["link"]}">{shown["link"]}</a>'
    text = _closed_up("\n".join(substitute(escape(line), lambda name: shown.get(name, "")) for line in lines))
    paragraphs = [each.replace("\n", "<br>") for each in text.strip().split("\n\n")]
    return "<html><body>" + "".join(f"<p>{each}</p>" for each in paragraphs) + "</body></html>"
