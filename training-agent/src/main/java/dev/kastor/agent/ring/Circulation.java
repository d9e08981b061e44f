package dev.kastor.agent.ring;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Way of segments around a ring: in each round every member sends one to the right, the first being
 * that of its own rank, and receives from the left the one that it sends in the next round. A chunk
 * goes on as soon as it has come, so all links are busy all the time.
 *
 * @param links to both neighbours
 * @param rank our rank
 * @param size number of members
 */
record Circulation(Links links, int rank, int size) {
  /** Runs the rounds {@code [from, to)}; any failure closes the ring. */
  void run(int from, int to, Segments data) throws RingBrokenException {
    // One permit for each chunk that may be sent: all of the first segment, then what came in.
    Semaphore sendable = new Semaphore(data.chunks(segment(from)));
    FutureTask<@Nullable Void> sending =
        new FutureTask<>(() -> {
          links.guarded(() -> send(data, from, to, sendable));
          return null;
        });
    Thread sender = Thread.ofVirtual().name("ring-send").start(sending);
    try {
      links.guarded(() -> receive(data, from, to, sendable));
    } finally {
      if (links.broken()) {
        sender.interrupt();
      }
    }
    try {
      sending.get();
    } catch (ExecutionException e) {
      throw links.failure(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw links.failure(e);
    }
  }

  private void send(Segments data, int from, int to, Semaphore sendable) throws IOException {
    for (int round = from; round < to; round++) {
      int segment = segment(round);
      int chunks = data.chunks(segment);
      for (int chunk = 0; chunk < chunks; chunk++) {
        try {
          sendable.acquire();
        } catch (InterruptedException e) {
          throw new InterruptedIOException("the ring was closed");
        }
        data.send(links.writer(), segment, chunk);
      }
    }
  }

  private void receive(Segments data, int from, int to, Semaphore sendable) throws IOException {
    for (int round = from; round < to; round++) {
      // What we receive in a round is what we send in the next.
      int segment = segment(round + 1);
      int chunks = data.chunks(segment);
      for (int chunk = 0; chunk < chunks; chunk++) {
        data.receive(links.reader(), round, segment, chunk);
        sendable.release();
      }
    }
  }

  /** The segment that we send in a round. */
  private int segment(int round) {
    return Math.floorMod(rank - round, size);
  }
}
