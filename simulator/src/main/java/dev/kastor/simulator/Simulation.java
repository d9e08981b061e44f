package dev.kastor.simulator;

import dev.kastor.scheduler.AllowedReplicas;
import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Round;
import dev.kastor.scheduler.SchedulingLoop;
import dev.kastor.traces.JobProfile;
import dev.kastor.traces.Workload;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * One replay of a workload under one policy.
 *
 * <p>Time jumps from event to event. At each of them, in this order: jobs train up to it, those
 * that are done leave, all others report, and the loop decides once if a job arrived or left or a
 * round is due. Within one event jobs go in submission order, so a replay is a function of its
 * inputs and seed. Rates are held constant between events, which are at most one round apart while
 * jobs run.
 */
final class Simulation {
  private static final String NAMESPACE = "sim";

  private final Settings settings;
  private final SequencedMap<JobId, SimulatedJob> jobs = new LinkedHashMap<>();
  private final SimulatedCluster cluster;
  private final SchedulingLoop loop;
  private final Policy policy;
  private final SplittableRandom random;
  private final Consumer<Round> observer;

  Simulation(
      Workload workload,
      Map<String, JobProfile> profiles,
      Settings settings,
      Policy policy,
      long seed,
      Consumer<Round> observer) {
    this.settings = settings;
    this.policy = policy;
    this.observer = observer;
    for (Workload.Job job : workload.jobs()) {
      JobProfile profile = profiles.get(job.application());
      if (profile == null) {
        throw new IllegalArgumentException(
            "job %s uses unknown profile '%s'".formatted(job.name(), job.application()));
      }
      JobSpec spec = spec(job, profile.limits());
      jobs.put(spec.id(), new SimulatedJob(spec, profile, job.submitSeconds()));
    }
    cluster = new SimulatedCluster(settings, jobs);
    loop = new SchedulingLoop(cluster, policy);
    random = new SplittableRandom(seed);
  }

  static JobId id(Workload.Job job) {
    return new JobId(NAMESPACE, job.name());
  }

  private static JobSpec spec(Workload.Job job, BatchLimits limits) {
    return new JobSpec(
        id(job),
        Instant.EPOCH.plus(SimulatedCluster.duration(job.submitSeconds())),
        job.application(),
        new Elasticity.Adaptive(job.minReplicas(), job.maxReplicas(), new AllowedReplicas.Any()),
        job.requestedReplicas(),
        limits,
        "",
        new java.util.LinkedHashMap<>());
  }

  Replay run() {
    double now = 0;
    double nextRound = 0;
    while (jobs.values().stream().anyMatch(job -> !job.finished())) {
      double next = nextEvent(now, nextRound);
      if (!(next <= SimulatedCluster.seconds(settings.limit()))) {
        throw new IllegalStateException(
            "policy %s has not finished all jobs within %s of virtual time"
                .formatted(policy.name(), settings.limit()));
      }
      boolean changed = advance(now, next);
      now = next;
      cluster.setNow(now);
      if (now >= nextRound || changed) {
        observer.accept(loop.tick());
        if (now >= nextRound) {
          nextRound = now + SimulatedCluster.seconds(settings.round());
        }
      }
    }
    return new Replay(
        policy.name(),
        "",
        Mode.EVENTS,
        0,
        jobs.values().stream().map(SimulatedJob::result).toList(),
        0,
        new DecisionTimes(0, 0, 0, 0),
        List.of());
  }

  private double nextEvent(double now, double nextRound) {
    double next = Double.POSITIVE_INFINITY;
    boolean active = false;
    for (SimulatedJob job : jobs.values()) {
      if (job.finished()) {
        continue;
      }
      if (job.submittedBy(now)) {
        active = true;
        next = Math.min(next, now + job.secondsToFinish());
      } else {
        next = Math.min(next, job.submitSeconds());
      }
    }
    return active ? Math.max(now, Math.min(next, nextRound)) : next;
  }

  /** Trains all jobs up to an event; whether any arrived or left at it. */
  private boolean advance(double now, double next) {
    boolean changed = false;
    for (SimulatedJob job : jobs.values()) {
      if (job.finished() || !job.submittedBy(next)) {
        continue;
      }
      if (!job.submittedBy(now) || now == next) {
        changed |= !job.submittedBy(now);
        continue;
      }
      boolean done = now + job.secondsToFinish() <= next;
      job.advance(next - now);
      if (done) {
        job.finish(next);
        changed = true;
      } else {
        job.report(settings.timingNoise(), random);
      }
    }
    return changed;
  }
}
