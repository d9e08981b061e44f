package dev.kastor.simulator.report;

import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.Sample;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A replay over time in equal spans, each with the mean over its time of what holds from one
 * decision to the next.
 */
final class Timeline {
  private final double spanHours;
  private final double[] queued;
  private final double[] utilisation;
  private final double[] efficiency;
  private final SequencedMap<String, double[]> gpusByApplication;

  private Timeline(
      double spanHours,
      double[] queued,
      double[] utilisation,
      double[] efficiency,
      SequencedMap<String, double[]> gpusByApplication) {
    this.spanHours = spanHours;
    this.queued = queued;
    this.utilisation = utilisation;
    this.efficiency = efficiency;
    this.gpusByApplication = Collections.unmodifiableSequencedMap(gpusByApplication);
  }

  /** In so many spans, which together are {@code seconds} long. */
  static Timeline of(Replay replay, double seconds, int spans) {
    Spans queued = new Spans(seconds, spans);
    Spans used = new Spans(seconds, spans);
    Spans efficiency = new Spans(seconds, spans);
    SequencedMap<String, Spans> byApplication = new LinkedHashMap<>();
    List<Sample> samples = replay.samples();
    samples.stream()
        .flatMap(sample -> sample.gpusByApplication().keySet().stream())
        .distinct()
        .sorted()
        .forEach(name -> byApplication.put(name, new Spans(seconds, spans)));
    double end =
        replay.jobs().stream().mapToDouble(Replay.Completed::finishSeconds).max().orElse(0);
    for (int s = 0; s < samples.size(); s++) {
      Sample sample = samples.get(s);
      double from = sample.seconds();
      double to = s + 1 < samples.size() ? samples.get(s + 1).seconds() : end;
      queued.add(from, to, sample.queuedJobs());
      used.add(from, to, (double) sample.gpusInUse() / Math.max(1, sample.gpus()));
      if (sample.runningJobs() > 0) {
        efficiency.add(from, to, sample.efficiency());
      }
      byApplication.forEach((name, spansOfOne) ->
          spansOfOne.add(from, to, sample.gpusByApplication().getOrDefault(name, 0)));
    }
    SequencedMap<String, double[]> gpus = new LinkedHashMap<>();
    byApplication.forEach((name, values) -> gpus.put(name, values.overTime()));
    return new Timeline(
        seconds / spans / 3600, queued.overTime(), used.overTime(), efficiency.whereKnown(), gpus);
  }

  /** Mean number of jobs without a GPU. */
  double[] queued() {
    return queued.clone();
  }

  /** Share of all GPUs that jobs hold, in [0, 1]. */
  double[] utilisation() {
    return utilisation.clone();
  }

  /** Mean statistical efficiency of running jobs, in (0, 1]; not a number where none ran. */
  double[] efficiency() {
    return efficiency.clone();
  }

  /** GPUs that jobs hold, by application in alphabetical order. */
  SequencedMap<String, double[]> gpusByApplication() {
    return gpusByApplication;
  }

  /** Hours at the middle of each span. */
  double[] hours() {
    double[] hours = new double[queued.length];
    Arrays.setAll(hours, i -> (i + 0.5) * spanHours);
    return hours;
  }

  /** The integral of a value over each span. */
  private static final class Spans {
    private final double length;
    private final double[] sums;
    private final double[] covered;

    Spans(double seconds, int spans) {
      length = seconds / spans;
      sums = new double[spans];
      covered = new double[spans];
    }

    void add(double from, double to, double value) {
      for (int i = (int) (from / length); i < sums.length && i * length < to; i++) {
        double overlap = Math.min(to, (i + 1) * length) - Math.max(from, i * length);
        if (overlap > 0) {
          sums[i] += overlap * value;
          covered[i] += overlap;
        }
      }
    }

    double[] overTime() {
      return Arrays.stream(sums).map(sum -> sum / length).toArray();
    }

    double[] whereKnown() {
      double[] means = new double[sums.length];
      Arrays.setAll(means, i -> sums[i] / covered[i]);
      return means;
    }
  }
}
