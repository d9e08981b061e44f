package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.pods.PodView;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Phase;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RecoveryTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final BatchPlan BATCH = new BatchPlan(16, 1);
  private static final List<PodView> PODS = List.of(pod("a", 0), pod("b", 1), pod("c", 2));

  @Test
  void findsThoseWhoTrainAndLeavesOutJoiners() {
    var found =
        Recovery.membership(
            PODS,
            Map.of("a", says("a", 7), "b", says("b", 7), "c", says("c", 0)),
            BATCH,
            List.of());
    assertThat(found.orElseThrow().generation()).isEqualTo(7);
    assertThat(found.get().members()).extracting(Member::pod).containsExactly("a", "b");
    assertThat(found.get().batchPlan()).isEqualTo(BATCH);
  }

  @Test
  void findsNothingWhenReplicasDisagree() {
    assertThat(
            Recovery.membership(
                PODS, Map.of("a", says("a", 7), "b", says("b", 6)), BATCH, List.of()))
        .isEmpty();
  }

  @Test
  void findsTheServersOfTheirGenerationAlone() {
    ParameterServer old = new ParameterServer(0, "s", "n1", "127.0.0.1:1");
    ParameterServer fresh = new ParameterServer(1, "t", "n1", "127.0.0.1:1");
    var found =
        Recovery.membership(
            PODS,
            Map.of("a", says("a", 7), "s", says("s", 7), "t", says("t", 0)),
            BATCH,
            List.of(old, fresh));
    assertThat(found.orElseThrow().serversOrNone()).containsExactly(old);
  }

  @Test
  void waitsForEveryRunningReplica() {
    assertThat(Recovery.allHeard(PODS, Map.of("a", says("a", 7)))).isFalse();
    assertThat(
            Recovery.allHeard(
                PODS, Map.of("a", says("a", 7), "b", says("b", 7), "c", says("c", 0))))
        .isTrue();
  }

  private static Replica says(String pod, long generation) {
    Phase phase = generation == 0 ? Phase.READY : Phase.TRAINING;
    return Replica.first(new ReplicaState(pod, "127.0.0.1:1", generation, phase, -1), NOW);
  }

  private static PodView pod(String name, long number) {
    return new PodView(
        name, number, "n1", PodView.State.RUNNING, false, NOW, NOW, 0, Optional.empty());
  }
}
