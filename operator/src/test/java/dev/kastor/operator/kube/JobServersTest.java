package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.training.ServerChoice;
import dev.kastor.training.TrainingChoices;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Holds what the operator reads of parameter servers against what the engine reads. */
class JobServersTest {
  private static final List<Map<String, ?>> OPTIONS =
      List.of(
          Map.of(),
          Map.of("servers", 64),
          Map.of("servers", 3, "backup", 2),
          Map.of("mode", "steps"),
          Map.of("mode", "asynchronous", "mostStaleness", 4));

  @Test
  void isWhatTheEngineReads() throws Exception {
    for (Map<String, ?> options : OPTIONS) {
      Map<String, ?> training = Map.of("sync", Map.of(ServerChoice.POLICY, options));
      ServerPlan plan = TrainingMethod.of(TrainingChoices.parse(training)).servers().orElseThrow();
      ServerChoice choice = ServerChoice.of(training).orElseThrow();
      assertThat(choice)
          .isEqualTo(new ServerChoice(plan.servers(), plan.asynchronous(), plan.backup()));
      for (int workers = 1; workers < 6; workers++) {
        assertThat(choice.shares(workers)).isEqualTo(plan.shares(workers));
      }
    }
  }
}
