package dev.kastor.operator.recording;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.signal.JobObserver;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.End;
import dev.kastor.scheduler.live.RecordingDocument.NodeSpan;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recorder of what a replay of the cluster needs, in memory alone: it begins anew with the
 * operator. Bounded in jobs and in bytes; jobs that ended longest ago go first. Thread-safe, and
 * asks nobody anything: observers are called by threads that hold locks of their own.
 */
@Singleton
public final class JobRecorder implements JobObserver {
  /** Jobs in all. Where so many have not ended, the next are not recorded. */
  static final int MOST_JOBS = 1500;

  /** Of the jobs that ended, as JSON. */
  static final int MOST_BYTES = 8 << 20;

  /** Job in a round, with what is looked up only when the job is seen first. */
  public interface Seen {
    /** What the policy is told. */
    JobState state();

    /** Name of the family that learns together with it. */
    String family();
  }

  /** What became of a job that a round does not list. */
  public enum Absence {
    /** The round is older than the job, or the job ended and is about to say so. */
    NONE,

    /** It is suspended, or may not start for now. */
    WAITS,

    /** There is no such job any more. */
    GONE
  }

  /**
   * Job that a round over all did not list.
   *
   * @param ended whether its end has been told
   */
  public record Unlisted(JobId job, boolean ended) {}

  /** What was recorded, without the settings of the operator. */
  public record Recorded(
      Instant from, List<NodeSpan> nodes, List<RecordedJob> jobs, int forgotten) {}

  private final ObjectMapper json = new ObjectMapper();
  private final int mostJobs;
  private final int mostBytes;
  private final Map<JobId, RecordedTrack> tracks = new LinkedHashMap<>();
  private final Deque<byte[]> ended = new ArrayDeque<>();
  private final RecordedNodes nodes = new RecordedNodes();
  private int bytes;
  private int forgotten;
  private @Nullable Instant from;

  @Inject
  public JobRecorder() {
    this(MOST_JOBS, MOST_BYTES);
  }

  JobRecorder(int mostJobs, int mostBytes) {
    this.mostJobs = mostJobs;
    this.mostBytes = mostBytes;
  }

  /**
   * A round over all jobs and nodes looked at these.
   *
   * @param waited longest time after which a round sees a job that wants to run
   * @return jobs that it did not list, of which {@link #absent} is to be told
   */
  public synchronized List<Unlisted> round(
      Instant now, List<Node> cluster, List<? extends Seen> jobs, Duration waited) {
    if (from == null) {
      from = now;
    }
    nodes.see(cluster, now);
    served(now, jobs, waited);
    Set<JobId> listed = new HashSet<>();
    jobs.forEach(job -> listed.add(job.state().spec().id()));
    List<Unlisted> unlisted = new ArrayList<>();
    tracks.forEach((id, track) -> {
      if (!listed.contains(id)) {
        unlisted.add(new Unlisted(id, track.ended()));
      }
    });
    return unlisted;
  }

  /** A round over new jobs alone. */
  public synchronized void served(Instant now, List<? extends Seen> jobs, Duration waited) {
    for (Seen seen : jobs) {
      JobState state = seen.state();
      JobId id = state.spec().id();
      RecordedTrack track = tracks.get(id);
      if (track != null && !track.isOf(state)) {
        track.end(End.KILLED, now);
        close(id, track, Optional.empty());
        track = null;
      }
      if (track == null) {
        track = track(id);
      }
      if (track != null && track.known()) {
        track.tell(state);
      } else if (track != null) {
        track.begin(state, seen.family(), waited, now);
      }
    }
  }

  @Override
  public synchronized void allocated(JobId job, Allocation allocation, Reason reason, Instant at) {
    RecordedTrack track = track(job);
    if (track != null) {
      track.allocated(allocation, at);
    }
  }

  @Override
  public synchronized void reported(
      JobId job, TelemetryReport report, Optional<GradientStats> gradient, Instant at) {
    RecordedTrack track = tracks.get(job);
    if (track != null && gradient.isPresent()) {
      track.reported(report.progress().scaleInvariantSteps(), gradient.get().noiseScale());
    }
  }

  @Override
  public synchronized void phase(JobId job, TrainingJobStatus.Phase phase, Instant at) {
    RecordedTrack track = tracks.get(job);
    if (track != null && phase == TrainingJobStatus.Phase.Succeeded) {
      track.end(End.COMPLETED, at);
    } else if (track != null && phase == TrainingJobStatus.Phase.Failed) {
      track.end(End.FAILED, at);
    }
  }

  /**
   * What became of a job that a round did not list.
   *
   * @param newest what its replicas measured; empty where there is no such job any more
   */
  public synchronized void absent(
      JobId job, Absence absence, Optional<Measured> newest, Instant now) {
    RecordedTrack track = tracks.get(job);
    if (track == null) {
      return;
    }
    if (track.ended()) {
      close(job, track, newest);
      return;
    }
    switch (absence) {
      case NONE -> {
        // The next round knows more.
      }
      case WAITS -> track.pause();
      case GONE -> {
        track.end(End.KILLED, now);
        close(job, track, Optional.empty());
      }
    }
  }

  /** Jobs whose end is not in the recording yet. */
  public synchronized List<JobId> open() {
    return List.copyOf(tracks.keySet());
  }

  /**
   * What was recorded until now.
   *
   * @param newest what replicas measured of the open jobs
   */
  public synchronized Recorded recorded(Instant now, Map<JobId, Measured> newest) {
    List<RecordedJob> jobs = new ArrayList<>();
    for (byte[] job : ended) {
      try {
        jobs.add(json.readValue(job, RecordedJob.class));
      } catch (IOException e) {
        throw new UncheckedIOException("a recorded job is not what was written", e);
      }
    }
    tracks.forEach((id, track) -> {
      if (track.known()) {
        jobs.add(track.document(Optional.ofNullable(newest.get(id))));
      }
    });
    jobs.sort(Comparator.comparing(job -> Instant.parse(job.arrived())));
    return new Recorded(from == null ? now : from, nodes.spans(), jobs, forgotten);
  }

  /** The track of a job; null where there is no space for another. */
  private @Nullable RecordedTrack track(JobId job) {
    RecordedTrack known = tracks.get(job);
    if (known != null) {
      return known;
    }
    if (tracks.size() >= mostJobs) {
      return null;
    }
    RecordedTrack track = new RecordedTrack();
    tracks.put(job, track);
    forgetSurplus();
    return track;
  }

  private void close(JobId id, RecordedTrack track, Optional<Measured> newest) {
    tracks.remove(id);
    if (track.known()) {
      try {
        byte[] job = json.writeValueAsBytes(track.document(newest));
        ended.addLast(job);
        bytes += job.length;
      } catch (JsonProcessingException e) {
        throw new UncheckedIOException("a recorded job cannot be written", e);
      }
      forgetSurplus();
    }
  }

  private void forgetSurplus() {
    while (!ended.isEmpty() && (bytes > mostBytes || ended.size() + tracks.size() > mostJobs)) {
      bytes -= ended.removeFirst().length;
      forgotten++;
    }
  }
}
