package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaState;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClientNoticesTest {
  @Test
  void readsTheVersionOfTheProtocol() {
    assertThat(ClientNotices.protocol("kastor-python/0.1 protocol/2 torch/2.15")).isEqualTo(2);
    assertThat(ClientNotices.protocol("protocol/17")).isEqualTo(17);
    assertThat(ClientNotices.protocol("protocol/x myprotocol/3 protocol/99999999999")).isZero();
    assertThat(ClientNotices.protocol("")).isZero();
  }

  @Test
  void listsEachNameOnceAndFewOfThem() {
    assertThat(names("b/1", "", "a/2", "b/1")).containsExactly("b/1", "a/2");
    assertThat(names(IntStream.range(0, 20).mapToObj(i -> "c/" + i).toArray(String[]::new)))
        .hasSize(8);
  }

  @Test
  void aNameIsOneShortLine() {
    assertThat(state("x\u001b[31m\ny\u202e" + "z".repeat(500)).client())
        .hasSize(ReplicaState.MAX_CLIENT_CHARS)
        .startsWith("x\ufffd[31m y\ufffdzz");
    assertThat(state("  \t").client()).isEmpty();
  }

  private static List<String> names(String... clients) {
    Map<String, Replica> replicas = new HashMap<>();
    List<Member> members =
        IntStream.range(0, clients.length)
            .mapToObj(i -> new Member("pod-" + i, i, "h:1", "n"))
            .toList();
    for (int i = 0; i < clients.length; i++) {
      replicas.put("pod-" + i, Replica.first(state(clients[i]), Instant.EPOCH));
    }
    return ClientNotices.of(
        new Membership(1, Membership.Action.RUN, members, new BatchPlan(1, 0)), replicas);
  }

  private static ReplicaState state(String client) {
    return new ReplicaState(
        "pod", "h:1", 0, ReplicaState.Phase.READY, -1, false, ReplicaState.Doing.TRAIN, client, 0);
  }
}
