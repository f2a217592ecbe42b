"""Hostile files: refused in bounded time and memory, with file, line and reason."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.bpmn.xml import read_limits, read_model, read_model_file, write_model
from perdure.errors import ModelError
from tests.bpmn.xml.fixtures import CLOSING, FOLDER, OPENING, codes_of, in_process, problems_of
from tests.depth import sampled

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))
VALID = in_process(
    '<d:startEvent id="s"/><d:sequenceFlow id="f" sourceRef="s" targetRef="t"/><d:serviceTask id="t" name="é"/>'
)
FILES = [path.read_bytes() for path in sorted(FOLDER.glob("*.bpmn"))]


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE x [{LAUGHS}]>{OPENING}&l9;{CLOSING}",
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>{OPENING}&e;{CLOSING}',
        f'<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">{VALID}',
        f'<!DOCTYPE x PUBLIC "a" "http://127.0.0.1:1/x.dtd">{VALID}',
        f'<!DOCTYPE x [<!ENTITY % e SYSTEM "http://127.0.0.1:1/x"> %e;]>{VALID}',
        f'<!DOCTYPE x [<!ATTLIST x a CDATA "b">]>{VALID}',
        f"<!DOCTYPE x>{VALID}",
        f'<?xml-stylesheet href="http://127.0.0.1:1/x.xsl"?>{VALID}',
        in_process("<?php echo 1 ?>"),
        in_process('<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'),
        in_process("", '<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="http://127.0.0.1:1/x"/>'),
    ],
)
def test_document_types_entities_instructions_and_inclusions_are_refused(text: str) -> None:
    assert codes_of(text) == ["BPM002"]
    assert codes_of(text.encode("utf-16")) == ["BPM002"]


@pytest.mark.parametrize(
    "data",
    [
        b"", b" ", b"\0", b"not xml", b"<a", b"<a></b>", b"<a/><b/>", b"<a b='1' b='2'/>", b"<a>&unknown;</a>",
        VALID.encode()[:-3], VALID.replace("é", "\0").encode(), VALID.replace("é", "\x01").encode(),
        VALID.encode("latin-1"), b'<?xml version="1.0" encoding="utf-7"?>' + VALID.encode(),
        b'<?xml version="1.0" encoding="rot13"?>' + VALID.encode(), b"\xff\xfe" + VALID.encode(),
        b'<?xml version="1.0" encoding="shift_jis"?><a/>', b'<?xml version="1.0" encoding="nonsense"?><a/>',
        b'<?xml version="1.0" encoding="utf-16"?>' + VALID.encode(),
        VALID.encode("utf-32"), b"<x:y/>", b"<a xmlns:b=''/>", "\ud800", "<a b='\ud800'/>", "<a>\0</a>",
    ],
)  # fmt: skip
def test_what_is_not_well_formed_or_not_readable_is_refused_with_a_place(data: bytes | str) -> None:
    assert codes_of(data) == ["BPM001"]


@pytest.mark.parametrize(
    "data",
    [
        VALID, VALID.encode(), b"\xef\xbb\xbf" + VALID.encode(), VALID.encode("utf-16"),
        b"\xfe\xff" + VALID.encode("utf-16-be"), f'<?xml version="1.0" encoding="utf-16"?>{VALID}'.encode("utf-16"),
        f'<?xml version="1.0" encoding="ISO-8859-1"?>{VALID}'.encode("latin-1"),
        *(
            f'<?xml version="1.0" encoding="{name}"?>{VALID}'.encode(name)
            for name in ("utf8", "latin1", "windows-1252", "cp1252", "ISO-8859-15")
        ),
        f'<?xml version="1.0" encoding="UTF-16"?>{VALID}', f"<!-- a comment -->{VALID}",
    ],
)  # fmt: skip
def test_a_file_is_read_in_each_encoding_that_says_which_it_is(data: bytes | str) -> None:
    assert read_model(data).definitions.processes[0].body.nodes[1].name == "é"


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b" \n", "the file is empty"),
        (VALID.encode("latin-1"), "it is not in UTF-8, and names no other encoding"),
        (b"<a>\x01</a>", "it is not well-formed XML: not well-formed (invalid token)"),
        (b"<a", "it is not well-formed XML: unclosed token"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(data: bytes, fact: str) -> None:
    (problem,) = problems_of(data)
    assert problem.reason == fact
    assert problem.hint


def test_the_place_of_what_is_malformed_is_exact() -> None:
    (problem,) = problems_of("<a>\n  <é>\n    <b></c>\n</a>")
    assert (problem.line, problem.column) == (3, 10)


def test_a_file_of_too_many_bytes_is_refused_unread() -> None:
    assert codes_of(b"<a>" + b" " * read_limits.MAX_BYTES) == ["BPM003"]


def test_a_file_without_end_is_refused_at_the_limit() -> None:
    with pytest.raises(ModelError, match="BPM003"):
        read_model_file(Path("/dev/zero"))


def test_too_many_elements_are_refused() -> None:
    assert codes_of(f"<a>{'<b/>' * read_limits.MAX_ELEMENTS}</a>") == ["BPM003"]


def test_too_many_attributes_are_refused() -> None:
    attributes = " ".join(f'a{n}="1"' for n in range(read_limits.MAX_ATTRIBUTES + 1))
    assert codes_of(f"<a {attributes}/>") == ["BPM003"]


@pytest.mark.parametrize("size", [read_limits.MAX_ATTRIBUTE_LENGTH + 1, read_limits.MAX_TAG_BYTES * 3])
def test_a_huge_attribute_is_refused(size: int) -> None:
    assert codes_of(f'<a b="{"x" * size}"/>') == ["BPM003"]
    assert codes_of(f'<a {"x" * size}="b"/>') == ["BPM003"]


@pytest.mark.parametrize("piece", ["<!--{}-->", "<{}/>", "<a xmlns:b='{}'/>"])
def test_a_tag_or_comment_without_end_is_refused(piece: str) -> None:
    assert codes_of(f"<a>{piece.format('x' * read_limits.MAX_TAG_BYTES * 3)}</a>") == ["BPM003"]


def test_deep_nesting_is_refused_at_the_limit() -> None:
    inside = read_limits.MAX_DEPTH - 2
    assert read_model(in_process(_nested(inside))).definitions.processes
    assert codes_of(in_process(_nested(inside + 1))) == ["BPM004"]


def _nested(depth: int) -> str:
    return "".join(f'<d:subProcess id="s{n}">' for n in range(depth)) + "</d:subProcess>" * depth


def test_a_million_open_elements_cost_little() -> None:
    text = "<a>" * 1_000_000
    used = _memory(lambda: codes_of(text))
    assert codes_of(text) == ["BPM004"]
    assert used < 20 * 1024 * 1024


def test_what_is_written_of_the_deepest_model_is_read_again() -> None:
    model = read_model(in_process(_nested(read_limits.MAX_DEPTH - 2)))
    assert read_model(write_model(model)).definitions == model.definitions


@pytest.mark.parametrize(
    "content",
    sampled(
        [
            lambda n: "".join(f'<d:task id="t{i}"/>' for i in range(n)),
            lambda n: "".join(
                f'<d:task id="t{i}"/><d:sequenceFlow id="f{i}" sourceRef="t{i}" targetRef="t{(i * 7) % n}"/>'
                for i in range(n)
            ),
            lambda n: "".join(f'<d:subProcess id="s{i}"><d:task id="t{i}"/></d:subProcess>' for i in range(n)),
            lambda n: '<d:task id="t"/>' + "".join(f'<d:boundaryEvent id="e{i}" attachedToRef="t"/>' for i in range(n)),
            lambda n: "".join(f"a<d:task id='t{i}'/>b" for i in range(n)),
            lambda n: "<d:task />" * n,
            lambda n: "<d:unknown />" * n,
            lambda n: '<d:task id="same" />' * n,
            lambda n: '<d:sequenceFlow id="f" sourceRef="x" targetRef="y" />' * n,
            lambda n: "".join(f'<d:task id="t{i}" xmlns:a{i}="urn:{i}" a{i}:b="c"/>' for i in range(n)),
        ],
        3,
    ),
)
def test_work_grows_with_the_size_of_the_file_and_no_faster(content: Callable[[int], str]) -> None:
    small, large = (_calls(lambda n=n: _try(in_process(content(n)))) for n in (1_000, 10_000))
    assert large < 11 * small


def test_text_between_many_elements_is_put_together_once() -> None:
    text = in_process("x<d:incoming/>" * 30_000)
    assert _memory(lambda: _try(text)) < 60 * 1024 * 1024


def _try(data: bytes | str) -> None:
    try:
        read_model(data)
    except ModelError as error:
        assert str(error)


def _calls(function: Callable[[], object]) -> int:
    """How many calls of Python and C functions a call makes: what the machine does meanwhile does not matter."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def _memory(function: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _looked_at(data: bytes | str) -> None:
    """Whatever the bytes, there is a model that can be written, or problems with their places."""
    try:
        model = read_model(data, "m.bpmn")
    except ModelError as error:
        assert error.problems
        assert all(each.line >= 1 and each.column >= 1 and each.file == "m.bpmn" for each in error.problems)
        return
    assert read_model(write_model(model)).definitions == model.definitions


PIECES = st.sampled_from([
    b"", b"<", b">", b"/", b'"', b"&", b"\0", b"\xff", b"<!DOCTYPE x>", b"<!ENTITY a 'b'>", b"<![CDATA[", b"]]>",
    b"<!--", b"<?x?>", b"&#0;", b"&#x1F600;", b"sourceRef", b"id", b"bpmn:", b"zeebe:", b"xmlns", b"=", b"${", b" ",
    b"<bpmn:task/>", b"<bpmn:subProcess id='x'>", b"</bpmn:process>", b"true", b"-1", b"9" * 30,
])  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_damaged_file_gives_a_model_or_problems_and_nothing_else(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.sampled_from([0, 1, 3, 20, 400]))
        piece = data.draw(PIECES | st.integers(0, len(text)).map(lambda at: text[at : at + 60]))  # noqa: B023
        text = text[:start] + piece + text[end:]
    _looked_at(text)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_file_with_names_exchanged_gives_a_model_or_problems_and_nothing_else(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(FILES))
    pieces = text.split(b'"')
    for _ in range(data.draw(st.integers(1, 3))):
        one, other = (data.draw(st.integers(0, len(pieces) - 1)) for _ in range(2))
        pieces[one], pieces[other] = pieces[other], pieces[one]
    _looked_at(b'"'.join(pieces))
    elements = text.split(b"<")
    one, other = (data.draw(st.integers(1, len(elements) - 1)) for _ in range(2))
    elements[one], elements[other] = elements[other], elements[one]
    _looked_at(b"<".join(elements))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200))
@example(b"\xfe\xff")
@example(b"\xff\xfe<\0")
def test_any_bytes_give_a_model_or_problems_and_nothing_else(data: bytes | str) -> None:
    _looked_at(data)
