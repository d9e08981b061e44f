package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.GpuWatch;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Many short jobs over thirty queues in five cohorts: the shape of Kueue's performance baseline
 * (kubernetes-sigs/kueue, {@code test/performance/scheduler/configs/baseline/generator.yaml}), with
 * a share of its jobs. Kueue's test admits workloads and plays none of their pods; here each job
 * has its pods, one for each GPU, and agents that are played.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CohortsScenario {
  /** Jobs of one class in each queue, as Kueue has them. */
  private record Kind(
      String name, int count, int everyMillis, int runMillis, int priority, int gpus) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("small", 350, 100, 200, 50, 1),
          new Kind("medium", 100, 500, 500, 100, 5),
          new Kind("large", 50, 1200, 1000, 200, 20));

  private static final int COHORTS = 5;
  private static final int QUEUES_OF_ONE = 6;
  private static final int QUOTA = 20;
  private static final int BORROWING_LIMIT = 100;
  private static final int STEPS_PER_SECOND = 50;
  private static final double MILLI = 1000.0;

  /** Jobs for each hundred of Kueue's. */
  private static final int SHARE = Size.setting("share", 2);

  private static final Duration PATIENCE = Duration.ofMinutes(Size.setting("patience", 12));

  private final PlayedCluster cluster;
  private final GpuWatch gpus;

  CohortsScenario() throws Exception {
    cluster = new PlayedCluster(CohortsScenario::steps, PlayedAgent.Manner.HONEST);
    gpus = new GpuWatch(cluster.client());
  }

  @BeforeAll
  void begin() throws Exception {
    cluster.nodes().make(COHORTS * QUEUES_OF_ONE * QUOTA / PlayedNodes.GPUS);
    for (int queue = 0; queue < COHORTS * QUEUES_OF_ONE; queue++) {
      cluster.client().resource(queue(queue)).createOr(NonDeletingOperation::update);
    }
    cluster.start();
  }

  @AfterAll
  void end() {
    gpus.close();
    cluster.close();
  }

  @Test
  @DisplayName("short jobs of thirty queues drain, and their quotas are used")
  void drains() throws Exception {
    long begun = System.nanoTime();
    List<Double> used = new ArrayList<>();
    int jobs = 0;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> submitting = new ArrayList<>();
      for (int queue = 0; queue < COHORTS * QUEUES_OF_ONE; queue++) {
        for (Kind kind : KINDS) {
          int number = queue;
          jobs += count(kind);
          submitting.add(threads.submit(() -> submit(number, kind), kind));
        }
      }
      int all = jobs;
      Await.until(
          "all %d jobs have ended".formatted(all),
          PATIENCE,
          () -> cluster.seen().phases() + " " + cluster.agents().failures(),
          () -> {
            used.add((double) gpus.taken() / (COHORTS * QUEUES_OF_ONE * QUOTA));
            return cluster.seen().count(times -> times.ended) >= all;
          });
      for (Future<?> each : submitting) {
        each.get();
      }
    }
    double seconds = (System.nanoTime() - begun) / 1e9;
    double work =
        KINDS.stream()
            .mapToDouble(kind -> count(kind) * kind.gpus() * kind.runMillis() / MILLI)
            .sum();
    Progress.say(
        "%d jobs (%d %% of Kueue's) drained in %.0f s, %.1f a second; GPUs taken: %.0f %% of the quotas on average; work: %.0f GPU seconds a queue; operator %.0f CPU s, %d MiB"
            .formatted(
                jobs,
                SHARE,
                seconds,
                jobs / seconds,
                100 * used.stream().mapToDouble(Double::doubleValue).average().orElse(0),
                work,
                cluster.operator().cpuSeconds(),
                cluster.operator().peakResidentMebibytes()));
    assertThat(cluster.seen().in(Phase.Succeeded)).isEqualTo(jobs);
    assertThat(gpus.most().values()).allMatch(most -> most.gpus() <= PlayedNodes.GPUS);
    cluster.clear(PATIENCE);
  }

  private void submit(int queue, Kind kind) {
    try {
      for (int number = 0; number < count(kind); number++) {
        cluster.submitted().create(job(queue, kind, number));
        Thread.sleep(kind.everyMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static int count(Kind kind) {
    return Math.max(1, kind.count() * SHARE / 100);
  }

  /** The class is a part of the name. */
  private static long steps(String job) {
    return KINDS.stream()
        .filter(kind -> job.contains(kind.name()))
        .mapToLong(kind -> Math.max(1, (long) kind.runMillis() * STEPS_PER_SECOND / 1000L))
        .findFirst()
        .orElseThrow();
  }

  private static Queue queue(int number) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: Queue
        metadata: {name: q-%02d}
        spec:
          cohort: cohort-%d
          quota: {gpus: %d, borrowingLimit: %d}
        """
            .formatted(number, number / QUEUES_OF_ONE, QUOTA, BORROWING_LIMIT),
        Queue.class);
  }

  private static TrainingJob job(int queue, Kind kind, int number) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: q%02d-%s-%03d, namespace: team-%d}
        spec:
          queue: q-%02d
          priority: %d
          program: {name: glyph-mlp}
          elastic: {minReplicas: %d, maxReplicas: %d}
          goodput:
            mode: Fixed
            batchSize: {initial: 640, perDevice: {min: 16, max: 640}}
            learningRate: {base: "0.05"}
            work: {steps: %d}
        """
            .formatted(
                queue,
                kind.name(),
                number,
                queue % Submitted.TEAMS,
                queue,
                kind.priority(),
                kind.gpus(),
                kind.gpus(),
                steps(kind.name())),
        TrainingJob.class);
  }
}
