package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.training.Drift;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Times at which members compare their states, and what they do where these differ. */
class ComparisonTest {
  private static final TrainingSettings SETTINGS =
      new TrainingSettings(
          16,
          0.02,
          new AdaScale(),
          new Work.Steps(1000),
          5,
          Duration.ofDays(1),
          Duration.ofDays(1));

  private static final long MILLI = Duration.ofMillis(1).toNanos();

  private final Comparison comparison =
      new Comparison("team/job", Drift.REPAIR, Layout.of("all", LinearModel.FEATURES));

  @Test
  void takesAtMostHalfAPercentOfTheTime() {
    comparison.took(100 * MILLI);
    comparison.compared(1, 0);
    assertThat(comparison.isDue(2, 19_999 * MILLI)).isFalse();
    assertThat(comparison.isDue(2, 20_000 * MILLI)).isTrue();
  }

  @Test
  void comesOnceASecondAtMost() {
    comparison.took(MILLI);
    comparison.compared(1, 0);
    assertThat(comparison.isDue(2, 999 * MILLI)).isFalse();
    assertThat(comparison.isDue(2, 1000 * MILLI)).isTrue();
  }

  @Test
  void followsEachCheckpoint() {
    comparison.took(100 * MILLI);
    comparison.compared(1, 0);
    comparison.saved();
    assertThat(comparison.isDue(2, MILLI)).isTrue();
    comparison.compared(2, MILLI);
    assertThat(comparison.isDue(3, 2 * MILLI)).isFalse();
  }

  @Test
  void aStateIsComparedOnce() {
    comparison.compared(7, 0);
    comparison.saved();
    assertThat(comparison.isDue(7, Duration.ofHours(1).toNanos())).isFalse();
  }

  /** Headers of members of which the last one has joined after the others had repaired. */
  private static List<JoinHeader> headers(int repaired, long... digests) {
    return IntStream.range(0, digests.length)
        .mapToObj(rank ->
            new JoinHeader(
                3, 7, digests[rank], 2, false, 0, rank == digests.length - 1 ? 0 : repaired))
        .toList();
  }

  /** Messages of three members about a difference of the second one. */
  private static List<String> differ(int repaired) throws Exception {
    List<JoinHeader> all = headers(repaired, 1, 2, 1);
    assertThat(JoinHeader.isDrift(all)).isTrue();
    try (Crew crew = new Crew();
        RingListener first = Crew.listen();
        RingListener second = Crew.listen();
        RingListener third = Crew.listen()) {
      List<RingListener> listeners = List.of(first, second, third);
      List<InetSocketAddress> addresses = listeners.stream().map(Crew::address).toList();
      return crew.together(
          3,
          rank -> {
            Layout layout =
                Layout.of(
                    List.of("a", "b"), List.of(Shape.of(30), Shape.of(LinearModel.FEATURES - 30)));
            LinearModel model = new LinearModel();
            model.parameters()[31] = rank == 1 ? 1 : 0;
            Replica replica = SummedReplicas.replica(model, new Sgd(0.9, 0), SETTINGS);
            Comparison comparison = new Comparison("team/job", Drift.REPAIR, layout);
            try (Ring ring =
                Ring.open(listeners.get(rank), 1, rank, addresses, Crew.LIMITS, () -> false)) {
              comparison.differ(ring, replica, all);
              return "repairs " + comparison.differences();
            } catch (DriftException e) {
              return String.valueOf(e.getMessage());
            }
          });
    }
  }

  @Test
  void theFifthDifferenceInARowEndsTheJobAlsoForAMemberThatHasSeenOne() throws Exception {
    assertThat(differ(3)).containsOnly("repairs 4");
    assertThat(differ(4))
        .allSatisfy(
            said -> assertThat(said).startsWith("Replicas differ at step 7, in parameters.b. "));
  }

  @Test
  void membersMayDifferThatHaveNotAgreedOrHaveAppliedOtherSteps() {
    JoinHeader best = new JoinHeader(3, 7, 1, 2, false, 0, 0);
    assertThat(best.shouldEqual(new JoinHeader(3, 7, 2, 2, false, 0, 0))).isTrue();
    assertThat(best.shouldEqual(new JoinHeader(3, 6, 2, 2, true, 0, 0))).isFalse();
    assertThat(best.shouldEqual(new JoinHeader(2, 7, 2, 2, true, 0, 0))).isFalse();
    JoinHeader fresh = new JoinHeader(JoinHeader.FROM_START, 0, 1, 0, false, 0, 0);
    assertThat(
            JoinHeader.isDrift(
                List.of(fresh, new JoinHeader(JoinHeader.FROM_START, 0, 2, 0, false, 0, 0))))
        .isFalse();
  }
}
