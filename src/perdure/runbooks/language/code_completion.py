"""Code completion at a place in a program: verbs, arguments, their values, names and words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import msgspec

from perdure.runbooks.language.program_reader import form_of, names_in
from perdure.runbooks.language.program_verbs import bare_names, find_verb
from perdure.runbooks.language.schema_types import Shape
from perdure.verbs import Catalogue, Verb
from perdure.verbs.sexpr.name_syntax import ON_FAILURE

CandidateKind = Literal["verb", "argument", "value", "name", "field", "variable", "keyword"]
_MOST = 200
_PIECE = re.compile(
    r"""(?P<space>[ \t\r\n]++)
      | (?P<comment>[;\#][^\n]*+)
      | (?P<string>"(?:[^"\\\n]|\\.)*+"?)
      | (?P<bracket>[()\[\]{}])
      | (?P<comma>,)
      | (?P<word>[^()\[\]{}",;\# \t\r\n]++(?:\[[0-9]++\][^()\[\]{}",;\# \t\r\n]*+)*+)""",
    re.VERBOSE,
)
_CLOSING = {")": "(", "]": "[", "}": "{"}
_FIELD = re.compile(r"@?([A-Za-z][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_-]+|\[[0-9]+\])*)\.[A-Za-z0-9_-]*\Z")


class Candidate(msgspec.Struct, frozen=True):
    """A text that could replace what stands between `start` and the cursor, with a few words about it."""

    text: str
    kind: CandidateKind
    start: int
    about: str = ""


class _Place(msgspec.Struct, frozen=True):
    """Where the cursor is: the call around it, the argument it gives a value to, and the word it is in."""

    verb: str
    argument: str
    given: frozenset[str]
    word: str
    start: int
    last: str


def complete(
    text: str,
    cursor: int,
    catalogue: Catalogue,
    *,
    variables: Collection[str] = (),
    names: Collection[str] = (),
) -> list[Candidate]:
    """What could stand at `cursor`, best first; `names` are results known from before."""
    before = text[:cursor]
    is_lisp = form_of(before or text) == "lisp" or before.lstrip().startswith("(")
    place = _place(before, is_lisp)
    found = _candidates(before, text, place, catalogue, variables, names, is_lisp)
    wanted = place.word.lstrip('"').lower()
    fitting = [each for each in found if each.text.lower().lstrip('"').startswith(wanted)]
    if not fitting:
        fitting = [each for each in found if wanted and wanted in each.text.lower()]
    return list(dict.fromkeys(fitting))[:_MOST]


def _candidates(
    before: str,
    text: str,
    place: _Place,
    catalogue: Catalogue,
    variables: Collection[str],
    names: Collection[str],
    is_lisp: bool,
) -> list[Candidate]:
    known = [*sorted(names_in(text) | set(names))]
    if place.word.startswith("$"):
        return [Candidate(f"${name}", "variable", place.start) for name in sorted(variables)]
    if (field := _FIELD.match(place.word)) and not _is_verb_place(place, is_lisp):
        return list(_fields(text, field, place, catalogue, is_lisp))
    if _is_verb_place(place, is_lisp):
        return list(_verbs(catalogue, place.start))
    if place.last in ("AFTER", ",AFTER") or (is_lisp and place.argument == "after"):
        return _named(known, place.start, is_lisp)
    if place.argument:
        return list(_values(place, catalogue, known, variables, is_lisp))
    if place.verb:
        return list(_arguments(place, catalogue, is_lisp))
    return list(_keywords(place, is_lisp))


def _place(before: str, is_lisp: bool) -> _Place:
    found = list(_PIECE.finditer(before))
    word = found.pop()[0] if found and _is_unfinished(found[-1]) else ""
    stack: list[list[str]] = []
    top: list[str] = []
    for match in found:
        piece = match[0]
        if match.lastgroup in ("space", "comment"):
            continue
        if piece in "([{":
            stack.append([piece])
            continue
        if piece in ")]}":
            _close(stack, _CLOSING[piece])
            piece = "()"
        (stack[-1] if stack else top).append(piece)
    return _seen(stack, top, word, len(before) - len(word), is_lisp)


def _is_unfinished(match: re.Match[str]) -> bool:
    """Whether the last piece of a text may go on at the cursor."""
    if match.lastgroup == "string":
        return len(match[0]) == 1 or not match[0].endswith('"')
    return match.lastgroup == "word" and match[0] != ":" and not (match[0].endswith(":") and len(match[0]) > 1)


def _close(stack: list[list[str]], opener: str) -> None:
    while stack and stack.pop()[0] != opener:
        pass


def _seen(stack: list[list[str]], top: list[str], word: str, start: int, is_lisp: bool) -> _Place:
    call = next((part for part in reversed(stack) if part[0] == "("), None)
    around = stack[-1] if stack else top
    last = around[-1] if around else ""
    if is_lisp:
        pieces = call[1:] if call else []
        keywords = [piece[1:] for piece in pieces if piece.startswith(":")]
        argument = pieces[-1][1:] if pieces and pieces[-1].startswith(":") else ""
        if stack and stack[-1] is not call and pieces:
            argument = next((piece[1:] for piece in reversed(pieces) if piece.startswith(":")), "")
        return _Place(pieces[0] if pieces else "", argument, frozenset(map(_snake, keywords)), word, start, last)
    verb = _verb_before(stack, top, call)
    pieces = call[1:] if call else []
    joined = " ".join(pieces)
    named = re.findall(r"([A-Za-z][A-Za-z0-9_-]*) ?:", joined)
    waiting = re.search(r"([A-Za-z][A-Za-z0-9_-]*) ?: ?\Z", joined)
    if waiting is None and stack and stack[-1] is not call and named:
        argument = named[-1]
    else:
        argument = waiting[1] if waiting else ""
    return _Place(verb, argument, frozenset(map(_snake, named)), word, start, last)


def _verb_before(stack: list[list[str]], top: list[str], call: list[str] | None) -> str:
    """In the LET form the verb stands before its parenthesis."""
    if call is None:
        return ""
    at = next(index for index, part in enumerate(stack) if part is call)
    around = stack[at - 1] if at else top
    return around[-1] if around else ""


def _is_verb_place(place: _Place, is_lisp: bool) -> bool:
    if is_lisp:
        return place.last == "(" and not place.verb
    return place.last == "EXEC"


def _verbs(catalogue: Catalogue, start: int) -> Iterator[Candidate]:
    for verb in catalogue:
        yield Candidate(verb.name, "verb", start, verb.definition.description)
    for bare, full in sorted(bare_names(catalogue).items()):
        if len(full) == 1 and full[0] != bare:
            yield Candidate(full[0].rpartition(".")[2], "verb", start, full[0])


def _arguments(place: _Place, catalogue: Catalogue, is_lisp: bool) -> Iterator[Candidate]:
    verb = find_verb(catalogue, place.verb)
    if verb is None:
        return
    required = verb.input.schema.get("required", ())
    for name, part in sorted(verb.input.properties.items(), key=lambda pair: pair[0] not in required):
        if _snake(name) in place.given:
            continue
        about = Shape(part, verb.input.schema).spoken() + ("" if name in required else ", optional")
        yield Candidate(f":{name.replace('_', '-')}" if is_lisp else f"{name}: ", "argument", place.start, about)
    if is_lisp:
        for option in ("as", "after", "on-failure", "gate", "reevaluate"):
            if _snake(option) not in place.given:
                yield Candidate(f":{option}", "keyword", place.start)


def _values(
    place: _Place, catalogue: Catalogue, known: list[str], variables: Collection[str], is_lisp: bool
) -> Iterator[Candidate]:
    if is_lisp and _snake(place.argument) == "on_failure":
        yield from (Candidate(word, "keyword", place.start) for word in ON_FAILURE[:-1])
        return
    verb = find_verb(catalogue, place.verb)
    part = verb.input.properties.get(_snake(place.argument)) if verb is not None else None
    if verb is not None and part is not None:
        shape = Shape(part, verb.input.schema)
        items = shape.below(10**9)
        for value in shape.values() or (items.values() if isinstance(items, Shape) else None) or ():
            yield Candidate(msgspec.json.encode(value).decode(), "value", place.start)
        if shape.kinds() == frozenset({"boolean"}):
            yield from (Candidate(word, "value", place.start) for word in ("true", "false"))
    if not place.word.startswith('"'):
        yield from _named(known, place.start, is_lisp)
        yield from (Candidate(f"${name}", "variable", place.start) for name in sorted(variables))


def _named(known: Iterable[str], start: int, is_lisp: bool) -> list[Candidate]:
    sign = "@" if is_lisp else ""
    return [Candidate(f"{sign}{name}", "name", start, "the result of a step") for name in known]


def _fields(text: str, field: re.Match[str], place: _Place, catalogue: Catalogue, is_lisp: bool) -> Iterator[Candidate]:
    """Fields of the result that the word names."""
    verb = _producer(text, field[1], catalogue, is_lisp)
    if verb is None or verb.output is None:
        return
    path = [part for part in re.split(r"[.\[\]]+", field[2]) if part]
    steps = tuple(int(part) if part.isdecimal() else part for part in path)
    shape, _ = Shape(verb.output.schema, verb.output.schema).at(steps)
    if not isinstance(shape, Shape):
        return
    head = place.word.rpartition(".")[0]
    for name in shape.fields():
        inner = shape.below(name)
        yield Candidate(f"{head}.{name}", "field", place.start, inner.spoken() if isinstance(inner, Shape) else "")


def _producer(text: str, name: str, catalogue: Catalogue, is_lisp: bool) -> Verb | None:
    """The verb whose result a name is bound to, as far as the text around shows it."""
    if is_lisp:
        bound = re.search(
            rf"\(([A-Za-z][\w.-]*)(?:(?!\([A-Za-z]).)*?:as\s+@{re.escape(name)}(?![\w-])", text, re.DOTALL
        )
    else:
        bound = re.search(rf"\bLET\s+{re.escape(name)}\s*=\s*EXEC\s+([A-Za-z][\w.-]*)", text)
    return find_verb(catalogue, bound[1]) if bound is not None else None


def _keywords(place: _Place, is_lisp: bool) -> Iterator[Candidate]:
    if is_lisp:
        return
    words: tuple[str, ...]
    match place.last:
        case "ON":
            words = ("FAILURE",)
        case "FAILURE":
            words = ON_FAILURE
        case "()":
            words = ("AFTER", "ON FAILURE", "GATE", "REEVALUATE always", "LET", "EXEC", "IF", "ELSE", "END")
        case "=":
            words = ("EXEC",)
        case _:
            words = ("LET", "EXEC", "IF", "THEN", "ELSE", "END")
    yield from (Candidate(word, "keyword", place.start) for word in words)


def _snake(name: str) -> str:
    return name.replace("-", "_")
