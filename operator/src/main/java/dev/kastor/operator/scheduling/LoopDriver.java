package dev.kastor.operator.scheduling;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Driver of the scheduling loop: once per interval, and soon after something happened that matters.
 *
 * <p>Several signals within the delay lead to one round, and rounds that take long come less often.
 */
@Singleton
public final class LoopDriver {
  private static final Logger LOG = LoggerFactory.getLogger(LoopDriver.class);

  private static final long NEWCOMERS_MILLIS = 100;

  private final SchedulingLoop loop;
  private final Newcomers newcomers;
  private final Mandate mandate;
  private final Arrivals arrivals;
  private final RoundResults results;
  private final Signals signals;
  private final Duration interval;
  private final RoundPacing pacing;
  private final Semaphore wanted = new Semaphore(0);
  private final Thread thread = new Thread(this::run, "scheduling-loop");
  private volatile boolean stopped;

  public LoopDriver(
      SchedulingLoop loop,
      RoundResults results,
      Newcomers newcomers,
      Arrivals arrivals,
      Mandate mandate,
      Signals signals,
      OperatorConfig config,
      InstantSource clock) {
    this.signals = signals;
    this.loop = loop;
    this.results = results;
    this.newcomers = newcomers;
    this.mandate = mandate;
    this.arrivals = arrivals;
    interval = config.roundInterval();
    pacing = new RoundPacing(config.roundDelay(), clock);
    signals.onRound(wanted::release);
  }

  /** Starts the rounds; call once the cluster's first lists are in. */
  public void start() {
    thread.setDaemon(true);
    thread.start();
    arrivals.start();
  }

  /** Decides no more. */
  @PreDestroy
  public void stop() {
    stopped = true;
    thread.interrupt();
    arrivals.stop();
  }

  private void run() {
    try {
      while (!stopped) {
        if (wanted.tryAcquire(interval.toMillis(), TimeUnit.MILLISECONDS)) {
          Thread.sleep(pacing.pause());
          letNewcomersIn();
          wanted.drainPermits();
        }
        if (mandate.mayWrite()) {
          pacing.begins();
          round();
          pacing.ended();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One round over many that came is better than many rounds over few each. */
  private void letNewcomersIn() throws InterruptedException {
    long until = System.nanoTime() + interval.toNanos();
    while (newcomers.many() && System.nanoTime() < until) {
      Thread.sleep(NEWCOMERS_MILLIS);
    }
  }

  private void round() {
    long start = System.nanoTime();
    try {
      Round round = loop.tick();
      if (round.deferred() > 0) {
        signals.round();
      }
      results.tell(round, (System.nanoTime() - start) / 1e9);
    } catch (RuntimeException e) {
      // The next round decides again from the state of the cluster, so nothing is lost.
      LOG.error("scheduling round failed", e);
      results.tellFailure();
    }
  }
}
