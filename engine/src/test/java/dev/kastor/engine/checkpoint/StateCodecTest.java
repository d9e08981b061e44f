package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.TrainingState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class StateCodecTest {
  private final TrainingState state = States.random(7, 33);

  @Test
  void returnsEveryBit() throws CheckpointException {
    TrainingState copy = StateCodec.fromBytes(StateCodec.toBytes(state));

    States.assertIdentical(copy, state);
  }

  @Test
  void writesTheSameBytesToNativeMemory() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = StateCodec.encode(state, arena);

      assertThat(segment.byteSize()).isEqualTo(StateCodec.encodedBytes(state));
      assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(StateCodec.toBytes(state));
    }
  }

  @Test
  void refusesEveryTruncation() {
    byte[] bytes = StateCodec.toBytes(state);
    for (int length = 0; length < bytes.length; length++) {
      byte[] shorter = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> StateCodec.fromBytes(shorter))
          .isInstanceOf(CheckpointException.class);
    }
  }

  @Test
  void refusesLengthsThatTheBytesCannotHold() {
    byte[] huge = StateCodec.toBytes(state);
    Arrays.fill(huge, 40, 44, (byte) 0x7f);
    assertThatThrownBy(() -> StateCodec.fromBytes(huge)).hasMessageContaining("add up to");

    byte[] negative = StateCodec.toBytes(state);
    negative[43] = (byte) 0x80;
    assertThatThrownBy(() -> StateCodec.fromBytes(negative)).hasMessageContaining("parameters");
  }
}
