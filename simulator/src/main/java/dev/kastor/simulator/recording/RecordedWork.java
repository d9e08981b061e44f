package dev.kastor.simulator.recording;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.Held;
import dev.kastor.scheduler.live.RecordedJob.Noise;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.simulator.live.Assumed;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Work of a recorded job: what it did while it was recorded, as a job that does it from the start.
 */
final class RecordedWork {
  /**
   * A job that said how much work it has and completed has done it all, though its last report is a
   * little older; one that had done less ended early, by a target of its own.
   */
  private static final double NEARLY_ALL = 0.9;

  private static final Duration LEAST_UNKNOWN = Duration.ofMinutes(60);
  private static final Duration LEAST_RUN = Duration.ofSeconds(1);

  /** So much faster is a job of which nobody knows it with twice the replicas: 2 to this. */
  private static final double SCALING = 0.8;

  private final RecordedJob recorded;
  private final JobState state;
  private final Instant until;

  /** The work of a job until {@code until}. */
  RecordedWork(RecordedJob recorded, LiveJob job, Instant until) {
    this.recorded = recorded;
    this.until = until;
    state = job.state();
  }

  /** The job with all that a replay needs, on these GPU types. */
  Assumed assumed(List<String> types) {
    double steps = steps();
    boolean known = steps > 0;
    Optional<NoiseCurve> curve = known ? curve(steps) : Optional.empty();
    Optional<GoodputModel> model = known ? state.model() : Optional.empty();
    JobState whole =
        new JobState(
            known ? state.spec() : state.spec().declaring(0),
            state.allocation(),
            curve.isEmpty()
                ? model
                : model.map(fitted ->
                    new GoodputModel(
                        fitted.paramsByType(), fitted.factorsByType(), curve.get().at(1))),
            state.maxProfiledReplicas(),
            known
                ? Optional.of(new Progress(Math.round(steps), steps, steps, 0, 0))
                : Optional.empty(),
            state.age(),
            state.attainedService(),
            state.restarts(),
            state.rescaleCost(),
            state.restartCost(),
            state.startCost(),
            state.sinceChange(),
            state.unsaved(),
            false,
            false,
            new Outlook(curve, List.of(), curve.isPresent() ? 1 : 0),
            Optional.empty());
    return Assumed.of(new LiveJob(whole, false), types, unknown());
  }

  /** Whether it was ever given anything. */
  boolean ran() {
    return recorded.held().stream().anyMatch(held -> !held.nodes().isEmpty());
  }

  /** Scale-invariant steps; 0 where nobody knows. */
  private double steps() {
    double done = state.progress().map(Progress::scaleInvariantSteps).orElse(0.0);
    double total = state.progress().map(Progress::totalScaleInvariantSteps).orElse(0.0);
    double end =
        switch (recorded.end()) {
          case COMPLETED -> done >= NEARLY_ALL * total ? Math.max(done, total) : done;
          case FAILED, KILLED -> done;
          case UNFINISHED -> {
            double declared = state.spec().declaredSteps();
            yield total > 0 ? total : declared > 0 ? declared : 2 * done;
          }
        };
    return Math.max(0, end - recorded.doneBefore());
  }

  /** Gradient noise over its work, as it reported it. */
  private Optional<NoiseCurve> curve(double steps) {
    List<Noise> points =
        recorded.noise().stream().sorted(Comparator.comparingDouble(Noise::steps)).toList();
    if (points.isEmpty()) {
      return Optional.empty();
    }
    double[] logs = new double[NoiseCurve.BUCKETS];
    for (int b = 0; b < logs.length; b++) {
      logs[b] = logNoise(points, recorded.doneBefore() + (b + 0.5) / logs.length * steps);
    }
    return Optional.of(
        new NoiseCurve(logs, logs.length, state.spec().batchLimits().initialGlobalBatch()));
  }

  /** Linear between two points, and constant beyond the first and the last. */
  private static double logNoise(List<Noise> points, double at) {
    Noise before = points.getFirst();
    for (Noise point : points) {
      if (point.steps() >= at) {
        double width = point.steps() - before.steps();
        double share = width > 0 ? Math.clamp((at - before.steps()) / width, 0, 1) : 1;
        double log = Math.log(before.noiseScale());
        return log + share * (Math.log(point.noiseScale()) - log);
      }
      before = point;
    }
    return Math.log(points.getLast().noiseScale());
  }

  /** How long it would have trained with its fewest replicas, going by how long it held which. */
  private Duration unknown() {
    int fewest = state.spec().elasticity().min();
    double seconds = 0;
    Instant end = recorded.ended() == null ? until : Instant.parse(recorded.ended());
    for (int i = 0; i < recorded.held().size(); i++) {
      Held held = recorded.held().get(i);
      Instant next =
          i + 1 < recorded.held().size() ? Instant.parse(recorded.held().get(i + 1).at()) : end;
      int replicas = held.nodes().values().stream().mapToInt(Integer::intValue).sum();
      double lasted = Duration.between(Instant.parse(held.at()), next).toNanos() * 1e-9;
      seconds += Math.max(0, lasted) * Math.pow((double) replicas / fewest, SCALING);
    }
    Duration ran = Duration.ofMillis(Math.round(seconds * 1000));
    if (recorded.ended() == null) {
      Duration twice = ran.multipliedBy(2);
      return twice.compareTo(LEAST_UNKNOWN) > 0 ? twice : LEAST_UNKNOWN;
    }
    Duration trained = ran.minus(state.restartCost());
    return trained.compareTo(LEAST_RUN) > 0 ? trained : LEAST_RUN;
  }
}
