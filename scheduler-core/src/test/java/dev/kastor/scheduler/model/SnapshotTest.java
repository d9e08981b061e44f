package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SnapshotTest {
  @Test
  void queuesThatNobodyListedWeighOne() {
    Snapshot snapshot =
        new Snapshot(
            Instant.EPOCH, List.of(), List.of(), Map.of("night", new Queue("night", 0.25)));
    assertThat(snapshot.queue("night").weight()).isEqualTo(0.25);
    assertThat(snapshot.queue("day")).isEqualTo(new Queue("day", 1));
    assertThat(snapshot.queue("").weight()).isEqualTo(1);
  }

  @Test
  void readsQueuesAndSaysWhatIsWrong() {
    assertThat(Queue.parse("research=3, night=0.5"))
        .containsExactly(
            Map.entry("research", new Queue("research", 3)),
            Map.entry("night", new Queue("night", 0.5)));
    assertThat(Queue.parse(" ")).isEmpty();
    for (String bad : List.of("research", "=1", "a=0", "a=-1", "a=x", "a=1,", "a=Infinity")) {
      assertThatThrownBy(() -> Queue.parse(bad)).hasMessageContaining("research=3,night=0.5");
    }
    assertThatThrownBy(() -> Queue.parse("a=1,a=2")).hasMessageContaining("'a' appears twice");
  }

  @Test
  void refusesWeightsAndPricesThatAreNone() {
    for (double weight : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Queue("q", weight))
          .hasMessageContaining("weight of queue 'q' must be a number above 0");
    }
    for (double price : new double[] {-0.1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Node("n", "", 4, "", false, price))
          .hasMessageContaining("pricePerHour of node n");
    }
    Map<String, Queue> misnamed = Map.of("a", new Queue("b", 1));
    assertThatThrownBy(() -> new Snapshot(Instant.EPOCH, List.of(), List.of(), misnamed))
        .hasMessageContaining("queue 'b' under the name 'a'");
  }
}
