package dev.kastor.simulator.recording;

import dev.kastor.scheduler.live.LiveDocument.QueueDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.live.Assumed;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * Recording of a live cluster as the workload, the applications and the cluster of a replay. Each
 * job is an application of its own: what the operator fitted is the truth.
 */
public final class Recording {
  private static final int MOST_REPORTS = 200;
  private static final double LEAST_REPORT_SECONDS = 2;
  private static final double MOST_REPORT_SECONDS = 30;

  private final RecordingDocument document;
  private final SequencedMap<String, RecordedJob> jobs;
  private final Instant origin;
  private final int neverRan;

  private Recording(
      RecordingDocument document,
      SequencedMap<String, RecordedJob> jobs,
      Instant origin,
      int neverRan) {
    this.document = document;
    this.jobs = jobs;
    this.origin = origin;
    this.neverRan = neverRan;
  }

  /**
   * The recording of a document.
   *
   * @throws IllegalArgumentException if it has no job that can be replayed, or a value that no job
   *     can have
   */
  static Recording of(RecordingDocument document) {
    SequencedMap<String, RecordedJob> jobs = new LinkedHashMap<>();
    int neverRan = 0;
    Instant until = Instant.parse(document.until());
    for (RecordedJob job : document.jobs()) {
      if (job.ended() != null && !new RecordedWork(job, job.job().job(), until).ran()) {
        neverRan++;
        continue;
      }
      String name = job.job().spec().namespace() + "/" + job.job().spec().name();
      String unique = name;
      for (int n = 2; jobs.containsKey(unique); n++) {
        unique = name + "#" + n;
      }
      jobs.put(unique, job);
    }
    Instant origin =
        jobs.values().stream()
            .map(job -> Instant.parse(job.arrived()))
            .min(Instant::compareTo)
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "it has no job that ran or waits. Record again once some have run."));
    return new Recording(document, jobs, origin, neverRan);
  }

  /** The policy that decided, with its options. */
  public String policy() {
    return document.policy();
  }

  /** Longest time between two rounds, in whole seconds of at least 1. */
  public Duration round() {
    return Duration.ofSeconds(Math.max(1, Duration.parse(document.round()).toSeconds()));
  }

  /** Time from an event that asks for a round to the round. */
  public Duration delay() {
    return Duration.parse(document.delay());
  }

  /** Time between two reports of a job: each sends some hundred in its life. */
  public Duration reports() {
    double mean =
        jobs.values().stream()
            .mapToDouble(job -> seconds(job, Instant.parse(document.until())))
            .average()
            .orElse(0);
    double seconds = Math.clamp(mean / MOST_REPORTS, LEAST_REPORT_SECONDS, MOST_REPORT_SECONDS);
    return Duration.ofMillis(Math.round(1000 * seconds));
  }

  /** Queues as they were at the end, by name. */
  public SequencedMap<String, Queue> queues() {
    SequencedMap<String, Queue> queues = new LinkedHashMap<>();
    document.queues().stream().map(QueueDocument::queue).forEach(q -> queues.put(q.name(), q));
    return queues;
  }

  /**
   * The nodes that were there.
   *
   * @throws IllegalArgumentException if there were none
   */
  public ClusterShape cluster() {
    return RecordedCluster.of(document.nodes(), origin).shape();
  }

  /** How nodes came and went; empty if they never did. */
  public List<Resize> resizes() {
    RecordedCluster cluster = RecordedCluster.of(document.nodes(), origin);
    return cluster.changes() ? cluster.resizes() : List.of();
  }

  /** The jobs, by rising arrival. */
  public Workload workload(String name) {
    List<Workload.Job> submissions = new ArrayList<>();
    jobs.forEach((job, recorded) -> submissions.add(submission(job, recorded)));
    return new Workload(name, submissions);
  }

  /**
   * The applications of the jobs.
   *
   * @param gpuTypes of the cluster of the replay; a job is as fast on those that it never met as on
   *     one that it did
   */
  public SequencedMap<String, Application> applications(Collection<String> gpuTypes) {
    SequencedSet<String> types = new LinkedHashSet<>(gpuTypes);
    document.nodes().forEach(span -> types.add(span.node().gpuType()));
    SequencedMap<String, Application> applications = new LinkedHashMap<>();
    jobs.forEach((name, job) -> applications.put(name, application(job, List.copyOf(types))));
    return applications;
  }

  private Application application(RecordedJob job, List<String> types) {
    LiveJob live = job.job().job();
    List<String> possible = types.stream().filter(live.state().spec()::runsOn).toList();
    Assumed assumed =
        new RecordedWork(job, live, Instant.parse(document.until()))
            .assumed(possible.isEmpty() ? types : possible);
    // A model that is assumed is made of the time that the job took.
    double slowdown =
        assumed.kinds().contains(Assumed.Kind.SPEED)
            ? 1
            : new Calibration(job, assumed.start(), gpuTypes()).slowdown();
    return new RecordedApplication(assumed.start(), slowdown);
  }

  private Map<String, String> gpuTypes() {
    Map<String, String> types = new HashMap<>();
    document.nodes().forEach(span -> types.put(span.node().name(), span.node().gpuType()));
    return types;
  }

  /** What was left out or assumed, a sentence each. */
  public List<String> notes() {
    List<String> notes = new ArrayList<>();
    if (document.forgotten() > 0) {
      notes.add(
          "%d older jobs are not in the recording: the operator keeps the newest."
              .formatted(document.forgotten()));
    }
    if (neverRan > 0) {
      notes.add("%d jobs that ended without ever running are left out.".formatted(neverRan));
    }
    long unfinished = jobs.values().stream().filter(job -> job.ended() == null).count();
    if (unfinished > 0) {
      notes.add(
          "%d jobs had not ended: they are replayed to the end of the work that they declare, or"
                  .formatted(unfinished)
              + " of twice what they had done.");
    }
    return notes;
  }

  /** How far a replay is from what happened; empty where no job can be compared. */
  public Optional<Likeness> likeness(Replay replay) {
    List<Likeness.Pair> pairs = new ArrayList<>();
    for (Replay.Completed completed : replay.jobs()) {
      RecordedJob job = jobs.get(completed.name());
      if (job != null && job.whole() && job.ended() != null) {
        pairs.add(
            new Likeness.Pair(
                completed.name(), seconds(job, Instant.EPOCH), completed.completionSeconds()));
      }
    }
    return pairs.isEmpty() ? Optional.empty() : Optional.of(new Likeness(pairs));
  }

  private static double seconds(RecordedJob job, Instant otherwise) {
    Instant end = job.ended() == null ? otherwise : Instant.parse(job.ended());
    return Duration.between(Instant.parse(job.arrived()), end).toNanos() * 1e-9;
  }

  private Workload.Job submission(String name, RecordedJob job) {
    JobSpec spec = job.job().job().state().spec();
    return new Workload.Job(
        name,
        Duration.between(origin, Instant.parse(job.arrived())).toNanos() * 1e-9,
        name,
        spec.elasticity().min(),
        spec.elasticity().max(),
        spec.requestedReplicas(),
        0,
        switch (spec.elasticity()) {
          case Elasticity.Adaptive any -> Workload.Category.ADAPTIVE;
          case Elasticity.Elastic any -> Workload.Category.SCALE_GPUS;
          case Elasticity.Restarting any -> Workload.Category.RESTART;
          case Elasticity.Rigid any -> Workload.Category.RIGID;
        },
        0,
        switch (job.end()) {
          case COMPLETED, UNFINISHED -> Workload.Outcome.COMPLETED;
          case FAILED -> Workload.Outcome.FAILED;
          case KILLED -> Workload.Outcome.KILLED;
        },
        spec.queue(),
        spec.priority(),
        spec.slotsPerReplica());
  }
}
