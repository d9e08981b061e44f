package dev.kastor.operator.hang;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.hang.HangRule.Hang;
import dev.kastor.operator.hang.HangRule.Seen;
import dev.kastor.protocol.ReplicaState.Doing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HangRuleTest {
  private final HangRule rule = new HangRule(Duration.ofSeconds(60), Duration.ofMinutes(30), 5);
  private final List<Seen> stuck =
      List.of(
          new Seen("a-0", 7, true, Doing.TRAIN),
          new Seen("a-1", 7, false, Doing.TRAIN),
          new Seen("a-2", 7, true, Doing.TRAIN));
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private long generation = 3;
  private double usual = 0.5;

  private Optional<Hang> after(int seconds, List<Seen> members, long step) {
    now = now.plusSeconds(seconds);
    return rule.look(generation, members, step, false, () -> usual, now);
  }

  @Test
  void whoMakesStepsDoesNotHang() {
    for (int step = 0; step < 100; step++) {
      assertThat(after(59, stuck, step)).isEmpty();
    }
    assertThat(rule.hanging()).isFalse();
  }

  @Test
  void theOneThatDoesNotWaitForTheOthersGoesFirst() {
    after(0, stuck, 7);
    assertThat(after(59, stuck, 7)).isEmpty();
    assertThat(after(1, stuck, 7))
        .hasValueSatisfying(hang -> {
          assertThat(hang.suspects()).containsExactly("a-1");
          assertThat(hang.again()).isFalse();
          assertThat(hang.silence()).hasSeconds(60);
        });
    assertThat(rule.hanging()).isTrue();
  }

  @Test
  void afterTheLastStepThereIsTimeForAnEvaluationAndNoMore() {
    rule.look(generation, stuck, 7, true, () -> usual, now);
    Instant late = now.plus(Duration.ofMinutes(30));
    assertThat(rule.look(generation, stuck, 7, true, () -> usual, late.minusSeconds(1))).isEmpty();
    assertThat(rule.look(generation, stuck, 7, true, () -> usual, late).orElseThrow().suspects())
        .containsExactly("a-1");
  }

  @Test
  void aWorkerThatAllServersWaitForGoesFirst() {
    List<Seen> seen =
        List.of(
            new Seen("a-0", 7, false, Doing.TRAIN),
            new Seen("a-1", 7, true, Doing.TRAIN),
            new Seen("a-server0", 7, true, Doing.TRAIN));
    after(0, seen, 7);
    assertThat(after(60, seen, 7).orElseThrow().suspects()).containsExactly("a-0");
  }

  @Test
  void elseTheOneFurthestBehindAndElseTheYoungest() {
    List<Seen> behind =
        List.of(new Seen("a-0", 6, true, Doing.TRAIN), new Seen("a-1", 7, true, Doing.TRAIN));
    after(0, behind, 7);
    assertThat(after(60, behind, 7).orElseThrow().suspects()).containsExactly("a-0");
    var other = new HangRule(Duration.ofSeconds(60), Duration.ofMinutes(30), 5);
    List<Seen> same =
        List.of(new Seen("a-0", 7, true, Doing.TRAIN), new Seen("a-1", 7, true, Doing.TRAIN));
    other.look(1, same, 7, false, () -> 0, now);
    assertThat(other.look(1, same, 7, false, () -> 0, now.plusSeconds(60)).orElseThrow().suspects())
        .containsExactly("a-1");
  }

  @Test
  void ifThatDidNotHelpAllGo() {
    after(0, stuck, 7);
    assertThat(after(60, stuck, 7)).isPresent();
    generation++;
    assertThat(after(5, stuck, 7)).as("the new generation gets its time").isEmpty();
    assertThat(after(59, stuck, 7)).isEmpty();
    assertThat(after(1, stuck, 7))
        .hasValueSatisfying(hang -> {
          assertThat(hang.again()).isTrue();
          assertThat(hang.suspects()).containsExactly("a-0", "a-1", "a-2");
        });
  }

  @Test
  void aStepForgivesAll() {
    after(0, stuck, 7);
    assertThat(after(60, stuck, 7)).isPresent();
    assertThat(after(1, stuck, 8)).isEmpty();
    assertThat(rule.hanging()).isFalse();
    assertThat(after(60, stuck, 8).orElseThrow().again()).isFalse();
  }

  /** Replicas tell of the local steps of a round, which are taken again when it fails. */
  @Test
  void stepsThatAreTakenAgainForgiveNothing() {
    after(0, stuck, 7);
    assertThat(after(60, stuck, 7)).isPresent();
    generation++;
    for (int step = 0; step <= 7; step++) {
      assertThat(after(59, stuck, step)).isEmpty();
    }
    assertThat(rule.hanging()).as("it gets on").isFalse();
    assertThat(after(60, stuck, 7).orElseThrow().again()).isTrue();
    assertThat(after(1, stuck, 8)).isEmpty();
    assertThat(after(60, stuck, 8).orElseThrow().again()).isFalse();
  }

  @Test
  void aJobOfLongStepsGetsLonger() {
    usual = 60;
    after(0, stuck, 7);
    assertThat(after(299, stuck, 7)).isEmpty();
    assertThat(after(1, stuck, 7)).isPresent();
  }

  @Test
  void membersThatDoNotSpeakAreAnothersBusiness() {
    after(0, stuck, 7);
    assertThat(after(59, List.of(), 7)).isEmpty();
    assertThat(after(59, stuck, 7)).as("the time began anew").isEmpty();
    assertThat(after(1, stuck, 7)).isPresent();
  }

  @Test
  void goingBackToACheckpointIsNotHanging() {
    after(0, stuck, 700);
    assertThat(after(59, stuck, 600)).isEmpty();
    assertThat(after(59, stuck, 610)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(value = Doing.class, mode = EnumSource.Mode.EXCLUDE, names = "TRAIN")
  void whoIsBusyOtherwiseDoesNotHangForLong(Doing doing) {
    List<Seen> busy =
        List.of(new Seen("a-0", 7, false, doing), new Seen("a-1", 7, true, Doing.TRAIN));
    after(0, busy, 7);
    assertThat(after(1799, busy, 7)).isEmpty();
    assertThat(after(1, busy, 7).orElseThrow().suspects()).containsExactly("a-0");
  }

  @Test
  void theTimeBeginsAnewForWhoTrainsAgain() {
    List<Seen> busy = List.of(new Seen("a-0", 7, false, Doing.EVALUATE));
    List<Seen> trains = List.of(new Seen("a-0", 7, false, Doing.TRAIN));
    after(0, busy, 7);
    after(100, busy, 7);
    assertThat(after(59, trains, 7)).isEmpty();
    assertThat(after(1, trains, 7).orElseThrow().silence()).hasSeconds(160);
  }

  @Test
  void nobodyIsBusyForEverByTurns() {
    List<Seen> busy = List.of(new Seen("a-0", 7, false, Doing.EVALUATE));
    List<Seen> trains = List.of(new Seen("a-0", 7, false, Doing.TRAIN));
    after(0, busy, 7);
    for (int i = 1; i < 60; i++) {
      assertThat(after(30, i % 2 == 0 ? busy : trains, 7)).isEmpty();
    }
    assertThat(after(30, busy, 7)).isPresent();
  }
}
