package dev.kastor.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Slowest;
import java.util.List;
import org.junit.jupiter.api.Test;

class PassTimesTest {
  private final PassTimes passes = new PassTimes();

  @Test
  void comparesTheSlowestWithTheMedianOfTheOthers() {
    List<String> pods = List.of("a", "b", "c", "d");
    passes.add(pods, new double[] {1, 4, 2, 3});
    passes.add(pods, new double[] {1, 6, 2, 3});
    assertThat(passes.take()).hasValue(new Slowest("b", 5, 2));
    assertThat(passes.take()).as("what was told is forgotten").isEmpty();
  }

  @Test
  void oneAloneIsNotSlow() {
    passes.add(List.of("a"), new double[] {9});
    assertThat(passes.take()).isEmpty();
  }

  @Test
  void otherMembersBeginAnew() {
    passes.add(List.of("a", "b"), new double[] {1, 100});
    passes.add(List.of("b", "a"), new double[] {1, 2});
    assertThat(passes.take()).hasValue(new Slowest("a", 2, 1));
  }
}
