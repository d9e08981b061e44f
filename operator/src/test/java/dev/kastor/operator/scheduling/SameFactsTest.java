package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.BatchSizeSpec;
import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.LearningRateSpec;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.WorkSpec;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.telemetry.ReportedFacts;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.speed.NodeSpeeds;
import dev.kastor.simulator.event.EventSettings;
import dev.kastor.simulator.event.EventSimulation;
import dev.kastor.simulator.event.NodeFailures;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Contract of both hosts of the loop: a history of arrivals, allocations, reports, rescales,
 * resizes of the cluster and node failures on two GPU types, lived by a replay, is played into the
 * operator's books; whenever the replay shows a policy a snapshot, the operator has to show the
 * same, field by field.
 */
final class SameFactsTest {
  private static final int INITIAL = 64;
  private static final int EPOCHS = 4;

  /** Rounding of times to nanoseconds, and of checkpoints to milliseconds. */
  private static final double SECONDS = 0.002;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The operator's books of one job. */
  private static final class Books {
    private final TrainingJob job;
    private final ReportedFacts reported;
    private @Nullable AllocationStatus allocation;
    private String gpuType = "";
    private Instant allocatedAt = Instant.EPOCH;
    private long generation;
    private boolean placed;

    Books(TrainingJob job, String policy, NodeSpeeds speeds, Instant now) {
      this.job = job;
      reported = new ReportedFacts(job, policy, speeds, now);
    }

    void allocated(Allocation given, String type, Instant now) throws Exception {
      long version = allocation == null ? 1 : allocation.version() + 1;
      AllocationStatus written =
          AllocationWriter.status(
              allocation, given, null, version, now, Reason.of("Kept", "It is kept."), "");
      // As the API server stores it.
      allocation = JSON.readValue(JSON.writeValueAsBytes(written), AllocationStatus.class);
      gpuType = type;
      allocatedAt = now;
      placed = false;
    }

    /** Takes in a report; its generation was published before, as its members have to know it. */
    void reported(TelemetryReport report, Instant now) {
      if (report.generation() > generation) {
        generation = report.generation();
        reported.published(
            generation,
            JobMapper.allocation(allocation),
            gpuType,
            placed ? now : allocatedAt,
            allocatedAt);
        placed = true;
      }
      reported.accept(report, now);
      // Both hosts look for a better batch then; a fit begins where the one before ended.
      assertThat(reported.measured(now)).isNotNull();
    }

    JobState state(Instant now) {
      JobReading reading = JobReading.of(job, allocation);
      boolean training =
          reading
              .since()
              .filter(since -> reported.trained(since, reading.allocation().replicas()))
              .isPresent();
      return JobMapper.state(job, allocation, reported.measured(now), training, false, now);
    }
  }

  /** The operator as far as policies learn from it. */
  private static final class OperatorBooks implements ReplayListener {
    private final Map<JobId, Books> jobs = new HashMap<>();
    private final Map<String, String> typeOfNode = new HashMap<>();
    private final Set<String> seen = new HashSet<>();
    private final String policy;
    private final NodeSpeeds speeds = new NodeSpeeds();
    private int compared;

    OperatorBooks(String policy) {
      this.policy = policy;
    }

    @Override
    public void at(double seconds, int done, int all) {}

    @Override
    public void observed(Snapshot snapshot) {
      assertThat(snapshot.nodes())
          .as("speeds of nodes at %s", snapshot.now())
          .allMatch(node -> node.slowdown() == speeds.slow().getOrDefault(node.name(), 1.0));
      for (Node node : snapshot.nodes()) {
        typeOfNode.put(node.name(), node.gpuType());
      }
      for (JobState replayed : snapshot.jobs()) {
        Books books =
            jobs.computeIfAbsent(
                replayed.id(),
                id -> new Books(job(replayed), policy, speeds, replayed.spec().submitted()));
        same(books.state(snapshot.now()), replayed, snapshot.now());
        note(replayed);
      }
    }

    @Override
    public void allocated(JobId job, Allocation allocation, Instant at) {
      String type = allocation.isEmpty() ? "" : typeOfNode.getOrDefault(allocation.node(0), "");
      try {
        books(job).allocated(allocation, type, at);
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void reported(TelemetryReport report, Instant at) {
      books(new JobId(report.namespace(), report.job())).reported(report, at);
    }

    private Books books(JobId job) {
      return Objects.requireNonNull(jobs.get(job), () -> "books of " + job);
    }

    private void note(JobState job) {
      compared++;
      note("restarting", job.restarting());
      note("restarted", job.restarts() > 2);
      note("stopped", job.allocation().isEmpty() && job.attainedService() > 0);
      note(
          "saved", job.unsaved().toSeconds() > 0 && job.unsaved().compareTo(job.sinceChange()) < 0);
      job.model().ifPresent(model -> note("types", model.paramsByType().size() == 2));
    }

    private void note(String what, boolean holds) {
      if (holds) {
        seen.add(what);
      }
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"kastor", "pollux", "sia"})
  void bothHostsTellAPolicyTheSame(String policy) {
    OperatorBooks books = play(policy, 7);
    assertThat(books.compared).isGreaterThan(500);
    assertThat(books.seen)
        .as("the history has all that a job can go through")
        .contains("restarting", "restarted", "saved");
  }

  @Tag("slow")
  @Test
  void theHistoryHasStopsAndBothTypes() {
    OperatorBooks books = play("kastor", 3);
    assertThat(books.seen).contains("restarting", "restarted", "stopped", "saved", "types");
  }

  private static OperatorBooks play(String policy, long seed) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      jobs.add(
          new Workload.Job("job-" + i, 97.0 * i, "two", 1, 8, 2, 0, Workload.Category.ADAPTIVE));
    }
    EventSettings settings =
        EventSettings.defaults()
            .withFailures(
                new NodeFailures(Duration.ofMinutes(40), Duration.ofMinutes(5)),
                Duration.ofMinutes(2))
            .withResizes(
                List.of(
                    new Resize(Duration.ofMinutes(20), "fast", 0),
                    new Resize(Duration.ofMinutes(30), "fast", 2)));
    OperatorBooks books = new OperatorBooks(policy);
    var _ =
        new EventSimulation(
                settings,
                ClusterShape.parse("fast=2x4,slow=2x4"),
                new Workload("contract", jobs),
                Map.of("two", new TwoTypes()),
                Policies.factory(policy, PolicyContext.online(seed)),
                seed,
                books)
            .run();
    return books;
  }

  private static void same(JobState operator, JobState replay, Instant now) {
    String job = "%s at %s: ".formatted(replay.id(), now);
    assertThat(operator.id()).isEqualTo(replay.id());
    assertThat(operator.spec().submitted())
        .as(job + "submitted")
        .isEqualTo(replay.spec().submitted());
    assertThat(operator.spec().elasticity())
        .as(job + "elasticity")
        .isEqualTo(replay.spec().elasticity());
    assertThat(operator.spec().batchLimits())
        .as(job + "batch limits")
        .isEqualTo(replay.spec().batchLimits());
    assertThat(operator.allocation()).as(job + "allocation").isEqualTo(replay.allocation());
    assertThat(operator.model()).as(job + "model").isEqualTo(replay.model());
    assertThat(operator.maxProfiledReplicas())
        .as(job + "profiled replicas")
        .isEqualTo(replay.maxProfiledReplicas());
    assertThat(operator.progress()).as(job + "progress").isEqualTo(replay.progress());
    close(job + "age", operator.age(), replay.age());
    assertThat(operator.attainedService())
        .as(job + "attained service")
        .isCloseTo(replay.attainedService(), within(SECONDS));
    assertThat(operator.restarts()).as(job + "restarts").isEqualTo(replay.restarts());
    close(job + "rescale cost", operator.rescaleCost(), replay.rescaleCost());
    close(job + "restart cost", operator.restartCost(), replay.restartCost());
    close(job + "since change", operator.sinceChange(), replay.sinceChange());
    close(job + "unsaved", operator.unsaved(), replay.unsaved());
    assertThat(operator.pinned()).as(job + "pinned").isEqualTo(replay.pinned());
    assertThat(operator.restarting()).as(job + "restarting").isEqualTo(replay.restarting());
    assertThat(operator.outlook()).as(job + "outlook").isEqualTo(replay.outlook());
  }

  private static void close(String what, Duration operator, Duration replay) {
    assertThat(operator.toNanos() * 1e-9)
        .as(what)
        .isCloseTo(replay.toNanos() * 1e-9, within(SECONDS));
  }

  /** The resource that asks for what the replayed job asks for. */
  private static TrainingJob job(JobState replayed) {
    BatchLimits limits = replayed.spec().batchLimits();
    var job = new TrainingJob();
    job.getMetadata().setName(replayed.id().name());
    job.getMetadata().setNamespace(replayed.id().namespace());
    job.getMetadata().setUid("uid-of-" + replayed.id().name());
    job.getMetadata().setCreationTimestamp(replayed.spec().submitted().toString());
    job.setSpec(
        new TrainingJobSpec(
            false,
            null,
            null,
            null,
            new ElasticSpec(
                replayed.spec().elasticity().min(), replayed.spec().elasticity().max(), null),
            new GoodputSpec(
                GoodputSpec.Mode.Adaptive,
                new BatchSizeSpec(
                    limits.initialGlobalBatch(),
                    limits.maxGlobalBatch(),
                    new BatchSizeSpec.PerDevice(limits.minAtomicBatch(), limits.maxAtomicBatch()),
                    limits.accumulation()),
                new LearningRateSpec("0.1", null),
                new WorkSpec((long) EPOCHS, null, null)),
            null,
            null,
            new ProgramSpec("glyph-mlp", Map.of())));
    return job;
  }

  /** An application that is half as fast on one GPU type as on the other. */
  private static final class TwoTypes implements Application {
    private static final BatchLimits LIMITS = new BatchLimits(INITIAL, 1024, 8, 128, true);
    private static final ThroughputParams FAST =
        new ThroughputParams(0.02, 0.002, 0.02, 0.001, 0.01, 0.0005, 1.5);

    @Override
    public String name() {
      return "two";
    }

    @Override
    public List<String> gpuTypes() {
      return List.of("fast", "slow");
    }

    @Override
    public BatchLimits batchLimits(String gpuType) {
      return LIMITS;
    }

    @Override
    public int maxReplicas() {
      return 8;
    }

    @Override
    public StepTime stepTime(String gpuType, int[] slotsByNode, int atomicBatchSize) {
      int replicas = 0;
      for (int here : slotsByNode) {
        replicas += here;
      }
      double factor = gpuType.equals("fast") ? 1 : 2;
      double step =
          FAST.stepSeconds(
              new PlacementShape(slotsByNode.length, replicas, ""),
              new BatchPlan(atomicBatchSize, 0));
      return new StepTime(
          factor * step, factor * Math.max(0, step - FAST.computeSeconds(atomicBatchSize)));
    }

    @Override
    public int epochs() {
      return EPOCHS;
    }

    @Override
    public double progressAt(int epoch) {
      return 5000.0 * epoch;
    }

    @Override
    public GradientStats gradient(int globalBatch, int finishedEpochs) {
      return new GradientStats(1, 4, INITIAL);
    }

    @Override
    public double remainingSteps(int globalBatch, int finishedEpochs) {
      return (progressAt(EPOCHS) - progressAt(finishedEpochs))
          / gradient(globalBatch, finishedEpochs).gain(globalBatch);
    }

    @Override
    public double restartSeconds() {
      return 30;
    }

    @Override
    public double believedRestartSeconds() {
      return 15;
    }
  }
}
