package dev.kastor.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.PodView.State;
import dev.kastor.protocol.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How long passes wait for pods that leave, and for a first server once a worker has ended. */
final class PatienceWithPodsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration GRACE = Duration.ofSeconds(30);

  @Test
  void aReplicaThatIsNotWantedHasItsTimeToLeave() {
    PodView runs = pod(State.RUNNING, Optional.empty());
    assertThat(PodDepartures.overdue(runs, START, GRACE, START)).isFalse();
    assertThat(PodDepartures.overdue(runs, START, GRACE, START.plusMillis(29_999))).isFalse();
    assertThat(PodDepartures.overdue(runs, START, GRACE, START.plusSeconds(30))).isTrue();
  }

  @Test
  void oneThatNeverRanHasNothingToLeave() {
    PodView waits = pod(State.PENDING, Optional.empty());
    assertThat(PodDepartures.overdue(waits, START, GRACE, START)).isTrue();
  }

  @Test
  void workersThatAreDoneAreAwaitedTwentySecondsForTheFirstServersWord() {
    PodView done = pod(State.SUCCEEDED, Optional.of(outcome(Outcome.Kind.COMPLETED)));
    assertThat(MemberSteering.doneNow(done, START)).isTrue();
    assertThat(MemberSteering.doneNow(done, START.plusMillis(19_999))).isTrue();
    assertThat(MemberSteering.doneNow(done, START.plusSeconds(20))).isFalse();
  }

  @Test
  void oneThatLeftSaysNothingOfTheWork() {
    PodView left = pod(State.SUCCEEDED, Optional.of(outcome(Outcome.Kind.LEFT)));
    assertThat(MemberSteering.doneNow(left, START)).isFalse();
  }

  private static Outcome outcome(Outcome.Kind kind) {
    return new Outcome(kind, null, null, null, 0, "as told");
  }

  private static PodView pod(State state, Optional<Outcome> outcome) {
    return new PodView("bert-0", 0, "n1", state, false, START, START, 0, outcome);
  }
}
