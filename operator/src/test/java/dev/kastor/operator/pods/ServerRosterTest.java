package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.pods.PodView.State;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ServerRosterTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void missingOnesAreMadeOnceEach() {
    assertThat(roster(2).missing()).containsExactly(0, 1);
    ServerRoster one = roster(2, running(1, 4));
    assertThat(one.missing()).containsExactly(0);
    assertThat(one.kept()).containsExactly(running(1, 4));
  }

  @Test
  void allGoWithTheReplicas() {
    ServerRoster none = roster(0, running(0, 2), running(1, 3));
    assertThat(none.surplus()).hasSize(2);
    assertThat(none.missing()).isEmpty();
    assertThat(none.kept()).isEmpty();
  }

  @Test
  void oneBeyondWhatTheJobAsksForGoes() {
    assertThat(roster(1, running(0, 2), running(1, 3)).surplus()).containsExactly(running(1, 3));
  }

  @Test
  void oneThatFailedIsMadeAgain() {
    assertThat(roster(1, server(0, 2, State.FAILED, false, "n1")).missing()).containsExactly(0);
  }

  @Test
  void oneThatIsEvictedServesWhileTheNextStarts() {
    ServerRoster leaving = roster(1, server(0, 2, State.RUNNING, true, "n1"));
    assertThat(leaving.missing()).containsExactly(0);
    assertThat(leaving.kept()).isEmpty();
    assertThat(leaving.surplus()).isEmpty();
  }

  @Test
  void theNextWaitsForOneThatWasToldToStop() {
    for (boolean deleting : List.of(false, true)) {
      ServerPod stops = server(0, 2, State.RUNNING, deleting, "n1");
      ServerRoster told = ServerRoster.of(1, List.of(stops), Set.of("job-2-server0"), pod -> false);
      assertThat(told.kept()).isEmpty();
      assertThat(told.missing()).isEmpty();
    }
    ServerPod stopped = server(0, 2, State.SUCCEEDED, false, "n1");
    assertThat(
            ServerRoster.of(1, List.of(stopped), Set.of("job-2-server0"), pod -> false).missing())
        .containsExactly(0);
  }

  @Test
  void noneWaitsForOneOnALostNode() {
    ServerPod there = server(0, 2, State.RUNNING, false, "dead");
    ServerPod leaving = server(0, 2, State.RUNNING, true, "dead");
    assertThat(roster(1, there).missing()).containsExactly(0);
    assertThat(roster(1, there).surplus()).as("it is to go").containsExactly(there);
    assertThat(roster(1, leaving).missing()).containsExactly(0);
    assertThat(roster(1, leaving).surplus()).isEmpty();
  }

  @Test
  void ofTwoForOneShardTheOlderStays() {
    ServerRoster two = roster(1, running(0, 5), running(0, 2));
    assertThat(two.kept()).containsExactly(running(0, 2));
    assertThat(two.surplus()).containsExactly(running(0, 5));
  }

  private static ServerRoster roster(int wanted, ServerPod... servers) {
    return ServerRoster.of(wanted, List.of(servers), Set.of(), pod -> pod.node().equals("dead"));
  }

  private static ServerPod running(int index, long number) {
    return server(index, number, State.RUNNING, false, "n1");
  }

  private static ServerPod server(
      int index, long number, State state, boolean deleting, String node) {
    return new ServerPod(
        index,
        new PodView(
            "job-%d-server%d".formatted(number, index),
            number,
            node,
            state,
            deleting,
            NOW,
            NOW,
            0,
            Optional.empty()));
  }
}
