"""Builds of workers on a real server: an instance stays with the build that began it, new ones go to the newest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.engines.temporal.worker_build import build_id
from perdure.testing.temporal_server import TemporalServer
from tests.engines.temporal.conftest import Opened, OurProcess
from tests.house.tree import ROOT

pytestmark = pytest.mark.deep


def build_of(server: TemporalServer, instance: str) -> str:
    """The build that the server says an instance is pinned to."""
    program = Path(sys.executable).with_name("temporal")
    command = [program, "workflow", "describe", "-w", f"perdure-{instance}", "--address", server.target, "-o", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    info = json.loads(done.stdout)["workflowExecutionInfo"]["versioningInfo"]
    assert info["behavior"].endswith("PINNED"), info
    return str(info["deploymentVersion"]["buildId"])


def begun_by(server: TemporalServer, process: OurProcess, build: str) -> str:
    """An instance that was begun after a build became the current one."""
    for number in range(60):
        id = str(process.ask("start", process="journey", key=f"{build}-{number}"))
        process.ask("reached", instance=id, element="await")
        if build_of(server, id) == build:
            return id
    raise AssertionError(f"build {build} never became the current one")


@pytest.mark.req("V13")
@pytest.mark.timeout(300)
def test_an_instance_stays_with_the_build_that_began_it(server: TemporalServer, opened: Opened) -> None:
    one, two = build_id("one"), build_id("two")
    old = opened(f"{server.url}?build=one")
    old.ask("deploy")
    first = begun_by(server, old, one)
    new = opened(f"{server.url}?build=two")
    second = begun_by(server, new, two)
    assert build_of(server, first) == one, "a newer build takes nothing that is under way"

    again = opened(f"{server.url}?build=one")
    third = again.ask("start", process="journey", key="late")
    again.ask("reached", instance=third, element="await")
    assert build_of(server, third) == two, "a build that was seen before does not become the current one again"

    for number, id in enumerate((first, second)):
        assert old.ask("suspend", instance=id) == "suspended", number
    assert (build_of(server, first), build_of(server, second)) == (one, two)
    assert old.ask("audit") == []


def test_the_build_of_a_release_is_what_hosts_and_what_decides() -> None:
    assert (build_id(), build_id("mine")) == ("h1-s1", "h1-s1-mine")


@pytest.mark.req("V13")
@pytest.mark.timeout(300)
def test_the_impact_on_instances_of_other_builds_is_known_before_workers_are_upgraded(
    server: TemporalServer, opened: Opened
) -> None:
    one, two = build_id("one"), build_id("two")
    old = opened(f"{server.url}?build=one")
    old.ask("deploy")
    first = begun_by(server, old, one)
    own = next(each for each in old.ask("impact") if each["build"] == one)
    assert (own["build"], own["current"], own["verdict"], own["reason"]) == (one, one, "goes_on", "")
    assert own["engine"] == "temporal" and first in own["examples"]
    assert own["replayed"] == min(own["instances"], 5)

    new = opened(f"{server.url}?build=two")
    second = begun_by(server, new, two)
    builds = {each["build"]: each for each in new.ask("impact")}
    assert (builds[one]["verdict"], builds[two]["verdict"]) == ("migrates", "goes_on")
    assert first in builds[one]["examples"] and second in builds[two]["examples"]
    assert f"--versioning-override-build-id {two}" in builds[one]["reason"]
    assert "asks for work now" not in builds[one]["reason"]

    taken = builds[one]["reason"].partition("temporal ")[2].replace("perdure-ID", f"perdure-{first}").split()
    program = Path(sys.executable).with_name("temporal")
    subprocess.run([program, *taken, "--address", server.target], cwd=ROOT, check=True, capture_output=True)
    old.end()
    assert new.ask("suspend", instance=first) == "suspended", "the new build really carries it on"

    new.ask("change_code")
    builds = {each["build"]: each for each in new.ask("impact")}
    assert {each["verdict"] for each in builds.values()} == {"stays_pinned"}
    assert "does not replay with this build" in builds[two]["reason"]
