"""Deployment of definitions: each is sent to Camunda once, by its content, and its key there is kept."""

from __future__ import annotations

from collections.abc import Callable

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.engines.camunda.carried_model import carried_xml, portability
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.rest_client import Gone, Refused, RestClient, WrongState
from perdure.engines.camunda.wire import definition_keys
from perdure.errors import DefinitionError, InvariantBroken, Problem
from perdure.payload import canonical, digest
from perdure.processes.definitions import Definitions


class DefinitionDeployment:
    """Camunda counts versions by itself; ours are pinned by the key."""

    def __init__(self, definitions: Definitions, keys: KeyRows, client: RestClient) -> None:
        self._definitions = definitions
        self._keys = keys
        self._client = client
        self._checked: set[bytes] = set()
        """Definitions that can be carried; there are as many as are deployed."""
        self.on_sent: list[Callable[[Deployed], None]] = []
        """Told of each process that the cluster has now."""

    async def key(self, process: str, hash: bytes, tenant: str) -> str:
        """The key of a definition in Camunda; sent there when it never was."""
        definition = await self._definitions.load(process, hash, tenant)
        return await self.send(definition.deployed)

    async def check(self, process: str, hash: bytes, tenant: str) -> None:
        """DefinitionError when a definition was never sent, and Camunda or this engine cannot carry it."""
        if hash not in self._checked:
            definition = await self._definitions.load(process, hash, tenant)
            if problems := portability(definition.deployed, self._client.address):
                raise DefinitionError(problems)
            self._checked.add(hash)

    async def is_sent(self, deployed: Deployed) -> bool:
        """Whether the cluster has a process, or had it once, whatever the settings were then."""
        if await self._keys.read(_sent_name(deployed)):
            return True
        known = await self._keys.read(self._name(deployed)[0])  # all that stores of earlier releases have
        if known:
            await self._keys.write((_sent_name(deployed), known))
        return bool(known)

    def _name(self, deployed: Deployed) -> tuple[str, str, str]:
        xml = carried_xml(deployed, self._client.address)
        content = digest(xml.encode()).hex()
        return f"definition/{self._client.address.target}/{content}", content, xml

    async def send(self, deployed: Deployed) -> str:
        """Deploy; DefinitionError with Camunda's words when it refuses the process."""
        process = deployed.process.id
        name, content, xml = self._name(deployed)
        for told in self.on_sent:
            told(deployed)
        if await self.is_sent(deployed) and (known := await self._keys.read(name)):
            return known
        try:
            answer = await self._client.deploy(f"{process}-{content[:12]}.bpmn", xml)
        except (Gone, WrongState, Refused) as error:
            problem = Problem("camunda.refused", "", 0, 0, process, f"Camunda refuses it: {error}", "")
            raise DefinitionError([problem]) from error
        key = definition_keys(answer).get(process, "")
        if not key:
            raise InvariantBroken("deploy", "process", process, "Camunda's answer names no definition of it")
        is_first = await self._keys.write((name, key))
        await self._keys.write((_sent_name(deployed), key))
        return key if is_first else await self._keys.read(name)


def _sent_name(deployed: Deployed) -> str:
    return f"sent/{digest(canonical(deployed.content)).hex()}"
