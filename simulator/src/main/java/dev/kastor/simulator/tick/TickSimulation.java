package dev.kastor.simulator.tick;

import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DecisionTimes;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.simulator.replay.Sample;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * One replay in rounds: all jobs run for a round under the allocations decided at its beginning,
 * then the policy decides for the next. Used once, by one thread.
 */
public final class TickSimulation implements Cluster {
  private final TickSettings settings;
  private final Workload workload;
  private final long seed;
  private final ReplayListener listener;
  private final String name;
  private final Duration round;
  private final DecisionTimes.Timed policy;
  private final SchedulingLoop loop;
  private final TickRules rules;
  private final int gpus;
  private final SequencedMap<JobId, TickJob> jobs = new LinkedHashMap<>();
  private final List<Sample> samples = new ArrayList<>();
  private double now;

  /** A replay of {@code workload}, whose applications must all be given. */
  public TickSimulation(
      TickSettings settings,
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      PolicyFactory factory,
      long seed,
      ReplayListener listener) {
    this.settings = settings;
    this.workload = workload;
    this.seed = seed;
    this.listener = listener;
    name = factory.name();
    PolicyTraits traits = factory.traits();
    round = settings.roundOf(traits);
    policy = new DecisionTimes.Timed(factory.create());
    loop = new SchedulingLoop(this, policy);
    rules =
        settings.mode() == Mode.POLLUX
            ? new PolluxRules(cluster)
            : traits.seesGpuTypes() ? new SiaRules(cluster) : new TypeBlindRules(cluster);
    gpus = cluster.gpus();
    Optional<FamilyMemory> memory =
        settings.familyMemory() && traits.learning() == Learning.FULL
            ? Optional.of(new FamilyMemory())
            : Optional.empty();
    DeclaredWork.Factors declared = settings.declaredWork().factors(seed);
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      TickJob made = new TickJob(job, application, traits, rules, declared.next(), memory);
      jobs.put(made.spec().id(), made);
    }
  }

  /** Replays to the end of the last job. */
  public Replay run() {
    long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    double roundSeconds = round.toSeconds();
    int done = 0;
    while (done < jobs.size()) {
      if (now > settings.limit().toSeconds()) {
        throw new IllegalStateException(
            "policy %s left %d of %d jobs of %s unfinished after %s of virtual time"
                .formatted(
                    name, jobs.size() - done, jobs.size(), workload.name(), settings.limit()));
      }
      Map<JobId, Double> rates = rates();
      for (TickJob job : jobs.values()) {
        job.advance(now, roundSeconds, rates.getOrDefault(job.spec().id(), 1.0));
      }
      now += roundSeconds;
      done = (int) jobs.values().stream().filter(TickJob::finished).count();
      if (jobs.values().stream().anyMatch(job -> job.active(now))) {
        Round decided = loop.tick();
        if (!decided.violations().isEmpty()) {
          throw new IllegalStateException(
              "policy %s broke a rule at %.0f s: %s"
                  .formatted(name, now, decided.violations().getFirst().message()));
        }
        samples.add(sample());
      }
      listener.at(now, done, jobs.size());
    }
    double cpuSeconds =
        (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu) * 1e-9;
    return new Replay(
        name,
        workload.name(),
        settings.mode(),
        seed,
        jobs.values().stream().map(TickJob::completed).toList(),
        cpuSeconds,
        policy.times(),
        samples);
  }

  /** What is left of the goodput of jobs that share a node with another job over several nodes. */
  private Map<JobId, Double> rates() {
    Map<JobId, Double> rates = new HashMap<>();
    if (settings.interference() == 0) {
      return rates;
    }
    Map<String, Integer> distributed = new HashMap<>();
    for (TickJob job : jobs.values()) {
      if (!job.finished() && job.allocation().nodes() > 1) {
        job.allocation()
            .replicasByNode()
            .keySet()
            .forEach(node -> distributed.merge(node, 1, Integer::sum));
      }
    }
    for (TickJob job : jobs.values()) {
      boolean disturbed =
          job.allocation().nodes() > 1
              && job.allocation().replicasByNode().keySet().stream()
                  .anyMatch(node -> distributed.getOrDefault(node, 0) > 1);
      rates.put(job.spec().id(), disturbed ? 1 - settings.interference() : 1);
    }
    return rates;
  }

  private Sample sample() {
    int active = 0;
    int running = 0;
    int used = 0;
    double efficiency = 0;
    SequencedMap<String, Integer> byApplication = new LinkedHashMap<>();
    for (TickJob job : jobs.values()) {
      if (!job.active(now)) {
        continue;
      }
      active++;
      if (!job.allocation().isEmpty()) {
        running++;
        used += job.allocation().slots();
        efficiency += job.efficiency();
        byApplication.merge(job.application().name(), job.allocation().slots(), Integer::sum);
      }
    }
    return new Sample(now, active, running, used, gpus, efficiency / running, byApplication);
  }

  @Override
  public Snapshot observe() {
    List<JobState> states = new ArrayList<>();
    for (TickJob job : jobs.values()) {
      if (job.active(now)) {
        states.add(job.state(now));
      }
    }
    return new Snapshot(
        Instant.ofEpochSecond((long) now), rules.nodes(), states, settings.queues());
  }

  @Override
  public void apply(List<Change> changes) {
    for (Change change : changes) {
      TickJob job = jobs.get(change.job());
      if (job == null) {
        throw new IllegalStateException("change for unknown job " + change.job());
      }
      job.reallocate(change.to(), now);
    }
  }

  /** Whose rules hold. */
  Mode mode() {
    return settings.mode();
  }
}
