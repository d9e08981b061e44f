package dev.kastor.operator.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.operator.leader.Election.Standing;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class ElectionTest {
  private static final Timings TIMINGS =
      new Timings(Duration.ofSeconds(9), Duration.ofSeconds(6), Duration.ofMillis(1500));

  private final FakeLease lease = new FakeLease();
  private long nanos = 1_000_000_007L;
  private final Election one = candidate("one");
  private final Election two = candidate("two");

  private Election candidate(String name) {
    return new Election(lease, name, TIMINGS, () -> nanos);
  }

  private void pass(double seconds) {
    nanos += (long) (seconds * 1e9);
  }

  private static Standing attempt(Election election) {
    try {
      return election.attempt();
    } catch (KubernetesClientException e) {
      return election.standing();
    }
  }

  @Test
  void whoComesFirstLeadsAndTheOtherStandsBy() {
    assertThat(one.attempt()).isEqualTo(Standing.LEADING);
    assertThat(two.attempt()).isEqualTo(Standing.STANDBY);
    for (int i = 0; i < 20; i++) {
      pass(1.5);
      assertThat(one.attempt()).isEqualTo(Standing.LEADING);
      assertThat(two.attempt()).isEqualTo(Standing.STANDBY);
    }
    assertThat(lease.transitions()).as("renewals are no transitions").isEqualTo(1);
  }

  @Test
  void aLeaseThatNobodyRenewsIsTakenWhenItHasRunOutAndNotBefore() {
    one.attempt();
    two.attempt();
    pass(8.9);
    assertThat(two.attempt()).isEqualTo(Standing.STANDBY);
    pass(0.2);
    assertThat(two.attempt()).isEqualTo(Standing.LEADING);
    assertThat(one.attempt()).as("the former leader finds out").isEqualTo(Standing.LOST);
  }

  @Test
  void aLeaseThatIsGivenBackIsTakenAtOnce() {
    one.attempt();
    two.attempt();
    one.release();
    assertThat(two.attempt()).isEqualTo(Standing.LEADING);
    assertThat(one.standing()).isEqualTo(Standing.LOST);
  }

  @Test
  void whileTheApiServerIsAwayNobodyTakesOverAndAfterwardsTheSameOneLeads() {
    one.attempt();
    two.attempt();
    lease.away = true;
    pass(5.9);
    assertThat(attempt(one)).as("still within the deadline").isEqualTo(Standing.LEADING);
    pass(0.2);
    assertThat(attempt(one)).isEqualTo(Standing.ADRIFT);
    pass(300);
    assertThat(attempt(one)).isEqualTo(Standing.ADRIFT);
    assertThat(attempt(two)).isEqualTo(Standing.STANDBY);
    lease.away = false;
    assertThat(one.attempt()).isEqualTo(Standing.LEADING);
    assertThat(two.attempt()).isEqualTo(Standing.STANDBY);
    assertThat(lease.holder()).isEqualTo("one");
    assertThat(lease.transitions()).isEqualTo(1);
  }

  @Test
  void ifTheOtherIsQuickerAfterAnOutageTheFormerLeaderEnds() {
    one.attempt();
    two.attempt();
    lease.away = true;
    pass(300);
    assertThat(attempt(one)).isEqualTo(Standing.ADRIFT);
    lease.away = false;
    assertThat(two.attempt()).isEqualTo(Standing.LEADING);
    assertThat(one.attempt()).isEqualTo(Standing.LOST);
  }

  @Test
  void whoIsSlowerAtTheSameMomentDoesNotLead() {
    lease.contested = true;
    assertThat(one.attempt()).isEqualTo(Standing.STANDBY);
    assertThat(lease.holder()).isEqualTo("thief");
  }

  @Test
  void aRestartedContainerOfTheSamePodNeedNotWait() {
    one.attempt();
    pass(2);
    Election again = candidate("one");
    assertThat(again.attempt()).isEqualTo(Standing.LEADING);
    assertThat(lease.transitions()).isEqualTo(2);
  }

  @Test
  void aLeaseThatWasDeletedIsMadeAgainByWhoHeldIt() {
    one.attempt();
    FakeLease empty = new FakeLease();
    assertThat(candidateOn(empty).attempt()).isEqualTo(Standing.LEADING);
    assertThat(empty.holder()).isEqualTo("three");
  }

  private Election candidateOn(FakeLease store) {
    return new Election(store, "three", TIMINGS, () -> nanos);
  }

  /** Whatever fails and however long pauses are, two never may write at the same time. */
  @Tag("slow")
  @Test
  void neverDoTwoLead() {
    for (int seed = 0; seed < 200; seed++) {
      var random = new SplittableRandom(seed);
      FakeLease store = new FakeLease();
      List<Election> candidates = new ArrayList<>();
      for (String name : List.of("a", "b", "c")) {
        candidates.add(new Election(store, name, TIMINGS, () -> nanos));
      }
      for (int i = 0; i < 500; i++) {
        pass(random.nextInt(10) == 0 ? random.nextDouble(20) : random.nextDouble(1));
        store.away = random.nextInt(5) == 0;
        int who = random.nextInt(3);
        if (attempt(candidates.get(who)) == Standing.LOST) {
          // Its process ends and the next one has another name.
          candidates.set(who, new Election(store, "x" + seed + "-" + i, TIMINGS, () -> nanos));
        }
        assertThat(candidates.stream().filter(each -> each.standing() == Standing.LEADING).count())
            .as("seed %d, turn %d", seed, i)
            .isLessThanOrEqualTo(1);
      }
    }
  }

  @Test
  void timesThatLetTwoWriteAreRefused() {
    Duration six = Duration.ofSeconds(6);
    Duration one = Duration.ofSeconds(1);
    assertThatThrownBy(() -> new Timings(six, six, one))
        .hasMessageContaining("lease-duration")
        .hasMessageContaining("renew-deadline");
    assertThatThrownBy(() -> new Timings(six, one, one)).hasMessageContaining("retry-period");
    assertThatThrownBy(() -> new Timings(six, one, Duration.ZERO))
        .hasMessageContaining("retry-period");
  }
}
