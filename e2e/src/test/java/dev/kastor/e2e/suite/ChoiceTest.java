package dev.kastor.e2e.suite;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class ChoiceTest {
  private static final String QUEUE = "dev.kastor.e2e.scenario.QueueScenario";
  private static final String CLI = "dev.kastor.e2e.scenario.CliScenario";
  private static final Set<String> NIGHTLY = Set.of(Choice.NIGHTLY);

  @Test
  void withoutANameAllThatIsNotNightly() {
    Choice gate = new Choice("", "", false);
    assertThat(gate.takes(QUEUE, Set.of())).isTrue();
    assertThat(gate.takes(QUEUE, NIGHTLY)).isFalse();
    assertThat(new Choice("", "", true).takes(QUEUE, NIGHTLY)).isTrue();
  }

  @Test
  void aNamedScenarioComesWithAllItsSteps() {
    Choice named = new Choice("(Cli|Chart)", "", false);
    assertThat(named.takes(CLI, NIGHTLY)).isTrue();
    assertThat(named.takes(QUEUE, Set.of())).isFalse();
  }

  @Test
  void addedScenariosComeWhole() {
    Choice more = new Choice("", "Restart,Cli", false);
    assertThat(more.takes(CLI, NIGHTLY)).isTrue();
    assertThat(more.takes(QUEUE, NIGHTLY)).isFalse();
    assertThat(more.takes(QUEUE, Set.of())).isTrue();
  }
}
