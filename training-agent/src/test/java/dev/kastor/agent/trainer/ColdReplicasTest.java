package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ColdReplicasTest {
  private static final long COLD = Duration.ofSeconds(10).toNanos();

  private final ColdReplicas replicas = new ColdReplicas(Duration.ofSeconds(10));
  private long generation;

  private void join(long now, String... pods) {
    List<Member> members = new ArrayList<>();
    for (String pod : pods) {
      members.add(new Member(pod, members.size(), "127.0.0.1:1", "node"));
    }
    generation++;
    replicas.joined(new Membership(generation, Action.RUN, members, new BatchPlan(1, 0)), now);
  }

  @Test
  void aReplicaAloneIsNeverCold() {
    join(100, "a");
    assertThat(replicas.warm(100)).isTrue();
  }

  @Test
  void thoseThatStartTogetherAreColdForAWhile() {
    join(100, "a", "b");
    assertThat(replicas.warm(100 + COLD - 1)).isFalse();
    assertThat(replicas.warm(100 + COLD)).isTrue();
  }

  @Test
  void oneThatJoinsMakesAllCold() {
    join(0, "a", "b");
    join(2 * COLD, "a", "b", "c");
    assertThat(replicas.warm(2 * COLD)).isFalse();
    assertThat(replicas.warm(3 * COLD)).isTrue();
  }

  @Test
  void oneThatTakesTheLastOnesPlaceIsNew() {
    join(0, "a", "b");
    join(2 * COLD, "a", "c");
    assertThat(replicas.warm(2 * COLD)).isFalse();
  }

  @Test
  void anotherBatchOrFewerReplicasChangeNothing() {
    join(0, "a", "b", "c");
    join(COLD / 2, "a", "b");
    assertThat(replicas.warm(COLD - 1)).isFalse();
    assertThat(replicas.warm(COLD)).isTrue();
    join(2 * COLD, "a", "b");
    assertThat(replicas.warm(2 * COLD)).isTrue();
  }

  @Test
  void whoIsLeftAloneIsWarm() {
    join(0, "a", "b");
    join(1, "a");
    assertThat(replicas.warm(1)).isTrue();
  }
}
