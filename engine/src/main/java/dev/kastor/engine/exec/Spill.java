package dev.kastor.engine.exec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file for what there is no memory for, made when first needed. It has no name, so that nothing
 * is left of it however the process ends. Not thread-safe.
 */
final class Spill implements AutoCloseable {
  /** Where something lies. */
  record Extent(long offset, long bytes) {}

  private static final Logger LOG = LoggerFactory.getLogger(Spill.class);
  private static final long MOST_AT_ONCE = 1 << 30;

  private final Path folder;
  private final Map<Long, Deque<Extent>> free = new HashMap<>();
  private @Nullable FileChannel file;
  private long end;

  /** A file in a folder that must be there once something is written. */
  Spill(Path folder) {
    this.folder = folder;
  }

  /**
   * Copies a segment to the file.
   *
   * @throws UncheckedIOException if that cannot be done, with the folder
   */
  Extent write(MemorySegment segment) {
    long bytes = segment.byteSize();
    try {
      FileChannel to = open();
      Deque<Extent> used = free.get(bytes);
      Extent extent = used == null ? null : used.poll();
      if (extent == null) {
        extent = new Extent(end, bytes);
      }
      for (long at = 0; at < bytes; ) {
        at += to.write(piece(segment, at, bytes), extent.offset + at);
      }
      end = Math.max(end, extent.offset + bytes);
      return extent;
    } catch (IOException e) {
      throw failed("written to", e);
    }
  }

  /** Copies what was written to a segment of its size, and forgets it. */
  void take(Extent extent, MemorySegment segment) {
    try {
      FileChannel from = open();
      for (long at = 0; at < extent.bytes; ) {
        int read = from.read(piece(segment, at, extent.bytes), extent.offset + at);
        if (read < 0) {
          throw new IOException("the file has become shorter");
        }
        at += read;
      }
    } catch (IOException e) {
      throw failed("read from", e);
    }
    free.computeIfAbsent(extent.bytes, _ -> new ArrayDeque<>()).push(extent);
  }

  /** What is left of a segment, or as much of it as one buffer can be. */
  private static ByteBuffer piece(MemorySegment segment, long from, long to) {
    return segment.asSlice(from, Math.min(to - from, MOST_AT_ONCE)).asByteBuffer();
  }

  private FileChannel open() throws IOException {
    FileChannel opened = file;
    if (opened == null) {
      Path path = Files.createTempFile(folder, "kastor-history-", ".spill");
      try {
        opened = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
      } finally {
        Files.delete(path);
      }
      file = opened;
    }
    return opened;
  }

  private UncheckedIOException failed(String what, IOException e) {
    return new UncheckedIOException(
        "What loops keep for their gradients could not be %s %s: %s"
            .formatted(what, folder, e.getMessage()),
        e);
  }

  @Override
  public void close() {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        // Nobody needs what is in it, and why a run failed must not be hidden by this.
        LOG.warn("a file in {} could not be closed", folder, e);
      }
    }
  }
}
