"""The url of a Temporal server: what it may say, and what is refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.configuration.project import load_config
from perdure.app.perdure import Perdure
from perdure.engine import read_engine
from perdure.engines.temporal.address import read_address
from perdure.errors import DefinitionError, EngineSettingError


def test_an_address_names_host_and_namespace() -> None:
    address = read_address("temporal://temporal.example.com/payments?tls=true&cert=c.pem&key=k.pem")
    assert (address.target, address.namespace, address.is_tls) == ("temporal.example.com:7233", "payments", True)
    assert address.text == "temporal://temporal.example.com:7233/payments"


@pytest.mark.parametrize(
    "url", ["temporal://host:7233", "temporal://", "temporal://host/a/b", "temporal://host/a?tsl=1", "temporal://h:x/a"]
)
def test_an_address_that_means_nothing_is_refused(url: str) -> None:
    with pytest.raises(EngineSettingError, match="Expected to open engine"):
        read_address(url)


def test_a_credential_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(EngineSettingError) as refused:
        read_address("temporal://me:secret@host/a")
    assert "secret" not in str(refused.value)


@pytest.mark.req("V13")
def test_a_project_names_its_engine(tmp_path: Path) -> None:
    file = tmp_path / "perdure.yaml"
    file.write_text("engine: temporal://localhost:7233/default\n")
    assert load_config(file).engine == read_engine("temporal://localhost:7233/default")
    file.write_text("engine: temporel://localhost:7233/default\n")
    with pytest.raises(DefinitionError, match="temporal://host:7233/namespace"):
        load_config(file)


async def test_an_engine_that_does_not_exist_is_refused_when_opening(tmp_path: Path) -> None:
    with pytest.raises(EngineSettingError, match="there is no such engine"):
        async with Perdure.open(f"sqlite:///{tmp_path}/p.db", engine="zeebe://host"):
            pass
