"""What a server signs is worth something to it alone, for one purpose, for a while."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.access import signed_tokens as t
from perdure.access.api_key_text import to_letters
from perdure.access.principal import Principal
from perdure.access.roles import may
from perdure.access.server_secret import load_or_create_secret, load_secret
from perdure.errors import RejectedError
from perdure.sources import SECOND

pytestmark = pytest.mark.req("P3")
SECRET, OTHER = b"s" * 32, b"o" * 32
NOW = 1_800_000_000 * SECOND
ANA = Principal("acme", "ana", "person", frozenset({"operator", "reviewer"}), ("night",), via="key:k1")


MAKERS = st.lists(st.text(min_size=1, max_size=20), max_size=2).map(tuple)


def session(**words: object) -> t.Session:
    return msgspec.structs.replace(t.make_session(ANA, NOW, "session-1", "k1"), **words)


# --- waits ------------------------------------------------------------------------------------------------------------


@given(st.text(min_size=1, max_size=50), st.text(min_size=1, max_size=50), st.text(max_size=50), MAKERS)
def test_a_wait_token_names_its_wait_and_only_the_same_secret_reads_it(
    tenant: str, key: str, wait: str, makers: tuple[str, ...]
) -> None:
    try:
        token = t.wait_token(SECRET, t.WaitName(tenant, key, wait, makers))
    except UnicodeEncodeError:
        return
    assert t.read_wait_token(SECRET, token) == t.WaitName(tenant, key, wait, makers)
    assert t.read_wait_token(OTHER, token) is None


def test_a_wait_token_cannot_be_turned_into_that_of_another_wait() -> None:
    token = t.wait_token(SECRET, t.WaitName("acme", "case-7", "w"))
    *_, signature = token.rpartition(".")
    for names in (("acme", "case-8", "w"), ("globex", "case-7", "w"), ("acme", "", "w"), ("acme", "case-7", "v")):
        forged = f"wait_{'.'.join(to_letters(each.encode()) for each in names)}.{signature}"
        assert t.read_wait_token(SECRET, forged) is None


def test_a_wait_token_that_differs_in_any_letter_is_nothing() -> None:
    token = t.wait_token(SECRET, t.WaitName("acme", "case-7", "w"))
    for place in range(len(token)):
        for other in {"A", "B", ".", "é"} - {token[place]}:
            assert t.read_wait_token(SECRET, token[:place] + other + token[place + 1 :]) is None
    for other in (token + "A", token[:-1], "", "wait_", "wait_..", "x" * 100_000):
        assert t.read_wait_token(SECRET, other) is None


def test_who_shows_a_wait_token_may_end_it_and_say_how_it_goes_and_nothing_else() -> None:
    principal = t.wait_principal(t.WaitName("acme", "case-7"))
    assert may(principal) == ["completion.send", "progress.send"]
    assert (principal.tenant, principal.kind, principal.via) == ("acme", "service", "wait")


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_is_read_back_as_it_began() -> None:
    found = t.read_session(SECRET, t.session_token(SECRET, session()), NOW)
    assert found == session()
    assert found is not None
    assert found.principal == msgspec.structs.replace(ANA, via="session")


@pytest.mark.parametrize(
    ("seconds", "is_good"),
    [(0, True), (t.SESSION_SECONDS - 1, True), (t.SESSION_SECONDS, False), (-30, True), (-61, False), (10**9, False)],
)
def test_a_session_is_good_for_eight_hours_and_not_before_it_began(seconds: int, is_good: bool) -> None:
    token = t.session_token(SECRET, session())
    assert (t.read_session(SECRET, token, NOW + seconds * SECOND) is not None) == is_good


def test_a_session_signed_with_another_secret_or_changed_is_none() -> None:
    token = t.session_token(SECRET, session())
    assert t.read_session(OTHER, token, NOW) is None
    body, _, signature = token.rpartition(".")
    admin = msgspec.structs.replace(ANA, roles=frozenset({"admin"}))
    promoted = to_letters(msgspec.json.encode(session(principal=admin)))
    for forged in (f"{promoted}.{signature}", f"{body}.", body, f".{signature}", "", ".", f"{token}.", "x" * 9999):
        assert t.read_session(SECRET, forged, NOW) is None


def test_what_was_signed_for_one_purpose_is_worth_nothing_for_another() -> None:
    login = t.Login("s", "n", "v", NOW + SECOND)
    signed = t.login_token(SECRET, login)
    assert t.read_login(SECRET, signed, NOW) == login
    assert t.read_session(SECRET, signed, NOW) is None
    assert t.read_login(SECRET, t.session_token(SECRET, session()), NOW) is None
    assert t.read_wait_token(SECRET, "wait_" + t.session_token(SECRET, session())) is None
    assert t.csrf_token(SECRET, session()) not in t.session_token(SECRET, session())


def test_a_sign_in_that_began_too_long_ago_is_over() -> None:
    token = t.login_token(SECRET, t.Login("s", "n", "v", NOW))
    assert t.read_login(SECRET, token, NOW) is None


def test_a_page_s_token_is_of_its_session_alone() -> None:
    mine, theirs = session(), session(id="session-2")
    token = t.csrf_token(SECRET, mine)
    assert t.is_csrf(SECRET, mine, token)
    for wrong in ("", "é", token[:-1], token + "A", t.csrf_token(SECRET, theirs), t.csrf_token(OTHER, mine)):
        assert not t.is_csrf(SECRET, mine, wrong)


def test_a_session_that_no_browser_would_keep_is_refused_when_it_begins() -> None:
    many = msgspec.structs.replace(ANA, groups=tuple(f"group-{number:04}" for number in range(500)))
    with pytest.raises(RejectedError, match="too many groups"):
        t.session_token(SECRET, t.make_session(many, NOW, "s"))


@given(st.binary(max_size=80))
def test_signed_nonsense_is_nobody(data: bytes) -> None:
    body = to_letters(data)
    token = f"{body}.{t._signature(SECRET, t.SESSION, body)}"
    assert t.read_session(SECRET, token, NOW) is None


# --- the secret -------------------------------------------------------------------------------------------------------


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "secret"
    secret = load_or_create_secret(path)
    assert len(secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    assert load_or_create_secret(path) == secret
    assert load_or_create_secret(tmp_path / "other") != secret
    assert [each.name for each in path.parent.iterdir()] == ["secret"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
@pytest.mark.skipif(os.name != "posix", reason="files have no such modes here")
def test_a_secret_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    load_or_create_secret(path)
    path.chmod(mode)
    with pytest.raises(RejectedError, match=r"others may read it .*chmod 600"):
        load_or_create_secret(path)


@pytest.mark.parametrize("content", ["", "short", "ab" * 16, "zz" * 32, "\xff\xfe"])
def test_a_file_that_holds_no_secret_is_refused_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content.encode("latin-1"))
    path.chmod(0o600)
    with pytest.raises(RejectedError):
        load_or_create_secret(path)
    assert path.read_bytes() == content.encode("latin-1")


def test_a_secret_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="it cannot be read"):
        load_secret(tmp_path / "secret")
    (tmp_path / "file").touch()
    with pytest.raises(RejectedError, match="it cannot be written"):
        load_or_create_secret(tmp_path / "file" / "secret")
