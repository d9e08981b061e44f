package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.TrainingState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
class StateCodecTest {
  private final TrainingState state = States.random(7, 33);

  private byte[] bytes() {
    try (Arena arena = Arena.ofConfined()) {
      return StateCodec.encode(state, arena).toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private static TrainingState decode(byte[] bytes) throws CheckpointException {
    return StateCodec.decode(MemorySegment.ofArray(bytes));
  }

  @Test
  void returnsEveryBit() throws CheckpointException {
    byte[] bytes = bytes();
    assertThat(bytes).hasSize((int) StateCodec.encodedBytes(state.forms()));
    TrainingState decoded = decode(bytes);
    States.assertIdentical(decoded, state);
    assertThat(decoded.step()).isEqualTo(7);
    States.assertIdentical(decoded.copy(), state);
  }

  @Test
  void refusesEveryTruncation() {
    byte[] bytes = bytes();
    for (int length = 0; length < bytes.length; length++) {
      byte[] shorter = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> decode(shorter)).isInstanceOf(CheckpointException.class);
    }
  }

  @Test
  void refusesTablesThatAreNone() {
    assertThatThrownBy(() -> decode(with(3, 0x80))).hasMessageContaining("table of its sections");
    assertThatThrownBy(() -> decode(with(2, 1))).hasMessageContaining("table of its sections");
    // The first section: the length of its name, its type, its length.
    assertThatThrownBy(() -> decode(with(5, 0x7f))).hasMessageContaining("cannot be read");
    assertThatThrownBy(() -> decode(with(10, 9))).hasMessageContaining("of type 9");
    assertThatThrownBy(() -> decode(with(11, 2))).hasMessageContaining("bytes together and not");
    assertThatThrownBy(() -> decode(with(18, 0x80))).hasMessageContaining("negative length");
    assertThatThrownBy(() -> decode(with(18, 0x7f))).hasMessageContaining("cannot be read");
  }

  private byte[] with(int at, int value) {
    byte[] bytes = bytes();
    bytes[at] = (byte) value;
    return bytes;
  }
}
