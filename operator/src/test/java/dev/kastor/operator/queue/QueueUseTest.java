package dev.kastor.operator.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.StopPolicy;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class QueueUseTest {
  private static Queue queue(String name, String cohort, Quota quota) {
    return new Queue(name, 1, cohort, Optional.of(quota), StopPolicy.NONE);
  }

  @Test
  void whatIsBorrowedIsLentByThoseWhoLeaveIt() {
    Map<String, Queue> queues =
        Map.of(
            "a", queue("a", "c", new Quota(4)),
            "b", queue("b", "c", new Quota(9)),
            "d", queue("d", "c", new Quota(6, 0, 2)),
            "e", queue("e", "", new Quota(5)),
            "f", new Queue("f"));
    Map<String, QueueUse> uses = QueueUse.of(queues, Map.of("a", 9, "b", 3, "e", 1, "f", 7));
    assertThat(uses)
        .containsEntry("a", new QueueUse(4, 9, 5, 0))
        .containsEntry("b", new QueueUse(9, 3, 0, 4))
        .containsEntry("d", new QueueUse(6, 0, 0, 1))
        .containsEntry("e", new QueueUse(5, 1, 0, 0))
        .doesNotContainKey("f");
  }

  @Test
  void nobodyLendsWhatNobodyBorrows() {
    Map<String, Queue> queues = Map.of("a", queue("a", "c", new Quota(4)));
    assertThat(QueueUse.of(queues, Map.of())).containsEntry("a", new QueueUse(4, 0, 0, 0));
  }
}
