package dev.kastor.simulator.bench;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A cluster with a given number of jobs on which a policy decides again and again: what it plans is
 * carried out, and before each next decision some jobs have ended and as many have come, or have
 * been fitted anew. A function of its arguments and of the plans; owned by one measurement.
 */
final class DecisionScene {
  private static final int GPUS_PER_NODE = 8;
  private static final BatchLimits LIMITS = new BatchLimits(128, 8192, 16, 256, true);

  /**
   * What happens between two decisions.
   *
   * @param replaced share of the jobs that end, as many arriving
   * @param refitted share of the jobs that have a new model
   */
  record Turnover(double replaced, double refitted) {
    static final Turnover LIVELY = new Turnover(0.05, 0);
  }

  private final Control control;
  private final Turnover turnover;
  private final List<Node> nodes;
  private final SplittableRandom random = new SplittableRandom(1);
  private final Map<JobId, Kind> kinds = new HashMap<>();
  private List<JobState> jobs = new ArrayList<>();
  private int born;
  private Instant now = Instant.EPOCH.plus(Duration.ofHours(1));

  /** How large and how noisy a job's gradient is. */
  private record Kind(double size, double noise) {}

  DecisionScene(Control control, int jobCount, int gpus) {
    this(control, jobCount, gpus, Turnover.LIVELY);
  }

  DecisionScene(Control control, int jobCount, int gpus, Turnover turnover) {
    this.control = control;
    this.turnover = turnover;
    nodes =
        IntStream.range(0, gpus / GPUS_PER_NODE)
            .mapToObj(n -> new Node("node-%05d".formatted(n), "", GPUS_PER_NODE))
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
      double fate = random.nextDouble();
      if (fate < turnover.replaced()) {
        kinds.remove(job.id());
        arrived++;
      } else {
        Optional<GoodputModel> model =
            fate < turnover.replaced() + turnover.refitted() ? refitted(job.id()) : job.model();
        next.add(grown(job, plan.allocation(job.id()), model, 60));
      }
    }
    for (int i = 0; i < arrived; i++) {
      next.add(fresh());
    }
    jobs = next;
  }

  /** A second passes under this plan, in which one job arrives. */
  void carryOutAndArrive(Plan plan) {
    pass(plan);
    jobs.add(fresh());
  }

  /** A second passes under this plan, in which one job ends. */
  void carryOutAndEnd(Plan plan) {
    pass(plan);
    kinds.remove(jobs.remove(random.nextInt(jobs.size())).id());
  }

  private void pass(Plan plan) {
    now = now.plusSeconds(1);
    List<JobState> next = new ArrayList<>();
    for (JobState job : jobs) {
      next.add(grown(job, plan.allocation(job.id()), job.model(), 1));
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
    Kind kind = new Kind(Math.exp(random.nextGaussian()), 5 + random.nextInt(100));
    kinds.put(spec.id(), kind);
    return new JobState(
        spec,
        Allocation.NONE,
        model(kind),
        1,
        Optional.of(new Progress(0, 0, 50_000, 0, 0)),
        Duration.ZERO,
        0,
        0,
        Duration.ofSeconds(30),
        false);
  }

  private JobState grown(
      JobState job, Allocation allocation, Optional<GoodputModel> model, int seconds) {
    boolean same = allocation.equals(job.allocation());
    double steps =
        job.progress().map(Progress::scaleInvariantSteps).orElse(0.0)
            + 0.8 * seconds * allocation.replicas();
    return new JobState(
        job.spec(),
        allocation,
        model,
        Math.max(job.maxProfiledReplicas(), allocation.replicas()),
        Optional.of(new Progress((long) steps, Math.min(49_000, steps), 50_000, 0, 0)),
        Duration.between(job.spec().submitted(), now),
        job.attainedService() + (double) seconds * allocation.slots(),
        job.restarts() + (same || job.allocation().isEmpty() || allocation.isEmpty() ? 0 : 1),
        Duration.ofSeconds(30),
        same ? sinceChange(job, seconds) : Duration.ofSeconds(seconds),
        false,
        false,
        Optional.empty());
  }

  private static Duration sinceChange(JobState job, int seconds) {
    return job.sinceChange().isZero() ? Duration.ZERO : job.sinceChange().plusSeconds(seconds);
  }

  private Optional<GoodputModel> refitted(JobId job) {
    Kind before = kinds.getOrDefault(job, new Kind(1, 50));
    Kind after =
        new Kind(
            before.size() * Math.exp(0.05 * random.nextGaussian()),
            before.noise() * Math.exp(0.05 * random.nextGaussian()));
    kinds.put(job, after);
    return model(after);
  }

  private static Optional<GoodputModel> model(Kind kind) {
    double size = kind.size();
    return Optional.of(
        new GoodputModel(
            new ThroughputParams(0.02, 0.002 * size, 0.05 * size, 0.002, 0.02 * size, 0.001, 1.5),
            new GradientStats(1, kind.noise(), 128)));
  }
}
