package dev.kastor.operator.forecast;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.scheduling.LiveSnapshot;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forecaster of when jobs end, by a replay of the future from time to time, in which no other job
 * comes. A replay takes a tenth of the time at most, of which it works half. One thread asks it
 * whether it is due; replays run on another.
 */
@Singleton
public final class Forecaster {
  private static final Logger LOG = LoggerFactory.getLogger(Forecaster.class);

  /** Jobs beyond which a replay takes too long for a forecast. */
  static final int MOST_JOBS = 100;

  /** Time from one replay to the next, in times that the replay took. */
  private static final int REST = 10;

  /** Least time after a look from which no forecast came. */
  private static final Duration AFTER_NONE = Duration.ofMinutes(1);

  /** Most time from one replay to the next. */
  private static final Duration LONGEST = Duration.ofMinutes(10);

  private final FutureReplays replays;
  private final Supplier<LiveCluster> cluster;
  private final Consumer<Forecast> hearer;
  private final Duration interval;
  private final InstantSource clock;
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("forecast").daemon().factory());
  private final AtomicBoolean running = new AtomicBoolean();
  private volatile Instant due = Instant.EPOCH;

  /**
   * Ends of jobs.
   *
   * @param ends of those that end in the replay; for a job whose work is not known, by a guess of
   *     it
   * @param until when this is old
   */
  public record Forecast(Map<JobId, Instant> ends, Instant until) {
    public Forecast {
      ends = Map.copyOf(ends);
    }
  }

  @Inject
  public Forecaster(
      FutureReplays replays,
      LiveSnapshot snapshot,
      TelemetryStore telemetry,
      OperatorConfig config,
      InstantSource clock) {
    this(
        replays,
        snapshot::take,
        forecast -> telemetry.foreseen(forecast.ends(), forecast.until()),
        config.forecastInterval(),
        clock);
  }

  Forecaster(
      FutureReplays replays,
      Supplier<LiveCluster> cluster,
      Consumer<Forecast> hearer,
      Duration interval,
      InstantSource clock) {
    this.replays = replays;
    this.cluster = cluster;
    this.hearer = hearer;
    this.interval = interval;
    this.clock = clock;
  }

  /** Returns whether it is time to replay. */
  boolean isDue() {
    return interval.isPositive() && replays.possible() && !clock.instant().isBefore(due);
  }

  /** Replays on a thread of its own if it is time to. */
  public void lookIfDue() {
    if (isDue() && running.compareAndSet(false, true)) {
      worker.execute(this::lookOnce);
    }
  }

  private void lookOnce() {
    try {
      look();
    } catch (RuntimeException e) {
      LOG.warn("no forecast could be made: {}", e.toString());
    } finally {
      running.set(false);
    }
  }

  /** Replays, and says when it is due again. */
  void look() {
    Instant begun = clock.instant();
    Duration least = AFTER_NONE;
    Optional<Answer> answer = Optional.empty();
    try {
      LiveCluster now = cluster.get();
      if (now.jobs().size() <= MOST_JOBS) {
        answer = replays.forecast(now);
        least = interval;
      }
    } catch (OverdueException e) {
      LOG.debug("no forecast: {}", e.getMessage());
    } finally {
      Duration rest = Duration.between(begun, clock.instant()).multipliedBy(REST);
      Duration pause = rest.compareTo(least) > 0 ? rest : least;
      // A clock that jumps says nothing of how long it took.
      pause = pause.compareTo(LONGEST) > 0 ? LONGEST : pause;
      due = begun.plus(pause);
      Instant until = due.plus(pause);
      answer.ifPresent(foreseen -> hearer.accept(new Forecast(ends(foreseen), until)));
    }
  }

  /** Makes no more. */
  @PreDestroy
  public void stop() {
    worker.shutdownNow();
  }

  private static Map<JobId, Instant> ends(Answer answer) {
    Map<JobId, Instant> ends = new HashMap<>();
    for (Answer.OtherJob job : answer.jobs()) {
      if (job.end() != null) {
        ends.put(new JobId(job.namespace(), job.name()), Instant.parse(job.end()));
      }
    }
    return ends;
  }
}
