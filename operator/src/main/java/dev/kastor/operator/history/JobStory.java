package dev.kastor.operator.history;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.JobId;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one job's past at one moment.
 *
 * @param job the job
 * @param phase its newest phase; absent before the first
 * @param ended when it succeeded, failed or was deleted; absent while it lives
 * @param deleted whether the resource is gone
 * @param progress newest reported progress; absent before the first report
 * @param samples reports, oldest first
 * @param scalars what the script logged, by name in order, oldest first
 * @param segments allocations, oldest first
 */
public record JobStory(
    JobId job,
    TrainingJobStatus.@Nullable Phase phase,
    @Nullable Instant ended,
    boolean deleted,
    @Nullable Progress progress,
    List<Sample> samples,
    SequencedMap<String, List<ScalarPoint>> scalars,
    List<Segment> segments) {
  public JobStory {
    samples = List.copyOf(samples);
    segments = List.copyOf(segments);
  }

  /** The same with other curves. */
  JobStory with(List<Sample> others, SequencedMap<String, List<ScalarPoint>> otherScalars) {
    return new JobStory(job, phase, ended, deleted, progress, others, otherScalars, segments);
  }

  /** The story of a job of which nothing was heard. */
  public static JobStory empty(JobId job) {
    return new JobStory(
        job, null, null, false, null, List.of(), Collections.emptySortedMap(), List.of());
  }
}
