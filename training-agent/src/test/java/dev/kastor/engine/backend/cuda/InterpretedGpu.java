package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.Backend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A GPU that is none: its memory is the machine's, and its kernels are interpreted. */
public final class InterpretedGpu implements Gpu, Interpreter.Memory {
  private final NavigableMap<Long, Allocation> allocations = new TreeMap<>();
  private final Consumer<String> loaded;

  private record Allocation(MemorySegment segment, Arena arena) {}

  private InterpretedGpu(Consumer<String> loaded) {
    this.loaded = loaded;
  }

  /** The backend on such a GPU. */
  public static Backend backend() {
    return backend(_ -> {});
  }

  /** The same where somebody sees the text of all kernels. */
  public static Backend backend(Consumer<String> loaded) {
    return new CudaBackend(new InterpretedGpu(loaded));
  }

  @Override
  public String name() {
    return "interpreter";
  }

  @Override
  public long allocate(long bytes) {
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(bytes, 256);
    // What was never written must not pass for 0.
    segment.fill((byte) 0x7f);
    allocations.put(segment.address(), new Allocation(segment, arena));
    return segment.address();
  }

  @Override
  public void free(long address) {
    Allocation found = allocations.remove(address);
    if (found == null) {
      throw new IllegalArgumentException("Nothing is allocated at " + address);
    }
    found.arena.close();
  }

  @Override
  public MemorySegment at(long address, int bytes) {
    var entry = allocations.floorEntry(address);
    if (entry == null || address + bytes > entry.getKey() + entry.getValue().segment.byteSize()) {
      throw new IndexOutOfBoundsException("Nothing is allocated at " + address);
    }
    return entry.getValue().segment.asSlice(address - entry.getKey(), bytes);
  }

  @Override
  public Module load(String ptx) {
    loaded.accept(ptx);
    return new Interpreted(Interpreter.read(ptx));
  }

  @Override
  public void copyIn(long address, MemorySegment from) {
    at(address, Math.toIntExact(from.byteSize())).copyFrom(from);
  }

  @Override
  public void copyOut(MemorySegment to, long address) {
    to.copyFrom(at(address, Math.toIntExact(to.byteSize())));
  }

  @Override
  public void await() {}

  private final class Interpreted implements Module {
    private final Map<String, Interpreter.Kernel> kernels;

    Interpreted(Map<String, Interpreter.Kernel> kernels) {
      this.kernels = kernels;
    }

    @Override
    public Sequence sequence(List<Call> calls) {
      List<Call> all = new ArrayList<>(calls);
      return new Sequence() {
        @Override
        public void run() {
          for (Call call : all) {
            long[] arguments = call.addresses().stream().mapToLong(Long::longValue).toArray();
            Interpreter.run(
                Objects.requireNonNull(kernels.get(call.launch().name())),
                call.launch(),
                Arrays.copyOf(arguments, arguments.length),
                InterpretedGpu.this);
          }
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public void close() {}
  }
}
