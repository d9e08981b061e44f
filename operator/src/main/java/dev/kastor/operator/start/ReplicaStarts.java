package dev.kastor.operator.start;

import dev.kastor.crds.start.StartTimes;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.metrics.Metrics;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Newest starts of the replicas of all jobs, in {@code status.starts}, which is written with the
 * next patch of a job. Thread-safe.
 */
@Singleton
public final class ReplicaStarts {
  /** Starts that are kept of a job. */
  static final int MOST = 6;

  private final Map<String, List<String>> jobs;
  private final StatusWriter writer;
  private final Metrics metrics;

  public ReplicaStarts(JobRecords records, StatusWriter writer, Metrics metrics) {
    jobs = records.part();
    this.writer = writer;
    this.metrics = metrics;
  }

  /**
   * Takes note of a start.
   *
   * @param whole whether it is over: one that is not is replaced by what is known later
   */
  public void note(TrainingJob job, StartTimes start, boolean whole) {
    List<String> lines =
        jobs.compute(
            job.getMetadata().getUid(),
            (uid, known) -> with(known == null ? stored(job) : known, start));
    writer.postpone(job, Map.of("starts", lines));
    if (whole) {
      metrics.started(start);
    }
  }

  static List<String> with(List<String> known, StartTimes start) {
    List<String> lines = new ArrayList<>(known);
    lines.removeIf(line -> line.startsWith(start.pod() + " "));
    lines.add(start.text());
    return List.copyOf(lines.subList(Math.max(0, lines.size() - MOST), lines.size()));
  }

  /** What an earlier operator wrote, or whoever may write the status. */
  private static List<String> stored(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    List<String> lines = status == null ? null : status.starts();
    return lines == null
        ? List.of()
        : lines.stream()
            .skip(Math.max(0, lines.size() - MOST))
            .flatMap(line -> StartTimes.parse(line).stream())
            .map(StartTimes::text)
            .toList();
  }
}
