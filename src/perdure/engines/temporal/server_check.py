"""The check of a server at start: namespace, permissions and search attributes, each refusal in a sentence."""

from __future__ import annotations

from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest, GetSystemInfoRequest
from temporalio.client import Client, RPCError
from temporalio.service import RPCStatusCode

from perdure.engines.temporal.address import TemporalAddress
from perdure.errors import EngineSettingError, EngineUnavailableError

ATTRIBUTES = {
    "PerdureStatus": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "PerdureWaits": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "PerdureBusinessKey": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
}
KINDS = {
    IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD: "Keyword",
    IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST: "KeywordList",
}
NEEDS = "a role that may start, update and query workflows and poll task queues in the namespace (write)"
CHECK_SECONDS = timedelta(seconds=5)
REFUSED = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})


async def check_namespace(client: Client, address: TemporalAddress) -> None:
    """Refuse a namespace that is not there or may not be used; EngineUnavailableError while nobody answers."""
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=address.namespace), timeout=CHECK_SECONDS
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            fact = f"the server has no namespace '{address.namespace}'"
            hint = f"Make it: temporal operator namespace create {address.namespace}."
            raise EngineSettingError("open", "engine", address.text, fact, hint) from error
        if error.status in REFUSED:
            fact = f"the server refuses it: {error.message}"
            hint = "Give the API key or the certificate of a role that may run workers in the namespace."
            raise EngineSettingError("open", "engine", address.text, fact, hint) from error
        if error.status is RPCStatusCode.UNIMPLEMENTED:
            return  # the test server knows one namespace and describes none
        raise EngineUnavailableError("reach", "engine", address.text, error.message) from error


async def check_permissions(client: Client, address: TemporalAddress, queue: str) -> None:
    """Refuse credentials that may not work on the queue of the store; the server is asked what a worker asks."""
    request = DescribeTaskQueueRequest(namespace=address.namespace, task_queue=TaskQueue(name=queue))
    try:
        await client.workflow_service.describe_task_queue(request, timeout=CHECK_SECONDS)
    except RPCError as error:
        if error.status in REFUSED:
            fact = f"its credentials may not use task queue '{queue}': {error.message}"
            hint = f"A worker needs {NEEDS}."
            raise EngineSettingError("open", "engine", address.text, fact, hint) from error


def lacking_attributes(address: TemporalAddress) -> str:
    """What is lost without search attributes, and how they are made."""
    wanted = " ".join(f"--name {name} --type {KINDS[kind]}" for name, kind in ATTRIBUTES.items())
    return (
        "The namespace lacks search attributes, and this process may not add them: instances are not found by state "
        f"in Temporal. temporal operator search-attribute create --namespace {address.namespace} {wanted}"
    )


async def has_attributes(client: Client, address: TemporalAddress) -> bool:
    """Whether the search attributes are there; they are added where that is allowed."""
    service, namespace = client.operator_service, address.namespace
    try:
        listed = await service.list_search_attributes(
            ListSearchAttributesRequest(namespace=namespace), timeout=CHECK_SECONDS
        )
        missing = {name: kind for name, kind in ATTRIBUTES.items() if name not in listed.custom_attributes}
        if missing:
            request = AddSearchAttributesRequest(namespace=namespace, search_attributes=missing)
            await service.add_search_attributes(request, timeout=CHECK_SECONDS)
        return not missing
    except RPCError:
        return False


async def server_version(client: Client) -> str:
    """The version that the server says it has."""
    try:
        info = await client.workflow_service.get_system_info(GetSystemInfoRequest(), timeout=CHECK_SECONDS)
    except RPCError as error:
        raise EngineUnavailableError("reach", "engine", client.namespace, error.message) from error
    return info.server_version
