package dev.kastor.agent.ring;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of one generation, each connected to its right neighbour.
 *
 * <p>Collective: every member calls the same operations in the same order. One thread uses a ring;
 * {@link #close} may come from any. The first failure closes the ring, which the neighbours notice
 * at once and so on around it; from then on every operation throws.
 */
public final class Ring implements AutoCloseable {
  /** Most bytes that one member may give to {@link #allGather}. */
  public static final int MAX_GATHER_BYTES = 4096;

  private final long generation;
  private final int rank;
  private final int size;
  private final @Nullable Links links;
  private final float[] received = new float[Frame.CHUNK_FLOATS];

  private Ring(long generation, int rank, int size, @Nullable Links links) {
    this.generation = generation;
    this.rank = rank;
    this.size = size;
    this.links = links;
  }

  /**
   * Connects to both neighbours.
   *
   * @param members the members' listeners in rank order
   * @param abandoned polled while waiting; true gives up (a newer generation is known)
   */
  public static Ring open(
      RingListener listener,
      long generation,
      int rank,
      List<InetSocketAddress> members,
      RingLimits limits,
      BooleanSupplier abandoned)
      throws RingBrokenException {
    int size = members.size();
    if (size == 1) {
      return new Ring(generation, rank, 1, null);
    }
    listener.expect(members);
    int right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    Hello.Key toRight = new Hello.Key(Hello.Purpose.RING, generation, rank, right);
    Hello.Key fromLeft = new Hello.Key(Hello.Purpose.RING, generation, left, rank);
    FutureTask<Connection> connecting =
        new FutureTask<>(
            () -> Sockets.connect(members.get(right), listener.key(), toRight, limits, abandoned));
    Thread.ofVirtual().name("ring-connect").start(connecting);
    Connection incoming = null;
    try {
      incoming = listener.take(fromLeft, limits.connect(), abandoned);
      Connection outgoing = connecting.get();
      return new Ring(generation, rank, size, new Links(incoming, outgoing, limits.silence()));
    } catch (IOException | ExecutionException e) {
      if (incoming != null) {
        incoming.close();
      }
      discard(connecting);
      Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
      throw new RingBrokenException(
          "ring of generation %d did not form: %s".formatted(generation, message(cause)), cause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (incoming != null) {
        incoming.close();
      }
      discard(connecting);
      throw new RingBrokenException("interrupted while the ring formed", e);
    }
  }

  /** Our rank. */
  public int rank() {
    return rank;
  }

  /** The number of members. */
  public int size() {
    return size;
  }

  /** The generation whose members these are. */
  public long generation() {
    return generation;
  }

  /**
   * Every member's bytes in rank order, on every member.
   *
   * @param own at most {@link #MAX_GATHER_BYTES}
   */
  public List<byte[]> allGather(byte[] own) throws RingBrokenException {
    if (own.length > MAX_GATHER_BYTES) {
      throw new IllegalArgumentException(
          "%d bytes to gather; at most %d are allowed".formatted(own.length, MAX_GATHER_BYTES));
    }
    byte[][] all = new byte[size][];
    all[rank] = own;
    if (links != null) {
      Links ring = links;
      ring.guarded(() -> {
        for (int step = 0; step < size - 1; step++) {
          ring.writer().gather(all[Math.floorMod(rank - step, size)]);
          all[Math.floorMod(rank - step - 1, size)] = ring.reader().gather(MAX_GATHER_BYTES);
        }
      });
    }
    return new ArrayList<>(Arrays.asList(all));
  }

  /**
   * Replaces {@code data} by its sum over all members, with the same bits on every member.
   *
   * <p>Reduce-scatter, then all-gather (Patarasuk and Yuan, JPDC 2009): each of {@code size}
   * segments travels the ring once to be summed and once to be spread, in chunks: a chunk goes on
   * as soon as it is complete, so all links are busy all the time.
   */
  public void allReduce(float[] data) throws RingBrokenException {
    allReduce(data, 0, data.length);
  }

  /** The same for the elements {@code [from, to)}, which are the same on every member. */
  public void allReduce(float[] data, int from, int to) throws RingBrokenException {
    if (links == null) {
      return;
    }
    Links ring = links;
    Part part = new Part(from, to - from, size);
    int rounds = 2 * (size - 1);
    // One permit for each chunk that may be sent: all of the first segment, then what came in.
    Semaphore sendable = new Semaphore(part.chunks(segment(0)));
    FutureTask<@Nullable Void> sending =
        new FutureTask<>(() -> {
          ring.guarded(() -> send(ring, data, part, rounds, sendable));
          return null;
        });
    Thread sender = Thread.ofVirtual().name("ring-send").start(sending);
    try {
      ring.guarded(() -> receive(ring, data, part, rounds, sendable));
    } finally {
      if (ring.broken()) {
        sender.interrupt();
      }
    }
    try {
      sending.get();
    } catch (ExecutionException e) {
      throw ring.failure(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ring.failure(e);
    }
  }

  private void send(Links ring, float[] data, Part part, int rounds, Semaphore sendable)
      throws IOException {
    for (int round = 0; round < rounds; round++) {
      int end = part.end(segment(round));
      for (int at = part.start(segment(round)); at < end; at += Frame.CHUNK_FLOATS) {
        try {
          sendable.acquire();
        } catch (InterruptedException e) {
          throw new InterruptedIOException("the ring was closed");
        }
        ring.writer().chunk(data, at, Math.min(Frame.CHUNK_FLOATS, end - at));
      }
    }
  }

  private void receive(Links ring, float[] data, Part part, int rounds, Semaphore sendable)
      throws IOException {
    for (int round = 0; round < rounds; round++) {
      // What we receive in a round is what we send in the next.
      int end = part.end(segment(round + 1));
      for (int at = part.start(segment(round + 1)); at < end; at += Frame.CHUNK_FLOATS) {
        int length = Math.min(Frame.CHUNK_FLOATS, end - at);
        if (round < size - 1) {
          ring.reader().chunk(received, 0, length);
          for (int i = 0; i < length; i++) {
            data[at + i] += received[i];
          }
        } else {
          ring.reader().chunk(data, at, length);
        }
        sendable.release();
      }
    }
  }

  /** The segment we send in a round; the first half of the rounds sums, the second spreads. */
  private int segment(int round) {
    return Math.floorMod(rank - round, size);
  }

  /** Elements of a vector, cut into as many segments as there are members. */
  private record Part(int from, int length, int size) {
    int start(int segment) {
      return from + (int) ((long) length * segment / size);
    }

    int end(int segment) {
      return start(segment + 1);
    }

    int chunks(int segment) {
      return Math.ceilDiv(end(segment) - start(segment), Frame.CHUNK_FLOATS);
    }
  }

  /** Closes both links; the neighbours notice. */
  @Override
  public void close() {
    if (links != null) {
      links.close(null);
    }
  }

  private static void discard(FutureTask<Connection> connecting) {
    // A connection that succeeds after all is closed as soon as it exists.
    Thread.ofVirtual()
        .start(() -> {
          try {
            connecting.get().close();
          } catch (ExecutionException e) {
            // Nothing was opened.
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static String message(@Nullable Throwable cause) {
    return cause == null ? "unknown" : String.valueOf(cause.getMessage());
  }
}
