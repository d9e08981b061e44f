package dev.kastor.operator.reconcile;

import dev.kastor.operator.forecast.Forecaster;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.nodehealth.NodeWatch;
import dev.kastor.operator.pods.Authority;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Timers of the operator that leads: what has to be done as time passes. */
@Singleton
public final class Housekeeping {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

  /** Between two passes; where these are long for many jobs, twice as long as the last one. */
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);

  private static final Duration LONGEST_PAUSE = Duration.ofMillis(1500);

  private final Authority authority;
  private final NodeWatch nodes;
  private final TimedLooks looks;
  private final StoredSummaries stored;
  private final JobGauges gauges;
  private final GoneJobs gone;
  private final Forecaster forecaster;
  private final Awake awake;
  private final InstantSource clock;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("housekeeping").daemon().factory());

  Housekeeping(
      Authority authority,
      NodeWatch nodes,
      TimedLooks looks,
      StoredSummaries stored,
      JobGauges gauges,
      GoneJobs gone,
      Forecaster forecaster,
      Awake awake,
      InstantSource clock) {
    this.authority = authority;
    this.nodes = nodes;
    this.looks = looks;
    this.stored = stored;
    this.gauges = gauges;
    this.gone = gone;
    this.forecaster = forecaster;
    this.awake = awake;
    this.clock = clock;
  }

  /** Starts the timer; call once the cache is filled. */
  public void start() {
    awake.start();
    gone.start();
    // Before the first round: without it a node that is not ready would be given up at once.
    nodes.lookIfDue();
    passAfter(SHORTEST_PAUSE);
  }

  private void passAfter(Duration pause) {
    var _ = timer.schedule(this::passAndGoOn, pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void passAndGoOn() {
    Instant begun = clock.instant();
    attempt("rights of the operator", authority::refresh);
    attempt("nodes", nodes::lookIfDue);
    attempt("jobs that time changes", looks::pass);
    attempt("summaries", stored::writeIfDue);
    attempt("gauges", gauges::pass);
    attempt("jobs that are gone", gone::pass);
    attempt("forecasts", forecaster::lookIfDue);
    if (!timer.isShutdown()) {
      passAfter(pauseAfter(Duration.between(begun, clock.instant())));
    }
  }

  /** Trouble of one part must not stop the others, nor the timer. */
  private void attempt(String what, Runnable part) {
    if (timer.isShutdown()) {
      return;
    }
    try {
      part.run();
    } catch (RuntimeException e) {
      LOG.error("housekeeping failed: {}", what, e);
    }
  }

  /** How long to rest after a pass that took this long. */
  static Duration pauseAfter(Duration pass) {
    Duration twice = pass.multipliedBy(2);
    if (twice.compareTo(SHORTEST_PAUSE) < 0) {
      return SHORTEST_PAUSE;
    }
    return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
  }

  /** Does no more. */
  @PreDestroy
  public void stop() {
    timer.shutdownNow();
    stored.stop();
  }
}
