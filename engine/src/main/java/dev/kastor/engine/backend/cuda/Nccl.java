package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's library of sums over GPUs, which lie in one machine or several (NCCL documentation,
 * "NCCL API"; 2.14 or later, whose communicators never block their caller).
 *
 * <p>What can wait for others is polled, so that whoever waits can give up: NCCL alone does not
 * notice that a process has died. A group that failed is aborted, which frees whatever it had begun
 * on the GPU.
 */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
public final class Nccl implements GpuGroups {
  /** 2.14.0; up to 2.8 it was 2000 + 100 * minor. */
  private static final int OLDEST_VERSION = 21_400;

  // ncclResult_t, ncclDataType_t, ncclRedOp_t
  private static final int SUCCESS = 0;
  private static final int IN_PROGRESS = 7;
  private static final int FLOAT = 7;
  private static final int SUM = 0;

  // ncclConfig_t as of 2.14, which later versions extend by its size: size, magic, version, whether
  // calls block.
  private static final long CONFIG_BYTES = 24;
  private static final long CONFIG_MAGIC_OFFSET = 8;
  private static final long CONFIG_VERSION_OFFSET = 12;
  private static final long CONFIG_BLOCKING_OFFSET = 16;
  private static final int CONFIG_MAGIC = 0xcafebeef;

  /** A bucket of 16 MiB: what is agreed on before each takes as long on a ring of eight. */
  private static final int CAPACITY = 1 << 22;

  private static final long POLL_NANOS = 20_000;

  private final NcclFunctions functions;
  private final int device;
  private final int capacity;

  private Nccl(NativeLibrary library, int device, int capacity) {
    functions = NcclFunctions.of(library);
    this.device = device;
    this.capacity = capacity;
    int version = version(functions);
    if (version < OLDEST_VERSION) {
      throw new IllegalStateException(
          "%s is %s, and 2.14 is needed.".formatted(library.name(), named(version)));
    }
  }

  /** Whether this machine can sum so. */
  public sealed interface Availability {
    /** It can. */
    record Available(GpuGroups groups) implements Availability {}

    /** It cannot, and why. */
    record Absent(String reason) implements Availability {}
  }

  /**
   * Opens the library for a GPU.
   *
   * @param number of the device, from 0, among those that the process may see
   */
  public static Availability load(int number) {
    NativeLibrary library = find();
    if (library == null) {
      return new Availability.Absent(
          "libnccl.so.2 is not found. %s names folders to look in."
              .formatted(NativeLibrary.FOLDERS));
    }
    return switch (GpuCheck.look()) {
      case GpuCheck.Found.None none -> new Availability.Absent(none.reason());
      case GpuCheck.Found.Devices found when number < 0 || number >= found.devices().size() ->
          new Availability.Absent(
              "There is no GPU %d, only %d.".formatted(number, found.devices().size()));
      case GpuCheck.Found.Devices _ -> load(library, number);
    };
  }

  private static Availability load(NativeLibrary library, int number) {
    try {
      return new Availability.Available(open(library, number, CAPACITY));
    } catch (IllegalStateException e) {
      return new Availability.Absent(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Opens a library that was found.
   *
   * @param capacity elements that are summed at once
   * @throws IllegalStateException if it is too old, or none
   */
  static Nccl open(NativeLibrary library, int number, int capacity) {
    return new Nccl(library, number, capacity);
  }

  /** Looks for the library; null if this machine has none. */
  static @Nullable NativeLibrary find() {
    return NativeLibrary.find(NativeLibrary.names("libnccl", 2));
  }

  /** The library of this machine and its version; empty if it has none. Needs no GPU. */
  public static Optional<String> library() {
    return Optional.ofNullable(find()).map(Nccl::describe);
  }

  /** For people: the version and file of a library, or why it is of no use. */
  static String describe(NativeLibrary library) {
    try {
      return "%s (%s)".formatted(named(version(NcclFunctions.of(library))), library.name());
    } catch (IllegalStateException e) {
      return "%s (of no use: %s)".formatted(library.name(), e.getMessage());
    }
  }

  private static int version(NcclFunctions functions) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment version = arena.allocate(JAVA_INT);
      int status = NativeCall.status(() -> (int) functions.version().invokeExact(version));
      check(functions, "ncclGetVersion", status);
      return version.get(JAVA_INT, 0);
    }
  }

  private static String named(int version) {
    return version < 10_000
        ? "NCCL %d.%d.%d".formatted(version / 1000, version / 100 % 10, version % 100)
        : "NCCL %d.%d.%d".formatted(version / 10_000, version / 100 % 100, version % 100);
  }

  private static void check(NcclFunctions functions, String called, int status) {
    if (status != SUCCESS && status != IN_PROGRESS) {
      throw new IllegalStateException(
          "%s says %s.".formatted(called, NativeCall.text(functions.errorString(), status)));
    }
  }

  @Override
  public byte[] newId() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(NcclFunctions.ID);
      call("ncclGetUniqueId", () -> (int) functions.uniqueId().invokeExact(id));
      return id.toArray(JAVA_BYTE);
    }
  }

  private void call(String called, NativeCall call) {
    check(functions, called, NativeCall.status(call));
  }

  @Override
  public Group join(byte[] id, int rank, int size, BooleanSupplier abandoned) {
    if (id.length != NcclFunctions.ID_BYTES) {
      throw new IllegalArgumentException(
          "An id has %d bytes, got %d.".formatted(NcclFunctions.ID_BYTES, id.length));
    }
    Member member = new Member();
    try {
      member.join(id, rank, size, abandoned);
      return member;
    } catch (RuntimeException | Error e) {
      member.close();
      throw e;
    }
  }

  private final class Member implements Group {
    private final GpuLane lane = new GpuLane(device, (long) capacity * Float.BYTES);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment host = arena.allocate((long) capacity * Float.BYTES, Float.BYTES);
    private final MemorySegment error = arena.allocate(JAVA_INT);
    private MemorySegment communicator = MemorySegment.NULL;
    private boolean closed;

    void join(byte[] id, int rank, int size, BooleanSupplier abandoned) {
      MemorySegment common = arena.allocate(NcclFunctions.ID);
      common.copyFrom(MemorySegment.ofArray(id));
      MemorySegment config = arena.allocate(CONFIG_BYTES, Long.BYTES);
      config.set(JAVA_LONG, 0, CONFIG_BYTES);
      config.set(JAVA_INT, CONFIG_MAGIC_OFFSET, CONFIG_MAGIC);
      config.set(JAVA_INT, CONFIG_VERSION_OFFSET, OLDEST_VERSION);
      config.set(JAVA_INT, CONFIG_BLOCKING_OFFSET, 0);
      MemorySegment made = arena.allocate(ADDRESS);
      lane.enter();
      try {
        call(
            "ncclCommInitRankConfig",
            () -> (int) functions.join().invokeExact(made, size, common, rank, config));
      } finally {
        communicator = made.get(ADDRESS, 0);
      }
      awaitAccepted("The group did not form", abandoned);
    }

    @Override
    public int capacity() {
      return capacity;
    }

    @Override
    public void sum(float[] data, int from, int to, BooleanSupplier abandoned) {
      if (closed) {
        throw new IllegalStateException("The group is closed.");
      }
      if (to - from > capacity) {
        throw new IllegalArgumentException(
            "%d elements to sum; at most %d are allowed".formatted(to - from, capacity));
      }
      MemorySegment part = host.asSlice(0, (long) (to - from) * Float.BYTES);
      part.copyFrom(
          MemorySegment.ofArray(data).asSlice((long) from * Float.BYTES, part.byteSize()));
      lane.in(part);
      long address = lane.address();
      long count = part.byteSize() / Float.BYTES;
      lane.enter();
      call(
          "ncclAllReduce",
          () ->
              (int)
                  functions
                      .allReduce()
                      .invokeExact(
                          address, address, count, FLOAT, SUM, communicator, lane.stream()));
      awaitAccepted("A sum did not begin", abandoned);
      // Only then: to copy to memory that is not pinned waits for all that comes before.
      awaitIdle(abandoned);
      lane.out(part);
      awaitIdle(abandoned);
      MemorySegment.ofArray(data)
          .asSlice((long) from * Float.BYTES, part.byteSize())
          .copyFrom(part);
    }

    /** Returns once what was called last has taken its effect on the stream. */
    private void awaitAccepted(String otherwise, BooleanSupplier abandoned) {
      while (asyncError() == IN_PROGRESS) {
        pause(otherwise, abandoned);
      }
    }

    private void awaitIdle(BooleanSupplier abandoned) {
      while (!lane.idle()) {
        asyncError();
        pause("A sum did not end", abandoned);
      }
      asyncError();
    }

    private int asyncError() {
      lane.enter();
      call(
          "ncclCommGetAsyncError",
          () -> (int) functions.asyncError().invokeExact(communicator, error));
      int state = error.get(JAVA_INT, 0);
      check(functions, "The group", state);
      return state;
    }

    private static void pause(String otherwise, BooleanSupplier abandoned) {
      if (abandoned.getAsBoolean() || Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException(otherwise + ": it was given up.");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }

    /** Whatever it is doing: nobody waits for the others. */
    @Override
    public void close() {
      if (closed) {
        return;
      }
      closed = true;
      try (arena;
          lane) {
        if (communicator.address() != 0) {
          lane.enter();
          call("ncclCommAbort", () -> (int) functions.abort().invokeExact(communicator));
        }
      }
    }
  }
}
