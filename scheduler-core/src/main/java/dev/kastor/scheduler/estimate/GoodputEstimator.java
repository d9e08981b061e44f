package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Learning;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Learns one job's {@link GoodputModel} from its reports.
 *
 * <p>Step times are kept and fitted for each GPU type apart. Reports of the same (nodes, replicas,
 * atomic batch) are merged by {@link ProfileWindow}. A fit is made again only when such a key is
 * new or its merged time has moved by more than 5 % since the last fit; a new gradient needs no
 * fit. Memory is bounded: beyond {@value #MAX_KEYS} keys of a type, the one heard of longest ago is
 * dropped. {@link #memory} and {@link #from} carry it over a restart. Owned by one thread.
 */
public final class GoodputEstimator {
  /** Most distinct (nodes, replicas, atomic batch) kept for a GPU type. */
  public static final int MAX_KEYS = 128;

  /**
   * All that an estimator knows, small enough to be stored with the job.
   *
   * @param profilesByType one merged profile for each key, by GPU type
   * @param gradient newest noise statistics
   * @param maxProfiledReplicas most replicas ever measured, kept even when their key was dropped
   */
  public record Memory(
      SequencedMap<String, List<StepProfile>> profilesByType,
      Optional<GradientStats> gradient,
      int maxProfiledReplicas) {
    public Memory {
      SequencedMap<String, List<StepProfile>> copy = new LinkedHashMap<>();
      profilesByType.forEach((type, profiles) -> copy.put(type, List.copyOf(profiles)));
      profilesByType = Collections.unmodifiableSequencedMap(copy);
    }
  }

  /** What stands for all reports of one key. */
  public enum Merging {
    /** The medians of the newest: real step times are noisy and change. */
    NEWEST,

    /** The first: the published simulators report without noise and never look again. */
    FIRST
  }

  private final Merging merging;
  private final Learning learning;
  private final boolean adaptive;
  private final boolean restarting;
  private final int initialGlobalBatch;
  private final SequencedMap<String, TypeProfiles> types = new LinkedHashMap<>();
  private int maxProfiledReplicas;
  private int rememberedReplicas;
  private @Nullable GradientStats gradient;
  private @Nullable GradientStats rememberedGradient;

  /** An estimator that knows nothing yet. */
  public GoodputEstimator(JobSpec spec) {
    this(spec, Merging.NEWEST, Learning.FAITHFUL);
  }

  /**
   * An estimator that knows nothing yet.
   *
   * @param learning whether its models correct the fit where layouts were observed
   */
  public GoodputEstimator(JobSpec spec, Merging merging, Learning learning) {
    this.merging = merging;
    this.learning = learning;
    adaptive = spec.elasticity() instanceof Elasticity.Adaptive;
    restarting = spec.elasticity() instanceof Elasticity.Restarting;
    initialGlobalBatch = spec.batchLimits().initialGlobalBatch();
  }

  /** An estimator that knows what another one did. */
  public static GoodputEstimator from(JobSpec spec, Memory memory) {
    GoodputEstimator estimator = new GoodputEstimator(spec);
    memory
        .profilesByType()
        .forEach((type, profiles) ->
            profiles.forEach(profile -> estimator.observe(profile.onType(type))));
    memory.gradient().ifPresent(estimator::observe);
    estimator.maxProfiledReplicas =
        Math.max(estimator.maxProfiledReplicas, memory.maxProfiledReplicas());
    return estimator;
  }

  /** Takes in what a report says of step times and gradients. */
  public void observe(TelemetryReport report) {
    report.profiles().forEach(this::observe);
    if (report.gradient() != null) {
      observe(report.gradient());
    }
  }

  /**
   * Takes in one profile, filed under its GPU type.
   *
   * @return the profile that now stands for all of its key
   */
  public StepProfile observe(StepProfile profile) {
    maxProfiledReplicas = Math.max(maxProfiledReplicas, profile.replicas());
    return types
        .computeIfAbsent(profile.typeOrEmpty(), type -> new TypeProfiles(merging))
        .observe(profile);
  }

  /**
   * Sets what is remembered from other jobs and holds until this one reports better: its own step
   * times stand for their keys, its own noise statistics for all that are remembered.
   */
  void remember(
      SequencedMap<String, RememberedProfiles> profiles,
      int maxReplicas,
      Optional<GradientStats> noise) {
    profiles.keySet().forEach(type -> types.computeIfAbsent(type, t -> new TypeProfiles(merging)));
    types.forEach((type, known) -> known.remember(profiles.get(type)));
    types.values().removeIf(TypeProfiles::isEmpty);
    rememberedReplicas = profiles.isEmpty() ? 0 : maxReplicas;
    rememberedGradient = noise.orElse(null);
  }

  /** Own reports of a GPU type, one profile a key. */
  List<StepProfile> merged(String gpuType) {
    TypeProfiles known = types.get(gpuType);
    return known == null ? List.of() : known.merged();
  }

  /** Takes in newer noise statistics. */
  public void observe(GradientStats newest) {
    gradient = newest;
  }

  /** Most replicas ever measured; 0 before the first profile. */
  public int maxProfiledReplicas() {
    return Math.max(maxProfiledReplicas, rememberedReplicas);
  }

  /**
   * The model; empty before the first profile, and for an adaptive job before the first noise
   * statistics.
   *
   * <p>A job whose batch is fixed needs no noise statistics: at M0 its efficiency is 1 whatever
   * they are.
   */
  public Optional<GoodputModel> model() {
    GradientStats newest = gradient == null ? rememberedGradient : gradient;
    if (types.isEmpty() || (adaptive && newest == null)) {
      return Optional.empty();
    }
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>();
    types.forEach((type, profiles) -> {
      params.put(type, profiles.fit().params());
      if (learning == Learning.FULL) {
        factors.put(type, profiles.factors());
      }
    });
    return Optional.of(new GoodputModel(params, factors, newest == null ? assumedNoise() : newest));
  }

  /**
   * Noise of a job that reports none. The batch of one that restarts is its script's, and nobody
   * knows what its examples are worth at another: all count alike.
   */
  private GradientStats assumedNoise() {
    return restarting
        ? new GradientStats(0, 1, initialGlobalBatch)
        : new GradientStats(1, 0, initialGlobalBatch);
  }

  /** What must be stored for {@link #from}: own reports only. */
  public Memory memory() {
    SequencedMap<String, List<StepProfile>> profiles = new LinkedHashMap<>();
    types.forEach((type, known) -> profiles.put(type, known.merged()));
    profiles.values().removeIf(List::isEmpty);
    return new Memory(profiles, Optional.ofNullable(gradient), maxProfiledReplicas);
  }
}
