package dev.kastor.operator.scheduling;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.loop.FastPath;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.policy.PolicyFactory;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decisions on jobs as they come, where there is room for everybody, beside a round over all that
 * may just be under way; all other jobs wait for such a round, which this asks for.
 */
@Singleton
public final class Arrivals {
  private static final Logger LOG = LoggerFactory.getLogger(Arrivals.class);

  /** More at once are better decided on together, with everybody. */
  private static final int MOST = 100;

  private final KubernetesCluster cluster;
  private final AllocationChanges changes;
  private final FastPath fastPath;
  private final Newcomers newcomers;
  private final RoundResults results;
  private final Mandate mandate;
  private final Signals signals;
  private final InstantSource clock;
  private final long delayMillis;
  private final BlockingQueue<JobId> came = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::run, "arrivals");
  private volatile boolean stopped;

  public Arrivals(
      KubernetesCluster cluster,
      AllocationChanges changes,
      SchedulingLoop loop,
      Newcomers newcomers,
      RoundResults results,
      Mandate mandate,
      Signals signals,
      OperatorConfig config,
      InstantSource clock) {
    this.cluster = cluster;
    this.changes = changes;
    fastPath = loop.fastPath();
    this.newcomers = newcomers;
    this.results = results;
    this.mandate = mandate;
    this.signals = signals;
    this.clock = clock;
    delayMillis = config.roundDelay().toMillis();
    signals.onArrival(came::add);
  }

  /** The loop of this operator: its rounds and its fast path run on two threads. */
  @Produces
  @Singleton
  static SchedulingLoop loop(KubernetesCluster cluster, PolicyFactory policy) {
    return new SchedulingLoop(cluster, policy.create(), policy.create());
  }

  /** Begins to decide; call once the cluster's first lists are in. */
  void start() {
    thread.setDaemon(true);
    thread.start();
  }

  /** Decides no more. */
  void stop() {
    stopped = true;
    thread.interrupt();
  }

  private void run() {
    try {
      while (!stopped) {
        Set<JobId> jobs = new HashSet<>();
        jobs.add(came.take());
        Thread.sleep(delayMillis);
        came.drainTo(jobs);
        if (!served(jobs)) {
          signals.round();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether nobody of these has to wait for a round over all. */
  private boolean served(Set<JobId> jobs) {
    if (jobs.size() > MOST || newcomers.moreThan(MOST) || !mandate.mayWrite()) {
      return false;
    }
    try {
      List<JobState> states = cluster.newcomers(jobs);
      Instant now = clock.instant();
      Optional<Round> round = fastPath.tryPlace(now, states, cluster::usable);
      round.ifPresent(decided -> {
        // Whoever sees the GPUs given sees them counted.
        results.tellServed(decided);
        boolean heldBack;
        try {
          heldBack = changes.carryOut(decided.changes(), false);
        } finally {
          fastPath.confirmVisible(decided, clock.instant());
        }
        if (heldBack) {
          signals.round();
        }
        results.tellFirstLooks(decided);
      });
      return round.isPresent() || states.isEmpty();
    } catch (RuntimeException e) {
      // A round over all decides from the state of the cluster, so nobody is forgotten.
      LOG.error("the fast path for new jobs failed; a round over all jobs decides instead", e);
      return false;
    }
  }
}
