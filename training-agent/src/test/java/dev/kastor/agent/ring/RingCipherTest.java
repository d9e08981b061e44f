package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Ciphers by their settings. */
final class RingCipherTest {
  @Test
  void aCipherIsFoundByItsSetting() {
    assertThat(RingCipher.of("none")).isEqualTo(RingCipher.NONE);
    assertThatThrownBy(() -> RingCipher.of("rot13"))
        .hasMessageStartingWith("it must be one of ")
        .hasMessageContaining("none")
        .hasMessageEndingWith(" but is 'rot13'");
  }
}
