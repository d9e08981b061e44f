package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The memory of a device under a hard cap: blocks of a few sizes that are used again.
 *
 * <p>Small blocks are cut from slabs; a large one has an arena of its own. Both leave when the cap
 * would be exceeded otherwise: blocks that are free, and slabs all of whose blocks are.
 * Thread-safe.
 */
public final class Memory implements AutoCloseable {
  private static final long SMALL_BYTES = 1 << 14;
  private static final long SLAB_BYTES = 1 << 18;

  private record Block(MemorySegment segment, Arena arena) {}

  private final long capBytes;
  private final NavigableMap<Long, Block> slabs = new TreeMap<>();
  private final NavigableMap<Long, Deque<MemorySegment>> small = new TreeMap<>();
  private final NavigableMap<Long, Deque<Block>> large = new TreeMap<>();
  private final Map<Long, Block> inUse = new HashMap<>();
  private long usedBytes;
  private long reservedBytes;
  private long compiledBytes;
  private long peakBytes;
  private boolean closed;

  /**
   * Memory that never takes more than this from the system.
   *
   * @param capBytes at least 1
   */
  public Memory(long capBytes) {
    if (capBytes < 1) {
      throw new IllegalArgumentException("capBytes must be at least 1, got " + capBytes + ".");
    }
    this.capBytes = capBytes;
  }

  /**
   * A value of undefined content, held once.
   *
   * @param who is named if there is not enough
   * @throws MemoryCapException if the cap leaves too little
   */
  public Value allocate(Type type, Object who) {
    MemorySegment segment = take((long) type.shape().elements() * type.dtype().bytes(), who);
    return new Value(new Tensor(segment, type.shape(), type.dtype()), this);
  }

  /** Memory for something that lasts, all of which goes back with it. */
  Lasting lasting(Object who) {
    return new Lasting(who);
  }

  /** Segments of zeros that are given back together. */
  final class Lasting implements SegmentAllocator, AutoCloseable {
    private final Object who;
    private final List<MemorySegment> taken = new ArrayList<>();

    private Lasting(Object who) {
      this.who = who;
    }

    @Override
    public MemorySegment allocate(long bytes, long alignment) {
      if (alignment > Tensor.ALIGNMENT) {
        throw new IllegalArgumentException("Blocks are aligned to 64 bytes, not " + alignment);
      }
      MemorySegment segment = take(bytes, who);
      taken.add(segment);
      count(segment.byteSize());
      return segment.asSlice(0, bytes).fill((byte) 0);
    }

    @Override
    public void close() {
      taken.forEach(segment -> {
        count(-segment.byteSize());
        free(segment);
      });
      taken.clear();
    }
  }

  private synchronized MemorySegment take(long bytes, Object who) {
    long size = size(bytes);
    MemorySegment segment = size <= SMALL_BYTES ? takeSmall(size, who) : takeLarge(size, who);
    usedBytes += size;
    peakBytes = Math.max(peakBytes, usedBytes);
    return segment;
  }

  private MemorySegment takeSmall(long size, Object who) {
    Deque<MemorySegment> free = small.computeIfAbsent(size, _ -> new ArrayDeque<>());
    if (free.isEmpty()) {
      long slabBytes = Math.min(SLAB_BYTES, Math.max(size, capBytes / 64 / size * size));
      slabBytes = slabBytes / size * size;
      reserve(slabBytes, who, size);
      Arena arena = Arena.ofShared();
      MemorySegment slab = arena.allocate(slabBytes, Tensor.ALIGNMENT);
      slabs.put(slab.address(), new Block(slab, arena));
      for (long offset = 0; offset < slabBytes; offset += size) {
        free.add(slab.asSlice(offset, size));
      }
    }
    return free.pop();
  }

  private MemorySegment takeLarge(long size, Object who) {
    Deque<Block> free = large.get(size);
    Block block = free == null ? null : free.poll();
    if (block == null) {
      reserve(size, who, size);
      Arena arena = Arena.ofShared();
      block = new Block(arena.allocate(size, Tensor.ALIGNMENT), arena);
    }
    inUse.put(block.segment.address(), block);
    return block.segment;
  }

  /** Makes room under the cap. */
  private void reserve(long bytes, Object who, long wanted) {
    if (closed) {
      throw new IllegalStateException("The memory is closed.");
    }
    for (Deque<Block> free : large.descendingMap().values()) {
      while (reservedBytes + bytes > capBytes && !free.isEmpty()) {
        Block block = free.pop();
        reservedBytes -= block.segment.byteSize();
        block.arena.close();
      }
    }
    if (reservedBytes + bytes > capBytes) {
      small.values().forEach(this::giveBackSlabs);
    }
    if (reservedBytes + bytes > capBytes) {
      throw new MemoryCapException(who.toString(), wanted, usedBytes, capBytes);
    }
    reservedBytes += bytes;
  }

  /**
   * Gives the system back the slabs all of whose blocks are free. They are counted here and not as
   * blocks come and go, which happens a million times as often.
   *
   * @param free blocks of one size
   */
  private void giveBackSlabs(Deque<MemorySegment> free) {
    IdentityHashMap<Block, Long> freeBytes = new IdentityHashMap<>();
    free.forEach(segment -> freeBytes.merge(slab(segment), segment.byteSize(), Long::sum));
    freeBytes.entrySet().removeIf(slab -> slab.getValue() < slab.getKey().segment.byteSize());
    free.removeIf(segment -> freeBytes.containsKey(slab(segment)));
    freeBytes.forEach((slab, bytes) -> {
      slabs.remove(slab.segment.address());
      slab.arena.close();
      reservedBytes -= bytes;
    });
  }

  private Block slab(MemorySegment segment) {
    return slabs.floorEntry(segment.address()).getValue();
  }

  synchronized void free(MemorySegment segment) {
    if (closed) {
      return;
    }
    long size = segment.byteSize();
    usedBytes -= size;
    if (size <= SMALL_BYTES) {
      small.computeIfAbsent(size, _ -> new ArrayDeque<>()).push(segment);
    } else {
      Block block = inUse.remove(segment.address());
      if (block == null) {
        throw new IllegalStateException("A block that is not in use was freed.");
      }
      large.computeIfAbsent(size, _ -> new ArrayDeque<>()).push(block);
    }
  }

  /** The smallest block size that holds so much: four to each power of two. */
  private static long size(long bytes) {
    long least = Math.max(bytes, Tensor.ALIGNMENT);
    long step = Math.max(Tensor.ALIGNMENT, Long.highestOneBit(least - 1) / 4);
    return (least + step - 1) / step * step;
  }

  /** The most bytes that it ever takes from the system. */
  public long capBytes() {
    return capBytes;
  }

  /** Bytes in blocks that somebody holds. */
  public synchronized long usedBytes() {
    return usedBytes;
  }

  /** Bytes in use by compiled code rather than by values. */
  public synchronized long compiledBytes() {
    return compiledBytes;
  }

  private synchronized void count(long more) {
    compiledBytes += more;
  }

  /** The most bytes that were in use at once. */
  public synchronized long peakBytes() {
    return peakBytes;
  }

  /** Bytes taken from the system, in use or kept for later; at most the cap. */
  public synchronized long reservedBytes() {
    return reservedBytes;
  }

  /** Frees everything; values that are still held become invalid. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      large.values().forEach(free -> free.forEach(block -> block.arena.close()));
      inUse.values().forEach(block -> block.arena.close());
      slabs.values().forEach(slab -> slab.arena.close());
    }
  }
}
