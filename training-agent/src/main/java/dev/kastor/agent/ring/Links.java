package dev.kastor.agent.ring;

import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to both neighbours and the watch over them.
 *
 * <p>A virtual thread pings the right neighbour while we compute, and closes the links when the
 * left one stays silent beyond the limit. Data flows to the right only, so a hung right neighbour
 * shows as silence to its own right and comes back around the ring as a closed connection.
 */
final class Links {
  private static final int CHECKS_PER_LIMIT = 10;
  private static final int PINGS_PER_LIMIT = 4;

  private final Connection left;
  private final Connection right;
  private final FrameReader reader;
  private final FrameWriter writer;
  private final Duration silence;
  private final Thread watch;
  private volatile boolean closed;
  private @Nullable Throwable cause;

  /** Links that nobody watches: {@link #look} is called by whoever moves the clock. */
  Links(Connection left, Connection right, Duration silence, LongSupplier nanoTime) {
    this.left = left;
    this.right = right;
    this.silence = silence;
    this.reader = new FrameReader(left, nanoTime);
    this.writer = new FrameWriter(right, nanoTime);
    this.watch = Thread.ofVirtual().name("ring-watch").unstarted(this::watch);
  }

  /** Links with a thread that watches them. */
  static Links watched(Connection left, Connection right, Duration silence) {
    Links links = new Links(left, right, silence, System::nanoTime);
    links.watch.start();
    return links;
  }

  FrameReader reader() {
    return reader;
  }

  FrameWriter writer() {
    return writer;
  }

  boolean broken() {
    return closed;
  }

  /** Runs a piece of a collective operation; any failure closes the ring. */
  void guarded(Operation operation) throws RingBrokenException {
    try {
      operation.run();
    } catch (IOException e) {
      close(e);
      throw failure(e);
    }
  }

  /** The failure that closed the ring first, or else this one. */
  synchronized RingBrokenException failure(@Nullable Throwable later) {
    Throwable first = cause != null ? cause : later;
    if (first instanceof RingBrokenException broken) {
      return broken;
    }
    String message = first == null ? null : first.getMessage();
    return new RingBrokenException(
        "ring broken: " + (message == null ? "closed" : message), first == null ? later : first);
  }

  synchronized void close(@Nullable Throwable why) {
    if (!closed) {
      closed = true;
      cause = why;
      left.close();
      right.close();
      watch.interrupt();
    }
  }

  private void watch() {
    try {
      while (!closed) {
        Thread.sleep(silence.dividedBy(CHECKS_PER_LIMIT));
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes the links when the left neighbour was silent too long, else pings the right one. */
  void look() {
    if (reader.silentNanos() > silence.toNanos()) {
      close(new RingBrokenException("the left neighbour was silent for " + silence));
    } else {
      ping(silence.dividedBy(PINGS_PER_LIMIT).toNanos());
    }
  }

  private void ping(long idleNanos) {
    try {
      writer.pingIfIdle(idleNanos);
    } catch (IOException e) {
      // The right neighbour may have finished the last operation before us and closed; what is on
      // its way to us is still good. If it died, the left link closes soon or the next write fails.
    }
  }

  /** A piece of a collective operation. */
  interface Operation {
    void run() throws IOException;
  }
}
