package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.recording.JobRecorder;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.live.LiveDocument.QueueDocument;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rounds as the recorder of jobs is told of them, and what it recorded. Thread-safe. */
@Singleton
public final class RecordedRounds {
  /** An API server says when a job was created in whole seconds. */
  private static final Duration CREATION = Duration.ofSeconds(1);

  private final JobRecorder recorder;
  private final ClusterCache cache;
  private final KubernetesCluster.Knowledge knowledge;
  private final FamilyStore families;
  private final QueueRules queues;
  private final OperatorConfig config;
  private final InstantSource clock;

  RecordedRounds(
      JobRecorder recorder,
      ClusterCache cache,
      KubernetesCluster.Knowledge knowledge,
      FamilyStore families,
      QueueRules queues,
      OperatorConfig config,
      InstantSource clock) {
    this.recorder = recorder;
    this.cache = cache;
    this.knowledge = knowledge;
    this.families = families;
    this.queues = queues;
    this.config = config;
    this.clock = clock;
  }

  void decided(Round round) {
    Snapshot snapshot = round.snapshot();
    Instant now = snapshot.now();
    for (JobRecorder.Unlisted each :
        recorder.round(now, snapshot.nodes(), seen(snapshot), waited())) {
      JobId id = each.job();
      if (each.ended()) {
        recorder.absent(id, JobRecorder.Absence.NONE, measured(id), now);
      } else {
        recorder.absent(id, absence(id), Optional.empty(), now);
      }
    }
  }

  /** A round for newcomers alone. */
  void served(Round round) {
    Snapshot snapshot = round.snapshot();
    recorder.served(snapshot.now(), seen(snapshot), waited());
  }

  private JobRecorder.Absence absence(JobId id) {
    Optional<TrainingJob> job = cache.job(id);
    if (job.isEmpty()) {
      return JobRecorder.Absence.GONE;
    }
    boolean waits =
        !knowledge.ended(job.get())
            && (!JobMapper.wantsToRun(job.get()) || knowledge.held(job.get(), clock.instant()));
    return waits ? JobRecorder.Absence.WAITS : JobRecorder.Absence.NONE;
  }

  private Optional<Measured> measured(JobId id) {
    return cache.job(id).map(knowledge::measured);
  }

  /** What was recorded until now. */
  public RecordingDocument recorded() {
    Instant now = clock.instant();
    Map<JobId, Measured> newest = new HashMap<>();
    recorder.open().forEach(id -> measured(id).ifPresent(known -> newest.put(id, known)));
    JobRecorder.Recorded recorded = recorder.recorded(now, newest);
    Duration round = config.roundInterval();
    Duration delay = config.roundDelay();
    return new RecordingDocument(
        RecordingDocument.SCHEMA,
        recorded.from().toString(),
        now.toString(),
        config.policy(),
        config.seed(),
        round.toString(),
        (delay.compareTo(round) < 0 ? delay : round).toString(),
        QueueDocument.of(queues.directory().queues()),
        recorded.nodes(),
        recorded.jobs(),
        recorded.forgotten());
  }

  /** Two rounds may pass where one takes long, or fails. */
  private Duration waited() {
    return config.roundInterval().multipliedBy(2).plus(config.roundDelay()).plus(CREATION);
  }

  private List<Sighting> seen(Snapshot snapshot) {
    return snapshot.jobs().stream().map(Sighting::new).toList();
  }

  /** A job of a round. */
  private final class Sighting implements JobRecorder.Seen {
    private final JobState state;

    Sighting(JobState state) {
      this.state = state;
    }

    @Override
    public JobState state() {
      return state;
    }

    @Override
    public String family() {
      return cache.job(state.id()).map(families::family).orElse("");
    }
  }
}
