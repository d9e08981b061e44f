package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.crypto.spec.HKDFParameterSpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("never-retried")
class SealTest {
  private static final int BYTES = 100;
  private static final HKDFParameterSpec KEY =
      Crew.KEY.traffic(Crew.bytes("hello"), Crew.bytes("nonce"));

  private final List<byte[]> frames = new ArrayList<>();

  private static Seal receiver(RingCipher cipher) {
    return Objects.requireNonNull(Seal.receiving(cipher, KEY, 3));
  }

  /** Frames of the same content. */
  private void send(RingCipher cipher, int number) {
    Seal sender = Objects.requireNonNull(Seal.sending(cipher, KEY, 3));
    for (int i = 0; i < number; i++) {
      byte[] frame = new byte[Frame.HEADER_BYTES + BYTES + Seal.TAG_BYTES];
      assertThat(sender.seal(frame, BYTES)).isEqualTo(frame.length);
      frames.add(frame);
    }
  }

  private static byte[] open(Seal receiver, byte[] frame) throws IOException {
    byte[] payload = new byte[BYTES];
    receiver.open(frame, 0, BYTES, payload);
    return payload;
  }

  @ParameterizedTest
  @EnumSource
  void aWarmUpEndsWithEveryCipher(RingCipher cipher) {
    cipher.warmUp();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void opensWhatWasSealedOverSeveralKeys(RingCipher cipher) throws Exception {
    send(cipher, 10);
    Seal receiver = receiver(cipher);
    Set<String> different = new HashSet<>();
    for (byte[] frame : frames) {
      different.add(Arrays.toString(frame));
      assertThat(open(receiver, frame)).containsOnly(0);
    }
    assertThat(different).hasSize(frames.size());
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void opensNoFrameOfWhichABitIsChanged(RingCipher cipher) {
    send(cipher, 1);
    for (int bit = 0; bit < Byte.SIZE * frames.getFirst().length; bit++) {
      byte[] changed = frames.getFirst().clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertForged(receiver(cipher), changed);
    }
  }

  @Test
  void opensNoFrameTwiceNorOutOfTurn() throws Exception {
    send(RingCipher.AES_GCM, 2);
    Seal receiver = receiver(RingCipher.AES_GCM);
    open(receiver, frames.getFirst());
    assertForged(receiver, frames.getFirst());
    assertForged(receiver(RingCipher.AES_GCM), frames.get(1));
  }

  @Test
  void eachHandshakeHasAKeyOfItsOwn() {
    send(RingCipher.AES_GCM, 1);
    HKDFParameterSpec other = Crew.KEY.traffic(Crew.bytes("hello"), Crew.bytes("another"));
    assertForged(
        Objects.requireNonNull(Seal.receiving(RingCipher.AES_GCM, other)), frames.getFirst());
  }

  private static void assertForged(Seal receiver, byte[] frame) {
    assertThatThrownBy(() -> open(receiver, frame))
        .isInstanceOf(RingBrokenException.class)
        .hasMessage(Seal.FORGED);
  }

  /**
   * Tags of frames of zeros by another implementation: Python's {@code hmac} for HKDF (RFC 5869)
   * and OpenSSL for the ciphers. A frame's key is the connection's, expanded with {@code next} once
   * for every three frames before it; both ends together could leave that out, or take another.
   */
  @ParameterizedTest
  @CsvSource({
    "AES_GCM, 0, c94d86fe103c3c7ceb69dd96b7162144",
    "AES_GCM, 2, 17822f8ea82050f8979ada2e00192fb7",
    "AES_GCM, 3, 8be5d4cfa48722f0b3f849813f4bccf9",
    "AES_GCM, 5, 9b7fa820efe9acd96e58b9f1967fe0b6",
    "AES_GCM, 6, dbfc7d29434908f4f9d5a1e9cde0e6fa",
    "AES_GCM, 9, 9724c617d6b81729976f25247c7a66c1",
    "CHACHA20, 0, 1fe164b412fc287bebce509027d01ef6",
    "CHACHA20, 2, e5ecc360bb7f5cc94e100b949e22661f",
    "CHACHA20, 3, 4cbe4a7e8b8adf5461b845dd01f81714",
    "CHACHA20, 5, fe706605131cb15093c1f3759c8a9a96",
    "CHACHA20, 6, 913f49e1dbe2d88f6b265b2af8cbc0bc",
    "CHACHA20, 9, 56dfba4f705286e38b5ea01623d0c837"
  })
  void framesAreThoseOfAnotherImplementation(RingCipher cipher, int frame, String tag) {
    send(cipher, 10);
    byte[] sealed = frames.get(frame);
    assertThat(Arrays.copyOfRange(sealed, sealed.length - Seal.TAG_BYTES, sealed.length))
        .isEqualTo(HexFormat.of().parseHex(tag));
  }

  @Test
  void noKeyIsUsedForMoreThan256GiB() {
    assertThat(Seal.FRAMES_PER_KEY).isEqualTo(2_097_152);
    assertThat(Seal.FRAMES_PER_KEY * Frame.MAX_PAYLOAD).isEqualTo(256L << 30);
  }

  /** The tenth byte of a hello: what a replica of the same version of the protocol must read. */
  @ParameterizedTest
  @CsvSource({"NONE, 0", "AES_GCM, 1", "CHACHA20, 2"})
  void theHelloSaysWhichCipherFollows(RingCipher cipher, int code) throws Exception {
    Hello hello = new Hello(Hello.Purpose.RING, cipher, "team/job", 7, 1, 2);
    byte[] bytes = hello.encode(new byte[Hello.NONCE_BYTES]);
    assertThat(bytes[9]).isEqualTo((byte) code);
    assertThat(Hello.decode(bytes)).isEqualTo(hello);
  }
}
