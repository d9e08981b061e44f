package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
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

  private final Peers peers;
  private final int rank;
  private final int size;
  private final @Nullable Links links;
  private final float[] received = new float[Frame.CHUNK_FLOATS];
  private final List<RingGroup> groups = new ArrayList<>();
  private boolean closed;

  private Ring(Peers peers, @Nullable Links links) {
    this.peers = peers;
    this.rank = peers.rank();
    this.size = peers.members().size();
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
    Peers peers = new Peers(listener, generation, rank, members, limits, abandoned);
    if (size == 1) {
      return new Ring(peers, null);
    }
    listener.expect(members);
    int right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    FutureTask<Connection> connecting =
        new FutureTask<>(() -> peers.connect(Hello.Purpose.RING, right));
    Thread.ofVirtual().name("ring-connect").start(connecting);
    Connection incoming = null;
    try {
      incoming = peers.take(Hello.Purpose.RING, left);
      Connection outgoing = connecting.get();
      return new Ring(peers, Links.watched(incoming, outgoing, limits.silence()));
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
    return peers.generation();
  }

  /** Longest time that a member may stay silent. */
  public Duration silence() {
    return peers.limits().silence();
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
   * The same for as many bytes as a caller allows, in chunks.
   *
   * <p>The lengths go around first: no memory is taken for what is longer than allowed.
   *
   * @param own at most {@code mostBytes}
   * @param mostBytes the same on all members
   */
  public List<byte[]> allGather(byte[] own, int mostBytes) throws RingBrokenException {
    if (own.length > mostBytes) {
      throw new IllegalArgumentException(
          "%d bytes to gather; at most %d are allowed".formatted(own.length, mostBytes));
    }
    List<byte[]> lengths = allGather(ByteBuffer.allocate(Integer.BYTES).putInt(own.length).array());
    byte[][] all = new byte[size][];
    all[rank] = own;
    if (links != null) {
      links.guarded(() -> {
        for (int each = 0; each < size; each++) {
          int length = length(each, lengths.get(each), mostBytes);
          all[each] = each == rank ? own : new byte[length];
        }
      });
      new Circulation(links, rank, size).run(0, size - 1, new ByteSegments(all));
    }
    return new ArrayList<>(Arrays.asList(all));
  }

  private static int length(int rank, byte[] said, int mostBytes) throws RingBrokenException {
    int length = said.length == Integer.BYTES ? ByteBuffer.wrap(said).getInt() : -1;
    if (length < 0 || length > mostBytes) {
      throw new RingBrokenException(
          "rank %d has %d bytes to gather; at most %d are allowed"
              .formatted(rank, length, mostBytes));
    }
    return length;
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
    int[] bounds = VectorSegments.equal(from, to, size);
    new Circulation(links, rank, size)
        .run(0, 2 * (size - 1), new VectorSegments(data, bounds, received));
  }

  /**
   * Rings of some members each, which close with this one. Whatever fails in one closes all. Called
   * once.
   *
   * @param all ranks of each group in the order of its ring, the same list on all members; no two
   *     groups may have two members as neighbours in the same order
   * @return our part in each; empty in those that we do not belong to
   */
  public List<Optional<RingGroup>> open(List<List<Integer>> all) throws RingBrokenException {
    synchronized (groups) {
      if (!groups.isEmpty()) {
        throw new IllegalStateException("the ring has groups already");
      }
    }
    return RingGroup.open(this, peers, all);
  }

  /** From now on a group closes with this ring. */
  void add(RingGroup group) {
    synchronized (groups) {
      groups.add(group);
      if (!closed) {
        return;
      }
    }
    group.close();
  }

  /** Closes all links; the neighbours notice. */
  @Override
  public void close() {
    if (links != null) {
      links.close(null);
    }
    synchronized (groups) {
      closed = true;
      groups.forEach(RingGroup::close);
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
