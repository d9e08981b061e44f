package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Hello of a connecting replica, as bytes. */
final class HelloTest {
  private static final byte[] NONCE = new byte[Hello.NONCE_BYTES];

  private static Hello hello(String job) {
    return new Hello(Hello.Purpose.SERVER, RingCipher.NONE, job, 1L << 40, 3, 4);
  }

  @Test
  void itIsReadAsItWasWritten() throws IOException {
    Hello hello = hello("team/jöb");
    assertThat(Hello.decode(hello.encode(NONCE))).isEqualTo(hello);
    assertThat(hello.key()).isEqualTo(new Hello.Key(Hello.Purpose.SERVER, 1L << 40, 3, 4));
  }

  @Test
  void aNameIsAsLongAsFits() throws IOException {
    int most = Hello.MAX_BYTES - hello("").encode(NONCE).length;
    Hello longest = hello("j".repeat(most));
    assertThat(longest.encode(NONCE)).hasSize(Hello.MAX_BYTES);
    assertThat(Hello.decode(longest.encode(NONCE))).isEqualTo(longest);
    assertThatThrownBy(() -> hello("j".repeat(most + 1)).encode(NONCE))
        .hasMessageEndingWith("has %d bytes; at most %d fit a handshake".formatted(most + 1, most));
  }

  @Test
  void whatIsCutOrOfAnotherKindIsRefused() {
    byte[] good = hello("").encode(NONCE);
    assertThatThrownBy(() -> Hello.decode(new byte[good.length - 1]))
        .hasMessage("hello of %d bytes is too short".formatted(good.length - 1));
    assertThatThrownBy(() -> Hello.decode(new byte[good.length]))
        .hasMessage("not a Kastor ring connection");
    byte[] longer = ByteBuffer.allocate(good.length + 1).put(good).array();
    assertThatThrownBy(() -> Hello.decode(longer))
        .hasMessage("hello's job name has the wrong length");
  }

  @Test
  void anotherVersionIsNamed() {
    byte[] other = hello("team/job").encode(NONCE);
    other[6] = '1';
    other[7] = '9';
    assertThatThrownBy(() -> Hello.decode(other))
        .hasMessageStartingWith(
            "it speaks version 19 of the ring protocol and this replica version 04:");
  }
}
