"""The order process of the contract cases: a job, a message, a human task."""

from __future__ import annotations

from itertools import pairwise

from perdure.bpmn.model import (
    Definitions,
    Error,
    ErrorTrigger,
    Event,
    Flow,
    Message,
    MessageTrigger,
    Model,
    Process,
    Scope,
    Task,
    Value,
)

PROCESS = "order"
JOB = "conformance.charge"
MESSAGE = "paid"
KEY = "order-1"
DECLINED = "DECLINED"
START = Event(id="start", position="start")
CHARGE = Task(id="charge", kind="service", type=JOB)
REFUSED = Event(id="refused", position="boundary", attached_to="charge", triggers=(ErrorTrigger(DECLINED),))
PAID = Event(id="await-paid", position="catch", triggers=(MessageTrigger(MESSAGE),))
CHECK = Task(id="check", kind="user", is_native=True)
END = Event(id="end", position="end")
DROPPED = Event(id="dropped", position="end")


def order(*, is_checked: bool = True) -> Model:
    """Charge, wait until it is paid, let a person check; another version leaves the person out."""
    way = (START, CHARGE, PAID, *((CHECK,) if is_checked else ()), END)
    pairs = [*pairwise(way), (REFUSED, DROPPED)]
    flows = tuple(Flow(id=f"{one.id}-{other.id}", source=one.id, target=other.id) for one, other in pairs)
    process = Process(id=PROCESS, body=Scope(nodes=(*way, REFUSED, DROPPED), flows=flows))
    definitions = Definitions(
        id="order-file",
        processes=(process,),
        messages=(Message(id=MESSAGE, name=MESSAGE, correlation=Value(KEY)),),
        errors=(Error(id=DECLINED, name=DECLINED, code=DECLINED),),
    )
    return Model(definitions=definitions, file="order.bpmn")
