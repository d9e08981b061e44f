package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.train.Program;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of a program of one's own, in a jar of its own, trained by an agent. */
class OwnProgramIT {
  @TempDir Path folder;

  @Test
  void theExampleLearns() throws Exception {
    Path jars = Files.createDirectory(folder.resolve("plugins"));
    SourceJar.ofExample(jars, "own-program", Program.class);
    String spec =
        """
        {"program": {"name": "spirals"},
         "goodput": {"batchSize": {"initial": 32, "perDevice": {"min": 8, "max": 128}},
                     "learningRate": {"base": "0.05", "scaling": "AdaScale"},
                     "work": {"steps": 2000}},
         "checkpoint": {"intervalSeconds": 60, "keepLast": 1}}
        """;
    try (FakeOperator operator = new FakeOperator(AgentProcess.JOB, TestCertificate.shared())) {
      AgentProcess agent =
          AgentProcess.start("job-0", operator, spec, folder, "-Dkastor.plugins=" + jars);
      try {
        operator.want(new BatchPlan(32, 0), List.of("job-0"));
        Outcome outcome = agent.outcome();
        assertThat(outcome.kind()).as(agent.log()).isEqualTo(Outcome.Kind.COMPLETED);
        // Who always says the same spiral is right half the time.
        assertThat(outcome.metric()).isGreaterThan(0.9);
        assertThat(agent.log()).contains("[spirals]");
      } finally {
        agent.kill();
      }
    }
  }
}
