"""`Client`: the client for programs that block, a portal to the one for asyncio."""

from __future__ import annotations

from typing import Self

from perdure.app.facade import deployments, workflows
from perdure.app.facade.lists import Listing as AsyncListing
from perdure.client.asynchronous import api_keys, catalogue, journals, lifecycles, processes, runbooks, tasks
from perdure.client.asynchronous.client import PATIENCE_SECONDS, TIMEOUT_SECONDS, AsyncClient
from perdure.client.asynchronous.documents import ClientDocuments as AsyncDocuments
from perdure.client.blocking_portal import Blocking, Portal, called, iterated


class RunbookDesk(Blocking):
    """Plans of several verbs. Reached as `client.runbooks`; a step is named by its name or its number."""

    plan = called(runbooks.RunbookDesk.plan)
    start = called(runbooks.RunbookDesk.start)
    rest = called(runbooks.RunbookDesk.rest)
    has = called(runbooks.RunbookDesk.has)
    show = called(runbooks.RunbookDesk.show)
    list = called(runbooks.RunbookDesk.list)
    wait = called(runbooks.RunbookDesk.wait)
    progress = called(runbooks.RunbookDesk.progress)
    events = iterated(runbooks.RunbookDesk.events)
    diff = called(runbooks.RunbookDesk.diff)
    extend = called(runbooks.RunbookDesk.extend)
    seal = called(runbooks.RunbookDesk.seal)
    retry = called(runbooks.RunbookDesk.retry)
    skip = called(runbooks.RunbookDesk.skip)
    cancel = called(runbooks.RunbookDesk.cancel)
    compensate = called(runbooks.RunbookDesk.compensate)
    cancel_case = called(runbooks.RunbookDesk.cancel_case)
    answer = called(runbooks.RunbookDesk.answer)


class DraftDesk(Blocking):
    """Runbooks that somebody still writes, as programs or as calls. Reached as `client.drafts`."""

    open = called(runbooks.DraftDesk.open)
    get = called(runbooks.DraftDesk.get)
    revise = called(runbooks.DraftDesk.revise)
    undo = called(runbooks.DraftDesk.undo)
    redo = called(runbooks.DraftDesk.redo)
    start = called(runbooks.DraftDesk.start)


class Processes(Blocking):
    """What is deployed. Reached as `client.processes`."""

    deploy = called(processes.Processes.deploy)
    deploy_text = called(processes.Processes.deploy_text)
    check = called(processes.Processes.check)
    list = called(processes.Processes.list)
    get = called(processes.Processes.get)
    show = called(processes.Processes.show)
    contract = called(processes.Processes.contract)
    worst_case = called(processes.Processes.worst_case)
    verb = called(processes.Processes.verb)
    versions = called(processes.Processes.versions)
    retire = called(processes.Processes.retire)
    deprecate = called(processes.Processes.deprecate)


class DeploymentDesk(Blocking):
    """What a deployment would mean for everything that runs. Reached as `client.deployments`."""

    check = called(deployments.DeploymentDesk.check)


class InstanceDesk(Blocking):
    """Running and ended processes. Reached as `client.instances`; acts take `seen`, as for `client.runbooks`."""

    start = called(processes.InstanceDesk.start)
    wait = called(processes.InstanceDesk.wait)
    get = called(processes.InstanceDesk.get)
    verb = called(processes.InstanceDesk.verb)
    diagram = called(processes.InstanceDesk.diagram)
    list = called(processes.InstanceDesk.list)
    events = iterated(processes.InstanceDesk.events)
    cancel = called(processes.InstanceDesk.cancel)
    suspend = called(processes.InstanceDesk.suspend)
    resume = called(processes.InstanceDesk.resume)
    modify = called(processes.InstanceDesk.modify)
    migrate = called(processes.InstanceDesk.migrate)
    migrate_back = called(processes.InstanceDesk.migrate_back)
    move = called(processes.InstanceDesk.move)
    retry = called(processes.InstanceDesk.retry)
    resolve = called(processes.InstanceDesk.resolve)
    erase = called(processes.InstanceDesk.erase)


class TaskDesk(Blocking):
    """Human tasks. Reached as `client.tasks`; who acts is whom the key stands for."""

    list = called(tasks.TaskDesk.list)
    get = called(tasks.TaskDesk.get)
    claim = called(tasks.TaskDesk.claim)
    unclaim = called(tasks.TaskDesk.unclaim)
    delegate = called(tasks.TaskDesk.delegate)
    reassign = called(tasks.TaskDesk.reassign)
    complete = called(tasks.TaskDesk.complete)
    accept = called(tasks.TaskDesk.accept)


class WorkflowDesk(Blocking):
    """What instances of workflows hold and did. Reached as `client.workflows`."""

    variables = called(workflows.WorkflowDesk.variables)
    variable_history = called(workflows.WorkflowDesk.variable_history)
    set_variable = called(workflows.WorkflowDesk.set_variable)
    executions = called(workflows.WorkflowDesk.executions)


class LifecycleDesk(Blocking):
    """Lifecycle instances and their definitions. Reached as `client.lifecycles`."""

    start = called(lifecycles.LifecycleDesk.start)
    get = called(lifecycles.LifecycleDesk.get)
    drawing = called(lifecycles.LifecycleDesk.drawing)
    list = called(lifecycles.LifecycleDesk.list)
    transit = called(lifecycles.LifecycleDesk.transit)
    resolve = called(lifecycles.LifecycleDesk.resolve)
    act = called(lifecycles.LifecycleDesk.act)
    retry = called(lifecycles.LifecycleDesk.retry)
    dismiss = called(lifecycles.LifecycleDesk.dismiss)
    erase = called(lifecycles.LifecycleDesk.erase)
    look = called(lifecycles.LifecycleDesk.look)
    cancel = called(lifecycles.LifecycleDesk.cancel)
    migrate = called(lifecycles.LifecycleDesk.migrate)
    history = called(lifecycles.LifecycleDesk.history)
    complete_task = called(lifecycles.LifecycleDesk.complete_task)
    definitions = called(lifecycles.LifecycleDesk.definitions)
    deploy = called(lifecycles.LifecycleDesk.deploy)
    retire = called(lifecycles.LifecycleDesk.retire)


class DocumentDesk(Blocking):
    """Documents and their files. Reached as `client.documents`."""

    upload = called(AsyncDocuments.upload)
    download = iterated(AsyncDocuments.download)
    save = called(AsyncDocuments.save)
    types = called(AsyncDocuments.types)
    reasons = called(AsyncDocuments.reasons)
    create = called(AsyncDocuments.create)
    receive = called(AsyncDocuments.receive)
    get = called(AsyncDocuments.get)
    content = called(AsyncDocuments.content)
    verify = called(AsyncDocuments.verify)
    reject = called(AsyncDocuments.reject)
    supersede = called(AsyncDocuments.supersede)
    waive = called(AsyncDocuments.waive)
    find = called(AsyncDocuments.find)
    events = called(AsyncDocuments.events)
    erase = called(AsyncDocuments.erase)
    collect = called(AsyncDocuments.collect)
    request = called(AsyncDocuments.request)
    request_token = called(AsyncDocuments.request_token)
    submit_data = called(AsyncDocuments.submit_data)


class Listing(Blocking):
    """Reached as `client.listing`. Newest first, except where it says otherwise."""

    runbooks = called(AsyncListing.runbooks)
    calls = called(AsyncListing.calls)
    instances = called(AsyncListing.instances)
    parked = called(AsyncListing.parked)
    incidents = called(AsyncListing.incidents)
    dead_letters = called(AsyncListing.dead_letters)
    tasks = called(AsyncListing.tasks)


class Feed(Blocking):
    """The journal of a tenant in the order of commits, entry by entry. Reached as `client.feed`."""

    end = called(journals.Feed.end)
    read = called(journals.Feed.read)
    follow = iterated(journals.Feed.follow)


class AccessDesk(Blocking):
    """The keys of a tenant. Reached as `client.access`."""

    create_key = called(api_keys.AccessDesk.create_key)
    keys = called(api_keys.AccessDesk.keys)
    revoke_key = called(api_keys.AccessDesk.revoke_key)


class VerbDesk(Blocking):
    """What can be asked. Reached as `client.verbs`."""

    list = called(catalogue.VerbDesk.list)
    get = called(catalogue.VerbDesk.get)


class PackDesk(Blocking):
    """The packs of the server's project. Reached as `client.packs`."""

    list = called(catalogue.PackDesk.list)
    get = called(catalogue.PackDesk.get)


class Client(Blocking):
    """A server, asked by whom the key stands for; as `AsyncClient`, for programs that block."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        there = AsyncClient(url, key, timeout_seconds=timeout_seconds, patience_seconds=patience_seconds)
        portal = Portal()
        super().__init__(portal, there)
        self.url = there.url
        self.runbooks = RunbookDesk(portal, there.runbooks)
        self.drafts = DraftDesk(portal, there.drafts)
        self.processes = Processes(portal, there.processes)
        self.deployments = DeploymentDesk(portal, there.deployments)
        self.instances = InstanceDesk(portal, there.instances)
        self.tasks = TaskDesk(portal, there.tasks)
        self.workflows = WorkflowDesk(portal, there.workflows)
        self.lifecycles = LifecycleDesk(portal, there.lifecycles)
        self.listing = Listing(portal, there.listing)
        self.documents = DocumentDesk(portal, there.documents)
        self.feed = Feed(portal, there.feed)
        self.access = AccessDesk(portal, there.access)
        self.verbs = VerbDesk(portal, there.verbs)
        self.packs = PackDesk(portal, there.packs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back, and end the portal."""
        self._portal.close(self._behind.close)

    session = called(AsyncClient.session)
    call = called(AsyncClient.call)
    result = called(AsyncClient.result)  # type: ignore[arg-type]
    status = called(AsyncClient.status)
    wait = called(AsyncClient.wait)
    cancel = called(AsyncClient.cancel)
    events = iterated(AsyncClient.events)
    outcome_events = iterated(AsyncClient.outcome_events)
    timeline = called(AsyncClient.timeline)
    export = called(AsyncClient.export)
    complete = called(AsyncClient.complete)
    publish = called(AsyncClient.publish)
    receive = called(AsyncClient.receive)
    send = called(AsyncClient.send)
    correlate = called(AsyncClient.correlate)
    signal = called(AsyncClient.signal)
    progress = called(AsyncClient.progress)
    dead_letters = called(AsyncClient.dead_letters)
    letter = called(AsyncClient.letter)
    replay = called(AsyncClient.replay)
    discard = called(AsyncClient.discard)
    wait_token = called(AsyncClient.wait_token)
    parked = called(AsyncClient.parked)
    find = called(AsyncClient.find)
    incidents = called(AsyncClient.incidents)
    retry_many = called(AsyncClient.retry_many)
    traceback = called(AsyncClient.traceback)
    overview = called(AsyncClient.overview)
    engines = called(AsyncClient.engines)
    agents = called(AsyncClient.agents)
    close_agent = called(AsyncClient.close_agent)
    budget = called(AsyncClient.budget)
    tighten_budget = called(AsyncClient.tighten_budget)
    loosen_budget = called(AsyncClient.loosen_budget)
    retry = called(AsyncClient.retry)
    resolve = called(AsyncClient.resolve)
    amend = called(AsyncClient.amend)
    erase = called(AsyncClient.erase)
