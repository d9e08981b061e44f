package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Runs;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DeskTest {
  private static final BatchPlan BATCH = new BatchPlan(4, 0);
  private static final Set<Thread.State> WAITS =
      EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);
  private static final Duration ANY = Duration.ofMinutes(5);

  private final Desk desk =
      new Desk(new ServerPlan(1, true, 0, 0), 2, BATCH, 0, 0, System::nanoTime);

  /** Something that a thread does. */
  @FunctionalInterface
  private interface Task {
    void run() throws InterruptedException;
  }

  private static Thread started(Task task) {
    return Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try {
            task.run();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static void assertWaits(Thread thread) throws InterruptedException {
    while (!WAITS.contains(thread.getState()) && thread.isAlive()) {
      Thread.sleep(1);
    }
    assertThat(thread.getState()).isIn(WAITS);
  }

  private static Message.Push push(long share) {
    return new Message.Push(share, 0, new Message.Passed(1, 1, 4, 0, 0.1, true), Runs.all(0));
  }

  @Test
  void workersWaitWhileOneEvaluates() throws Exception {
    desk.joined(0);
    desk.joined(1);
    Message.Deal share = (Message.Deal) desk.next(1);
    CompletableFuture<Optional<Trainable.Metric>> metric = new CompletableFuture<>();
    Thread trains = started(() -> metric.complete(desk.evaluate(Duration.ZERO, () -> false)));
    assertWaits(trains);
    assertThat(desk.next(0)).isEqualTo(new Message.Evaluate());
    Thread pushes = started(() -> desk.came(1, push(share.share()), new float[0]));
    assertWaits(pushes);

    Trainable.Metric said = new Trainable.Metric("loss", 1, false);
    desk.evaluated(0, said);
    trains.join();
    assertThat(metric.join()).contains(said);
    assertWaits(pushes);
    List<Desk.Arrived> results = desk.await(ANY);
    assertThat(results).hasSize(1);
    desk.applied(results);
    pushes.join();
  }

  @Test
  void anEvaluationWaitsForAWorkerToCome() throws Exception {
    assertThat(desk.evaluate(Duration.ZERO, () -> false)).as("none came").isEmpty();
    assertThat(desk.evaluate(ANY, () -> true)).as("none will come").isEmpty();
    CompletableFuture<Optional<Trainable.Metric>> metric = new CompletableFuture<>();
    Thread trains = started(() -> metric.complete(desk.evaluate(ANY, () -> false)));
    assertWaits(trains);
    desk.joined(0);
    assertThat(desk.next(0)).isEqualTo(new Message.Evaluate());
    desk.lost(0);
    assertWaits(trains);
    desk.joined(1);
    assertThat(desk.next(1)).isEqualTo(new Message.Evaluate());
    Trainable.Metric said = new Trainable.Metric("loss", 1, false);
    desk.evaluated(1, said);
    trains.join();
    assertThat(metric.join()).contains(said);
  }

  @Test
  void aWorkerThatWaitsEvaluatesWhenTheOneThatDidIsLost() throws Exception {
    desk.joined(0);
    desk.joined(1);
    Message.Deal share = (Message.Deal) desk.next(1);
    Thread trains = started(() -> desk.evaluate(Duration.ZERO, () -> false));
    assertWaits(trains);
    desk.next(0);
    Thread pushes = started(() -> desk.came(1, push(share.share()), new float[0]));
    assertWaits(pushes);
    desk.lost(0);
    pushes.join();
    assertThat(desk.next(1)).isEqualTo(new Message.Evaluate());
    desk.evaluated(1, new Trainable.Metric("loss", 1, false));
    trains.join();
  }
}
