package dev.kastor.agent.servers;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Consecutive parameters of a model, tensors or rows of them, with their optimizer's vectors, as a
 * server has them, and the slices of gradients that workers pushed for its next update.
 *
 * <p>An update is {@link #reduce}, perhaps {@link #compared} and {@link #keep}, and {@link #apply}.
 * The mean is that of the slices in the order in which they are named, so that its bits do not
 * depend on which came first. Thread-safe: many workers push and read, one thread updates.
 */
public final class Shard {
  private final Layout layout;
  private final Optimizer optimizer;
  private final float[] parameters;
  private final SequencedMap<String, float[]> slots;
  private final float[] mean;

  /** Where the mean may differ from zero. */
  private Runs written = Runs.all(0);

  /** The mean before, where somebody compares means; else of no elements. */
  private float[] previous = {};

  private final Map<Slice, Packed> slices = new HashMap<>();

  /** Shares whose mean it is. */
  private final Set<Long> reduced = new HashSet<>();

  /** Updates applied. */
  private long version;

  /**
   * Gradient of a share by one of the workers that computed it.
   *
   * @param share number of the share
   * @param rank of the worker
   */
  public record Slice(long share, int rank) {}

  /** Elements of a slice that may differ from zero, side by side. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Packed(Runs runs, float[] values) {}

  /** A shard of zeros. */
  public Shard(Layout layout, Optimizer optimizer) {
    this.layout = layout;
    this.optimizer = optimizer;
    this.parameters = new float[layout.elements()];
    this.slots = optimizer.newSlots(layout);
    this.mean = new float[layout.elements()];
  }

  /** Its elements. */
  public int elements() {
    return layout.elements();
  }

  /** Updates applied. */
  public synchronized long version() {
    return version;
  }

  /**
   * Copies runs of the parameters side by side.
   *
   * @return updates that they have
   */
  public synchronized long read(Runs runs, float[] packed) {
    runs.gather(parameters, 0, packed);
    return version;
  }

  /**
   * Takes a slice.
   *
   * @param packed its elements in the runs, which are the shard's from then on; it is zero
   *     elsewhere
   */
  public synchronized void push(Slice slice, Runs runs, float[] packed) {
    slices.put(slice, new Packed(runs, packed));
  }

  /**
   * Makes the mean of some slices.
   *
   * @return its squared norm
   * @throws IllegalArgumentException if one of them was not pushed
   */
  public synchronized double reduce(List<Slice> counted) {
    reduced.clear();
    List<Packed> packed = new ArrayList<>();
    for (Slice each : counted) {
      Packed slice = slices.get(each);
      if (slice == null) {
        throw new IllegalArgumentException("%s was not pushed".formatted(each));
      }
      reduced.add(each.share());
      packed.add(slice);
    }
    written.clear(mean);
    written = Runs.union(packed.stream().map(Packed::runs).toList());
    Packed first = packed.getFirst();
    first.runs.scatter(first.values, mean, 0);
    for (Packed each : packed.subList(1, packed.size())) {
      each.runs.add(each.values, mean, written);
    }
    return written.scale(mean, 1f / packed.size());
  }

  /** The mean and the one that was kept, which must be there. */
  public synchronized NoiseScaleEstimator.Compared compared() {
    if (previous.length != mean.length) {
      throw new IllegalStateException("no mean was kept");
    }
    double product = 0;
    double squaredDistance = 0;
    for (int i = 0; i < mean.length; i++) {
      double now = mean[i];
      double before = previous[i];
      product += now * before;
      squaredDistance += (now - before) * (now - before);
    }
    return new NoiseScaleEstimator.Compared(product, squaredDistance);
  }

  /** Keeps the mean. */
  public synchronized void keep() {
    if (previous.length != mean.length) {
      previous = new float[mean.length];
    }
    System.arraycopy(mean, 0, previous, 0, mean.length);
  }

  /**
   * Updates parameters and optimizer's vectors by the mean, which is of no meaning afterwards, and
   * drops the slices of its shares and of those that will not count any more.
   *
   * @param below shares below this one will not count
   */
  public synchronized void apply(double learningRate, long step, long below) {
    if (optimizer.skipsZeros() && written.elements() < layout.elements()) {
      int count = written.elements();
      float[] some = new float[count];
      float[] gradient = new float[count];
      written.gather(parameters, 0, some);
      written.gather(mean, 0, gradient);
      Layout rows = Layout.of("rows", count);
      optimizer.apply(new Update(rows, some, gradient, slots, learningRate, step));
      written.scatter(some, parameters, 0);
    } else {
      optimizer.apply(new Update(layout, parameters, mean, slots, learningRate, step));
      written = Runs.all(mean.length);
    }
    version++;
    slices.keySet().removeIf(each -> each.share() < below || reduced.contains(each.share()));
    reduced.clear();
  }

  /** Slices that were pushed and not dropped. */
  public synchronized int slices() {
    return slices.size();
  }

  /** Drops all slices, and takes over values that were written to {@link #vectors}. */
  public synchronized void replaced(long updates) {
    version = updates;
    slices.clear();
    previous = new float[0];
  }

  /**
   * Parameters, then the optimizer's vectors in the order of their names: live, for the thread that
   * updates.
   */
  public List<float[]> vectors() {
    List<float[]> all = new ArrayList<>();
    all.add(parameters);
    all.addAll(slots.values());
    return all;
  }

  /** Whether each vector of an optimizer has one number for each parameter. */
  public static boolean fits(Optimizer optimizer, Layout layout) {
    return optimizer.slots(layout).values().stream().allMatch(each -> each == layout.elements());
  }
}
