package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.collective.Collectives;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training whose gradients are summed node by node, on two nodes of two replicas each. */
@Tag("slow")
class CollectiveTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final Work ENDLESS = new Work.Steps(1L << 40);
  private static final TrainingMethod HIERARCHICAL = with(TrainingMethod.USUAL);

  /** Rounds of examples that are chosen by their losses, at a rate that a tuner gives. */
  private static final TrainingMethod ALL =
      with(
          Features.method(
              List.of(),
              Optional.empty(),
              List.of(),
              Optional.of(ExampleSelectors.BUILT_IN.choose("backprop:beta=1:wholeEpochs=0")),
              Optional.of(Tuners.BUILT_IN.choose("plateau")),
              Optional.of(SyncPolicies.BUILT_IN.choose("local:steps=4"))));

  @TempDir Path folder;

  private static TrainingMethod with(TrainingMethod others) {
    return Features.collective(others, Collectives.BUILT_IN.choose("hierarchical"));
  }

  private static TrainingSettings settings(Work work, TrainingMethod method) {
    return new TrainingSettings(
        16, 0.02, new AdaScale(), work, 5, Duration.ofMillis(50), Duration.ofSeconds(10), method);
  }

  /** Pods {@code job-0} and {@code job-1} are on one node, the next two on the next one. */
  private TestJob job() throws Exception {
    TestJob job = new TestJob(folder);
    job.operator()
        .place(pod -> "node-" + Integer.parseInt(pod.substring(pod.indexOf('-') + 1)) / 2);
    return job;
  }

  @Test
  void trainsToTheEnd() throws Exception {
    try (TestJob job = job()) {
      job.start(4, settings(new Work.Epochs(20), HIERARCHICAL), false);
      job.want(PLAN);
      Outcome outcome = job.assertSameEnd(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
    }
  }

  /** After the first kill a node has one replica, after the second only one node is left. */
  @Test
  @Tag("never-retried")
  void killsCostTheStepInProgressAndNothingElse() throws Exception {
    try (TestJob job = job()) {
      job.start(4, settings(ENDLESS, HIERARCHICAL), true);
      job.want(PLAN);
      job.awaitSteps(5);
      job.kill(3, PLAN);
      job.awaitSteps(5);
      job.kill(2, PLAN);
      job.awaitSteps(5);
      job.start(2, settings(ENDLESS, HIERARCHICAL), true);
      job.want(PLAN);
      job.awaitSteps(5);
      job.kill(0, PLAN);
      job.awaitSteps(5);
      job.operator().stop();
      job.assertSameEnd(Outcome.Kind.STOPPED);
    }
  }

  @Test
  @Tag("never-retried")
  void membersComeGoAndDieBesideOtherFeaturesToo() throws Exception {
    try (TestJob job = job()) {
      job.membersComeGoAndDie(settings(ENDLESS, ALL), PLAN);
    }
  }
}
