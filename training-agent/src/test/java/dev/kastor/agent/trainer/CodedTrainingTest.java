package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training whose replicas exchange codes of their gradients. */
@Tag("slow")
class CodedTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final Optional<Chosen<GradientCodecPlugin>> BF16 =
      Optional.of(GradientCodecs.BUILT_IN.choose("bf16"));

  @TempDir Path folder;

  private static TrainingSettings settings(
      double learningRate, Work work, Optional<Chosen<GradientCodecPlugin>> codec) {
    Duration saves = Duration.ofMillis(50);
    return new TrainingSettings(
        16,
        learningRate,
        new AdaScale(),
        work,
        5,
        saves,
        Duration.ofSeconds(10),
        Features.codec(codec));
  }

  private static final TrainingSettings ENDLESS = settings(0.02, new Work.Steps(1L << 40), BF16);

  @Test
  void trainsToTheEnd() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(2, settings(0.02, new Work.Epochs(10), BF16), false);
      job.want(PLAN);
      Outcome outcome = job.assertSameEnd(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
      assertThat(job.operator().reports().getLast().gradient()).isNotNull();
    }
  }

  @Test
  @Tag("never-retried")
  void membersComeGoAndDieAndAllKeepTheSameBits() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.membersComeGoAndDie(ENDLESS, PLAN);
    }
  }

  @Test
  void aNaNOfOneMemberDoesNotComeIntoTheOthersBuffers() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(3, ENDLESS, true);
      job.want(PLAN);
      job.awaitSteps(5);
      TestReplica broken = job.replicas().remove(1);
      broken.model().spoil(Float.NaN, 1);
      assertThat(broken.outcome().kind()).isEqualTo(Outcome.Kind.FAILED);
      job.operator().died(List.of(broken.pod()));
      job.awaitSteps(5);
      job.operator().stop();
      job.assertSameEnd(Outcome.Kind.STOPPED);
      for (float parameter : job.replicas().getFirst().model().parameters()) {
        assertThat(parameter).isFinite();
      }
    }
  }

  @Test
  void failsForGoodWhenNoMembersGradientIsFinite() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(2, ENDLESS, true);
      job.replicas().forEach(replica -> replica.model().spoil(Float.NaN, Integer.MAX_VALUE));
      job.want(PLAN);
      for (TestReplica replica : job.replicas()) {
        assertThat(replica.outcome().kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
      }
    }
  }

  /**
   * The gradient statistics of some steps of several replicas with parameters that do not move.
   *
   * @param factor by which the exchanged gradient differs from the true sum
   */
  private static GradientStats stats(
      int size, Optional<Chosen<GradientCodecPlugin>> codec, float factor)
      throws DivergedException {
    TrainingSettings settings = settings(1e-30, new Work.Steps(1000), codec);
    BatchPlan plan = new BatchPlan(4, 1);
    List<Replica> members =
        IntStream.range(0, size)
            .mapToObj(_ -> new Replica(new LinearModel(), new Sgd(0, 0), settings))
            .toList();
    for (int step = 0; step < 50; step++) {
      List<LocalStep> all = new ArrayList<>();
      for (Replica member : members) {
        all.add(member.compute(plan, size, all.size(), _ -> {}));
      }
      float[] gradient = sum(members.stream().map(Replica::gradient).toList(), factor);
      float[] probe = sum(members.stream().map(Replica::probe).toList(), 1);
      float[] statistics = sum(members.stream().map(Replica::batchStatistics).toList(), 1);
      for (Replica member : members) {
        System.arraycopy(gradient, 0, member.gradient(), 0, gradient.length);
        System.arraycopy(probe, 0, member.probe(), 0, probe.length);
        System.arraycopy(statistics, 0, member.batchStatistics(), 0, statistics.length);
        member.apply(all, plan);
      }
    }
    return members.getFirst().gradientStats().orElseThrow();
  }

  private static float[] sum(List<float[]> vectors, float factor) {
    float[] sum = new float[vectors.getFirst().length];
    for (float[] vector : vectors) {
      for (int i = 0; i < sum.length; i++) {
        sum[i] += vector[i] * factor;
      }
    }
    return sum;
  }

  /** Of so small a model the probe holds all coordinates. */
  @Test
  void theNoiseIsThatOfTheGradientsAndNotOfWhatCodesStandFor() throws Exception {
    for (int size : new int[] {2, 3}) {
      GradientStats plain = stats(size, Optional.empty(), 1);
      GradientStats coded = stats(size, BF16, 8);
      assertThat(coded.squaredNorm())
          .isCloseTo(plain.squaredNorm(), within(1e-5 * plain.squaredNorm()));
      assertThat(coded.variance()).isCloseTo(plain.variance(), within(1e-5 * plain.variance()));
    }
    assertThat(stats(1, BF16, 1)).isEqualTo(stats(1, Optional.empty(), 1));
  }
}
