package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingGroup;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePort;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Sums of a job's collective over a ring: its port to the members, and what makes each of its
 * failures one of the ring.
 */
final class PortedSums implements Sums {
  private final Ring ring;
  private final Collective.Sums sums;

  private PortedSums(Ring ring, Collective.Sums sums) {
    this.ring = ring;
    this.sums = sums;
  }

  /**
   * Those of a new ring, made by all its members at once.
   *
   * @param name of the collective
   * @param nodes of the members, in rank order
   */
  static PortedSums over(Ring ring, List<String> nodes, String name, Collective collective)
      throws RingBrokenException {
    Collective.Sums sums;
    try {
      sums = collective.over(new Port(ring, nodes));
    } catch (IOException e) {
      throw broken(ring, e);
    }
    if (sums.capacity() < 1) {
      throw new IllegalStateException(
          "collective %s sums %d elements at once; it must be at least 1"
              .formatted(name, sums.capacity()));
    }
    return new PortedSums(ring, sums);
  }

  @Override
  public int capacity() {
    return sums.capacity();
  }

  @Override
  public void allReduce(float[] data, int from, int to) throws RingBrokenException {
    try {
      sums.allReduce(data, from, to);
    } catch (IOException e) {
      throw broken(ring, e);
    }
  }

  @Override
  public void close() {
    sums.close();
  }

  private static RingBrokenException broken(Ring ring, IOException e) {
    ring.close();
    return e instanceof RingBrokenException broken
        ? broken
        : new RingBrokenException(String.valueOf(e.getMessage()), e);
  }

  /** Port of a ring. */
  private record Port(Ring all, List<String> nodes) implements CollectivePort {
    @Override
    public int rank() {
      return all.rank();
    }

    @Override
    public int size() {
      return all.size();
    }

    @Override
    public Duration limit() {
      return all.silence();
    }

    @Override
    public List<byte[]> allGather(byte[] own) throws IOException {
      return all.allGather(own);
    }

    @Override
    public Collective.Sums ring() {
      return new OfRing(new RingSums(all));
    }

    @Override
    public List<Optional<Group>> open(List<List<Integer>> groups) throws IOException {
      return all.open(groups).stream().map(group -> group.<Group>map(OfGroup::new)).toList();
    }
  }

  /** Sums of the ring, as a collective may use them. */
  private record OfRing(Sums sums) implements Collective.Sums {
    @Override
    public int capacity() {
      return sums.capacity();
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws IOException {
      sums.allReduce(data, from, to);
    }
  }

  /** Our part in a group, as a collective may use it. */
  private record OfGroup(RingGroup group) implements CollectivePort.Group {
    @Override
    public int rank() {
      return group.rank();
    }

    @Override
    public int size() {
      return group.size();
    }

    @Override
    public void reduceScatter(float[] data, int[] bounds) throws IOException {
      group.reduceScatter(data, bounds);
    }

    @Override
    public void allGather(float[] data, int[] bounds) throws IOException {
      group.allGather(data, bounds);
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws IOException {
      group.allReduce(data, from, to);
    }
  }
}
