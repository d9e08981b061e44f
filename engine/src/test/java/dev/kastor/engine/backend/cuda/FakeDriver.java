package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's driver as far as we call it, with one GPU: a library of its name whose functions call
 * back here. Memory is the machine's, kernels are interpreted. It is as strict as the real one:
 * handles must exist, a context must be current, what is captured does not run.
 *
 * <p>Calls come back from native code, so what goes wrong is an error number, as there.
 */
@SuppressWarnings({"restricted", "UnusedMethod", "UnusedVariable"}) // Called by native code.
final class FakeDriver implements Interpreter.Memory {
  static final long BYTES = 1L << 20;

  private static final int SUCCESS = 0;
  private static final int INVALID_VALUE = 1;
  private static final int OUT_OF_MEMORY = 2;
  private static final int INVALID_PTX = 218;
  private static final int INVALID_CONTEXT = 201;
  private static final int NOT_READY = 600;
  private static final int LAUNCH_FAILED = 719;
  private static final int CAPABILITY_MAJOR = 75;
  private static final int PARAMETER_BYTES = 8;
  private static final long CONTEXT = 0xC0;

  /** Devices to tell of. */
  volatile int devices = 1;

  final NavigableMap<Long, Allocation> memory = new ConcurrentSkipListMap<>();
  final Map<Long, Object> handles = new ConcurrentHashMap<>();
  final Map<String, Integer> called = new TreeMap<>();

  /** Bytes that were to be copied there, and from there. */
  long bytesIn;

  long bytesOut;

  private final ThreadLocal<Long> current = ThreadLocal.withInitial(() -> 0L);
  private final AtomicLong nextHandle = new AtomicLong(0x1000);

  record Allocation(MemorySegment segment, Arena arena) {}

  private record Module(Map<String, Interpreter.Kernel> kernels) {}

  private record Function(Interpreter.Kernel kernel) {}

  private record Graph(List<Runnable> work) {}

  private record Executable(List<Runnable> work) {}

  private static @Nullable FakeDriver installed;

  /**
   * The one of this process, whose library nothing else may have asked for before the first time.
   *
   * @param folder for the library, if there is none yet
   */
  static synchronized FakeDriver install(Path folder) throws IOException, InterruptedException {
    FakeDriver driver = installed;
    if (driver == null) {
      driver = new FakeDriver();
      FakeDriverLibrary.load(folder, driver, MethodHandles.lookup()::unreflect);
      installed = driver;
    }
    return driver;
  }

  long streams() {
    return handles.values().stream().filter(FakeStreams.Stream.class::isInstance).count();
  }

  /** Whether a handle is of something that must be given back. */
  static boolean outlives(Object handle) {
    return handle instanceof Module
        || handle instanceof Graph
        || handle instanceof Executable
        || handle instanceof FakeStreams.Event;
  }

  private void note(String name) {
    called.merge(name, 1, Integer::sum);
  }

  private long handle(Object of) {
    long handle = nextHandle.getAndAdd(16);
    handles.put(handle, of);
    return handle;
  }

  private static void put(MemorySegment at, int value) {
    at.reinterpret(JAVA_INT.byteSize()).set(JAVA_INT, 0, value);
  }

  private static void put(MemorySegment at, long value) {
    at.reinterpret(JAVA_LONG.byteSize()).set(JAVA_LONG, 0, value);
  }

  private boolean entered() {
    return current.get() == CONTEXT;
  }

  private int init(int flags) {
    return flags == 0 ? SUCCESS : INVALID_VALUE;
  }

  private int version(MemorySegment version) {
    put(version, 12060);
    return SUCCESS;
  }

  private int count(MemorySegment count) {
    put(count, devices);
    return SUCCESS;
  }

  private int device(MemorySegment device, int number) {
    put(device, number);
    return number < devices ? SUCCESS : INVALID_VALUE;
  }

  private int name(MemorySegment name, int length, int device) {
    byte[] text = "Interpreted GPU\0".getBytes(StandardCharsets.UTF_8);
    MemorySegment.copy(text, 0, name.reinterpret(length), JAVA_BYTE, 0, text.length);
    return SUCCESS;
  }

  private int total(MemorySegment bytes, int device) {
    put(bytes, BYTES);
    return SUCCESS;
  }

  private int attribute(MemorySegment value, int which, int device) {
    put(value, which == CAPABILITY_MAJOR ? 9 : 0);
    return SUCCESS;
  }

  private int retain(MemorySegment context, int device) {
    put(context, CONTEXT);
    return SUCCESS;
  }

  private int setCurrent(MemorySegment context) {
    current.set(context.address());
    return context.address() == CONTEXT ? SUCCESS : INVALID_CONTEXT;
  }

  private int streamCreate(MemorySegment stream, int flags) {
    if (!entered()) {
      return INVALID_CONTEXT;
    }
    put(stream, handle(new FakeStreams.Stream()));
    return SUCCESS;
  }

  private int streamDestroy(MemorySegment stream) {
    return remove(stream, FakeStreams.Stream.class);
  }

  private int streamSynchronize(MemorySegment stream) {
    if (!entered()
        || !(handles.get(stream.address()) instanceof FakeStreams.Stream on)
        || FakeStreams.captures(on)) {
      return INVALID_VALUE;
    }
    try {
      FakeStreams.finish(on);
      return SUCCESS;
    } catch (RuntimeException e) {
      return LAUNCH_FAILED;
    }
  }

  private int streamQuery(MemorySegment stream) {
    if (!entered() || !(handles.get(stream.address()) instanceof FakeStreams.Stream on)) {
      return INVALID_VALUE;
    }
    try {
      return FakeStreams.advance(on) ? SUCCESS : NOT_READY;
    } catch (RuntimeException e) {
      return LAUNCH_FAILED;
    }
  }

  private int eventCreate(MemorySegment event, int flags) {
    put(event, handle(new FakeStreams.Event()));
    return entered() ? SUCCESS : INVALID_CONTEXT;
  }

  private int eventDestroy(MemorySegment event) {
    return remove(event, FakeStreams.Event.class);
  }

  private int eventRecord(MemorySegment event, MemorySegment stream) {
    if (handles.get(event.address()) instanceof FakeStreams.Event of
        && handles.get(stream.address()) instanceof FakeStreams.Stream on
        && entered()) {
      FakeStreams.record(of, on);
      return SUCCESS;
    }
    return INVALID_VALUE;
  }

  private int waitEvent(MemorySegment stream, MemorySegment event, int flags) {
    if (handles.get(event.address()) instanceof FakeStreams.Event of
        && handles.get(stream.address()) instanceof FakeStreams.Stream waiting
        && entered()) {
      FakeStreams.await(waiting, of);
      return SUCCESS;
    }
    return INVALID_VALUE;
  }

  private int remove(MemorySegment handle, Class<?> type) {
    return entered() && type.isInstance(handles.get(handle.address()))
        ? removed(handle.address())
        : INVALID_VALUE;
  }

  private int removed(long handle) {
    handles.remove(handle);
    return SUCCESS;
  }

  private long used() {
    return memory.values().stream().mapToLong(each -> each.segment.byteSize()).sum();
  }

  private int allocate(MemorySegment pointer, long bytes) {
    if (!entered()) {
      return INVALID_CONTEXT;
    }
    if (used() + bytes > BYTES) {
      return OUT_OF_MEMORY;
    }
    Arena own = Arena.ofShared();
    MemorySegment segment = own.allocate(bytes, 256);
    segment.fill((byte) 0x7f);
    memory.put(segment.address(), new Allocation(segment, own));
    put(pointer, segment.address());
    return SUCCESS;
  }

  int free(long address) {
    Allocation found = memory.remove(address);
    if (found == null || !entered()) {
      return INVALID_VALUE;
    }
    found.arena.close();
    return SUCCESS;
  }

  private int memoryInfo(MemorySegment free, MemorySegment all) {
    put(free, BYTES - used());
    put(all, BYTES);
    return SUCCESS;
  }

  private int moduleLoad(
      MemorySegment module,
      MemorySegment text,
      int options,
      MemorySegment names,
      MemorySegment values) {
    if (!entered()) {
      return INVALID_CONTEXT;
    }
    try {
      String ptx = text.reinterpret(Long.MAX_VALUE).getString(0);
      if (!ptx.startsWith(".version")) {
        return INVALID_PTX;
      }
      put(module, handle(new Module(Interpreter.read(ptx))));
      return SUCCESS;
    } catch (RuntimeException e) {
      return INVALID_PTX;
    }
  }

  private int moduleUnload(MemorySegment module) {
    return remove(module, Module.class);
  }

  private int function(MemorySegment function, MemorySegment module, MemorySegment name) {
    if (handles.get(module.address()) instanceof Module loaded && entered()) {
      var kernel = loaded.kernels.get(name.reinterpret(256).getString(0));
      if (kernel != null) {
        put(function, handle(new Function(kernel)));
        return SUCCESS;
      }
    }
    return INVALID_VALUE;
  }

  private int beginCapture(MemorySegment stream, int mode) {
    if (handles.get(stream.address()) instanceof FakeStreams.Stream of
        && !FakeStreams.captures(of)
        && entered()) {
      FakeStreams.capture(of);
      return SUCCESS;
    }
    return INVALID_VALUE;
  }

  private int endCapture(MemorySegment stream, MemorySegment graph) {
    if (handles.get(stream.address()) instanceof FakeStreams.Stream of
        && FakeStreams.captures(of)
        && entered()) {
      put(graph, handle(new Graph(FakeStreams.captured(of))));
      return SUCCESS;
    }
    return INVALID_VALUE;
  }

  private int instantiate(MemorySegment executable, MemorySegment graph, long flags) {
    if (handles.get(graph.address()) instanceof Graph of && entered()) {
      put(executable, handle(new Executable(of.work)));
      return SUCCESS;
    }
    return INVALID_VALUE;
  }

  private int graphDestroy(MemorySegment graph) {
    return remove(graph, Graph.class);
  }

  private int graphLaunch(MemorySegment executable, MemorySegment stream) {
    note("graphLaunch");
    return handles.get(executable.address()) instanceof Executable of
        ? enqueue(stream.address(), () -> of.work.forEach(Runnable::run))
        : INVALID_VALUE;
  }

  private int executableDestroy(MemorySegment executable) {
    return remove(executable, Executable.class);
  }

  @Override
  public MemorySegment at(long address, int bytes) {
    var entry = memory.floorEntry(address);
    if (entry == null || address + bytes > entry.getKey() + entry.getValue().segment.byteSize()) {
      throw new IndexOutOfBoundsException("Nothing is allocated at " + address);
    }
    return entry.getValue().segment.asSlice(address - entry.getKey(), bytes);
  }

  private int copyIn(long address, MemorySegment from, long bytes, MemorySegment stream) {
    bytesIn += bytes;
    return enqueue(
        stream.address(),
        () -> at(address, Math.toIntExact(bytes)).copyFrom(from.reinterpret(bytes)));
  }

  private int copyOut(MemorySegment to, long address, long bytes, MemorySegment stream) {
    bytesOut += bytes;
    return enqueue(
        stream.address(),
        () -> to.reinterpret(bytes).copyFrom(at(address, Math.toIntExact(bytes))));
  }

  private int launch(
      MemorySegment function,
      int x,
      int y,
      int z,
      int threads,
      int threadsY,
      int threadsZ,
      int shared,
      MemorySegment stream,
      MemorySegment parameters,
      MemorySegment extra) {
    note("launch");
    if (!(handles.get(function.address()) instanceof Function of)
        || threads > 1024
        || threadsY != 1
        || threadsZ != 1) {
      return INVALID_VALUE;
    }
    // Parameters are read when a kernel is launched, not when it runs.
    long[] arguments = new long[of.kernel.parameters()];
    MemorySegment pointers = parameters.reinterpret((long) PARAMETER_BYTES * arguments.length);
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = pointers.getAtIndex(ADDRESS, i).reinterpret(PARAMETER_BYTES).get(JAVA_LONG, 0);
    }
    Launch launch = new Launch("", "", List.of(), x, y, z, threads);
    return enqueue(stream.address(), () -> Interpreter.run(of.kernel, launch, arguments, this));
  }

  /** Begins something on a stream: a library does too. */
  int enqueue(long stream, Runnable work) {
    if (!(handles.get(stream) instanceof FakeStreams.Stream on) || !entered()) {
      return INVALID_VALUE;
    }
    FakeStreams.begin(on, work);
    return SUCCESS;
  }
}
