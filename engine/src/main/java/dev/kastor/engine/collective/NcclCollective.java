package dev.kastor.engine.collective;

import dev.kastor.engine.backend.cuda.GpuGroups;
import dev.kastor.engine.backend.cuda.Nccl;
import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.CollectivePort;
import dev.kastor.plugin.Options;
import java.io.IOException;
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
final class NcclCollective implements CollectivePlugin {
  private static final Logger LOG = LoggerFactory.getLogger(NcclCollective.class);
  private static final byte[] NOTHING = {};
  private static final byte[] READY = {1};

  @Override
  public String name() {
    return "nccl";
  }

  @Override
  public String description() {
    return "Sums gradients by NVIDIA's NCCL if all replicas have it, else over the ring.";
  }

  /** Looks for the library and the first GPU of this process; without, it agrees to the ring. */
  @Override
  public Collective create(Options options) {
    return switch (Nccl.load(0)) {
      case Nccl.Availability.Available available -> of(available.groups());
      case Nccl.Availability.Absent absent -> {
        LOG.warn("NCCL cannot be used here: {}", absent.reason());
        yield of(null);
      }
    };
  }

  /** A replica with these GPUs, or with none. */
  static Collective of(@Nullable GpuGroups groups) {
    return port -> over(port, groups);
  }

  private static Collective.Sums over(CollectivePort port, @Nullable GpuGroups groups)
      throws IOException {
    List<byte[]> offers = port.allGather(offer(groups, port.rank()));
    GpuGroups.@Nullable Group group =
        groups != null && offers.stream().allMatch(offer -> offer.length > 0)
            ? join(groups, offers.getFirst(), port)
            : null;
    List<byte[]> joined;
    try {
      joined = port.allGather(group == null ? NOTHING : READY);
    } catch (IOException e) {
      close(group);
      throw e;
    }
    if (group != null && joined.stream().allMatch(each -> each.length > 0)) {
      return new GroupSums(port, group);
    }
    close(group);
    LOG.info("Gradients are summed over the ring.");
    return port.ring();
  }

  /** What rank 0 says is the group's id; nothing from whoever cannot join one. */
  private static byte[] offer(@Nullable GpuGroups groups, int rank) {
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

  private static GpuGroups.@Nullable Group join(GpuGroups groups, byte[] id, CollectivePort port) {
    try {
      return groups.join(id, port.rank(), port.size(), after(port.limit()));
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

  /** Sums of one generation. */
  private record GroupSums(CollectivePort port, GpuGroups.Group group) implements Collective.Sums {
    @Override
    public int capacity() {
      return group.capacity();
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws IOException {
      port.allGather(NOTHING);
      try {
        group.sum(data, from, to, after(port.limit()));
      } catch (IllegalStateException e) {
        throw new IOException("a sum by NCCL failed: " + e.getMessage(), e);
      }
    }

    /** Every step ends with a word around the ring, so that nobody still waits for us in a sum. */
    @Override
    public void close() {
      NcclCollective.close(group);
    }
  }
}
