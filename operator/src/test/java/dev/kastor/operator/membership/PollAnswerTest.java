package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PollAnswerTest {
  private static final Membership FIVE =
      new Membership(
          5, Action.RUN, List.of(new Member("a", 0, "127.0.0.1:1", "n1")), new BatchPlan(8, 0));
  private static final Membership STOP =
      new Membership(6, Action.STOP, List.of(), new BatchPlan(1, 0));

  @Test
  void aListedJoinerIsTold() {
    assertThat(PollAnswer.now(state("a", 0), Optional.of(FIVE), 5, () -> true, false))
        .contains(FIVE);
  }

  @Test
  void aJoinerThatIsNotListedYetWaits() {
    assertThat(PollAnswer.now(state("b", 0), Optional.of(FIVE), 5, () -> true, false)).isEmpty();
  }

  @Test
  void aJoinerThatIsNotWantedLeaves() {
    assertThat(
            PollAnswer.now(state("b", 0), Optional.of(FIVE), 5, () -> false, false).orElseThrow())
        .extracting(Membership::action)
        .isEqualTo(Action.LEAVE);
  }

  @Test
  void aMemberThatIsLeftOutHearsOfTheGenerationAndLeavesAtTheAgreedStep() {
    assertThat(PollAnswer.now(state("b", 4), Optional.of(FIVE), 5, () -> false, false))
        .contains(FIVE);
  }

  @Test
  void aServerIsToldAsAMemberIs() {
    Membership served =
        new Membership(
            5,
            Action.RUN,
            FIVE.members(),
            FIVE.batchPlan(),
            List.of(new ParameterServer(0, "s", "n1", "127.0.0.1:2")));
    assertThat(PollAnswer.now(state("s", 0), Optional.of(served), 5, () -> true, false))
        .contains(served);
    assertThat(PollAnswer.now(state("s", 5), Optional.of(served), 5, () -> false, false))
        .as("it stays in its generation until that is over")
        .isEmpty();
    assertThat(PollAnswer.now(state("s", 5), Optional.of(STOP), 6, () -> false, false))
        .contains(STOP);
    assertThat(PollAnswer.now(state("s", 0), Optional.empty(), 0, () -> false, false).orElseThrow())
        .extracting(Membership::action)
        .isEqualTo(Action.LEAVE);
  }

  @Test
  void aMemberOfTheNewestGenerationWaits() {
    assertThat(PollAnswer.now(state("a", 5), Optional.of(FIVE), 5, () -> true, false)).isEmpty();
  }

  @Test
  void membersAreToldToStopAndJoinersToLeave() {
    assertThat(PollAnswer.now(state("a", 5), Optional.of(STOP), 6, () -> false, false))
        .contains(STOP);
    assertThat(
            PollAnswer.now(state("b", 0), Optional.of(STOP), 6, () -> false, false).orElseThrow())
        .extracting(Membership::action)
        .isEqualTo(Action.LEAVE);
  }

  @Test
  void membersOfAFinishedJobEndByThemselves() {
    assertThat(PollAnswer.now(state("a", 5), Optional.of(FIVE), 5, () -> false, true)).isEmpty();
  }

  private static ReplicaState state(String pod, long generation) {
    return new ReplicaState(
        pod, "127.0.0.1:1", generation, generation == 0 ? Phase.READY : Phase.TRAINING, -1);
  }
}
