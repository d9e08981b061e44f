package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.crypto.spec.HKDFParameterSpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
}
