package dev.kastor.agent.nccl;

import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.backend.cuda.GpuGroups;
import dev.kastor.engine.backend.cuda.Nccl;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sums by GPUs, which the members of a ring agree on whenever a ring has formed.
 *
 * <p>The ring stays what tells that somebody is gone: before each sum all members say there that
 * they have come to it, however long that takes; the sum itself is given up after a while.
 */
public final class NcclSums implements Sums.Maker {
  private static final Logger LOG = LoggerFactory.getLogger(NcclSums.class);
  private static final byte[] NOTHING = {};
  private static final byte[] READY = {1};

  private final @Nullable GpuGroups groups;
  private final Duration limit;

  NcclSums(@Nullable GpuGroups groups, Duration limit) {
    this.groups = groups;
    this.limit = limit;
  }

  /**
   * Looks for the library and the first GPU of this process; without, it agrees to the ring.
   *
   * @param limit of the time that a group takes to form, or a sum that all members have come to
   */
  public static NcclSums load(Duration limit) {
    return switch (Nccl.load(0)) {
      case Nccl.Availability.Available available -> new NcclSums(available.groups(), limit);
      case Nccl.Availability.Absent absent -> {
        LOG.warn("NCCL cannot be used here: {}", absent.reason());
        yield new NcclSums(null, limit);
      }
    };
  }

  @Override
  public Sums over(Ring ring) throws RingBrokenException {
    if (ring.size() == 1) {
      return Sums.Maker.RING.over(ring);
    }
    List<byte[]> offers = ring.allGather(offer(ring.rank()));
    GpuGroups.@Nullable Group group =
        groups != null && offers.stream().allMatch(offer -> offer.length > 0)
            ? join(groups, offers.getFirst(), ring)
            : null;
    List<byte[]> joined;
    try {
      joined = ring.allGather(group == null ? NOTHING : READY);
    } catch (RingBrokenException e) {
      close(group);
      throw e;
    }
    if (group != null && joined.stream().allMatch(each -> each.length > 0)) {
      return new GroupSums(ring, group, limit);
    }
    close(group);
    LOG.info("Generation {} sums gradients over its ring.", ring.generation());
    return Sums.Maker.RING.over(ring);
  }

  /** What rank 0 says is the group's id; nothing from whoever cannot join one. */
  private byte[] offer(int rank) {
    if (groups == null) {
      return NOTHING;
    }
    try {
      return rank == 0 ? groups.newId() : READY;
    } catch (IllegalStateException e) {
      LOG.warn("NCCL cannot be used now: {}", e.getMessage());
      return NOTHING;
    }
  }

  private GpuGroups.@Nullable Group join(GpuGroups groups, byte[] id, Ring ring) {
    try {
      return groups.join(id, ring.rank(), ring.size(), after(limit));
    } catch (IllegalArgumentException | IllegalStateException e) {
      LOG.warn("NCCL cannot be used now: {}", e.getMessage());
      return null;
    }
  }

  private static BooleanSupplier after(Duration limit) {
    long start = System.nanoTime();
    return () -> System.nanoTime() - start > limit.toNanos();
  }

  private static void close(GpuGroups.@Nullable Group group) {
    if (group == null) {
      return;
    }
    try {
      group.close();
    } catch (IllegalStateException e) {
      LOG.warn("A group of NCCL did not end: {}", e.getMessage());
    }
  }

  /** Sums of one ring. */
  private record GroupSums(Ring ring, GpuGroups.Group group, Duration limit) implements Sums {
    @Override
    public int capacity() {
      return group.capacity();
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws RingBrokenException {
      ring.allGather(NOTHING);
      try {
        group.sum(data, from, to, after(limit));
      } catch (IllegalStateException e) {
        ring.close();
        throw new RingBrokenException("a sum by NCCL failed: " + e.getMessage(), e);
      }
    }

    /** Every step ends with a word around the ring, so that nobody still waits for us in a sum. */
    @Override
    public void close() {
      NcclSums.close(group);
    }
  }
}
