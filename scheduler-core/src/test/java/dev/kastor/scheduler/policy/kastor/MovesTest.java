package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The bound on moves, whenever they are planned. */
final class MovesTest {
  private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
  private static final int PER_NODE = 2;
  private static final int NODES = 3;

  @Test
  void isKeptInAnyHour() {
    SplittableRandom random = new SplittableRandom(1);
    Moves moves = new Moves(PER_NODE);
    TreeMap<Instant, Integer> planned = new TreeMap<>();
    Instant now = NOON;
    for (int round = 0; round < 2000; round++) {
      now = now.plusMillis(random.nextInt(1_200_000));
      int count = random.nextInt(moves.left(now, NODES) + 1);
      moves.note(now, count);
      planned.put(now, count);
    }
    for (Instant last : planned.keySet()) {
      assertThat(sum(planned, last)).isBetween(0, PER_NODE * NODES);
    }
    assertThat(planned.keySet()).anyMatch(last -> sum(planned, last) == PER_NODE * NODES);
  }

  private static int sum(NavigableMap<Instant, Integer> planned, Instant last) {
    return planned.subMap(last.minusSeconds(3600), false, last, true).values().stream()
        .mapToInt(count -> count)
        .sum();
  }

  @Test
  void isTheSameWhenAnInstantIsPlannedAgain() {
    Moves moves = new Moves(PER_NODE);
    moves.note(NOON.minusSeconds(60), 1);
    assertThat(moves.left(NOON, NODES)).isEqualTo(5);
    moves.note(NOON, 3);
    assertThat(moves.left(NOON, NODES)).isEqualTo(5);
  }

  @Test
  void leavesNoneWhereNodesWent() {
    Moves moves = new Moves(PER_NODE);
    moves.note(NOON, 6);
    assertThat(moves.left(NOON.plusSeconds(1), 1)).isZero();
  }
}
