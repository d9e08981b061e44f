package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The counts that a page shows of updates by staleness. */
class ServersViewTest {
  @Test
  void greatValuesShareTheLastCount() {
    List<Long> counts = LongStream.rangeClosed(1, 64).boxed().toList();
    List<Long> folded = ServersView.folded(counts);
    assertThat(folded).hasSize(16).startsWith(1L, 2L, 3L).contains(15L);
    assertThat(folded.getLast()).isEqualTo((16L + 64) * 49 / 2);
  }

  @Test
  void fewCountsStayAsTheyAre() {
    assertThat(ServersView.folded(List.of(5L, 3L, 0L))).containsExactly(5L, 3L, 0L);
    assertThat(ServersView.folded(List.of())).isEmpty();
  }
}
