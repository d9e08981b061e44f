package dev.kastor.engine.collective;

import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Members of a generation in threads of one process, which have no connections. */
final class MemoryMembers {
  private static final int CAPACITY = 7;

  private final int size;
  private final CyclicBarrier barrier;
  private final List<byte[]> bytes;
  private final List<float[]> floats;

  MemoryMembers(int size) {
    this.size = size;
    this.barrier = new CyclicBarrier(size);
    this.bytes = new ArrayList<>(Collections.nCopies(size, new byte[0]));
    this.floats = new ArrayList<>(Collections.nCopies(size, new float[0]));
  }

  CollectivePort port(int rank) {
    return new Port(rank);
  }

  /** Adds in the order of ranks. */
  void sum(int rank, float[] data, int from, int to) {
    List<float[]> all = together(floats, rank, data.clone());
    for (int i = from; i < to; i++) {
      data[i] = 0;
      for (float[] each : all) {
        data[i] += each[i];
      }
    }
  }

  private <T> List<T> together(List<T> slots, int rank, T own) {
    synchronized (slots) {
      slots.set(rank, own);
    }
    await();
    List<T> all;
    synchronized (slots) {
      all = List.copyOf(slots);
    }
    await();
    return all;
  }

  private void await() {
    try {
      barrier.await(10, TimeUnit.MINUTES);
    } catch (BrokenBarrierException | TimeoutException | InterruptedException e) {
      throw new AssertionError("a member did not come", e);
    }
  }

  /** Of one member. */
  private final class Port implements CollectivePort {
    private final int rank;

    Port(int rank) {
      this.rank = rank;
    }

    @Override
    public int rank() {
      return rank;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public List<String> nodes() {
      return Collections.nCopies(size, "node");
    }

    @Override
    public Duration limit() {
      return Duration.ofMinutes(10);
    }

    @Override
    public List<byte[]> allGather(byte[] own) {
      return together(bytes, rank, own);
    }

    @Override
    public Collective.Sums ring() {
      return new Collective.Sums() {
        @Override
        public int capacity() {
          return CAPACITY;
        }

        @Override
        public void allReduce(float[] data, int from, int to) {
          sum(rank, data, from, to);
        }
      };
    }

    @Override
    public List<Optional<Group>> open(List<List<Integer>> groups) {
      throw new AssertionError("no connections");
    }
  }
}
