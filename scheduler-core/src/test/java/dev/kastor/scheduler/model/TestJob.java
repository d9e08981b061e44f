package dev.kastor.scheduler.model;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** Builds a {@link JobState} that holds only what a test cares about. */
public final class TestJob {
  /** Scales well: little communication and a noisy gradient. */
  public static final GoodputModel SCALABLE =
      new GoodputModel(
          new ThroughputParams(0.02, 0.002, 0.02, 0.001, 0.01, 0.0005, 1.5),
          new GradientStats(1, 50, 64));

  /** Hardly scales: communication takes longer than computation. */
  public static final GoodputModel STUBBORN =
      new GoodputModel(
          new ThroughputParams(0.02, 0.001, 0.5, 0.05, 0.3, 0.05, 1.0),
          new GradientStats(1, 1, 64));

  private static final BatchLimits LIMITS = new BatchLimits(64, 4096, 8, 256, true);

  private final String name;
  private Elasticity elasticity = new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any());
  private Allocation allocation = Allocation.NONE;
  private Optional<GoodputModel> model = Optional.empty();
  private int profiled;
  private Duration age = Duration.ofMinutes(10);
  private Duration cost = Duration.ofSeconds(1);
  private @Nullable Duration restartCost;
  private Duration startCost = Duration.ZERO;
  private double service;
  private Duration sinceChange = Duration.ZERO;
  private Optional<Progress> progress = Optional.empty();
  private String family = "";
  private String queue = "";
  private int priority;
  private boolean pinned;
  private boolean restarting;
  private Duration unsaved = Duration.ZERO;
  private Outlook outlook = Outlook.NONE;
  private String gpuType = "";
  private int slotsPerReplica = 1;
  private final SequencedMap<String, GpuTraits> byGpuType = new LinkedHashMap<>();

  private TestJob(String name) {
    this.name = name;
  }

  public static TestJob job(String name) {
    return new TestJob(name);
  }

  public TestJob replicas(int min, int max) {
    elasticity = new Elasticity.Adaptive(min, max, new AllowedReplicas.Any());
    return this;
  }

  public TestJob elasticity(Elasticity value) {
    elasticity = value;
    return this;
  }

  public TestJob on(String node, int replicas) {
    return on(Allocation.on(node, replicas, slotsPerReplica));
  }

  public TestJob on(Allocation value) {
    allocation = value;
    profiled = Math.max(profiled, value.replicas());
    return this;
  }

  public TestJob model(GoodputModel value, int maxProfiledReplicas) {
    model = Optional.of(value);
    profiled = maxProfiledReplicas;
    return this;
  }

  public TestJob profiled(int maxProfiledReplicas) {
    profiled = maxProfiledReplicas;
    return this;
  }

  public TestJob age(Duration value) {
    age = value;
    return this;
  }

  public TestJob rescaleCost(Duration value) {
    cost = value;
    return this;
  }

  /** Of a change after which nothing runs where it ran; {@link #rescaleCost} unless set. */
  public TestJob restartCost(Duration value) {
    restartCost = value;
    return this;
  }

  /** Of replicas that it adds while the others train on; they train at once unless set. */
  public TestJob startCost(Duration value) {
    startCost = value;
    return this;
  }

  public TestJob attainedService(double gpuSeconds) {
    service = gpuSeconds;
    return this;
  }

  /** Slots of each replica; before the job is put anywhere. */
  public TestJob slotsPerReplica(int value) {
    slotsPerReplica = value;
    return this;
  }

  public TestJob gpuType(String value) {
    gpuType = value;
    return this;
  }

  /** Profiled on these types, with the same batches on each. */
  public TestJob byGpuType(String... types) {
    for (String type : types) {
      byGpuType.put(type, new GpuTraits(LIMITS, slotsPerReplica, 100));
    }
    return this;
  }

  public TestJob sinceChange(Duration value) {
    sinceChange = value;
    return this;
  }

  /** Scale-invariant steps done, of so many declared. */
  public TestJob steps(double done, double total) {
    progress = Optional.of(new Progress((long) done, done, total, 0, 0));
    return this;
  }

  public TestJob family(String value) {
    family = value;
    return this;
  }

  /** Scale-invariant steps of a job of its family that has ended. */
  public TestJob familyEndedAfter(double steps) {
    outlook = new Outlook(Optional.empty(), List.of(steps), 1);
    return this;
  }

  public TestJob queue(String value) {
    queue = value;
    return this;
  }

  public TestJob priority(int value) {
    priority = value;
    return this;
  }

  /** Trained since it last saved its state. */
  public TestJob unsaved(Duration value) {
    unsaved = value;
    return this;
  }

  /** It has not trained with what it holds. */
  public TestJob restarting() {
    restarting = true;
    return this;
  }

  public TestJob pinned() {
    pinned = true;
    return this;
  }

  public JobState build() {
    JobSpec spec =
        new JobSpec(
            new JobId("test", name),
            Instant.EPOCH,
            family,
            elasticity,
            elasticity.min(),
            LIMITS,
            gpuType,
            byGpuType,
            queue,
            priority,
            slotsPerReplica,
            Map.of());
    return new JobState(
        spec,
        allocation,
        model,
        profiled,
        progress,
        age,
        service,
        0,
        cost,
        restartCost == null ? cost : restartCost,
        startCost,
        sinceChange,
        unsaved,
        pinned,
        restarting,
        outlook,
        Optional.empty());
  }
}
