"""How wide a text is, nearly, and how it breaks into lines; no font is read."""

from __future__ import annotations

import unicodedata

LINE = 1.2
"""Height of a line in sizes of its font."""
LABEL_SIZE = 11.0
LABEL_WIDTH = 96.0
"""Labels outside of shapes break at this width."""
MAX_CHARACTERS = 400
"""More than that of one name is never shown."""
_NARROW = frozenset("ijlIftr.,:;'`|!()[]{}/\\ -\"")
_WIDE = frozenset("mwMW@%&—…")


def text_width(text: str, size: float) -> float:
    """Width in pixels of one line in a common sans-serif font, rather too much than too little."""
    return sum(map(_advance, text)) * size


def _advance(character: str) -> float:
    if character in _NARROW:
        return 0.34
    if character in _WIDE:
        return 0.92
    if ord(character) < 0x250:
        return 0.70 if character.isupper() else 0.57
    if unicodedata.combining(character):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.7


def wrap(text: str, width: float, size: float, max_lines: int = 4) -> list[str]:
    """The lines of a text; what does not fit ends with an ellipsis."""
    lines: list[str] = []
    for paragraph in text[:MAX_CHARACTERS].splitlines():
        lines += _wrapped(paragraph.split(), width, size)
    if len(lines) > max_lines or len(text) > MAX_CHARACTERS:
        lines = [*lines[: max_lines - 1], _cut(lines[min(len(lines), max_lines) - 1], width, size)]
    return lines


def label_size(text: str, width: float = LABEL_WIDTH) -> tuple[float, float]:
    """Width and height of a label outside of shapes; nothing for no text."""
    lines = wrap(text, width, LABEL_SIZE)
    if not lines:
        return 0.0, 0.0
    return max(text_width(line, LABEL_SIZE) for line in lines) + 4, len(lines) * LABEL_SIZE * LINE + 2


def _wrapped(words: list[str], width: float, size: float) -> list[str]:
    lines: list[str] = []
    line = ""
    for piece in (piece for word in words for piece in _pieces(word, width, size)):
        longer = f"{line} {piece}" if line else piece
        if line and text_width(longer, size) > width:
            lines.append(line)
            line = piece
        else:
            line = longer
    return [*lines, line] if line else lines


def _pieces(word: str, width: float, size: float) -> list[str]:
    """A word too long for a line, in pieces that are not, broken where it is made of words itself."""
    pieces = [""]
    for character in word:
        whole = pieces[-1] + character
        if pieces[-1] and text_width(whole, size) > width:
            joint = _joint(whole)
            pieces[-1:] = [whole[:joint], whole[joint:]]
        else:
            pieces[-1] = whole
    return pieces


def _joint(text: str) -> int:
    """Where to break: after a hyphen or the like, before a capital; else before the last character."""
    for place in range(len(text) - 1, len(text) // 3, -1):
        before, after = text[place - 1], text[place]
        if before in "_-./:" or (after.isupper() and before.islower()):
            return place
    return len(text) - 1


def _cut(line: str, width: float, size: float) -> str:
    while line and text_width(line + "…", size) > width:
        line = line[:-1]
    return line.rstrip() + "…"
