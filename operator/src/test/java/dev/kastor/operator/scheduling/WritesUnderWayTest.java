package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WritesUnderWayTest {
  private static final TrainingJob JOB = TestJobs.job("bert", 1, 4, Mode.Adaptive);
  private static final AllocationStatus GIVEN =
      new AllocationStatus(
          3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "It grew.", null, null);

  private static final CountDownLatch NOTHING = new CountDownLatch(0);

  private final WritesUnderWay writes = new WritesUnderWay();
  private final CountDownLatch answer = new CountDownLatch(1);
  private final CountDownLatch told = new CountDownLatch(1);

  @AfterEach
  void stop() {
    writes.stop();
  }

  @Test
  void isTakenForGivenUntilTheAnswerIsIn() throws Exception {
    writes.start(JOB, GIVEN, NOTHING, this::awaitAnswer, told::countDown);
    assertThat(writes.of(JOB)).isSameAs(GIVEN);
    answer.countDown();
    awaitNothingUnderWay();
    assertThat(told.getCount()).as("nobody let the job alone, so nobody is told").isOne();
  }

  @Test
  void whoLetAJobAloneIsToldWhenThatIsOver() throws Exception {
    AtomicBoolean underWay = new AtomicBoolean();
    writes.start(
        JOB,
        GIVEN,
        NOTHING,
        this::awaitAnswer,
        () -> {
          underWay.set(writes.of(JOB) != null);
          told.countDown();
        });
    assertThat(writes.passOver(JOB)).isTrue();
    answer.countDown();
    assertThat(told.await(10, TimeUnit.MINUTES)).isTrue();
    assertThat(underWay.get()).as("still under way when told").isFalse();
    assertThat(writes.passOver(JOB)).isFalse();
  }

  @Test
  void aWriteThatFailsIsForgottenAsWell() throws Exception {
    writes.start(
        JOB,
        GIVEN,
        NOTHING,
        () -> {
          throw new IllegalStateException("on purpose");
        },
        told::countDown);
    awaitNothingUnderWay();
  }

  @Test
  void whatIsTakenIsStoredAfterWhatIsGivenBack() throws Exception {
    CountDownLatch givenBack = new CountDownLatch(1);
    List<String> stored = new CopyOnWriteArrayList<>();
    TrainingJob other = TestJobs.job("other", 1, 4, Mode.Adaptive);
    writes.start(JOB, GIVEN, givenBack, () -> stored.add("taken"), told::countDown);
    writes.start(
        other,
        GIVEN,
        NOTHING,
        () -> {
          awaitAnswer();
          stored.add("given back");
          givenBack.countDown();
        },
        told::countDown);
    answer.countDown();
    awaitNothingUnderWay();
    assertThat(stored).containsExactly("given back", "taken");
  }

  private void awaitAnswer() {
    try {
      answer.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitNothingUnderWay() throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    while (writes.of(JOB) != null) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
    }
  }
}
