"""The real broker of Camunda 8 as tests use it: its clock, its exporter, and what a kill leaves."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from perdure.testing.camunda_broker import CamundaBroker

pytestmark = pytest.mark.deep

MODEL = """<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="perdure">
<bpmn:message id="paid" name="paid"><bpmn:extensionElements><zeebe:subscription correlationKey="=order"/>
</bpmn:extensionElements></bpmn:message>
<bpmn:process id="order" isExecutable="true"><bpmn:startEvent id="start"/>
<bpmn:serviceTask id="pack"><bpmn:extensionElements><zeebe:taskDefinition type="pack"/></bpmn:extensionElements>
</bpmn:serviceTask>
<bpmn:intermediateCatchEvent id="pay"><bpmn:messageEventDefinition id="m" messageRef="paid"/>
</bpmn:intermediateCatchEvent>
<bpmn:intermediateCatchEvent id="rest"><bpmn:timerEventDefinition id="t"><bpmn:timeDuration>P9D</bpmn:timeDuration>
</bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>
<bpmn:serviceTask id="send"><bpmn:extensionElements><zeebe:taskDefinition type="send"/></bpmn:extensionElements>
</bpmn:serviceTask><bpmn:endEvent id="end"/>
<bpmn:sequenceFlow id="a" sourceRef="start" targetRef="pack"/>
<bpmn:sequenceFlow id="b" sourceRef="pack" targetRef="pay"/>
<bpmn:sequenceFlow id="c" sourceRef="pay" targetRef="rest"/>
<bpmn:sequenceFlow id="d" sourceRef="rest" targetRef="send"/>
<bpmn:sequenceFlow id="e" sourceRef="send" targetRef="end"/></bpmn:process></bpmn:definitions>"""


class Records:
    """Answers as Elasticsearch does, and keeps every record it is sent."""

    def __init__(self, url: str) -> None:
        self.kept: list[dict[str, Any]] = []
        self.came = threading.Condition()
        records = self

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self) -> None:
                self._body()
                self._say({"acknowledged": True})

            def do_POST(self) -> None:
                lines = self._body().splitlines()[1::2]
                with records.came:
                    records.kept += [json.loads(line) for line in lines]
                    records.came.notify_all()
                self._say({"errors": False, "items": [{"index": {"status": 201}} for _ in lines]})

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def _say(self, answer: Any) -> None:
                text = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Length", str(len(text)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None: ...

        self._server = HTTPServer(("127.0.0.1", urlsplit(url).port or 0), Answer)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def wait_for(self, instance: int, element: str, intent: str) -> None:
        def has_come() -> bool:
            return any(
                each["intent"] == intent
                and each["value"].get("elementId") == element
                and each["value"].get("processInstanceKey") == instance
                for each in self.kept
            )

        with self.came:
            assert self.came.wait_for(has_come, 60), f"no record tells that {element} is {intent}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def broker(camunda_broker: CamundaBroker) -> Iterator[CamundaBroker]:
    yield camunda_broker
    camunda_broker.reset_clock()


def deploy(broker: CamundaBroker) -> None:
    text = f'--x\r\nContent-Disposition: form-data; name="resources"; filename="order.bpmn"\r\n\r\n{MODEL}\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Accept": "application/json"}
    asked = urllib.request.Request(f"{broker.rest}/deployments", text.encode(), headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.status == 200


def start(broker: CamundaBroker, order: str) -> int:
    asked = {"processDefinitionId": "order", "variables": {"order": order}}
    key: int = broker.request("POST", "process-instances", asked)["processInstanceKey"]
    return key


def job(broker: CamundaBroker, type: str) -> dict[str, Any]:
    asked = {"type": type, "maxJobsToActivate": 1, "timeout": 60_000, "requestTimeout": 20_000}
    jobs = broker.request("POST", "jobs/activation", asked)["jobs"]
    assert len(jobs) == 1, f"no job of type {type}"
    return dict(jobs[0])


def complete(broker: CamundaBroker, type: str) -> int:
    key: int = job(broker, type)["key"]
    broker.request("POST", f"jobs/{key}/completion", {})
    return key


def pay(broker: CamundaBroker, order: str) -> None:
    broker.request("POST", "messages/correlation", {"name": "paid", "correlationKey": order})


def test_a_timer_fires_when_a_test_moves_the_clock_and_the_exporter_tells_of_it(broker: CamundaBroker) -> None:
    assert broker.exporter_url is not None
    records = Records(broker.exporter_url)
    try:
        deploy(broker)
        instance = start(broker, "one")
        complete(broker, "pack")
        records.wait_for(instance, "pay", "ELEMENT_ACTIVATED")
        pay(broker, "one")
        records.wait_for(instance, "rest", "ELEMENT_ACTIVATED")
        broker.advance(9 * 86_400 + 60)
        complete(broker, "send")
        records.wait_for(instance, "order", "ELEMENT_COMPLETED")
    finally:
        records.close()


def test_a_killed_broker_goes_on_where_it_was(broker: CamundaBroker) -> None:
    deploy(broker)
    start(broker, "two")
    done = complete(broker, "pack")
    broker.kill()
    broker.start()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        broker.request("POST", f"jobs/{done}/completion", {})
    pay(broker, "two")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        pay(broker, "two")
