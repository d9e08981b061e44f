package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.start.StartMarks;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Phase;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ReplicaTest {
  private static final Instant BEGIN = Instant.parse("2026-11-26T12:00:00Z");

  @Test
  void theTimesOfAStartAreThoseOfThePolls() {
    Replica replica =
        Replica.first(says(Phase.STARTING, 0), at(1))
            .next(says(Phase.STARTING, 0), at(2))
            .next(says(Phase.READY, 0), at(3))
            .next(says(Phase.READY, 0), at(4))
            .told(at(5))
            .next(says(Phase.TRAINING, 7), at(6))
            .next(says(Phase.TRAINING, 7), at(7));
    assertThat(replica.start()).isEqualTo(new StartMarks(at(1), at(3), at(5), at(6)));
    assertThat(replica.started().next(says(Phase.TRAINING, 8), at(9)).start()).isNull();
  }

  @Test
  void aNewerGenerationBeforeTheFirstStepCountsInstead() {
    Replica replica =
        Replica.first(says(Phase.READY, 0), at(1))
            .told(at(2))
            .next(says(Phase.TRAINING, 7), at(3))
            .next(says(Phase.BROKEN, 7), at(4))
            .told(at(5))
            .next(says(Phase.TRAINING, 8), at(6));
    assertThat(replica.start()).isEqualTo(new StartMarks(at(1), at(1), at(5), at(6)));
  }

  @Test
  void theStartOfAReplicaThatTrainsAlreadyWasSeenByAnotherOperator() {
    Replica replica = Replica.first(says(Phase.TRAINING, 7), at(1));
    assertThat(replica.start()).isNull();
    assertThat(replica.told(at(2)).next(says(Phase.TRAINING, 8), at(3)).start()).isNull();
  }

  private static ReplicaState says(Phase phase, long generation) {
    return new ReplicaState("a", "127.0.0.1:1", generation, phase, -1);
  }

  private static Instant at(int second) {
    return BEGIN.plusSeconds(second);
  }
}
