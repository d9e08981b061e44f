package dev.kastor.agent.ring;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/**
 * Brings the bytes of a training state from the replicas that have it to those that lack it.
 *
 * <p>Donor {@code i} of {@code d} sends the i-th d-th part to each receiver over a connection of
 * its own, all at once, so that a receiver's link is filled by several senders. Each part is
 * checked against its CRC-32C.
 *
 * @param listener our listener
 * @param generation generation in which the ranks are valid
 * @param rank our rank
 * @param members all listeners in rank order
 * @param limits time limits; silence bounds the time without a byte
 * @param abandoned true gives up waiting for a connection
 */
public record StateTransfer(
    RingListener listener,
    long generation,
    int rank,
    List<InetSocketAddress> members,
    RingLimits limits,
    BooleanSupplier abandoned) {
  private static final int HEADER_BYTES = 3 * Long.BYTES + Integer.BYTES;
  private static final long CHUNK_BYTES = Frame.MAX_PAYLOAD;

  /** Sends our part to each receiver; {@code state} must be usable from any thread. */
  public void send(MemorySegment state, List<Integer> donors, List<Integer> receivers)
      throws RingBrokenException {
    int index = donors.indexOf(rank);
    long start = part(state.byteSize(), index, donors.size());
    long end = part(state.byteSize(), index + 1, donors.size());
    MemorySegment share = state.asSlice(start, end - start);
    int checksum = checksum(share);
    List<Callable<Void>> sends = new ArrayList<>();
    for (int receiver : receivers) {
      sends.add(() -> {
        sendShare(receiver, state.byteSize(), start, share, checksum);
        return null;
      });
    }
    all("send the state", sends);
  }

  /**
   * Receives the whole state.
   *
   * @param expectedBytes its size, which both sides know from the model
   * @param arena a shared arena that the result lives in
   */
  public MemorySegment receive(long expectedBytes, List<Integer> donors, Arena arena)
      throws RingBrokenException {
    MemorySegment state = arena.allocate(expectedBytes, Long.BYTES);
    List<Callable<Void>> receives = new ArrayList<>();
    for (int index = 0; index < donors.size(); index++) {
      int donor = donors.get(index);
      long start = part(expectedBytes, index, donors.size());
      long end = part(expectedBytes, index + 1, donors.size());
      receives.add(() -> {
        receiveShare(donor, expectedBytes, start, state.asSlice(start, end - start));
        return null;
      });
    }
    all("receive the state", receives);
    return state;
  }

  private void sendShare(
      int receiver, long stateBytes, long start, MemorySegment share, int checksum)
      throws IOException {
    Hello.Key connection = new Hello.Key(Hello.Purpose.STATE, generation, rank, receiver);
    try (Connection channel =
            Sockets.connect(members.get(receiver), listener.key(), connection, limits, abandoned);
        StallGuard guard = new StallGuard(channel, limits.silence())) {
      FrameWriter writer = new FrameWriter(channel);
      ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
      header.putLong(stateBytes).putLong(start).putLong(share.byteSize()).putInt(checksum);
      writer.state(header.flip());
      for (long at = 0; at < share.byteSize(); at += CHUNK_BYTES) {
        writer.state(chunk(share, at));
        guard.moved();
      }
    }
  }

  private void receiveShare(int donor, long stateBytes, long start, MemorySegment share)
      throws IOException, InterruptedException {
    Hello.Key connection = new Hello.Key(Hello.Purpose.STATE, generation, donor, rank);
    try (Connection channel = listener.take(connection, limits.connect(), abandoned);
        StallGuard guard = new StallGuard(channel, limits.silence())) {
      FrameReader reader = new FrameReader(channel);
      ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
      reader.state(header);
      header.flip();
      long total = header.getLong();
      long offset = header.getLong();
      long bytes = header.getLong();
      if (total != stateBytes || offset != start || bytes != share.byteSize()) {
        throw new RingBrokenException(
            "rank %d sends %d bytes at %d of a state of %d; expected %d at %d of %d"
                .formatted(donor, bytes, offset, total, share.byteSize(), start, stateBytes));
      }
      int checksum = header.getInt();
      for (long at = 0; at < share.byteSize(); at += CHUNK_BYTES) {
        reader.state(chunk(share, at));
        guard.moved();
      }
      if (checksum(share) != checksum) {
        throw new RingBrokenException("state from rank %d has a wrong checksum".formatted(donor));
      }
    }
  }

  private static void all(String what, List<Callable<Void>> tasks) throws RingBrokenException {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Void>> futures = tasks.stream().map(threads::submit).toList();
      try {
        for (Future<Void> future : futures) {
          future.get();
        }
      } catch (ExecutionException e) {
        threads.shutdownNow();
        Throwable cause = e.getCause();
        throw cause instanceof RingBrokenException broken
            ? broken
            : new RingBrokenException(
                "cannot %s: %s".formatted(what, cause == null ? e : cause.getMessage()), cause);
      } catch (InterruptedException e) {
        threads.shutdownNow();
        Thread.currentThread().interrupt();
        throw new RingBrokenException("interrupted: cannot " + what, e);
      }
    }
  }

  private static long part(long bytes, int index, int parts) {
    return Math.multiplyExact(bytes, index) / parts;
  }

  private static ByteBuffer chunk(MemorySegment share, long at) {
    return share.asSlice(at, Math.min(CHUNK_BYTES, share.byteSize() - at)).asByteBuffer();
  }

  private static int checksum(MemorySegment share) {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < share.byteSize(); at += CHUNK_BYTES) {
      crc.update(chunk(share, at));
    }
    return (int) crc.getValue();
  }
}
