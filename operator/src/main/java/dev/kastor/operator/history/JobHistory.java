package dev.kastor.operator.history;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.signal.JobObserver;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.FairEviction;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;

/**
 * The past of all jobs: of those that live, and of the newest that ended.
 *
 * <p>Thread-safe. A job that was deleted and is created again under its name begins a new story.
 */
@Singleton
public final class JobHistory implements JobObserver {
  /** Most ended jobs that are remembered; beyond it the namespace of most loses its oldest. */
  public static final int MOST_ENDED = 100;

  /** Most jobs in all; beyond it the namespaces of most lose those that were silent longest. */
  public static final int MOST_JOBS = 20_000;

  /** Forgotten at once beyond what must be, so that the next are not looked for at every report. */
  private static final int SPARE = 100;

  /** Samples of all jobs together, beyond the fewest of each. */
  private static final int MOST_SAMPLES = 100_000;

  private static final int FEWEST_SAMPLES = 10;

  /** Points of what the scripts of all jobs together log, beyond the fewest of each. */
  private static final int MOST_POINTS = 200_000;

  private static final int FEWEST_POINTS = 10;

  private final Map<JobId, JobTrack> tracks = new ConcurrentHashMap<>();

  /** Jobs that ended, the oldest first; one that lives again under its name may be among them. */
  private final BlockingDeque<JobId> ended = new LinkedBlockingDeque<>();

  /** The newest numbers of one job. */
  public record Latest(Optional<Sample> sample, Optional<Progress> progress) {}

  @Override
  public void allocated(JobId job, Allocation allocation, Reason reason, Instant at) {
    living(job, at).allocated(allocation, reason, at);
    forgetSurplus();
  }

  @Override
  public void reported(
      JobId job, TelemetryReport report, Optional<GradientStats> gradient, Instant at) {
    JobTrack track = tracks.computeIfAbsent(job, id -> new JobTrack(id, at));
    // A last report may overtake the deletion of its job; it must not bring the job back.
    if (!track.isDeleted()) {
      track.reported(report, gradient, at, fairSamples(), fairPoints());
    }
    forgetSurplus();
  }

  @Override
  public void phase(JobId job, TrainingJobStatus.Phase phase, Instant at) {
    boolean terminal =
        phase == TrainingJobStatus.Phase.Succeeded || phase == TrainingJobStatus.Phase.Failed;
    JobTrack track =
        terminal ? tracks.computeIfAbsent(job, id -> new JobTrack(id, at)) : living(job, at);
    boolean before = track.ended().isPresent();
    track.phase(phase, at);
    if (terminal) {
      remember(job, before);
    }
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
      boolean before = track.ended().isPresent();
      track.deleted(at);
      remember(job, before);
      forgetSurplus();
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

  /** Cheap unless there is something to forget: it is asked at every report. */
  private void forgetSurplus() {
    if (ended.size() > MOST_ENDED) {
      for (JobId oldest :
          FairEviction.surplus(List.copyOf(ended), JobId::namespace, job -> 1, MOST_ENDED)) {
        JobTrack track = ended.remove(oldest) ? tracks.get(oldest) : null;
        if (track != null && track.ended().isPresent()) {
          tracks.remove(oldest, track);
        }
      }
    }
    if (tracks.size() > MOST_JOBS) {
      List<Map.Entry<JobId, JobTrack>> silentFirst =
          tracks.entrySet().stream()
              .sorted(Comparator.comparing(entry -> entry.getValue().touched()))
              .toList();
      FairEviction.surplus(
              silentFirst, entry -> entry.getKey().namespace(), entry -> 1, MOST_JOBS - SPARE)
          .forEach(entry -> tracks.remove(entry.getKey(), entry.getValue()));
    }
  }

  /** The more jobs there are, the more coarsely each that reports is remembered. */
  private int fairSamples() {
    int samples = MOST_SAMPLES / Math.max(1, tracks.size());
    return Math.clamp(samples, FEWEST_SAMPLES, JobTrack.MOST_SAMPLES);
  }

  /** The same for what scripts log. */
  private int fairPoints() {
    return Math.max(FEWEST_POINTS, MOST_POINTS / Math.max(1, tracks.size()));
  }

  private void remember(JobId job, boolean wasEnded) {
    if (!wasEnded) {
      ended.addLast(job);
    }
  }
}
