package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of a gradient stage, in a jar, named in {@code spec.training}, in an agent. */
class GradientStageIT {
  @TempDir Path folder;
  private Path jars;

  @BeforeEach
  void build() throws Exception {
    jars = Files.createDirectory(folder.resolve("plugins"));
    SourceJar.ofExample(jars, "gradient-stage", GradientStagePlugin.class);
  }

  private Outcome train(String training) throws Exception {
    String spec =
        """
        {"program": {"name": "glyph-mlp",
                     "parameters": {"hidden": "32", "backend": "reference", "trainingExamples": "512", "heldOutExamples": "256"}},
         "training": %s,
         "goodput": {"batchSize": {"initial": 32, "perDevice": {"min": 8, "max": 128}},
                     "learningRate": {"base": "0.05", "scaling": "AdaScale"},
                     "work": {"steps": 40}},
         "checkpoint": {"intervalSeconds": 60, "keepLast": 1}}
        """
            .formatted(training);
    try (FakeOperator operator = new FakeOperator(AgentProcess.JOB, TestCertificate.shared())) {
      AgentProcess agent =
          AgentProcess.start("job-0", operator, spec, folder, "-Dkastor.plugins=" + jars);
      try {
        operator.want(new BatchPlan(32, 0), List.of("job-0"));
        return agent.outcome();
      } finally {
        agent.kill();
      }
    }
  }

  @Test
  void aJobTrainsWithTheStageOfItsSpec() throws Exception {
    Outcome outcome =
        train(
            """
            {"passes": {"tableProducts": "off"}, "gradients": [{"clip": {"norm": 1.0}}]}\
            """);
    assertThat(outcome.kind()).as(outcome.message()).isEqualTo(Outcome.Kind.COMPLETED);
    assertThat(outcome.lostOrRepeatedExamples()).isZero();
  }

  @Test
  void anUnknownStageEndsTheJobForGoodWithThoseThatThereAre() throws Exception {
    Outcome outcome = train("{\"gradients\": [\"clop\"]}");
    assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
    assertThat(outcome.message()).contains("there is no gradient stage 'clop'", "clip");
  }
}
