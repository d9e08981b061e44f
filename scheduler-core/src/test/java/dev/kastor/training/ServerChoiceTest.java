package dev.kastor.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerChoiceTest {
  @Test
  void mostJobsHaveNoServers() {
    assertThat(ServerChoice.of(null)).isEmpty();
    assertThat(ServerChoice.of(Map.of())).isEmpty();
    assertThat(ServerChoice.of(Map.of("sync", Map.of("local", Map.of("steps", 8))))).isEmpty();
  }

  @Test
  void oneServerInStepIsUsual() {
    ServerChoice usual = new ServerChoice(1, false, 0);
    assertThat(ServerChoice.of(Map.of("sync", "parameter-server"))).contains(usual);
    assertThat(servers(Map.of())).isEqualTo(usual);
    assertThat(usual.inStep()).isTrue();
    assertThat(usual.shares(3)).isEqualTo(3);
  }

  @Test
  void backupWorkersAddNoSharesAndHideSlowOnes() {
    ServerChoice choice = servers(Map.of("servers", 3, "backup", 2));
    assertThat(choice).isEqualTo(new ServerChoice(3, false, 2));
    assertThat(choice.inStep()).isFalse();
    assertThat(choice.shares(5)).isEqualTo(3);
    assertThat(choice.shares(2)).as("at least one").isEqualTo(1);
  }

  @Test
  void withoutStepsEachBatchIsAnUpdate() {
    ServerChoice choice = servers(Map.of("mode", "asynchronous", "mostStaleness", 4));
    assertThat(choice.inStep()).isFalse();
    assertThat(choice.shares(5)).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "servers, 0",
    "servers, 65",
    "servers, -1",
    "servers, many",
    "servers, 1.5",
    "backup, -1",
    "backup, x",
    "mode, synchronous"
  })
  void wrongValuesAreNamed(String option, String value) {
    assertThatThrownBy(() -> servers(Map.of(option, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("training.sync.parameter-server." + option)
        .hasMessageContaining("'" + value + "'");
  }

  private static ServerChoice servers(Map<String, ?> options) {
    return ServerChoice.of(Map.of("sync", Map.of("parameter-server", options))).orElseThrow();
  }
}
