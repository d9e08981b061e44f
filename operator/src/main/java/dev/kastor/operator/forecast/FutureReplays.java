package dev.kastor.operator.forecast;

import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.replay.Replayer;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.Supposition;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Replays of the future beside the scheduler, one at a time. A replay rests as long as it works, so
 * that it takes half a core at most, and is given up after {@link #PATIENCE}; a forecast sooner,
 * and as soon as there is a question. Thread-safe.
 */
@Singleton
public final class FutureReplays {
  /** Half a minute of replay is enough for as many, and the heap for what they need. */
  public static final int MOST_JOBS = 300;

  public static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A forecast that takes longer would be old when it comes. */
  static final Duration FORECAST_PATIENCE = Duration.ofSeconds(5);

  /** Time that a question waits for a forecast to give way. */
  private static final Duration TURN = Duration.ofSeconds(2);

  /** As {@code kastor whatif} takes it where nobody says otherwise. */
  private static final Duration UNKNOWN = Duration.ofHours(1);

  private static final long SLICE_NANOS = 20_000_000;

  private final Optional<Replayer> replayer;
  private final Registry<PolicyPlugin> policies;
  private final Duration patience;
  private final Semaphore one = new Semaphore(1);

  @Inject
  FutureReplays(Registry<PolicyPlugin> policies) {
    this(
        ServiceLoader.load(Replayer.class, Replayer.class.getClassLoader()).findFirst(),
        policies,
        PATIENCE);
  }

  FutureReplays(Optional<Replayer> replayer, Registry<PolicyPlugin> policies, Duration patience) {
    this.replayer = replayer;
    this.policies = policies;
    this.patience = patience;
  }

  /** Whether there is what replays. */
  public boolean possible() {
    return replayer.isPresent();
  }

  /**
   * Replays a cluster without and with changes.
   *
   * @return empty while another question is answered
   * @throws IllegalArgumentException if a change names what there is not
   * @throws dev.kastor.scheduler.whatif.OverdueException if it takes too long
   */
  public Optional<Answer> answer(LiveCluster cluster, List<Supposition> suppositions) {
    try {
      if (!one.tryAcquire(TURN.toMillis(), TimeUnit.MILLISECONDS)) {
        return Optional.empty();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
    try {
      return Optional.of(replay(cluster, suppositions, new Pauses(patience)));
    } finally {
      one.release();
    }
  }

  /**
   * Replays a cluster as it is.
   *
   * @return empty while a question is answered
   * @throws dev.kastor.scheduler.whatif.OverdueException if it takes too long, or there is a
   *     question
   */
  Optional<Answer> forecast(LiveCluster cluster) {
    if (!one.tryAcquire()) {
      return Optional.empty();
    }
    try {
      Pauses pauses = new Pauses(FORECAST_PATIENCE);
      return Optional.of(
          replay(cluster, List.of(), () -> one.hasQueuedThreads() || pauses.getAsBoolean()));
    } finally {
      one.release();
    }
  }

  private Answer replay(
      LiveCluster cluster, List<Supposition> suppositions, BooleanSupplier overdue) {
    return replayer.orElseThrow().answer(cluster, suppositions, this::policy, UNKNOWN, overdue);
  }

  private PolicyFactory policy(String name, long seed) {
    return PolicyFactory.of(policies.choose(name), PolicyContext.online(seed));
  }

  /** Pauses of a replay, and its end. */
  private static final class Pauses implements BooleanSupplier {
    private final long end;
    private long working = System.nanoTime();

    Pauses(Duration patience) {
      end = working + patience.toNanos();
    }

    @Override
    public boolean getAsBoolean() {
      long worked = System.nanoTime() - working;
      if (worked >= SLICE_NANOS) {
        try {
          Thread.sleep(Duration.ofNanos(worked));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return true;
        }
        working = System.nanoTime();
      }
      return System.nanoTime() > end;
    }
  }
}
