"""`channels:` is read strictly: every mistake with its line, and never a secret in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.configuration.project import load_config
from perdure.channels.channel_settings import Password, SmtpSettings
from perdure.errors import DefinitionError, StoreSettingError

SMTP = "kind: smtp, host: mail.test, sender: kyc@bank.test"


def written(folder: Path, text: str) -> Path:
    file = folder / "perdure.yaml"
    file.write_text(text)
    return file


def test_ways_are_read_with_their_defaults(tmp_path: Path) -> None:
    text = f"channels:\n  default: mail\n  token: P3D\n  ways:\n    mail: {{{SMTP}, user: kyc, password_file: pass}}\n"
    channels = load_config(written(tmp_path, text)).channels
    mail = channels.way("mail")
    assert isinstance(mail, SmtpSettings) and (mail.port, mail.security, mail.language) == (587, "starttls", "en")
    assert mail.password == Password("", tmp_path / "pass") and channels.token_seconds == 3 * 86_400
    with pytest.raises(StoreSettingError, match="has none"):
        mail.password.text("mail")
    assert channels.way("other") is None


@pytest.mark.parametrize(
    ("ways", "reason"),
    [
        ("mail: {kind: pigeon}", "it needs a kind"),
        ("mail: {kind: smtp, host: mail.test}", "'sender' is missing"),
        (f"mail: {{{SMTP}, password: sesame}}", "the key 'password' is not known here"),
        (f"mail: {{{SMTP}, user: kyc}}", "a user needs a password"),
        (f"mail: {{{SMTP}, security: ssl3}}", "ssl3"),
        (f"mail: {{{SMTP}, port: 99999}}", "whole number"),
        ('mail: {kind: smtp, host: mail.test, sender: "a@b.test\\r\\nBcc: c@d.test"}', "no e-mail address"),
        (f"mail: {{{SMTP}, templates: {{en: {{subject: x, text: '{{token}}'}}}}}}", "'token' is no name"),
        (f"mail: {{{SMTP}, templates: {{English: {{subject: x, text: y}}}}}}", "no language"),
        ("Mail: {kind: row}", "is no name"),
        ("portal: {kind: webhook, url: 'ftp://x', secret_env: S}", "no http or https address"),
        ("portal: {kind: webhook, url: 'https://x.test'}", "secret_env or secret_file"),
        ("out: {kind: file}", "'folder' is missing"),
        ("bus: {kind: queue, broker: office}", "'destination' is missing"),
    ],
)
def test_a_mistake_is_named_where_it_stands(ways: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as caught:
        load_config(written(tmp_path, f"channels:\n  ways:\n    {ways}\n"))
    assert any(reason in each.reason and each.line == 3 for each in caught.value.problems), caught.value.problems


def test_the_default_is_one_of_the_ways_and_the_link_an_address(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as caught:
        load_config(written(tmp_path, "channels:\n  default: mail\n  link: javascript:alert(1)\n"))
    assert {each.reason for each in caught.value.problems} == {
        "there is no way 'mail'", "it is no http or https address",
    }  # fmt: skip
