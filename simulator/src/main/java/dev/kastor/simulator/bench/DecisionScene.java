package dev.kastor.simulator.bench;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.AllowedReplicas;
import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Node;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Snapshot;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A cluster with a given number of jobs on which a policy decides again and again: what it plans is
 * carried out, and before each next decision some jobs have ended and as many have come. Owned by
 * one measurement.
 */
final class DecisionScene {
  private static final int GPUS_PER_NODE = 8;
  private static final double REPLACED = 0.05;
  private static final BatchLimits LIMITS = new BatchLimits(128, 8192, 16, 256, true);

  private final Control control;
  private final List<Node> nodes;
  private final SplittableRandom random = new SplittableRandom(1);
  private List<JobState> jobs = new ArrayList<>();
  private int born;
  private Instant now = Instant.EPOCH.plus(Duration.ofHours(1));

  DecisionScene(Control control, int jobCount, int gpus) {
    this.control = control;
    nodes =
        IntStream.range(0, gpus / GPUS_PER_NODE)
            .mapToObj(n -> new Node("node-%04d".formatted(n), "", GPUS_PER_NODE))
            .toList();
    for (int j = 0; j < jobCount; j++) {
      jobs.add(fresh());
    }
  }

  Snapshot snapshot() {
    return new Snapshot(now, nodes, jobs);
  }

  /** A minute passes under this plan. */
  void carryOut(Plan plan) {
    now = now.plusSeconds(60);
    List<JobState> next = new ArrayList<>();
    int arrived = 0;
    for (JobState job : jobs) {
      if (random.nextDouble() < REPLACED) {
        arrived++;
      } else {
        next.add(grown(job, plan.allocation(job.id())));
      }
    }
    for (int i = 0; i < arrived; i++) {
      next.add(fresh());
    }
    jobs = next;
  }

  private JobState fresh() {
    // Mostly one GPU, now and then a node or more: larger than in Philly's trace.
    int requested = 1 << Math.min(4, Math.max(0, (int) (random.nextExponential() * 1.2)));
    Elasticity elasticity =
        switch (control) {
          case PLACEMENT -> new Elasticity.Rigid(requested);
          case SIZE -> new Elasticity.Elastic(1, 64, new AllowedReplicas.Any());
          case SIZE_AND_BATCH -> new Elasticity.Adaptive(1, 64, new AllowedReplicas.Any());
        };
    JobSpec spec =
        new JobSpec(
            new JobId("bench", "job-%06d".formatted(born++)),
            now,
            "",
            elasticity,
            requested,
            LIMITS,
            "",
            new LinkedHashMap<>());
    return state(spec, Allocation.NONE, model(), 0, 0, new Progress(0, 0, 50_000, 0, 0));
  }

  private JobState grown(JobState job, Allocation allocation) {
    double steps =
        job.progress().map(Progress::scaleInvariantSteps).orElse(0.0) + 50 * allocation.replicas();
    return state(
        job.spec(),
        allocation,
        job.model(),
        Math.max(job.maxProfiledReplicas(), allocation.replicas()),
        job.attainedService() + 60.0 * allocation.replicas(),
        new Progress((long) steps, Math.min(49_000, steps), 50_000, 0, 0));
  }

  private JobState state(
      JobSpec spec,
      Allocation allocation,
      Optional<GoodputModel> model,
      int profiled,
      double service,
      Progress progress) {
    return new JobState(
        spec,
        allocation,
        model,
        Math.max(1, profiled),
        Optional.of(progress),
        Duration.between(spec.submitted(), now),
        service,
        0,
        Duration.ofSeconds(30),
        false);
  }

  private Optional<GoodputModel> model() {
    double size = Math.exp(random.nextGaussian());
    return Optional.of(
        new GoodputModel(
            new ThroughputParams(0.02, 0.002 * size, 0.05 * size, 0.002, 0.02 * size, 0.001, 1.5),
            new GradientStats(1, 5 + random.nextInt(100), 128)));
  }
}
