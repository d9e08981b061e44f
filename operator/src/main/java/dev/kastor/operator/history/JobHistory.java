package dev.kastor.operator.history;

import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.operator.JobObserver;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.goodput.GoodputModel;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The past of all jobs: of those that live, and of the newest that ended.
 *
 * <p>Thread-safe. A job that was deleted and is created again under its name begins a new story.
 */
@Singleton
public final class JobHistory implements JobObserver {
  /** Most ended jobs that are remembered. */
  public static final int MOST_ENDED = 100;

  /** Most jobs in all; beyond it the one that was silent longest is forgotten. */
  public static final int MOST_JOBS = 1000;

  private final Map<JobId, JobTrack> tracks = new ConcurrentHashMap<>();

  /** The newest numbers of one job. */
  public record Latest(Optional<Sample> sample, Optional<Progress> progress) {}

  @Override
  public void allocated(JobId job, Allocation allocation, Reason reason, Instant at) {
    living(job, at).allocated(allocation, reason, at);
    forgetSurplus();
  }

  @Override
  public void reported(
      JobId job, TelemetryReport report, Optional<GoodputModel> model, Instant at) {
    JobTrack track = tracks.computeIfAbsent(job, id -> new JobTrack(id, at));
    // A last report may overtake the deletion of its job; it must not bring the job back.
    if (!track.isDeleted()) {
      track.reported(report, model, at);
    }
    forgetSurplus();
  }

  @Override
  public void phase(JobId job, TrainingJobStatus.Phase phase, Instant at) {
    boolean terminal =
        phase == TrainingJobStatus.Phase.Succeeded || phase == TrainingJobStatus.Phase.Failed;
    JobTrack track =
        terminal ? tracks.computeIfAbsent(job, id -> new JobTrack(id, at)) : living(job, at);
    track.phase(phase, at);
    forgetSurplus();
  }

  /** The resource is there; a story that ended with a deletion gives way to a new one. */
  public void created(JobId job, Instant at) {
    var _ = living(job, at);
    forgetSurplus();
  }

  /** The resource is gone. */
  public void deleted(JobId job, Instant at) {
    JobTrack track = tracks.get(job);
    if (track != null) {
      track.deleted(at);
    }
  }

  /**
   * Takes over an allocation that was decided before this process began; ignored if one is known.
   */
  public void resume(JobId job, Allocation allocation, Reason reason, Instant since) {
    JobTrack track = living(job, since);
    if (!track.hasSegments()) {
      track.allocated(allocation, reason, since);
    }
    forgetSurplus();
  }

  /** The whole story of a job. */
  public Optional<JobStory> story(JobId job) {
    return Optional.ofNullable(tracks.get(job)).map(JobTrack::story);
  }

  /** The newest numbers of a job. */
  public Latest latest(JobId job) {
    JobTrack track = tracks.get(job);
    return track == null || track.isDeleted()
        ? new Latest(Optional.empty(), Optional.empty())
        : new Latest(track.newest(), track.progress());
  }

  /** The allocations of every known job that ever had one, by job. */
  public List<Map.Entry<JobId, List<Segment>>> timelines() {
    return tracks.entrySet().stream()
        .map(entry -> Map.entry(entry.getKey(), entry.getValue().segments()))
        .filter(entry -> entry.getValue().stream().anyMatch(segment -> segment.replicas() > 0))
        .sorted(
            Comparator.comparing(
                    (Map.Entry<JobId, List<Segment>> entry) -> entry.getValue().getFirst().from())
                .thenComparing(Map.Entry::getKey))
        .toList();
  }

  private JobTrack living(JobId job, Instant at) {
    return tracks.compute(
        job, (id, known) -> known == null || known.isDeleted() ? new JobTrack(id, at) : known);
  }

  private void forgetSurplus() {
    if (tracks.size() <= MOST_ENDED) {
      return;
    }
    List<Map.Entry<JobId, JobTrack>> ended =
        tracks.entrySet().stream()
            .filter(entry -> entry.getValue().ended().isPresent())
            .sorted(Comparator.comparing(entry -> entry.getValue().ended().orElseThrow()))
            .toList();
    ended.stream()
        .limit(Math.max(0, ended.size() - MOST_ENDED))
        .forEach(entry -> tracks.remove(entry.getKey(), entry.getValue()));
    if (tracks.size() > MOST_JOBS) {
      tracks.entrySet().stream()
          .min(Comparator.comparing(entry -> entry.getValue().touched()))
          .ifPresent(entry -> tracks.remove(entry.getKey(), entry.getValue()));
    }
  }
}
