package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.agent.ring.Crew;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a replica does with its environment, in this process; AgentIT has processes of agents. */
@Tag("slow")
final class ReplicaProcessTest {
  private static final BatchPlan PLAN = new BatchPlan(16, 0);

  @TempDir Path folder;
  private FakeOperator operator;

  @BeforeEach
  void open() throws IOException {
    operator = new FakeOperator(AgentProcess.JOB, TestCertificate.shared());
  }

  @AfterEach
  void close() {
    operator.close();
  }

  private Map<String, String> environment(String pod, String spec) throws IOException {
    return AgentProcess.environment(pod, operator, spec, folder);
  }

  private static Outcome run(Map<String, String> environment) throws Exception {
    try (ReplicaProcess replica = new ReplicaProcess(AgentConfig.read(environment))) {
      return replica.run();
    }
  }

  private static void failsForGood(Map<String, String> environment, String... reasons) {
    assertThatThrownBy(() -> run(environment))
        .isInstanceOf(PermanentException.class)
        .hasMessageContainingAll(reasons);
  }

  @Test
  void aServerOfAJobWithoutServersFailsForGood() throws Exception {
    failsForGood(
        AgentProcess.serverEnvironment("job-0", operator, AgentIT.small(10), folder, 0),
        "KASTOR_ROLE");
  }

  @Test
  void failsForGoodOnABatchAboveItsExamples() throws Exception {
    failsForGood(
        environment(
            "job-0", AgentIT.spec(10, "\"trainingExamples\": \"15\", \"heldOutExamples\": \"5\"")),
        "goodput.batchSize.initial (16) is above the 15 training examples");
  }

  /** A job whose replicas have so many slots, and whose model is split with this cap. */
  private static String split(int slots, int memoryMebibytes, long steps) {
    return """
    {"program": {"name": "glyph-mlp", "parameters": {"trainingExamples": "600",
                 "heldOutExamples": "100", "hidden": "512,512,512"}},
     "elastic": {"slotsPerReplica": %d},
     "goodput": {"batchSize": {"initial": 16, "perDevice": {"min": 1, "max": 64}},
                 "learningRate": {"base": "0.02", "scaling": "AdaScale"},
                 "work": {"steps": %d}},
     "training": {"devices": {"split": {"memoryMiB": %d}}},
     "checkpoint": {"intervalSeconds": 1, "keepLast": 2}}
    """
        .formatted(slots, steps, memoryMebibytes);
  }

  /** Parameters and gradients take 7 MiB. */
  @Test
  void replicasOfTwoSlotsTrainWhatOneDeviceHasNoMemoryFor() throws Exception {
    operator.want(PLAN, List.of("job-0", "job-1"));
    try (Crew crew = new Crew()) {
      assertThat(crew.together(2, rank -> run(environment("job-" + rank, split(2, 6, 12)))))
          .allSatisfy(outcome -> {
            assertThat(outcome.kind()).isEqualTo(Outcome.Kind.COMPLETED);
            assertThat(outcome.lostOrRepeatedExamples()).isZero();
          });
    }
  }

  @Test
  void failsForGoodWhereASplitHasTooLittleMemory() throws Exception {
    failsForGood(
        environment("job-0", split(2, 2, 12)),
        "of the cap of 2,097,152 bytes",
        "split the model over more slots");
  }

  @Test
  void failsForGoodWhereASplitHasOneSlot() throws Exception {
    failsForGood(environment("job-1", split(1, 6, 12)), "elastic.slotsPerReplica is 1");
  }
}
