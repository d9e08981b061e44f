package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.LayoutFactors.Layout;
import dev.kastor.scheduler.goodput.PlacementShape;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Goodput that a job claims, held against the progress that it made with each layout by the
 * operator's clock. Where it claims more, its model is slowed down to what was measured. Owned by
 * the job's telemetry.
 */
final class ClaimCheck {
  /**
   * Models are to change now and then only, so that slowdowns come in steps of this; less than one
   * step is noise of step times, which an honest job has too.
   */
  private static final double GRID = Math.log(1.1);

  private static final double SAME = 1e-9;

  /** Slowdown by waits and checkpoints that a job of any size may have. */
  private static final double COMMON = 1.25;

  private static final double MEMORY_SECONDS = 60;
  private static final double LEAST_SECONDS = 20;
  private static final double MOST = 1e4;
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  /**
   * A claim is called wrong if it has been by this factor for that long: checkpoints, evaluations
   * and waits for data are in no step time.
   */
  private static final double PARTED = 2;

  private static final Duration PARTED_FOR = Duration.ofMinutes(2);
  private static final int MOST_SHAPES = 64;

  private static final class Sums {
    double claimed;
    double made;
    double seconds;

    double slowdown() {
      if (seconds < LEAST_SECONDS || claimed <= 0) {
        return 1;
      }
      double measured = Math.clamp(claimed / Math.max(made, 1e-12), 1, MOST);
      return Math.exp(Math.floor(Math.log(measured) / GRID + SAME) * GRID);
    }
  }

  private final int initialBatch;
  private final Promise promise;
  private final SequencedMap<PlacementShape, Sums> byShape = new LinkedHashMap<>();
  private long generation = -1;
  private @Nullable Progress mark;
  private Instant markedAt = Instant.EPOCH;
  private Instant heardAt = Instant.EPOCH;
  private @Nullable Instant partedSince;

  ClaimCheck(int initialBatch, Instant begun) {
    this.initialBatch = initialBatch;
    promise = new Promise(initialBatch, begun);
  }

  /**
   * Takes in a report.
   *
   * @param shape of the generation that it comes from
   * @param claimed the goodput that the job's model claims of it; asked for now and then only
   */
  void observe(
      long from, PlacementShape shape, Progress progress, Supplier<Double> claimed, Instant now) {
    Progress before = mark;
    if (from == generation) {
      promise.trained(Duration.between(heardAt, now));
    } else if (before != null) {
      double back = before.scaleInvariantSteps() - progress.scaleInvariantSteps();
      promise.setBack(Math.max(0, back));
    }
    heardAt = now;
    if (before == null || from != generation || progress.step() < before.step()) {
      generation = from;
      mark = progress;
      markedAt = now;
      return;
    }
    Duration time = Duration.between(markedAt, now);
    if (time.compareTo(INTERVAL) < 0) {
      return;
    }
    double seconds = time.toMillis() / 1000.0;
    Sums sums = byShape.computeIfAbsent(shape, key -> new Sums());
    double keep = Math.exp(-seconds / MEMORY_SECONDS);
    double made = progress.scaleInvariantSteps() - before.scaleInvariantSteps();
    double goodput = claimed.get();
    sums.claimed = keep * sums.claimed + goodput * seconds;
    sums.made = keep * sums.made + Math.max(0, made) * initialBatch;
    sums.seconds += seconds;
    if (byShape.size() > MOST_SHAPES) {
      byShape.pollFirstEntry();
    }
    mark = progress;
    markedAt = now;
    promise.observe(progress, goodput / sums.slowdown());
    boolean wrong = worst() >= PARTED;
    partedSince = wrong ? (partedSince == null ? now : partedSince) : null;
  }

  /**
   * The model as far as progress bears it out. Of layouts that were never had on a GPU type, larger
   * ones are slowed down as much as any that was, others as the next smaller one, and those smaller
   * than any only by what waits and checkpoints of all sizes may have in common.
   */
  GoodputModel slowed(GoodputModel claimed) {
    double worst = worst();
    if (worst <= 1) {
      return claimed;
    }
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>();
    for (String type : claimed.paramsByType().keySet()) {
      SequencedMap<Layout, Double> measured = new LinkedHashMap<>();
      NavigableMap<Integer, Double> others = new TreeMap<>();
      byShape.forEach((shape, sums) -> {
        if (shape.gpuType().equals(type)) {
          measured.put(new Layout(shape.nodes(), shape.replicas()), sums.slowdown());
          others.merge(shape.replicas(), sums.slowdown(), Math::max);
        }
      });
      others.put(others.isEmpty() ? 1 : others.lastKey() + 1, worst);
      others.put(0, Math.min(worst, COMMON));
      LayoutFactors known = claimed.factorsByType().getOrDefault(type, LayoutFactors.NONE);
      factors.put(type, known.slowed(measured, others));
    }
    return new GoodputModel(claimed.paramsByType(), factors, claimed.gradient());
  }

  /** The job contradicts itself about its work. */
  void contradicted() {
    promise.end();
  }

  /** Progress as far as the end that the job promised bears it out. */
  Progress believed(Progress progress, Instant now) {
    return promise.believed(progress, now);
  }

  /** What a person should know of a job whose claims and progress have parted for minutes. */
  Optional<String> parted(Instant now) {
    if (promise.broken()) {
      return Optional.of(
          "By its own numbers it should have ended; it is scheduled as one that goes on for long.");
    }
    Instant since = partedSince;
    return since == null || now.isBefore(since.plus(PARTED_FOR))
        ? Optional.empty()
        : Optional.of(
            "It claims %.1f times the goodput that its progress shows; it is scheduled by its progress."
                .formatted(worst()));
  }

  private double worst() {
    return byShape.values().stream().mapToDouble(Sums::slowdown).max().orElse(1);
  }
}
