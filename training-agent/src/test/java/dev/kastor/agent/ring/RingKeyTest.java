package dev.kastor.agent.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Codes by which the replicas of a job prove that they know its secret. */
@Tag("never-retried")
final class RingKeyTest {
  private static final byte[] SECRET = "0123456789abcdef0123456789abcdef".getBytes(UTF_8);
  private static final byte[] HELLO = "hello".getBytes(UTF_8);
  private static final byte[] NONCE = "nonce".getBytes(UTF_8);
  private final RingKey key = new RingKey("team/job", SECRET, RingCipher.NONE);

  /**
   * By {@code printf Chellononce | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef}.
   */
  @Test
  void aCodeIsTheMacOfTheSideTheHelloAndTheNonce() {
    assertThat(HexFormat.of().formatHex(key.code(RingKey.Side.CONNECTOR, HELLO, NONCE)))
        .isEqualTo("d275f08f30c8af360843617440622be52e7b65b0a9ea6fb2343520e3b6d5b617");
    assertThat(HexFormat.of().formatHex(key.code(RingKey.Side.ACCEPTOR, HELLO, NONCE)))
        .isEqualTo("a6bea2ca606dd35c2e18bfb31bccb428d9bf9363218bc52ff8c83ab5c88c1f8a");
  }

  @Test
  void aSecretHasTheFewestBytes() {
    assertThat(new RingKey("team/job", SECRET, RingCipher.NONE).job()).isEqualTo("team/job");
    assertThatThrownBy(() -> new RingKey("team/job", new byte[31], RingCipher.NONE))
        .hasMessage("the ring secret of job team/job has 31 bytes; at least 32 are needed");
  }
}
