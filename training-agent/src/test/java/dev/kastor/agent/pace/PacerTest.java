package dev.kastor.agent.pace;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PacerTest {
  private final MovedMachine machine = new MovedMachine();
  private final List<String> warned = new ArrayList<>();
  private final Pacer pacer = new Pacer(new Pace(0.02, 0.01), machine, warned::add);

  /** One pass over 8 examples, a tenth of a second at this pace; when its computation began. */
  private Duration pass(Duration computes) {
    long before = machine.nanos();
    pacer.begin(8);
    Duration slept = Duration.ofNanos(machine.nanos() - before);
    machine.compute(computes);
    pacer.end();
    return slept;
  }

  private Duration passes(int count, Duration computes) {
    long before = machine.nanos();
    for (int i = 0; i < count; i++) {
      pass(computes);
    }
    return Duration.ofNanos(machine.nanos() - before);
  }

  @Test
  void passesLastAsLongAsTheirPace() {
    assertThat(passes(3, Duration.ofMillis(30))).isEqualTo(Duration.ofMillis(300));
    assertThat(passes(1, Duration.ZERO)).isEqualTo(Duration.ofMillis(100));
    assertThat(warned).isEmpty();
  }

  @Test
  void whatTheMachineCannotComputeInTimeTakesLonger() {
    assertThat(passes(2, Duration.ofMillis(120))).isEqualTo(Duration.ofMillis(240));
  }

  @Test
  void mostIsSleptBeforeTheComputation() {
    assertThat(pass(Duration.ofMillis(40))).as("of a time not known").isZero();
    assertThat(pass(Duration.ofMillis(40))).isEqualTo(Duration.ofMillis(50));
    assertThat(pass(Duration.ofMillis(90))).isEqualTo(Duration.ofMillis(50));
    assertThat(pass(Duration.ofMillis(40))).as("a fifth of the newest").isEqualTo(micros(37_500));
  }

  @Test
  void passesThatAreLateAreNamedWithTheSlotsThatTheMachinePaces() {
    passes(200, Duration.ofMillis(104));
    assertThat(warned).as("within five per cent").isEmpty();
    passes(100, Duration.ofMillis(120));
    assertThat(warned)
        .containsExactly(
            "passes take 1.20 times their pace: this machine is too slow or too busy for it. This replica needs 1.00 of a core, so that the 2 here pace 2 such slots");
    passes(100, Duration.ofMillis(120));
    assertThat(warned).as("not again at once").hasSize(1);
    passes(100, Duration.ofMillis(120));
    assertThat(warned).as("but ever less often").hasSize(2);
    passes(300, Duration.ofMillis(120));
    assertThat(warned).hasSize(2);
    passes(100, Duration.ofMillis(120));
    assertThat(warned).hasSize(3);
  }

  @Test
  void slotsAreThoseThatHaveTheCoresForWhatAReplicaComputes() {
    for (int i = 0; i < 100; i++) {
      pacer.begin(8);
      machine.compute(Duration.ofMillis(30));
      machine.passes(Duration.ofMillis(170));
      pacer.end();
    }
    assertThat(warned).hasSize(1);
    assertThat(warned.getFirst())
        .contains("2.00 times their pace", "0.15 of a core", "pace 13 such slots");
  }

  private static Duration micros(long micros) {
    return Duration.ofNanos(1_000 * micros);
  }
}
