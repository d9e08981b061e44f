package dev.kastor.operator.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.policy.replay.Replayer;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class FutureReplaysTest {
  static final LiveCluster EMPTY =
      new LiveCluster(
          Instant.EPOCH,
          "fifo",
          1,
          Duration.ofSeconds(30),
          Duration.ZERO,
          List.of(),
          Map.of(),
          List.of(),
          0);

  private static final Answer NOTHING =
      new Answer("", "", "", List.of(), List.of(), List.of(), null, null, List.of());

  private static FutureReplays replays(Replayer replayer) {
    return new FutureReplays(Optional.of(replayer), Policies.BUILT_IN, FutureReplays.PATIENCE);
  }

  @Test
  void oneReplayRunsAtATime() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch may = new CountDownLatch(1);
    FutureReplays replays =
        replays((_, _, _, _, _) -> {
          begun.countDown();
          try {
            may.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return NOTHING;
        });
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<Optional<Answer>> first = other.submit(() -> replays.answer(EMPTY, List.of()));
      begun.await();
      assertThat(replays.answer(EMPTY, List.of())).as("while one runs").isEmpty();
      may.countDown();
      assertThat(first.get()).contains(NOTHING);
    }
    assertThat(replays.answer(EMPTY, List.of())).as("afterwards").contains(NOTHING);
  }

  @Test
  void aForecastGivesWayToAQuestion() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    FutureReplays replays =
        replays((_, suppositions, _, _, overdue) -> {
          if (suppositions.isEmpty()) {
            begun.countDown();
            while (!overdue.getAsBoolean()) {
              Thread.onSpinWait();
            }
            throw new OverdueException("given up");
          }
          return NOTHING;
        });
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<Optional<Answer>> forecast = other.submit(() -> replays.forecast(EMPTY));
      begun.await();
      assertThat(replays.answer(EMPTY, List.of(new Supposition.Policy("fifo")))).contains(NOTHING);
      assertThatThrownBy(forecast::get).hasCauseInstanceOf(OverdueException.class);
    }
  }

  @Test
  void oneThatFailsLetsTheNextRun() {
    FutureReplays replays =
        replays((cluster, suppositions, policies, _, _) -> {
          suppositions.forEach(each -> each.in(cluster));
          return NOTHING;
        });
    assertThatIllegalArgumentException()
        .isThrownBy(() -> replays.answer(EMPTY, List.of(new Supposition.QueueQuota("research", 1))))
        .withMessageContaining("research");
    assertThat(replays.answer(EMPTY, List.of())).contains(NOTHING);
  }

  @Test
  void givesUpWhenItsTimeIsOver() {
    FutureReplays replays =
        new FutureReplays(
            Optional.of((_, _, _, _, overdue) -> {
              while (!overdue.getAsBoolean()) {
                Thread.onSpinWait();
              }
              throw new OverdueException("given up");
            }),
            Policies.BUILT_IN,
            Duration.ofMillis(1));
    assertThatThrownBy(() -> replays.answer(EMPTY, List.of())).isInstanceOf(OverdueException.class);
    assertThatThrownBy(() -> replays.answer(EMPTY, List.of()))
        .as("the next may run")
        .isInstanceOf(OverdueException.class);
  }

  /** What replays is asked for by its name alone. */
  @Test
  void theSimulatorIsFoundWhereItIsThere() {
    FutureReplays replays = new FutureReplays(Policies.BUILT_IN);
    assertThat(replays.possible()).isTrue();
    assertThat(replays.answer(EMPTY, List.of()).orElseThrow().sentence())
        .isEqualTo("No job runs or waits.");
    assertThat(new FutureReplays(Optional.empty(), Policies.BUILT_IN, Duration.ZERO).possible())
        .isFalse();
  }
}
