package dev.kastor.scheduler.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Switch;
import dev.kastor.protocol.Switch.Cause;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PausesTest {
  private final Pauses pauses = new Pauses(3);

  private void observe(Cause cause, double... seconds) {
    for (double pause : seconds) {
      pauses.observe(new Switch(1, 1, 2, cause, pause));
    }
  }

  @Test
  void knowsNothingBeforeTheFirst() {
    assertThat(pauses.rescale()).isEmpty();
    assertThat(pauses.restart()).isEmpty();
  }

  @Test
  void tellsLiveChangesAndStartsApart() {
    observe(Cause.RESCALE, 0.25);
    observe(Cause.START, 8);
    assertThat(pauses.rescale()).hasValue(Duration.ofMillis(250));
    assertThat(pauses.restart()).hasValue(Duration.ofSeconds(8));
  }

  @Test
  void aFailureAndAStartThatWasNotMeasuredSayNothing() {
    observe(Cause.FAILURE, 5);
    observe(Cause.START, 0);
    assertThat(pauses.rescale()).isEmpty();
    assertThat(pauses.restart()).isEmpty();
    observe(Cause.RESCALE, 0);
    assertThat(pauses.rescale()).as("a live change may take no time").hasValue(Duration.ZERO);
  }

  @Test
  void isTheMedianOfTheNewest() {
    observe(Cause.RESCALE, 9, 1);
    assertThat(pauses.rescale()).as("the lower one of two").hasValue(Duration.ofSeconds(1));
    observe(Cause.RESCALE, 4);
    assertThat(pauses.rescale()).hasValue(Duration.ofSeconds(4));
    observe(Cause.RESCALE, 2);
    assertThat(pauses.rescale()).as("of 1, 4 and 2").hasValue(Duration.ofSeconds(2));
  }

  @Test
  void isRestoredFromWhatWasStored() {
    observe(Cause.RESCALE, 1, 2, 3, 4);
    observe(Cause.START, 5, 6);
    assertThat(pauses.rescales())
        .containsExactly(Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ofSeconds(4));
    assertThat(pauses.restarts()).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(6));
    Pauses other = new Pauses(3);
    other.restore(pauses.rescales(), pauses.restarts());
    assertThat(List.of(other.rescales(), other.restarts()))
        .isEqualTo(List.of(pauses.rescales(), pauses.restarts()));
  }
}
