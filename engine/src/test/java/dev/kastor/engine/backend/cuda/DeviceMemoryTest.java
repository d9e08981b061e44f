package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DeviceMemoryTest {
  private final Gpu gpu = new Gpu(10_240);

  /** So many bytes, and what was taken of them. */
  private static final class Gpu implements DeviceMemory.Source {
    final long bytes;
    final Map<Long, Long> taken = new HashMap<>();
    long next = 4096;
    int asked;

    Gpu(long bytes) {
      this.bytes = bytes;
    }

    long used() {
      return taken.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public OptionalLong allocate(long wanted) {
      asked++;
      if (used() + wanted > bytes) {
        return OptionalLong.empty();
      }
      taken.put(next, wanted);
      next += wanted;
      return OptionalLong.of(next - wanted);
    }

    @Override
    public void free(long address) {
      assertThat(taken.remove(address)).as("a block of ours").isNotNull();
    }

    @Override
    public String state() {
      return "%d of %d are free".formatted(bytes - used(), bytes);
    }
  }

  @Test
  void aBlockThatWasGivenBackServesWhoeverNeedsAboutAsMuch() {
    var memory = new DeviceMemory(gpu, Long.MAX_VALUE);
    long first = memory.allocate(5000); // Ten grains of 512.
    memory.free(first);
    assertThat(memory.reservedBytes()).isEqualTo(5120);
    assertThat(memory.heldBytes()).isZero();
    assertThat(memory.allocate(4096)).as("eight of its ten grains").isEqualTo(first);
    memory.free(first);
    assertThat(memory.allocate(3584)).as("seven are too few").isNotEqualTo(first);
    assertThat(gpu.asked).isEqualTo(2);
    memory.trim();
    assertThat(gpu.used()).isEqualTo(3584);
  }

  @Test
  void whatIsKeptMakesRoomForWhatIsNeeded() {
    var memory = new DeviceMemory(gpu, 8192);
    memory.free(memory.allocate(3072));
    long small = memory.allocate(1024);
    memory.free(memory.allocate(2048));
    assertThat(memory.reservedBytes()).isEqualTo(6144);
    memory.allocate(5120); // The 3072 go, the 2048 may stay.
    assertThat(gpu.taken.values()).containsExactlyInAnyOrder(1024L, 2048L, 5120L);
    memory.free(small);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> memory.free(small))
        .withMessageContaining("Nothing is allocated at");
  }

  @Test
  void aGpuThatOthersUseTooGetsBackWhatIsKeptBeforeAnybodyFails() {
    var memory = new DeviceMemory(gpu, Long.MAX_VALUE);
    memory.free(memory.allocate(6144));
    long block = memory.allocate(8192);
    assertThat(gpu.taken).containsOnlyKeys(block);
    assertThatExceptionOfType(OutOfGpuMemoryException.class)
        .isThrownBy(() -> memory.allocate(4096))
        .withMessage("4096 bytes of GPU memory are needed, and 2048 of 10240 are free.");
    assertThat(memory.heldBytes()).isEqualTo(8192);
  }

  @Test
  void theCapIsNeverExceededAndNoTwoBlocksOverlap() {
    var memory = new DeviceMemory(new Gpu(1 << 20), 64 << 10);
    Random random = new Random(7);
    Map<Long, Long> blocks = new HashMap<>();
    int refused = 0;
    for (int i = 0; i < 5000; i++) {
      long bytes = 1 + random.nextLong(16 << 10);
      if (random.nextBoolean() && !blocks.isEmpty()) {
        List<Long> addresses = new ArrayList<>(blocks.keySet());
        long address = addresses.get(random.nextInt(addresses.size()));
        blocks.remove(address);
        memory.free(address);
      } else {
        try {
          long address = memory.allocate(bytes);
          for (Map.Entry<Long, Long> other : blocks.entrySet()) {
            assertThat(
                    address + bytes <= other.getKey()
                        || other.getKey() + other.getValue() <= address)
                .isTrue();
          }
          blocks.put(address, bytes);
        } catch (OutOfGpuMemoryException e) {
          assertThat(e).hasMessageContaining("of the cap of 65536 are in use");
          refused++;
        }
      }
      long held = blocks.values().stream().mapToLong(Long::longValue).sum();
      assertThat(memory.heldBytes()).isBetween(held, memory.reservedBytes());
      assertThat(memory.reservedBytes()).isLessThanOrEqualTo(64 << 10);
    }
    assertThat(refused).isPositive();
    blocks.keySet().forEach(memory::free);
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void sizesThatMakeNoSenseAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new DeviceMemory(gpu, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new DeviceMemory(gpu, 1).allocate(0))
        .withMessage("bytes must be at least 1, got 0.");
  }
}
