package dev.kastor.operator.telemetry;

import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.BatchLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Bounds of what one job's agents may say, from what the operator itself saw: the generations that
 * it published, their sizes, and the time by its own clock. What exceeds them is cut, not refused:
 * an honest report may exceed one by a delay. Owned by the job's telemetry.
 */
final class SeenBounds {
  /** Longest pause that a change is believed to have taken. */
  static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  /**
   * Largest gradient noise scale in multiples of the largest global batch: beyond it all batches
   * that the job may have are as good as their size.
   */
  static final double MOST_NOISE = 100;

  /**
   * By how much progress may exceed what the claimed step times allow: reports are not punctual.
   */
  private static final double FASTER = 1.25;

  private static final Duration LATE = Duration.ofSeconds(5);
  private static final int KEPT = 64;
  private static final double SAME = 1e-6;

  private final BatchLimits limits;
  private final Instant submitted;
  private final Instant knownSince;
  private final double declared;
  private final ShownNoise noise;
  private final SequencedMap<Long, Published> generations = new LinkedHashMap<>();
  private int mostReplicas;
  private double perSecond;
  private double total;
  private boolean contradictory;
  private double credited;
  private @Nullable Instant creditedAt;

  /**
   * A generation as this operator published it, or found it in training.
   *
   * @param gpuType GPU type of its members' nodes; empty where they have none
   * @param at when it was published; empty by an earlier operator
   * @param allocated when the job was given the allocation that it had then
   */
  record Published(
      int nodes, int replicas, String gpuType, Optional<Instant> at, Optional<Instant> allocated) {}

  /**
   * Bounds of a job.
   *
   * @param submitted when the job was: nothing of it is older
   * @param declared scale-invariant steps of its work as its spec tells them; 0 where it does not
   * @param mostReplicas most replicas that an earlier operator saw it with
   * @param knownSince since when all of its steps were reported to this operator
   */
  SeenBounds(
      BatchLimits limits,
      Instant submitted,
      double declared,
      int mostReplicas,
      Instant knownSince) {
    this.knownSince = knownSince;
    this.limits = limits;
    this.submitted = submitted;
    this.declared = declared;
    this.mostReplicas = mostReplicas;
    noise = new ShownNoise(limits.initialGlobalBatch());
  }

  /** A generation that this operator published or found. */
  void published(long generation, Published as) {
    generations.putLast(generation, as);
    mostReplicas = Math.max(mostReplicas, as.replicas());
    if (generations.size() > KEPT) {
      generations.pollFirstEntry();
    }
    // How far a job got under an earlier operator is known from its first report alone.
    if (creditedAt == null && knownSince.equals(Instant.EPOCH)) {
      creditedAt = as.at().orElse(null);
    }
  }

  /** The generation of that number; empty where this operator does not know it. */
  Optional<Published> generation(long number) {
    return Optional.ofNullable(generations.get(number));
  }

  /**
   * The report, cut to what can be true.
   *
   * @param lastStep when a report last told of a new step; the epoch if none did
   */
  TelemetryReport cut(TelemetryReport report, Instant lastStep, Instant now) {
    List<StepProfile> profiles =
        report.profiles().stream()
            .filter(profile -> possible(profile, now))
            .map(profile -> profile.onType(gpuType(profile, report.generation())))
            .toList();
    List<Switch> switches =
        report.switches().stream().flatMap(lived -> cut(lived, lastStep, now).stream()).toList();
    perSecond = profiles.stream().mapToDouble(SeenBounds::perSecond).max().orElse(perSecond);
    noise.observe(report);
    GradientStats gradient = report.gradient();
    return new TelemetryReport(
        report.namespace(),
        report.job(),
        report.pod(),
        report.generation(),
        report.sequence(),
        Math.min(report.replicas(), mostReplicas),
        report.batch(),
        profiles,
        gradient == null ? null : cut(gradient),
        cut(report.progress(), now),
        report.trainingLoss(),
        report.learningRate(),
        report.checkpoint() == null ? null : cut(report.checkpoint(), now),
        switches,
        report.outcome(),
        report.slowest(),
        report.scalars(),
        report.unsaved(),
        report.staleness(),
        report.droppedCopies());
  }

  /**
   * A pause for a generation begins no sooner than that is published, and ends before it is
   * reported. New processes do not know when the old ones ended: how long a start took is known to
   * the operator alone.
   */
  private Optional<Switch> cut(Switch lived, Instant lastStep, Instant now) {
    return generation(lived.generation())
        .filter(published -> published.at().isPresent())
        .map(published -> {
          double seconds =
              lived.cause() == Switch.Cause.START
                  ? startSeconds(published, lastStep, now)
                  : Math.min(lived.pauseSeconds(), seconds(published.at().orElse(now), now));
          return new Switch(
              lived.generation(),
              lived.replicasBefore(),
              lived.replicasAfter(),
              lived.cause(),
              seconds);
        });
  }

  /**
   * Time without training before a start: since the last step, or since slots were given where that
   * is later. 0 where the last step was reported to an earlier operator.
   */
  double startSeconds(Published published, Instant lastStep, Instant now) {
    Instant allocated = published.allocated().orElse(lastStep);
    Instant from = lastStep.isAfter(allocated) ? lastStep : allocated;
    return from.isBefore(knownSince) ? 0 : seconds(from, now);
  }

  private static double seconds(Instant from, Instant now) {
    Duration since = Duration.between(from, now);
    Duration most = since.compareTo(LONGEST_PAUSE) < 0 ? since : LONGEST_PAUSE;
    return Math.max(0, most.toNanos() / 1e9);
  }

  /** The type that the profile names if the job was ever published on it, else the generation's. */
  private String gpuType(StepProfile profile, long generation) {
    String said = profile.typeOrEmpty();
    // A generation that stops the job has no members and no type.
    boolean had =
        !said.isEmpty()
            && generations.values().stream()
                .anyMatch(published -> published.gpuType().equals(said));
    Published own = generations.get(generation);
    return own == null || had ? said : own.gpuType();
  }

  /** Nobody was measured with more replicas than he had, nor made a step longer than his life. */
  private boolean possible(StepProfile profile, Instant now) {
    return profile.replicas() <= mostReplicas
        && profile.stepSeconds() <= Math.max(1, Duration.between(submitted, now).toSeconds());
  }

  private CheckpointInfo cut(CheckpointInfo said, Instant now) {
    long saved =
        Math.clamp(
            said.savedAtEpochMillis(),
            Math.min(submitted.toEpochMilli(), now.toEpochMilli()),
            now.toEpochMilli());
    return new CheckpointInfo(said.step(), said.bytes(), saved);
  }

  private GradientStats cut(GradientStats said) {
    double most = Math.min(noise.most(), MOST_NOISE * limits.maxGlobalBatch());
    int initial = limits.initialGlobalBatch();
    return said.initialBatch() == initial && said.noiseScale() <= most
        ? said
        : new GradientStats(1, Math.min(said.noiseScale(), most) / initial, initial);
  }

  /** Whether reports have told of different totals. */
  boolean contradictory() {
    return contradictory;
  }

  private Progress cut(Progress said, Instant now) {
    contradictory |=
        declared == 0
            && total > 0
            && Math.abs(said.totalScaleInvariantSteps() - total) > SAME * total;
    if (total <= 0) {
      total = declared > 0 ? declared : said.totalScaleInvariantSteps();
    }
    double seconds =
        creditedAt == null
            ? Double.POSITIVE_INFINITY
            : Math.max(0, Duration.between(creditedAt, now).plus(LATE).toMillis() / 1000.0);
    double gained =
        seconds == Double.POSITIVE_INFINITY
            ? seconds
            : FASTER * perSecond * seconds / limits.initialGlobalBatch();
    double most = total > 0 ? total : Double.POSITIVE_INFINITY;
    credited = Math.min(most, Math.min(said.scaleInvariantSteps(), credited + gained));
    creditedAt = now;
    return new Progress(said.step(), credited, total, said.examples(), said.epoch());
  }

  /** Examples a second that a profile claims, were all synchronisation hidden. */
  private static double perSecond(StepProfile profile) {
    double compute = Math.max(1e-9, profile.stepSeconds() - profile.syncSeconds());
    return profile.replicas() * (double) profile.atomicBatchSize() / compute;
  }
}
