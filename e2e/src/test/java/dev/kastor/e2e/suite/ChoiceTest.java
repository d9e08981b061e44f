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
    Choice gate = new Choice("", "", false, false);
    assertThat(gate.takes(QUEUE, Set.of())).isTrue();
    assertThat(gate.takes(QUEUE, NIGHTLY)).isFalse();
    assertThat(new Choice("", "", true, false).takes(QUEUE, NIGHTLY)).isTrue();
  }

  @Test
  void aNamedScenarioComesWithAllItsSteps() {
    Choice named = new Choice("(Cli|Chart)", "", false, false);
    assertThat(named.takes(CLI, NIGHTLY)).isTrue();
    assertThat(named.takes(QUEUE, Set.of())).isFalse();
  }

  @Test
  void addedScenariosComeWhole() {
    Choice more = new Choice("", "Restart,Cli", false, false);
    assertThat(more.takes(CLI, NIGHTLY)).isTrue();
    assertThat(more.takes(QUEUE, NIGHTLY)).isFalse();
    assertThat(more.takes(QUEUE, Set.of())).isTrue();
  }

  @Test
  void aSecondTryOfAGateHasTheStepsOfTheFirst() {
    Choice again = new Choice("(Servers|Cli)", "Cli", false, true);
    String servers = "dev.kastor.e2e.scenario.ServersScenario";
    assertThat(again.takes(servers, Set.of())).isTrue();
    assertThat(again.takes(servers, NIGHTLY)).isFalse();
    assertThat(again.takes(CLI, NIGHTLY)).isTrue();
    assertThat(again.takes(QUEUE, Set.of())).isFalse();
  }
}
