package dev.kastor.traces.describe;

import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceContent;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What a trace holds, in numbers.
 *
 * @param workload its name
 * @param format the format it was read as
 * @param jobs how many can be replayed
 * @param skipped how many cannot, by reason
 * @param spanHours from time 0 to the last submission
 * @param meanArrivalsPerHour over the span
 * @param peakArrivalsPerHour in the fullest hour
 * @param meanReplicas requested, mean over jobs
 * @param jobsByReplicas how many jobs request so many
 * @param jobsByApplication how many jobs are of each kind
 * @param jobsByOutcome how they ended where the trace was taken
 * @param durationSeconds mean, p50, p90, p99 and max of the durations that are known; empty if none
 *     is
 * @param gpuHours duration times replicas, over the same jobs
 */
public record TraceSummary(
    String workload,
    String format,
    int jobs,
    SequencedMap<String, Integer> skipped,
    double spanHours,
    double meanArrivalsPerHour,
    int peakArrivalsPerHour,
    double meanReplicas,
    SequencedMap<Integer, Integer> jobsByReplicas,
    SequencedMap<String, Integer> jobsByApplication,
    SequencedMap<String, Integer> jobsByOutcome,
    SequencedMap<String, Double> durationSeconds,
    double gpuHours) {
  private static final double HOUR = 3600;

  /** Sums up a trace. */
  public static TraceSummary of(TraceContent content) {
    List<Workload.Job> jobs = content.workload().jobs();
    double span = jobs.getLast().submitSeconds() / HOUR;
    return new TraceSummary(
        content.workload().name(),
        content.format().name(),
        jobs.size(),
        content.skipped(),
        span,
        jobs.size() / Math.max(span, 1),
        peak(jobs),
        jobs.stream().mapToInt(Workload.Job::requestedReplicas).average().orElseThrow(),
        new TreeMap<>(count(jobs, Workload.Job::requestedReplicas)),
        count(jobs, Workload.Job::application),
        count(jobs, job -> job.outcome().name().toLowerCase(Locale.ROOT)),
        durations(jobs),
        jobs.stream().mapToDouble(j -> j.durationSeconds() * j.requestedReplicas()).sum() / HOUR);
  }

  private static int peak(List<Workload.Job> jobs) {
    return Collections.max(count(jobs, job -> (long) (job.submitSeconds() / HOUR)).values());
  }

  private static <K> SequencedMap<K, Integer> count(
      List<Workload.Job> jobs, Function<Workload.Job, K> key) {
    SequencedMap<K, Integer> counts = new LinkedHashMap<>();
    jobs.forEach(job -> counts.merge(key.apply(job), 1, Integer::sum));
    return counts;
  }

  private static SequencedMap<String, Double> durations(List<Workload.Job> jobs) {
    double[] known =
        jobs.stream()
            .mapToDouble(Workload.Job::durationSeconds)
            .filter(seconds -> seconds > 0)
            .sorted()
            .toArray();
    SequencedMap<String, Double> durations = new LinkedHashMap<>();
    if (known.length > 0) {
      durations.put("mean", Arrays.stream(known).average().orElseThrow());
      durations.put("p50", percentile(known, 0.5));
      durations.put("p90", percentile(known, 0.9));
      durations.put("p99", percentile(known, 0.99));
      durations.put("max", known[known.length - 1]);
    }
    return durations;
  }

  private static double percentile(double[] sorted, double share) {
    double at = share * (sorted.length - 1);
    int below = (int) at;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  }
}
