package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PodNameTest {
  private static final List<String> JOBS =
      List.of("a", "a-7", "a-7-server0", "a-server", "a-server0", "server0", "0", "1-2", "a.b-3");

  @Test
  void namesOfAllJobsAreReadAsTheyWereWrittenAndNoTwoAreTheSame() {
    for (String job : JOBS) {
      for (long number : List.of(0L, 3L, 7L, 12L)) {
        PodName replica = PodName.replica(job, number);
        assertThat(PodName.of(replica.text())).contains(replica);
        assertThat(PodName.serverIndex(replica.text())).isEmpty();
        for (int index : List.of(0, 1, 63)) {
          PodName server = PodName.server(job, number, index);
          assertThat(PodName.of(server.text())).contains(server);
          assertThat(PodName.serverIndex(server.text())).isEqualTo(OptionalInt.of(index));
        }
      }
    }
    List<String> all =
        JOBS.stream()
            .flatMap(job ->
                java.util.stream.Stream.of(
                    PodName.replica(job, 0),
                    PodName.replica(job, 7),
                    PodName.server(job, 0, 0),
                    PodName.server(job, 7, 0),
                    PodName.server(job, 7, 10)))
            .map(PodName::text)
            .toList();
    assertThat(all).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "-1", "a-", "a-01", "a-1-server", "a-1-server01", "a-server1", "a-1-x"})
  void othersAreNone(String name) {
    assertThat(PodName.of(name)).isEmpty();
  }
}
