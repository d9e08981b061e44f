package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Blocks that are free make room for others, whatever their sizes are. */
class MemoryTest {
  private static final int CAP = 1 << 20;

  private final Memory memory = new Memory(CAP);

  @AfterEach
  void close() {
    memory.close();
  }

  @Test
  void smallBlocksThatAreFreeMakeRoomForLargeOnes() {
    List<Value> small = fill(Type.f32(256));
    small.forEach(Value::release);
    assertThat(memory.usedBytes()).isZero();
    Value large = memory.allocate(Type.f32(CAP / 4), "large");
    assertThat(memory.reservedBytes()).isEqualTo(CAP);
    large.release();
    fill(Type.f32(512)).forEach(Value::release);
    assertThat(memory.usedBytes()).isZero();
  }

  @Test
  void aSlabStaysWhileOneOfItsBlocksIsHeld() {
    List<Value> small = fill(Type.f32(256));
    Value held = small.remove(small.size() / 2);
    held.tensor().write(new float[256], 0);
    small.forEach(Value::release);
    assertThatThrownBy(() -> memory.allocate(Type.f32(CAP / 4), "large"))
        .isInstanceOf(MemoryCapException.class)
        .hasMessageContaining("large");
    assertThat(held.tensor().get(255)).isZero();
    memory.allocate(Type.f32(CAP / 8), "half").release();
    assertThat(held.tensor().get(0)).isZero();
    held.release();
    memory.allocate(Type.f32(CAP / 4), "large").release();
  }

  @Test
  void whatTheSystemDoesNotHaveCountsForNothing() {
    try (Memory large = new Memory(Long.MAX_VALUE);
        Memory.Lasting lasting = large.lasting("more than there is")) {
      assertThatThrownBy(() -> lasting.allocate(1L << 60, 64)).isInstanceOf(OutOfMemoryError.class);
      assertThat(large.reservedBytes()).isZero();
      assertThat(large.usedBytes()).isZero();
    }
  }

  /** As many as the cap lets be. */
  private List<Value> fill(Type type) {
    List<Value> all = new ArrayList<>();
    int bytes = 4 * type.shape().elements();
    for (int i = 0; i < CAP / bytes; i++) {
      all.add(memory.allocate(type, "small"));
    }
    return all;
  }
}
