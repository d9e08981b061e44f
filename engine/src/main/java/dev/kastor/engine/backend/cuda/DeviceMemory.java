package dev.kastor.engine.backend.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * The memory of one GPU under a cap: blocks that are given back are kept, and used again by whoever
 * asks for about as much.
 *
 * <p>To ask a driver for memory waits for all that the GPU is doing, and a job compiles its graph
 * anew for each batch size. What is kept counts towards the cap, and goes back to the driver, the
 * largest blocks first, when something else would not fit. Thread-safe.
 */
final class DeviceMemory {
  /** Blocks are a multiple of this, as the driver's are. */
  private static final long GRAIN = 512;

  /** A kept block serves for as little as this part of its size. */
  private static final double LEAST_USE = 0.8;

  /** Where memory comes from. */
  interface Source {
    /** An address; empty if there is not that much. */
    OptionalLong allocate(long bytes);

    void free(long address);

    /** What is free and how much there is, for people. */
    String state();
  }

  private final Source source;
  private final long capBytes;
  private final Map<Long, Long> held = new HashMap<>();
  private final NavigableMap<Long, Deque<Long>> kept = new TreeMap<>();
  private long heldBytes;
  private long keptBytes;

  /**
   * Memory that takes no more than this from its source.
   *
   * @param capBytes at least 1; {@link Long#MAX_VALUE} for all that there is
   */
  DeviceMemory(Source source, long capBytes) {
    if (capBytes < 1) {
      throw new IllegalArgumentException("capBytes must be at least 1, got " + capBytes + ".");
    }
    this.source = source;
    this.capBytes = capBytes;
  }

  /**
   * Takes a block of undefined content.
   *
   * @param bytes at least 1
   * @throws OutOfGpuMemoryException if the cap or the GPU leaves too little
   */
  synchronized long allocate(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes must be at least 1, got " + bytes + ".");
    }
    long size = Math.ceilDiv(bytes, GRAIN) * GRAIN;
    Map.Entry<Long, Deque<Long>> found = kept.ceilingEntry(size);
    if (found != null && size >= LEAST_USE * found.getKey()) {
      return hold(unkeep(found), found.getKey());
    }
    while (size > capBytes - heldBytes - keptBytes && !kept.isEmpty()) {
      source.free(unkeep(kept.lastEntry()));
    }
    if (size > capBytes - heldBytes) {
      throw new OutOfGpuMemoryException(
          "%d bytes of GPU memory are needed, and %d of the cap of %d are in use."
              .formatted(bytes, heldBytes, capBytes));
    }
    OptionalLong address = source.allocate(size);
    if (address.isEmpty() && !kept.isEmpty()) {
      trim();
      address = source.allocate(size);
    }
    return hold(
        address.orElseThrow(() ->
            new OutOfGpuMemoryException(
                "%d bytes of GPU memory are needed, and %s.".formatted(bytes, source.state()))),
        size);
  }

  private long hold(long address, long size) {
    held.put(address, size);
    heldBytes += size;
    return address;
  }

  /** Takes one of the blocks of a size out of those that are kept. */
  private long unkeep(Map.Entry<Long, Deque<Long>> entry) {
    long size = entry.getKey();
    long address = entry.getValue().pop();
    if (entry.getValue().isEmpty()) {
      kept.remove(size);
    }
    keptBytes -= size;
    return address;
  }

  /**
   * Gives a block back.
   *
   * @throws IllegalArgumentException if nothing is held at this address
   */
  synchronized void free(long address) {
    Long size = held.remove(address);
    if (size == null) {
      throw new IllegalArgumentException("Nothing is allocated at %#x.".formatted(address));
    }
    heldBytes -= size;
    keptBytes += size;
    kept.computeIfAbsent(size, _ -> new ArrayDeque<>()).push(address);
  }

  /** Gives all that is kept back to the source. */
  synchronized void trim() {
    while (!kept.isEmpty()) {
      source.free(unkeep(kept.lastEntry()));
    }
  }

  /** Bytes that somebody holds. */
  synchronized long heldBytes() {
    return heldBytes;
  }

  /** Bytes taken from the source, held or kept; at most the cap. */
  synchronized long reservedBytes() {
    return heldBytes + keptBytes;
  }
}
