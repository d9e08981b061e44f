package dev.kastor.operator.start;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.start.StartTimes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ReplicaStartsTest {
  @Test
  void theNewestSixAreKept() {
    List<String> lines = List.of();
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      lines = ReplicaStarts.with(lines, start("bert-" + i, i));
      all.add(start("bert-" + i, i).text());
    }
    assertThat(lines).isEqualTo(all.subList(3, 9));
  }

  @Test
  void whatIsKnownLaterReplacesWhatWasKnown() {
    List<String> lines = ReplicaStarts.with(List.of(), start("bert-1", 1));
    lines = ReplicaStarts.with(lines, start("bert-10", 2));
    lines = ReplicaStarts.with(lines, start("bert-1", 3));
    assertThat(lines).containsExactly(start("bert-10", 2).text(), start("bert-1", 3).text());
  }

  private static StartTimes start(String pod, int second) {
    return new StartTimes(
        pod, Instant.ofEpochSecond(second), Map.of(), "peers", OptionalLong.empty());
  }
}
