package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Learns one job's {@link GoodputModel} from its reports.
 *
 * <p>Reports of the same (nodes, replicas, atomic batch) are merged by {@link ProfileWindow}. The
 * model is fitted again only when such a key is new or its merged time has moved by more than 5 %
 * since the last fit; a new gradient needs no fit. Memory is bounded: the key heard of longest ago
 * is dropped beyond {@value #MAX_KEYS}. {@link #memory} and {@link #from} carry it over a restart.
 * Owned by one thread.
 */
public final class GoodputEstimator {
  /** Most distinct (nodes, replicas, atomic batch) kept. */
  public static final int MAX_KEYS = 128;

  private static final double DRIFT = 0.05;

  /**
   * All that an estimator knows, small enough to be stored with the job.
   *
   * @param profiles one merged profile for each key
   * @param gradient newest noise statistics
   * @param maxProfiledReplicas most replicas ever measured, kept even when their key was dropped
   */
  public record Memory(
      List<StepProfile> profiles, Optional<GradientStats> gradient, int maxProfiledReplicas) {
    public Memory {
      profiles = List.copyOf(profiles);
    }
  }

  private record Key(int nodes, int replicas, int atomicBatchSize) {
    static Key of(StepProfile profile) {
      return new Key(profile.nodes(), profile.replicas(), profile.atomicBatchSize());
    }
  }

  private final boolean adaptive;
  private final int initialGlobalBatch;
  private final SequencedMap<Key, ProfileWindow> windows = new LinkedHashMap<>();
  private int maxProfiledReplicas;
  private @Nullable GradientStats gradient;
  private @Nullable ThroughputFit fit;
  private boolean stale;

  /** An estimator that knows nothing yet. */
  public GoodputEstimator(JobSpec spec) {
    adaptive = spec.elasticity() instanceof Elasticity.Adaptive;
    initialGlobalBatch = spec.batchLimits().initialGlobalBatch();
  }

  /** An estimator that knows what another one did. */
  public static GoodputEstimator from(JobSpec spec, Memory memory) {
    GoodputEstimator estimator = new GoodputEstimator(spec);
    memory.profiles().forEach(estimator::observe);
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

  /** Takes in one profile. */
  public void observe(StepProfile profile) {
    Key key = Key.of(profile);
    @Nullable ProfileWindow window = windows.remove(key);
    if (window == null) {
      window = new ProfileWindow();
    }
    windows.putLast(key, window);
    window.add(profile);
    stale |= window.drifted(DRIFT);
    maxProfiledReplicas = Math.max(maxProfiledReplicas, profile.replicas());
    if (windows.size() > MAX_KEYS) {
      windows.pollFirstEntry();
      stale = true;
    }
  }

  /** Takes in newer noise statistics. */
  public void observe(GradientStats newest) {
    gradient = newest;
  }

  /** Most replicas ever measured; 0 before the first profile. */
  public int maxProfiledReplicas() {
    return maxProfiledReplicas;
  }

  /**
   * The model; empty before the first profile, and for an adaptive job before the first noise
   * statistics.
   *
   * <p>A job whose batch is fixed needs no noise statistics: at M0 its efficiency is 1 whatever
   * they are.
   */
  public Optional<GoodputModel> model() {
    if (windows.isEmpty() || (adaptive && gradient == null)) {
      return Optional.empty();
    }
    ThroughputFit current = fit;
    if (stale || current == null) {
      current = ThroughputFitter.fit(merged());
      fit = current;
      stale = false;
      windows.values().forEach(ProfileWindow::fitted);
    }
    return Optional.of(
        new GoodputModel(
            current.params(),
            gradient == null ? new GradientStats(1, 0, initialGlobalBatch) : gradient));
  }

  /** What must be stored for {@link #from}. */
  public Memory memory() {
    return new Memory(merged(), Optional.ofNullable(gradient), maxProfiledReplicas);
  }

  private List<StepProfile> merged() {
    return windows.values().stream().map(ProfileWindow::merged).toList();
  }
}
