package dev.kastor.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Options that shape a local cluster, where they are left out. */
final class SizingTest {
  @Test
  void pacedSlotsShareNoDevices() {
    assertThat(Sizing.devices(null, 64, true)).isEqualTo(64);
  }

  @Test
  void slotsThatAreNotPacedShareWhatTheMachineHas() {
    int machine = Sizing.slots(null);
    assertThat(Sizing.devices(null, machine + 3, false)).isEqualTo(machine);
    assertThat(Sizing.devices(null, 1, false)).isOne();
  }

  @Test
  void whatIsAskedForCounts() {
    assertThat(Sizing.devices(1, 4, true)).isOne();
    assertThat(Sizing.devices(9, 4, false)).isEqualTo(4);
  }
}
